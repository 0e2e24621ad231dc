#include "scenarios/explain_text.hpp"

#include <spdlog/fmt/fmt.h>

#include "runtime/traffic.hpp"
#include "scenarios/definition_sentence.hpp"
#include "scenarios/explain_columns.hpp"
#include "scenarios/text_table.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

constexpr std::size_t most_messages = 40;  // of a step
constexpr std::size_t most_carried = 4;    // values of a message
constexpr std::size_t widest_grid = 84;    // beside the columns of rank and bytes

std::string plural(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

using Cells = std::vector<std::vector<std::string>>;  // [rank][column]

class Page {
 public:
  Page(const Story& story, const ShownValues& values)
      : story_(story), values_(values), columns_(columns_of(story)) {}

  std::string grid(const Holdings& holds, const ToldStep* step) const;
  std::string messages(const ToldStep& step) const;

 private:
  Cells cells(const Holdings& holds, const ToldStep* step) const;
  std::size_t block_end(const Cells& cells, std::size_t first, std::size_t most) const;
  std::size_t columns_of_a_block(const Cells& cells) const;
  std::string block(const Cells& cells, std::size_t first, std::size_t last,
                    const ToldStep* step) const;

  const Story& story_;
  const ShownValues& values_;
  std::vector<ElementColumn> columns_;
};

// A blank stands where a bracket would.
Cells Page::cells(const Holdings& holds, const ToldStep* step) const {
  Cells cells;
  for (std::size_t r = 0; r < holds.size(); ++r) {
    auto& row = cells.emplace_back();
    for (const ElementColumn& column : columns_) {
      auto text = values_.text(holds[r][column.first], column.first);
      text += column.count > 1 && values_.style() == ValueStyle::integers ? "…" : "";
      const bool changed = step != nullptr && step->changed[r][column.first];
      row.push_back(changed ? "[" + text + "]" : text + " ");
    }
  }
  return cells;
}

// As many columns as fit beside each other, at least one and at most `most`.
std::size_t Page::block_end(const Cells& cells, std::size_t first, std::size_t most) const {
  std::size_t width = 0;
  for (std::size_t c = first; c < columns_.size(); ++c) {
    std::size_t widest = columns_[c].title().size() + 1;
    for (const auto& row : cells) {
      widest = std::max(widest, width_of(row[c]));
    }
    width += widest + 2;
    if (c > first && (width > widest_grid || c - first == most)) {
      return c;
    }
  }
  return columns_.size();
}

// So that all blocks are about as wide.
std::size_t Page::columns_of_a_block(const Cells& cells) const {
  std::size_t blocks = 0;
  for (std::size_t first = 0; first < columns_.size(); ++blocks) {
    first = block_end(cells, first, columns_.size());
  }
  return blocks == 0 ? 1 : (columns_.size() + blocks - 1) / blocks;
}

std::string Page::block(const Cells& cells, std::size_t first, std::size_t last,
                        const ToldStep* step) const {
  std::vector<TableColumn> heads{{.title = "rank"}};
  const bool bytes = step != nullptr && first == 0;
  if (bytes) {
    heads.push_back({.title = "sent", .group = "bytes so far"});
    heads.push_back({.title = "received", .group = "bytes so far"});
  }
  for (std::size_t c = first; c < last; ++c) {
    heads.push_back(
        {.title = columns_[c].title() + " ", .group = last - first > 1 ? "elements" : "element"});
  }
  TextTable table(heads);
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::vector<std::string> row{std::to_string(r)};
    if (bytes) {
      row.push_back(std::to_string(step->sent[r]));
      row.push_back(std::to_string(step->received[r]));
    }
    row.insert(row.end(), cells[r].begin() + static_cast<std::ptrdiff_t>(first),
               cells[r].begin() + static_cast<std::ptrdiff_t>(last));
    table.add(std::move(row));
  }
  return table.text();
}

std::string Page::grid(const Holdings& holds, const ToldStep* step) const {
  const Cells all = cells(holds, step);
  const std::size_t most = columns_of_a_block(all);
  std::string text;
  std::size_t first = 0;
  do {
    const std::size_t last = block_end(all, first, most);
    text += (first == 0 ? "" : "\n") + block(all, first, last, step);
    first = last;
  } while (first < columns_.size());
  return text;
}

