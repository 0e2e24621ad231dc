#include "scenarios/explain_svg.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "scenarios/explain_columns.hpp"
#include "scenarios/explain_text.hpp"
#include "scenarios/svg_ring.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

constexpr double edge = 16;
constexpr double row_height = 22;
constexpr double letter = 7.4;  // of 12 px monospace
constexpr double rank_width = 58;
constexpr double sent_width = 76;
constexpr double widest_block = 1200;

constexpr std::string_view style = R"(<style>
text{font:12px ui-monospace,"DejaVu Sans Mono",monospace;fill:#1b1f24}
.title{font:600 15px system-ui,"DejaVu Sans",sans-serif}
.step{font:600 13px system-ui,"DejaVu Sans",sans-serif}
.note{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#57606a}
.fails{fill:#b42318}
.holds{fill:#1a7f37}
.message{fill:none;stroke-width:1.6}
.nvlink,.self{stroke:#2f6fb3}
.ib{stroke:#c2560c}
text.label{font-size:11px;text-anchor:middle}
rect.label{fill:#fff;fill-opacity:.88}
.rank{font-weight:600;text-anchor:middle}
.node0{fill:#dbe9f8;stroke:#2f6fb3}
.node1{fill:#fde8d4;stroke:#c2560c}
.node2{fill:#dff3e3;stroke:#1a7f37}
.node3{fill:#efe3fa;stroke:#7a3fb0}
.cell{fill:#fff;stroke:#d0d7de}
.changed{fill:#ffe9a8;stroke:#b8860b}
.value,.head{text-anchor:middle}
.head{fill:#57606a}
.end{text-anchor:end}
</style>
<defs>
<marker id="near" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#2f6fb3"/></marker>
<marker id="far" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#c2560c"/></marker>
</defs>
)";

std::string text_at(std::string_view kind, double x, double y, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                     xml_escaped(text));
}

class Drawing {
 public:
  Drawing(const Story& story, const ShownValues& values);
  std::string draw(std::optional<int> only);

 private:
  std::string cell_text(Symbol symbol, const ElementColumn& column) const;
  std::size_t letters(const Holdings& holds) const;
  void line(std::string_view kind, std::string_view text, double height);
  void panel(std::string_view title, const Holdings& holds, const ToldStep* step);
  double grid(double x, double y, const Holdings& holds, const ToldStep* step);
  void row(double x, double y, std::size_t rank, std::size_t first, const Holdings& holds,
           const ToldStep* step);

  std::size_t block_end(std::size_t first) const {
    return std::min(first + per_block_, columns_.size());
  }

  const Story& story_;
  const ShownValues& values_;
  SvgRing ring_;
  std::vector<ElementColumn> columns_;
  double cell_ = 0;            // width
  std::size_t per_block_ = 1;  // columns beside each other
  double y_ = edge;
  double width_ = 0;
  std::string body_;
};

Drawing::Drawing(const Story& story, const ShownValues& values)
    : story_(story), values_(values), ring_(story), columns_(columns_of(story)) {
  std::size_t longest = letters(story.start);
  for (const ElementColumn& column : columns_) {
    longest = std::max(longest, column.title().size());
  }
  for (const ToldStep& step : story.steps) {
    longest = std::max(longest, letters(step.holds));
  }
  cell_ = std::max(34.0, letter * static_cast<double>(longest) + 12);
  const auto fit = std::max(std::size_t{1}, static_cast<std::size_t>(widest_block / cell_));
  const std::size_t blocks = std::max(std::size_t{1}, (columns_.size() + fit - 1) / fit);
  per_block_ = std::max(std::size_t{1}, (columns_.size() + blocks - 1) / blocks);
}

std::string Drawing::cell_text(Symbol symbol, const ElementColumn& column) const {
  const bool first = column.count > 1 && values_.style() == ValueStyle::integers;
  return values_.text(symbol, column.first) + (first ? "…" : "");
}

std::size_t Drawing::letters(const Holdings& holds) const {
  std::size_t most = 0;
  for (const auto& rank : holds) {
    for (const ElementColumn& column : columns_) {
      most = std::max(most, width_of(cell_text(rank[column.first], column)));
    }
  }
  return most;
}

void Drawing::line(std::string_view kind, std::string_view text, double height) {
  body_ += text_at(kind, edge, y_ + 13, text);
  width_ = std::max(width_, edge + 6.8 * static_cast<double>(width_of(text)));
  y_ += height;
}

void Drawing::row(double x, double y, std::size_t rank, std::size_t first, const Holdings& holds,
                  const ToldStep* step) {
  body_ += text_at("value", x + rank_width / 2, y + 15, fmt::format("rank {}", rank));
  for (std::size_t c = first; c < block_end(first); ++c) {
    const std::size_t element = columns_[c].first;
    const bool changed = step != nullptr && step->changed[rank][element];
    const double left = x + rank_width + cell_ * static_cast<double>(c - first);
    body_ +=
        fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>",
                    changed ? "changed" : "cell", left, y, cell_, row_height);
    body_ +=
        text_at("value", left + cell_ / 2, y + 15, cell_text(holds[rank][element], columns_[c]));
  }
  if (step != nullptr && first == 0) {
    const double right = x + rank_width + cell_ * static_cast<double>(block_end(0)) + sent_width;
    body_ += text_at("end", right, y + 15, std::to_string(step->sent[rank]));
  }
}

// Returns its height.
double Drawing::grid(double x, double y, const Holdings& holds, const ToldStep* step) {
  double down = y;
  std::size_t first = 0;
  do {
    const std::size_t last = block_end(first);
    for (std::size_t c = first; c < last; ++c) {
      body_ += text_at("head", x + rank_width + cell_ * (static_cast<double>(c - first) + 0.5),
                       down + 14, columns_[c].title());
    }
    const double right = x + rank_width + cell_ * static_cast<double>(last - first) + sent_width;
    if (step != nullptr && first == 0) {
      body_ += text_at("head end", right, down + 14, "bytes sent");
    }
    width_ = std::max(width_, right);
    down += row_height;
    for (std::size_t r = 0; r < holds.size(); ++r, down += row_height) {
      row(x, down, r, first, holds, step);
    }
    down += 8;
    first = last;
  } while (first < columns_.size());
  return down - y;
}

void Drawing::panel(std::string_view title, const Holdings& holds, const ToldStep* step) {
  line("step", title, 22);
  double height = 0;
  double left = edge;
  if (step != nullptr) {
    body_ += fmt::format("<g class=\"panel\" transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n",
                         edge, y_, ring_.draw(*step));
    height = ring_.size();
    left += ring_.size() + 12;
  }
  y_ += std::max(height, grid(left, y_, holds, step)) + 14;
}

std::string Drawing::draw(std::optional<int> only) {
  line("title", heading_of(story_), 24);
  line("note",
       (values_.style() == ValueStyle::integers
            ? fmt::format("Element i of rank r starts as {}. ", values_.inputs())
            : std::string("rN is an element as rank N held it at the start; …(5) stands for a sum "
                          "of 5 of them. ")) +
           "cN on an arrow: chunk N. Yellow: changed in this step. Bytes are of f32.",
       28);
  if (!only) {
    panel("at the start", story_.start, nullptr);
  }
  for (std::size_t s = 0; s < story_.steps.size(); ++s) {
    if (!only || s == static_cast<std::size_t>(*only)) {
      panel(heading_of(story_, s), story_.steps[s].holds, &story_.steps[s]);
    }
  }
  std::string verdict = verdict_of(story_);
  for (std::size_t at = 0; at < verdict.size();) {
    const auto end = std::min(verdict.find('\n', at), verdict.size());
    line(at == 0                ? "note"
         : story_.fault.empty() ? "note holds"
                                : "note fails",
         std::string_view(verdict).substr(at, end - at), 18);
    at = end + 1;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "{3}</svg>\n",
      width_ + edge, y_ + edge, style, body_);
}

}  // namespace

std::string svg_of(const Story& story, const ShownValues& values, std::optional<int> only) {
  return Drawing(story, values).draw(only);
}

}  // namespace ringside
