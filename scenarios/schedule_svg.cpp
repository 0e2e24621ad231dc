#include "scenarios/schedule_svg.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

#include "scenarios/schedule_report.hpp"
#include "scenarios/svg_ring.hpp"

namespace ringside {

namespace {

constexpr double edge = 16;
constexpr double label = 64;  // width before a row
constexpr double row_height = 24;
constexpr double letter = 6.6;     // of 11 px
constexpr double widest = 2400;    // of the rows
constexpr double usual_cell = 24;  // of the shortest action

constexpr std::string_view style = R"(<style>
text{font:11px system-ui,"DejaVu Sans",sans-serif;fill:#1b1f24}
.title{font-size:15px;font-weight:600}
.note{fill:#57606a}
.box{stroke:#fff;stroke-width:.6}
.other{stroke:#1b1f24}
.F{fill:#a9c9f0}
.B{fill:#a5d8b0}
.I{fill:#8fd5d0}
.W{fill:#f5cf87}
.idle{fill:#eef0f2}
.in{text-anchor:middle}
</style>
)";

class Drawing {
 public:
  explicit Drawing(const TimedSchedule& timed) : timed_(timed), placement_(timed.schedule) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (const auto& device : timed.timing.times) {
      for (const ActionTime& time : device) {
        if (time.end > time.start) {
          shortest = std::min(shortest, time.end - time.start);
        }
      }
    }
    const auto makespan = static_cast<double>(timed.timing.makespan_ticks);
    scale_ = std::min(usual_cell / static_cast<double>(shortest), widest / makespan);
    rows_width_ = scale_ * makespan;
  }

  std::string text() {
    const Schedule& schedule = timed_.schedule;
    body_ += at("title", edge, edge + 12,
                fmt::format("{}: {} stages on {} devices, {} micro-batches", schedule.name,
                            schedule.stages, schedule.devices.size(), schedule.microbatches));
    double y = edge + 28;
    for (std::size_t d = 0; d < schedule.devices.size(); ++d, y += row_height) {
      draw_row(d, y);
    }
    y = legend(y + 20);
    for (const std::string& line : figures()) {
      body_ += at("note", edge, y, line);
      y += 18;
    }
    const double width = std::max(2 * edge + label + rows_width_, 720.0);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}<rect "
        "width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}</svg>\n",
        width, y + edge, style, body_);
  }

 private:
  static std::string at(std::string_view kind, double x, double y, std::string_view text) {
    return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                       xml_escaped(text));
  }

  void draw_row(std::size_t d, double y) {
    body_ += at("", edge, y + 15, fmt::format("device {}", d));
    body_ += fmt::format(
        "<rect class=\"idle\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{}\"/>\n",
        edge + label, y, rows_width_, row_height - 4);
    const auto& list = timed_.schedule.devices[d];
    for (std::size_t i = 0; i < list.size(); ++i) {
      draw_action(list[i], timed_.timing.times[d][i], list.front().stage, d, y);
    }
  }

  void draw_action(const Action& action, const ActionTime& time, int first_stage, std::size_t d,
                   double y) {
    const double x = edge + label + scale_ * static_cast<double>(time.start);
    const double width = scale_ * static_cast<double>(time.end - time.start);
    body_ += fmt::format(
        "<rect class=\"box {}{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{}\"><title>{} on device {}: {} to {}</title></rect>\n",
        letter_of(action.kind), action.stage == first_stage ? "" : " other", x, y, width,
        row_height - 4, text_of(action), d, timed_.timing.in_units(time.start).text(),
        timed_.timing.in_units(time.end).text());
    const std::string name = std::to_string(action.microbatch);
    if (letter * static_cast<double>(name.size()) < width) {
      body_ += at("in", x + width / 2, y + 14, name);
    }
  }

  double legend(double y) {
    constexpr std::pair<std::string_view, std::string_view> kinds[] = {
        {"F", "F forward"},
        {"B", "B whole backward = I + W"},
        {"I", "I input gradient"},
        {"W", "W weight gradient"},
        {"idle", "waiting"}};
    double x = edge;
    for (const auto& [kind, text] : kinds) {
      body_ += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" "
          "height=\"12\"/>\n",
          kind, x, y - 10);
      body_ += at("", x + 16, y, text);
      x += 30 + letter * static_cast<double>(text.size());
    }
    return y + 22;
  }

  std::vector<std::string> figures() const {
    const ScheduleTiming& t = timed_.timing;
    return {
        "costs: " + text_of(timed_.costs) +
            (placement_.stages_on(0).size() > 1 ? "; framed: other stages than the device's first"
                                                : ""),
        fmt::format("makespan {} = busy {} + bubble {}; inside a device {}", t.makespan().text(),
                    t.busy().text(), t.bubble().text(), t.bubble_inside_device().text()),
        fmt::format("bubble over ideal (bubble / busy) {} = {}; bubble over total (bubble / "
                    "makespan) {} = {}",
                    t.bubble_over_ideal().text(), share(t.bubble_over_ideal()),
                    t.bubble_over_total().text(), share(t.bubble_over_total()))};
  }

  const TimedSchedule& timed_;
  StagePlacement placement_;
  double scale_ = 1;  // pixels of a tick
  double rows_width_ = 0;
  std::string body_;
};

}  // namespace

std::string svg_of(const TimedSchedule& timed) {
  return Drawing(timed).text();
}

}  // namespace ringside
