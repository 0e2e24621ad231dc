#include "scenarios/schedule_verb.hpp"

#include <iostream>

#include "parallel/pipeline/schedule_csv.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/text_file.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/schedule_compare.hpp"
#include "scenarios/schedule_json.hpp"
#include "scenarios/schedule_report.hpp"
#include "scenarios/schedule_svg.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {

namespace {

TimedSchedule timed_of(const ScheduleRequest& request) {
  if (!request.file) {
    return timed(request.name, request.shape, request.costs, request.in_flight);
  }
  Schedule schedule = read_schedule(request.name);
  schedule.chunks = request.shape.chunks;
  return timed(std::move(schedule), request.costs, request.in_flight);
}

void write(const std::string& path, const std::string& text) {
  TextFile file(path);
  file.write(text);
  file.close();
}

GanttOptions gantt_options() {
  GanttOptions options{.colour = stdout_has_colour()};
  if (const std::size_t columns = stdout_columns(); columns > 0) {
    options.columns = columns;
  }
  return options;
}

int show_one(const ScheduleRequest& request) {
  const TimedSchedule timed = timed_of(request);
  if (!request.svg.empty()) {
    write(request.svg, svg_of(timed));
  }
  if (!request.csv.empty()) {
    write(request.csv, csv_of(timed.schedule));
  }
  if (request.json) {
    std::cout << printed_json(json_of(timed));
    return exit_ok;
  }
  std::cout << report_of(timed, gantt_options());
  if (!request.svg.empty()) {
    std::cout << "drawing: " << printable(request.svg) << '\n';
  }
  if (!request.csv.empty()) {
    std::cout << "schedule: " << printable(request.csv) << '\n';
  }
  return exit_ok;
}

int show_all(const ScheduleRequest& request) {
  const auto schedules = compared(request.shape, request.costs);
  if (request.json) {
    std::cout << printed_json(json_of(schedules, request.shape, request.costs));
  } else {
    std::cout << comparison_of(schedules, request.shape, request.costs);
  }
  return exit_ok;
}

}  // namespace

int schedule_verb(const ScheduleRequest& request) {
  switch (request.what) {
    case ScheduleRequest::What::one:
      return show_one(request);
    case ScheduleRequest::What::compare:
      return show_all(request);
    default:
      std::cout << (request.json ? printed_json(schedule_list_json()) : schedule_list());
      return exit_ok;
  }
}

}  // namespace ringside
