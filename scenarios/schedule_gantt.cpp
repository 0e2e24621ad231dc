#include "scenarios/schedule_gantt.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace ringside {

namespace {

constexpr std::size_t least_columns = 40;
constexpr std::size_t most_panels = 4;  // of time, one below the other

class Gantt {
 public:
  Gantt(const TimedSchedule& timed, const GanttOptions& options)
      : timed_(timed), options_(options), placement_(timed.schedule) {
    label_ = fmt::format("  {} ", timed.schedule.devices.size() - 1).size();
    room_ = std::max(options.columns, label_ + least_columns) - label_;
    for (const auto& device : timed.timing.times) {
      for (const ActionTime& time : device) {
        cell_ = std::gcd(cell_, std::gcd(time.start, time.end));
      }
    }
    cells_ = static_cast<std::size_t>(timed.timing.makespan_ticks / cell_);
  }

  std::string text() const {
    const std::size_t width = widest_name() + 1;
    return cells_ * width <= room_ ? with_names(width) : with_letters();
  }

 private:
  std::string name(std::size_t device, const Action& action) const {
    const bool one = placement_.stages_on(static_cast<int>(device)).size() == 1;
    return one ? text_of(action).substr(std::to_string(action.stage).size()) : text_of(action);
  }

  std::size_t widest_name() const {
    std::size_t widest = 0;
    for (std::size_t d = 0; d < timed_.schedule.devices.size(); ++d) {
      for (const Action& action : timed_.schedule.devices[d]) {
        widest = std::max(widest, name(d, action).size());
      }
    }
    return widest;
  }

  std::string coloured(ActionKind kind, const std::string& text) const {
    constexpr const char* codes[] = {"\033[34m", "\033[32m", "\033[36m", "\033[33m"};
    return options_.colour ? codes[static_cast<std::size_t>(kind)] + text + "\033[0m" : text;
  }

  std::string named_row(std::size_t d, std::size_t width) const {
    std::string row;
    std::size_t at = 0;
    const auto wait_until = [&](std::size_t cell) {
      for (; at < cell; ++at) {
        row += fmt::format("{:<{}}", ".", width);
      }
    };
    const auto& list = timed_.schedule.devices[d];
    for (std::size_t i = 0; i < list.size(); ++i) {
      const ActionTime& time = timed_.timing.times[d][i];
      wait_until(static_cast<std::size_t>(time.start / cell_));
      const std::size_t last = static_cast<std::size_t>(time.end / cell_);
      if (last > at) {
        row += coloured(list[i].kind,
                        fmt::format("{:-<{}}", name(d, list[i]), (last - at) * width - 1));
        row += list[i].with_next ? '&' : ' ';
        at = last;
      }
    }
    wait_until(cells_);
    return row.substr(0, row.find_last_not_of(' ') + 1);
  }

  std::string with_names(std::size_t width) const {
    std::string text;
    for (std::size_t d = 0; d < timed_.schedule.devices.size(); ++d) {
      text += label(d) + named_row(d, width) + '\n';
    }
    const bool stage = several();
    return text + letters_mean() +
           fmt::format("  {}F0 is micro-batch 0{}; a column takes {}{}\n", stage ? "0" : "",
                       stage ? " in stage 0" : "", in_units(1).text(),
                       together() ? "; & joins what is computed together" : "");
  }

  std::string with_letters() const {
    const bool fits = cells_ <= most_panels * room_;
    const std::size_t per_column = fits ? 1 : (cells_ + room_ - 1) / room_;
    std::vector<std::vector<Letter>> rows;
    for (std::size_t d = 0; d < timed_.schedule.devices.size(); ++d) {
      rows.push_back(letters(d, per_column));
    }
    std::string text;
    for (std::size_t first = 0; first < rows[0].size(); first += room_) {
      text += first > 0 ? fmt::format("\n  from {} on\n", in_units(first * per_column).text()) : "";
      for (std::size_t d = 0; d < rows.size(); ++d) {
        text += label(d) + slice(rows[d], first, std::min(first + room_, rows[d].size())) + '\n';
      }
    }
    return text + letters_mean() +
           fmt::format("  a column takes {}{}{}\n", in_units(per_column).text(),
                       several() ? "; small letters: other stages than the device's first" : "",
                       per_column > 1 ? "; it shows what its middle falls in" : "");
  }

  struct Letter {
    char shown = '.';
    std::optional<ActionKind> kind{};
  };

  std::string slice(const std::vector<Letter>& row, std::size_t first, std::size_t last) const {
    std::string text;
    for (std::size_t c = first; c < last; ++c) {
      const std::string shown(1, row[c].shown);
      text += row[c].kind ? coloured(*row[c].kind, shown) : shown;
    }
    return text;
  }

  // What each column shows.
  std::vector<Letter> letters(std::size_t d, std::size_t per_column) const {
    const auto& list = timed_.schedule.devices[d];
    const auto& times = timed_.timing.times[d];
    const std::int64_t column = cell_ * static_cast<std::int64_t>(per_column);
    std::vector<Letter> row((cells_ + per_column - 1) / per_column);
    std::size_t i = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::int64_t middle = static_cast<std::int64_t>(c) * column + column / 2;
      while (i < list.size() && times[i].end <= middle) {
        ++i;
      }
      if (i < list.size() && times[i].start <= middle) {
        const char letter = letter_of(list[i].kind);
        const bool small = list[i].stage != list.front().stage;
        row[c] = {static_cast<char>(small ? letter | 0x20 : letter), list[i].kind};
      }
    }
    return row;
  }

  std::string label(std::size_t device) const { return fmt::format("{:>{}} ", device, label_ - 1); }

  Rational in_units(std::size_t cells) const {
    return timed_.timing.in_units(cell_ * static_cast<std::int64_t>(cells));
  }

  static std::string letters_mean() {
    return "\n  F forward, B whole backward = I + W, I input gradient, W weight gradient, . "
           "waiting\n";
  }

  bool several() const { return placement_.stages_on(0).size() > 1; }

  bool together() const {
    return std::ranges::any_of(timed_.schedule.devices, [](const auto& list) {
      return std::ranges::any_of(list, &Action::with_next);
    });
  }

  const TimedSchedule& timed_;
  const GanttOptions& options_;
  StagePlacement placement_;
  std::size_t label_ = 0;  // columns before a row
  std::size_t room_ = 0;   // columns of a row
  std::int64_t cell_ = 0;  // ticks; all starts and ends are multiples
  std::size_t cells_ = 0;  // of the makespan
};

}  // namespace

std::string gantt_of(const TimedSchedule& timed, const GanttOptions& options) {
  return Gantt(timed, options).text();
}

}  // namespace ringside