std::string Page::messages(const ToldStep& step) const {
  if (step.messages.empty()) {
    return {};
  }
  TextTable table({{.title = "from"},
                   {.title = "to"},
                   {.title = "chunk"},
                   {.title = "elements", .left = true},
                   {.title = "bytes"},
                   {.title = "link", .left = true},
                   {.title = "carries", .left = true}});
  for (std::size_t m = 0; m < std::min(step.messages.size(), most_messages); ++m) {
    const ToldMessage& message = step.messages[m];
    const auto late = message.taken.empty() ? "" : "  (taken in step " + message.taken + ")";
    table.add({std::to_string(message.src), std::to_string(message.dst),
               message.chunk < 0 ? "" : std::to_string(message.chunk), elements_of(story_, message),
               std::to_string(message.bytes), std::string(name_of(message.link)),
               values_.carried(message, most_carried) + late});
  }
  const std::size_t more = step.messages.size() - std::min(step.messages.size(), most_messages);
  return table.text() +
         (more > 0 ? fmt::format("  … and {} (--json has all)\n", plural(more, "more message"))
                   : "");
}

std::string legend(const Story& story, const ShownValues& values) {
  if (story.asked.count == 0) {
    return {};
  }
  const auto start = values.style() == ValueStyle::integers
                         ? fmt::format("Element i of rank r starts as {}.\n", values.inputs())
                         : std::string(
                               "rN is an element as rank N held it at the start; …(5) stands for a "
                               "sum of 5 of them.\n");
  const bool runs = story.asked.count > columns_of(story).size();
  return fmt::format("{}[ ] changed in this step. Bytes are of f32.{}{}\n", start,
                     story.moves ? " Steps show the buffer that is received into." : "",
                     runs ? " A column shows its first element." : "");
}

// "; step 1 of ranks 3, 4"
std::string own_numbers(const ToldStep& step, std::size_t index) {
  std::map<int, std::string> ranks;
  for (const auto& [rank, own] : step.own) {
    if (static_cast<std::size_t>(own) != index) {
      ranks[own] += (ranks[own].empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  std::string text;
  for (const auto& [own, who] : ranks) {
    const bool several = who.find(',') != std::string::npos;
    text += fmt::format("; step {} of rank{} {}", own, several ? "s" : "", who);
  }
  return text;
}

}  // namespace

std::string heading_of(const Story& story) {
  const auto& asked = story.asked;
  const auto nodes = asked.cluster().nodes(asked.ranks);
  return fmt::format("{} by {}: {} on {}, {}{}{}", asked.row.operation, asked.row.algorithm,
                     plural(static_cast<std::size_t>(asked.ranks), "rank"),
                     plural(static_cast<std::size_t>(nodes), "node"),
                     plural(asked.count, "element"),
                     asked.row.reduces ? fmt::format(", {}", name_of(asked.op)) : "",
                     asked.row.rooted ? fmt::format(", root {}", asked.root) : "");
}

std::string heading_of(const Story& story, std::size_t step) {
  const ToldStep& told = story.steps[step];
  if (told.phase.empty()) {
    return "after the last step";
  }
  return fmt::format("step {}, {}: {}, {} B{}", step, told.phase,
                     plural(told.messages.size(), "message"), told.bytes(),
                     own_numbers(told, step));
}

std::string verdict_of(const Story& story) {
  const auto& asked = story.asked;
  std::string text = fmt::format("definition: {}\n", definition_sentence(asked.call()));
  // A barrier has no elements: its ranks are judged.
  const auto of = plural(story.judged, asked.row.operation == "barrier" ? "rank" : "element");
  if (story.fault.empty()) {
    return text + fmt::format("  holds for every input: {} of {}\n", story.judged, of);
  }
  if (story.wrong == 0) {
    return text + fmt::format("  the job died: {}\n", story.fault);
  }
  return text + fmt::format("  {}\n",
                            wrapped(fmt::format("{} of {} wrong: {}", story.wrong, of, story.fault),
                                    2, 100));
}

std::string text_of(const Story& story, const ShownValues& values, std::optional<int> only) {
  const Page page(story, values);
  std::string text = heading_of(story) + "\n" + legend(story, values);
  if (!only) {
    text += "\nat the start\n" + page.grid(story.start, nullptr);
  }
  for (std::size_t s = 0; s < story.steps.size(); ++s) {
    const ToldStep& step = story.steps[s];
    if (only && s != static_cast<std::size_t>(*only)) {
      continue;
    }
    text += fmt::format("\n{}\n{}{}  all ranks: {} B sent so far\n", heading_of(story, s),
                        page.messages(step), page.grid(step.holds, &step), step.bytes_so_far());
  }
  return text + "\n" + verdict_of(story) +
         fmt::format("verdict: {}\n", story.fault.empty() ? "pass" : "FAIL");
}

}  // namespace ringside
