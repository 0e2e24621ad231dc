// A pipeline beside its schedule: the modelled time of a step, the bubble in it, and the
// micro-batches that every device held.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "parallel/pipeline/in_flight.hpp"
#include "parallel/pipeline/timing.hpp"
#include "runtime/errors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/plural.hpp"

namespace ringside {

namespace {

// From the first start to the last end of the first step, over the devices.
Time makespan_of(const TrainingOutcome& outcome) {
  Time start = outcome.ranks.front().front().start;
  Time end{0};
  for (const auto& rank : outcome.ranks) {
    start = std::min(start, rank.front().start);
    end = std::max(end, rank.front().backward_end);
  }
  return end - start;
}

ScheduleTiming timing_of(const Settings& s, const Schedule& schedule) {
  return time_of(schedule, {.forward = s.costs.forward.count(),
                            .input_gradient = s.costs.input_gradient.count(),
                            .weight_gradient = s.costs.weight_gradient.count()});
}

// The bubble of the run, all waiting of the device that does least, over `part`.
Check bubble(const char* name, const ScheduleTiming& timing, Time makespan, Rational formula,
             bool of_total) {
  const Rational busy = timing.busy();
  const Rational run = Rational(makespan.count()) - busy;
  const Rational share = of_total ? run / Rational(makespan.count()) : run / busy;
  return holds(name, share == formula, fmt::format("{} = {:.4f}", share.text(), share.value()),
               "= " + formula.text(),
               of_total ? "waiting over the whole step" : "waiting over computing");
}

Checks check_time(const CheckContext& context, const Schedule& schedule) {
  const Settings& s = context.settings;
  const auto is_free = [](const auto& link) {
    return link.bandwidth == Rate{} && link.latency == Time{0};
  };
  const bool free_links = is_free(s.links.nvlink) && (s.cluster.nodes == 1 || is_free(s.links.ib));
  if (!s.costs.fixed() || !free_links) {
    return {
        {.name = "pipeline.makespan",
         .measured = to_string(makespan_of(context.main)),
         .gate = "the schedule's",
         .verdict = CheckVerdict::not_applicable,
         .note = "the schedule's time is of fixed costs.F, I and W and of links that take none"}};
  }
  const ScheduleTiming timing = timing_of(s, schedule);
  const Time makespan = makespan_of(context.main);
  Settings other = s;
  other.parallel.schedule = s.parallel.schedule == "naive" ? "gpipe" : "naive";
  other.parallel.chunks = 1;
  const Rational of_other = timing_of(other, schedule_of(other)).makespan();
  const std::string seen = to_string(makespan);
  Check control = holds("control.time_of_another_schedule", Rational(makespan.count()) != of_other,
                        seen, "other than " + other.parallel.schedule + "'s",
                        "the same comparison, with the time of another schedule");
  control.control = true;
  if (timing.makespan() == of_other) {
    control.verdict = CheckVerdict::not_applicable;
    control.note =
        fmt::format("with {} {} takes as long",
                    plural(s.parallel.microbatches, "micro-batch", "es"), other.parallel.schedule);
  }
  return {holds("pipeline.makespan", Rational(makespan.count()) == timing.makespan(), seen,
                "= " + to_string(Time(static_cast<std::int64_t>(timing.makespan().value()))),
                "modelled, of the first step, to the picosecond"),
          bubble("pipeline.bubble_over_ideal", timing, makespan, timing.bubble_over_ideal(), false),
          bubble("pipeline.bubble_over_total", timing, makespan, timing.bubble_over_total(), true),
          control};
}

Check check_in_flight(const CheckContext& context, const Schedule& schedule) {
  const auto expected = peak_in_flight(schedule).freed_at_W;
  StageSplit seen;
  bool equal = true;
  for (std::size_t r = 0; r < context.main.ranks.size(); ++r) {
    const Mesh mesh = mesh_of(context.settings, static_cast<int>(r));
    const auto device = static_cast<std::size_t>(mesh.at(Axis::pp));
    const int held = context.main.ranks[r].back().peak_in_flight;
    equal = equal && held == expected[device];
    if (mesh.at(Axis::tp) + mesh.at(Axis::cp) + mesh.at(Axis::dp) == 0) {
      seen.push_back(static_cast<std::size_t>(held));
    }
  }
  const StageSplit all(expected.begin(), expected.end());
  return holds("pipeline.in_flight", equal, split_text(seen, ","), "= " + split_text(all, ","),
               "activations of a stage and micro-batch that a device held at once, freed at W; "
               "every rank");
}

// Sends that wait for their receiver must deadlock 1f1b, and be named: a stage sends its second
// micro-batch on while the next one sends the gradient of the first back.
Check check_blocking(const CheckContext& context) {
  if (context.settings.parallel.microbatches == 1) {
    return control_changes_nothing("blocking_sends",
                                   "one micro-batch goes one way and then the other: no two stages "
                                   "send to each other at once");
  }
  std::string seen = "went on";
  try {
    CheckContext unbuffered = context;
    unbuffered.options.eager_limit = 0;
    unbuffered.run(context.settings, context.truth, Fault::blocking_sends);
  } catch (const Deadlock&) {
    seen = "deadlock";
  }
  Check check = holds("control.blocking_sends", seen == "deadlock", seen, "deadlock",
                      "every send waits for its receiver, and nothing is buffered");
  check.control = true;
  return check;
}

// Bytes that the devices of the pipeline of rank 0 sent to each other, in order.
std::vector<std::int64_t> sent_between_stages(const Settings& s, const TrainingOutcome& outcome) {
  std::vector<std::int64_t> sent;
  for (const int r : mesh_of(s, 0).members({Axis::pp})) {
    std::int64_t bytes = 0;
    for (const auto& sum : outcome.job.ranks[static_cast<std::size_t>(r)].report.sums) {
      const bool send = std::string_view(sum.group) == "pp" && std::string_view(sum.label).empty();
      bytes += send ? sum.sent_bytes : 0;
    }
    sent.push_back(bytes);
  }
  return sent;
}

// v stages a device: a device between the ends sends v times as much as with one, and all together
// (p v - 1) / (p - 1) times.
Checks check_messages(const CheckContext& context) {
  const Settings& s = context.settings;
  Settings one = s;
  one.parallel.schedule = "1f1b";
  one.parallel.chunks = 1;
  const auto here = sent_between_stages(s, context.main);
  const auto there = sent_between_stages(one, context.run(one, context.truth));
  const int p = s.parallel.pp;
  const int v = s.parallel.chunks;
  std::int64_t all = 0;
  std::int64_t all_of_one = 0;
  std::int64_t differing = 0;
  for (std::size_t d = 0; d < here.size(); ++d) {
    all += here[d];
    all_of_one += there[d];
    const bool end = d == 0 || d + 1 == here.size();
    differing += !end && here[d] != v * there[d] ? 1 : 0;
  }
  const Rational ratio(all, all_of_one);
  return {equal("pipeline.devices_without_v_times", differing, 0, "devices",
                "between the ends, beside 1f1b"),
          holds("pipeline.bytes_over_1f1b", ratio == Rational(p * v - 1, p - 1), ratio.text(),
                fmt::format("= ({} * {} - 1)/({} - 1)", p, v, p), "all devices together")};
}

// The same model with layers dealt out in the other way.
Check check_balance(const CheckContext& context) {
  const Settings& s = context.settings;
  Settings other = s;
  const bool by_cost = s.parallel.stages == "cost";
  other.parallel.stages = by_cost ? "number" : "cost";
  const Time here = makespan_of(context.main);
  const Time there = makespan_of(context.run(other, context.truth));
  const bool same = split_of(s, schedule_of(s).stages) == split_of(other, schedule_of(s).stages);
  Check check = beside("pipeline.balance", here, by_cost ? Than::less : Than::more, there, "",
                       "modelled, the first step; the other figure has " + stages_text(other));
  if (same) {
    check.verdict = CheckVerdict::not_applicable;
    check.note = "both ways of dealing out the layers give " + stages_text(s);
  }
  return check;
}

}  // namespace

Checks check_pipeline(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.pp == 1) {
    return {{.name = "pipeline.makespan",
             .measured = "parallel.pp = 1",
             .gate = "2 or more",
             .verdict = CheckVerdict::not_applicable}};
  }
  const Schedule schedule = schedule_of(s);
  Checks checks = check_time(context, schedule);
  checks.push_back(check_in_flight(context, schedule));
  checks.push_back({.name = "pipeline.stages",
                    .measured = stages_text(s),
                    .gate = "reported",
                    .verdict = CheckVerdict::pass,
                    .note = "embedding, blocks, final norm and head"});
  const bool pair = !s.checks.peer.empty() && peer_of(s).parallel.stages != s.parallel.stages;
  if (pair) {
    checks.push_back(check_balance(context));
  }
  if (s.parallel.schedule == "interleaved") {
    const Checks messages = check_messages(context);
    checks.insert(checks.end(), messages.begin(), messages.end());
  }
  if (s.parallel.schedule == "1f1b") {
    checks.push_back(check_blocking(context));
  }
  return checks;
}

}  // namespace ringside
