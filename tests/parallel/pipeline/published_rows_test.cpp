// Every row of schedules.tsv: makespan, bubbles, formula and activations in flight, as fractions.
// The table was computed apart from this program; its column B is our I, and "-nosplit" rows are
// variants that no generator makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/in_flight.hpp"
#include "parallel/pipeline/validate.hpp"

namespace ringside {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, '\t');) {
    parts.push_back(part);
  }
  return parts;
}

std::vector<Row> rows() {
  std::ifstream file(RINGSIDE_SOURCE_DIR "/tests/parallel/pipeline/schedules.tsv");
  std::string line;
  std::getline(file, line);
  const auto titles = cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const auto values = cells(line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < titles.size(); ++i) {
      row[titles[i]] = values.at(i);
    }
  }
  return rows;
}

std::string listed(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) {
    text += (text.empty() ? "" : ",") + std::to_string(value);
  }
  return text;
}

void expect_row(Row row) {
  std::string name = row["schedule"];
  std::ranges::replace(name, '-', '_');
  const PipelineShape shape{.stages = std::stoi(row["stages_p"]),
                            .microbatches = std::stoi(row["m"]),
                            .chunks = std::stoi(row["v"])};
  const ScheduleCosts costs{.forward = parse_rational(row["F"]),
                            .input_gradient = parse_rational(row["B"]),
                            .weight_gradient = parse_rational(row["W"])};
  SCOPED_TRACE(name + " p=" + row["stages_p"] + " m=" + row["m"] + " v=" + row["v"] +
               " B=" + row["B"]);
  const Schedule schedule = make_schedule(name, shape);
  EXPECT_NO_THROW(require_valid(schedule));
  const ScheduleTiming timing = time_of(schedule, costs);
  const PeakInFlight peaks = peak_in_flight(schedule);
  EXPECT_EQ(std::to_string(schedule.devices.size()), row["devices"]);
  EXPECT_EQ(timing.makespan().text(), row["makespan"]);
  EXPECT_EQ(timing.bubble().text(), row["bubble"]);
  EXPECT_EQ(timing.bubble_inside_device().text(), row["bubble_inside_device"]);
  EXPECT_EQ(schedule_row(name).bubble(shape, costs).text(), row["formula_value"]);
  EXPECT_EQ(listed(peaks.freed_at_I), row["peak_inflight_freed_at_B"]);
  EXPECT_EQ(listed(peaks.freed_at_W), row["peak_inflight_freed_at_W"]);
}

TEST(PublishedSchedules, EveryRowOfTheTableIsReproduced) {
  int compared = 0;
  for (const Row& row : rows()) {
    if (row.at("schedule").find("nosplit") == std::string::npos) {
      expect_row(row);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 124);
}

}  // namespace
}  // namespace ringside
