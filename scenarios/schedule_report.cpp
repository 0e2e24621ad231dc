#include "scenarios/schedule_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "runtime/files/quoted.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {

namespace {

std::string counted(std::size_t count, std::string_view what, std::string_view many) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : many);
}

std::string headline(const TimedSchedule& timed) {
  const Schedule& schedule = timed.schedule;
  std::string text =
      fmt::format("{}: {} on {}, {}\n", escaped(schedule.name),
                  counted(static_cast<std::size_t>(schedule.stages), "stage", "s"),
                  counted(schedule.devices.size(), "device", "s"),
                  counted(static_cast<std::size_t>(schedule.microbatches), "micro-batch", "es"));
  if (timed.row != nullptr) {
    text += fmt::format("{} ({})\n", timed.row->meaning, timed.row->source);
  }
  text += "costs: " + text_of(timed.costs);
  if (schedule.chunks > 1) {
    text +=
        fmt::format("; a device's {0} stages share F, I and W: each costs 1/{0}", schedule.chunks);
  }
  return text + "\n\n";
}

std::string ratio_line(std::string_view name, const Rational& ratio, std::string_view meaning) {
  return fmt::format("  {:<21}{} = {}   {}\n", name, ratio.text(), share(ratio), meaning);
}

std::string figures(const TimedSchedule& timed) {
  const ScheduleTiming& t = timed.timing;
  std::string text = fmt::format("\n  {:<21}{} = busy {} + bubble {}\n", "makespan",
                                 t.makespan().text(), t.busy().text(), t.bubble().text());
  text += ratio_line("bubble over ideal", t.bubble_over_ideal(), "bubble / busy");
  text += ratio_line("bubble over total", t.bubble_over_total(), "bubble / makespan");
  text += fmt::format("  {:<21}{}   between a device's own first start and last end\n",
                      "bubble inside device", t.bubble_inside_device().text());
  if (timed.row != nullptr) {
    const bool equal = *timed.formula == timed.bubble_of_formula();
    text += fmt::format("  {:<21}{}: {}, exact for {}; {}\n", "formula", timed.row->formula,
                        timed.formula->text(), timed.row->exact_for,
                        equal ? std::string("as timed")
                              : fmt::format("timed {}", timed.bubble_of_formula().text()));
  }
  return text +
         "  B is the whole backward, I + W. (The Zero Bubble papers call I by the letter B.)\n";
}

std::string listed(const std::vector<int>& stages) {
  return fmt::format("{}", fmt::join(stages, ", "));
}

std::string devices(const TimedSchedule& timed) {
  const bool chunks = timed.schedule.chunks > 1;
  const std::string most = chunks ? "most chunks held" : "most activations held";
  TextTable table({{.title = "device"},
                   {.title = "stages", .left = true},
                   {.title = "busy"},
                   {.title = "bubble"},
                   {.title = "inside"},
                   {.title = "freed at I", .group = most},
                   {.title = "freed at W", .group = most}});
  const StagePlacement placement(timed.schedule);
  const ScheduleTiming& t = timed.timing;
  for (std::size_t d = 0; d < timed.schedule.devices.size(); ++d) {
    table.add({std::to_string(d), listed(placement.stages_on(static_cast<int>(d))),
               t.in_units(t.busy_ticks[d]).text(),
               t.in_units(t.makespan_ticks - t.busy_ticks[d]).text(),
               t.in_units(t.inside_ticks[d]).text(), std::to_string(timed.peaks.freed_at_I[d]),
               std::to_string(timed.peaks.freed_at_W[d])});
  }
  return "\n" + table.text();
}

}  // namespace

std::string report_of(const TimedSchedule& timed, const GanttOptions& gantt) {
  return headline(timed) + gantt_of(timed, gantt) + figures(timed) + devices(timed);
}

std::string text_of(const ScheduleCosts& costs) {
  return fmt::format("F = {}, I = {}, W = {}, B = I + W = {}{}", costs.forward.text(),
                     costs.input_gradient.text(), costs.weight_gradient.text(),
                     costs.backward().text(),
                     costs.send == Rational(0) ? "" : ", a send " + costs.send.text());
}

std::string share(const Rational& ratio) {
  return fmt::format("{:.1f} %", 100 * ratio.value());
}

std::string schedule_list() {
  std::string text;
  for (const ScheduleRow& row : schedule_table()) {
    text +=
        fmt::format("  {:<12} {}\n{:15}takes {}\n{:15}bubble {}, exact for {}\n{:15}{}\n", row.name,
                    row.meaning, "", row.rule, "", row.formula, row.exact_for, "", row.source);
  }
  return text +
         "\n  p stages, m micro-batches, B = I + W. A CSV file of yours is timed like these: "
         "`ringside schedule FILE`.\n";
}

}  // namespace ringside
