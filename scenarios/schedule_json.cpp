#include "scenarios/schedule_json.hpp"

namespace ringside {

namespace {

using Json = nlohmann::ordered_json;

Json document() {
  return {{"verb", "schedule"}, {"verdict", "pass"}};
}

// A whole number as an integer.
Json number_of(const Rational& value) {
  return value.denominator() == 1 ? Json(value.numerator()) : Json(value.value());
}

void add(Json& json, const std::string& key, const std::optional<Rational>& value) {
  json[key] = value ? number_of(*value) : Json();
  json[key + "_exact"] = value ? Json(value->text()) : Json();
}

Json costs_of(const ScheduleCosts& costs) {
  return {{"F", costs.forward.text()},
          {"I", costs.input_gradient.text()},
          {"W", costs.weight_gradient.text()},
          {"B", costs.backward().text()},
          {"send", costs.send.text()}};
}

void add_figures(Json& json, const TimedSchedule& timed) {
  const ScheduleTiming& t = timed.timing;
  add(json, "makespan", t.makespan());
  add(json, "busy", t.busy());
  add(json, "bubble", t.bubble());
  add(json, "bubble_inside_device", t.bubble_inside_device());
  add(json, "bubble_over_ideal", t.bubble_over_ideal());
  add(json, "bubble_over_total", t.bubble_over_total());
  add(json, "bubble_formula", timed.formula);
  if (timed.row != nullptr) {
    json["formula"] = timed.row->formula;
    json["formula_exact_for"] = timed.row->exact_for;
    json["formula_speaks_of"] = timed.row->inside_device ? "bubble_inside_device" : "bubble";
    json["formula_holds"] = *timed.formula == timed.bubble_of_formula();
    json["source"] = timed.row->source;
    json["parameter_copies"] = timed.row->copies;
  }
}

Json action_of(const TimedSchedule& timed, std::size_t device, std::size_t index) {
  const Action& action = timed.schedule.devices[device][index];
  const ActionTime& time = timed.timing.times[device][index];
  Json json{{"action", text_of(action)},
            {"kind", std::string(1, letter_of(action.kind))},
            {"stage", action.stage},
            {"microbatch", action.microbatch},
            {"with_next", action.with_next}};
  add(json, "start", timed.timing.in_units(time.start));
  add(json, "end", timed.timing.in_units(time.end));
  return json;
}

Json shape_of(const Schedule& schedule) {
  const StagePlacement placement(schedule);
  Json stages = Json::array();
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    stages.push_back(placement.stages_on(static_cast<int>(d)));
  }
  return {{"schedule", schedule.name},          {"stages", schedule.stages},
          {"devices", schedule.devices.size()}, {"microbatches", schedule.microbatches},
          {"chunks", schedule.chunks},          {"stages_on_device", std::move(stages)}};
}

}  // namespace

Json json_of(const TimedSchedule& timed) {
  Json json = document();
  json.update(shape_of(timed.schedule));
  json["costs"] = costs_of(timed.costs);
  add_figures(json, timed);
  json["peak_in_flight"] = {{"freed_at_I", timed.peaks.freed_at_I},
                            {"freed_at_W", timed.peaks.freed_at_W}};
  auto& devices = json["actions"] = Json::array();
  for (std::size_t d = 0; d < timed.schedule.devices.size(); ++d) {
    auto& list = devices.emplace_back(Json::array());
    for (std::size_t i = 0; i < timed.schedule.devices[d].size(); ++i) {
      list.push_back(action_of(timed, d, i));
    }
  }
  return json;
}

Json json_of(const std::vector<ComparedSchedule>& schedules, const PipelineShape& shape,
             const ScheduleCosts& costs) {
  Json json = document();
  json["stages"] = shape.stages;
  json["microbatches"] = shape.microbatches;
  json["costs"] = costs_of(costs);
  json["schedules"] = Json::array();
  for (const ComparedSchedule& schedule : schedules) {
    Json row{{"schedule", schedule.name}, {"chunks", schedule.chunks}};
    if (schedule.timed) {
      row["devices"] = schedule.timed->schedule.devices.size();
      add_figures(row, *schedule.timed);
      add(row, "peak_stages_freed_at_I", schedule.peak_freed_at_I());
      add(row, "peak_stages_freed_at_W", schedule.peak_freed_at_W());
    } else {
      row["refused"] = schedule.refusal;
    }
    json["schedules"].push_back(std::move(row));
  }
  return json;
}

Json schedule_list_json() {
  Json json = document();
  json["schedules"] = Json::array();
  for (const ScheduleRow& row : schedule_table()) {
    json["schedules"].push_back({{"schedule", row.name},
                                 {"takes", row.rule},
                                 {"formula", row.formula},
                                 {"formula_exact_for", row.exact_for},
                                 {"meaning", row.meaning},
                                 {"source", row.source},
                                 {"parameter_copies", row.copies}});
  }
  return json;
}

}  // namespace ringside
