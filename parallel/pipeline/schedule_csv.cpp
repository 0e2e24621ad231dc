#include "parallel/pipeline/schedule_csv.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "parallel/pipeline/events.hpp"
#include "parallel/pipeline/timing.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

constexpr int most = 999'999;  // a stage or a micro-batch
constexpr int most_devices = 65'536;
constexpr std::string_view overlap = "OVERLAP_F_B";
constexpr std::array<std::string_view, 7> communications{
    "UNSHARD", "RESHARD", "REDUCE_GRAD", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\"";
  const std::size_t first = text.find_first_not_of(blank);
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// What stands before the first `at`, which is taken off with it; `more`: there was one.
std::string_view first_part(std::string_view& text, char at, bool& more) {
  const std::size_t end = text.find(at);
  const std::string_view part = text.substr(0, end);
  more = end != text.npos;
  text.remove_prefix(more ? end + 1 : text.size());
  return part;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Schedule read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) {  // a byte order mark
      text.remove_prefix(3);
    }
    text = text.substr(0, text.find_last_not_of(" \t\r\"\n") + 1);
    Schedule schedule{
        .name = std::string(name_), .stages = 0, .microbatches = 0, .chunks = 1, .devices = {}};
    for (bool more = !text.empty(); more;) {
      const std::string_view row = first_part(text, '\n', more);
      if (++row_ > most_devices) {
        throw BadUse(fmt::format("schedule {}: has more than {} rows, which are devices", name_,
                                 most_devices));
      }
      cell_ = 0;
      schedule.devices.push_back(read_row(row));
      for (const Action& action : schedule.devices.back()) {
        schedule.stages = std::max(schedule.stages, action.stage + 1);
        schedule.microbatches = std::max(schedule.microbatches, action.microbatch + 1);
      }
    }
    require_filled(schedule);
    read_zero_bubble_notation(schedule);
    return schedule;
  }

 private:
  // A stage has all micro-batches, each with a forward and a backward: what follows makes tables of
  // that size.
  void require_filled(const Schedule& schedule) const {
    std::size_t cells = 0;
    for (const auto& device : schedule.devices) {
      cells += device.size();
    }
    const auto pairs =
        static_cast<std::size_t>(schedule.stages) * static_cast<std::size_t>(schedule.microbatches);
    constexpr std::size_t free = 65'536;  // where something is missing, the validator says what
    if (pairs > cells && pairs > free) {
      throw BadUse(fmt::format(
          "schedule {}: {} stages of {} micro-batches need at least {} cells, and it has {}: "
          "stages and micro-batches are numbered from 0, and each stage has them all",
          name_, schedule.stages, schedule.microbatches, pairs, cells));
    }
  }

  std::vector<Action> read_row(std::string_view row) {
    std::vector<Action> list;
    for (bool more = true; more;) {
      ++cell_;
      const std::string_view word = trimmed(first_part(row, ',', more));
      if (word.starts_with('(')) {
        read_overlap(word, list);
      } else if (!word.empty()) {
        list.push_back(read_action(word));
      }
    }
    return list;
  }

  void read_overlap(std::string_view word, std::vector<Action>& list) const {
    const std::size_t close = word.find(')');
    std::string_view pair = word.substr(1, close == word.npos ? close : close - 1);
    bool two = false;
    const std::string_view forward = first_part(pair, ';', two);
    if (close == word.npos || word.substr(close + 1) != overlap || !two ||
        pair.find(';') != pair.npos) {
      fail(word, "two actions computed together are written (2F5;1B3)OVERLAP_F_B");
    }
    list.push_back(read_action(trimmed(forward)));
    list.back().with_next = true;
    list.push_back(read_action(trimmed(pair)));
  }

  Action read_action(std::string_view word) const {
    Action action;
    const std::size_t kind = word.find_first_not_of("0123456789");
    const std::string_view rest = word.substr(std::min(kind, word.size()));
    if (std::ranges::any_of(communications, [&](auto name) { return rest.starts_with(name); })) {
      fail(word,
           "communication follows from the actions: leave such cells out (torch's "
           "compute-only file has none)");
    }
    const bool known = !rest.empty() && letters.find(rest.front()) != letters.npos;
    if (!known || !read_number(word.substr(0, kind), action.stage) ||
        !read_number(rest.substr(1), action.microbatch)) {
      fail(word, fmt::format("a cell is a stage, one of F, B, I, W, and a micro-batch, as 2F5, "
                             "both 0 to {}; or nothing",
                             most));
    }
    action.kind = static_cast<ActionKind>(letters.find(rest.front()));
    return action;
  }

  static bool read_number(std::string_view text, int& into) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, into);
    return read.ec == std::errc() && read.ptr == end && into >= 0 && into <= most;
  }

  static void read_zero_bubble_notation(Schedule& schedule) {
    std::set<std::pair<int, int>> split_in_two;
    for (const auto& list : schedule.devices) {
      for (const Action& action : list) {
        if (action.kind == ActionKind::input_gradient) {
          return;
        }
        if (action.kind == ActionKind::weight_gradient) {
          split_in_two.emplace(action.stage, action.microbatch);
        }
      }
    }
    for (auto& list : schedule.devices) {
      for (Action& action : list) {
        if (action.kind == ActionKind::backward &&
            split_in_two.contains({action.stage, action.microbatch})) {
          action.kind = ActionKind::input_gradient;
        }
      }
    }
  }

  [[noreturn]] void fail(std::string_view word, const std::string& why) const {
    throw BadUse(fmt::format("schedule {}, row {}, cell {}: \"{}\": {}", name_, row_, cell_,
                             escaped(shortened(word, 40)), why));
  }

  static constexpr std::string_view letters = "FBIW";  // in the order of ActionKind

  std::string_view name_;
  int row_ = 0;
  int cell_ = 0;
};

std::string cell_of(std::span<const Action> unit) {
  return unit.size() == 1 ? text_of(unit[0])
                          : fmt::format("({};{}){}", text_of(unit[0]), text_of(unit[1]), overlap);
}

}  // namespace

Schedule parse_schedule_csv(std::string_view text, std::string_view name) {
  return Reader(name).read(text);
}

Schedule read_schedule(const std::string& path) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{32} << 20;
  return parse_schedule_csv(read_file(path, "a schedule in CSV", most_bytes), path);
}

std::string csv_of(const Schedule& schedule) {
  const auto times = run_in_ticks(
      schedule, [](std::span<const Action>) { return 1; }, 0);
  std::string text;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    const std::span<const Action> list(schedule.devices[d]);
    std::int64_t column = 0;
    for (std::size_t i = 0; i < list.size();) {
      const auto unit = first_unit(list.subspan(i));
      text.append(static_cast<std::size_t>(times[d][i].start - column), ',');
      column = times[d][i].start;
      text += cell_of(unit);
      i += unit.size();
    }
    text += '\n';
  }
  return text;
}

}  // namespace ringside
