#include "scenarios/two_streams_scenario.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <sstream>

#include "parallel/two_streams.hpp"
#include "runtime/errors.hpp"
#include "runtime/launch.hpp"
#include "scenarios/duration_formula.hpp"
#include "scenarios/plural.hpp"

namespace ringside {

namespace {

constexpr std::int64_t ring_bytes = 40'000;     // of a message, as the scenario's file says
constexpr std::int64_t direct_bytes = 15'000;   // the same
constexpr std::int64_t operations = 2'000'000;  // of the product: 2 x 100 x 100 x 100

// The four durations that all ends are sums of.
struct Durations {
  Time a, b, t, latency;

  // The order of events in which the closed form was worked out.
  bool as_worked_out() const {
    return t > Time{0} && t < a && b <= a - t && a - t <= 2 * b && a - t <= latency && 2 * b < a &&
           a <= 3 * b;
  }

  // See the comment in scenarios/time/two_streams.toml.
  TwoStreamsTimes ends() const {
    return {.product = t,
            .direct = a + 2 * b + latency,
            .ring = 3 * a - 2 * b + 2 * latency,
            .direct_again = 2 * a + 2 * b + 2 * latency};
  }
};

Durations durations_of(const Settings& s) {
  const auto& link = s.links.nvlink;
  return {.a = duration_by_formula(ring_bytes, link.bandwidth),
          .b = duration_by_formula(direct_bytes, link.bandwidth),
          .t = duration_by_formula(operations, s.cluster.flops),
          .latency = link.latency};
}

struct Outcome {
  JobResult job;
  TwoStreamsTimes times{};  // of rank 0
  bool alike = true;        // on all ranks
};

Outcome run(const Settings& s, JobOptions options, TwoStreamsForm form) {
  options.cluster = cluster_of(s);
  Outcome outcome{.job = run_job(s.ranks, options, [&](Rank& rank) {
                    const auto times = run_two_streams(rank, form);
                    return fmt::format("{} {} {} {}", times.product.count(), times.direct.count(),
                                       times.ring.count(), times.direct_again.count());
                  })};
  if (!outcome.job.ok()) {
    outcome.job.raise();
  }
  std::array<std::int64_t, 4> t{};
  std::istringstream(outcome.job.ranks.front().value) >> t[0] >> t[1] >> t[2] >> t[3];
  outcome.times = {Time(t[0]), Time(t[1]), Time(t[2]), Time(t[3])};
  for (const auto& rank : outcome.job.ranks) {
    outcome.alike = outcome.alike && rank.value == outcome.job.ranks.front().value;
  }
  return outcome;
}

std::string text_of(const TwoStreamsTimes& times) {
  return fmt::format("{}, {}, {}", to_string(times.direct), to_string(times.ring),
                     to_string(times.direct_again));
}

Check end(const std::string& what, Time measured, Time expected, std::string note) {
  return equal("time.two_streams." + what, measured.count(), expected.count(), "ps",
               std::move(note));
}

Check caught(const std::string& fault, const TwoStreamsTimes& seen, const TwoStreamsTimes& right) {
  return {.name = "control." + fault,
          .measured = text_of(seen),
          .gate = "caught by = " + text_of(right),
          .verdict = seen == right ? CheckVerdict::fail : CheckVerdict::pass,
          .control = true};
}

Checks controls(const Settings& s, const JobOptions& options, const TwoStreamsTimes& right) {
  const auto times = [&](TwoStreamsForm form) { return run(s, options, form).times; };
  TwoStreamsTimes alone = times(TwoStreamsForm::direct_alone);
  alone.ring = times(TwoStreamsForm::ring_alone).ring;
  return {caught("unlimited_concurrency", alone, right),
          caught("one_queue", times(TwoStreamsForm::one_group), right),
          caught("gaps_are_load", times(TwoStreamsForm::ring_in_a_burst), right),
          caught("debts_unpaid", times(TwoStreamsForm::as_announced), right)};
}

Checks checks_of(const Settings& s, const JobOptions& options, const Outcome& outcome) {
  const Durations d = durations_of(s);
  if (!d.as_worked_out()) {
    return {{.name = "time.two_streams",
             .measured = text_of(outcome.times),
             .gate = "closed form: t < a, b <= a - t <= 2 b, a - t <= latency, 2 b < a <= 3 b",
             .verdict = CheckVerdict::not_applicable,
             .note = fmt::format("a = {}, b = {}, t = {}, latency {}: with these the two streams "
                                 "meet in another order than the one that was worked out",
                                 to_string(d.a), to_string(d.b), to_string(d.t),
                                 to_string(d.latency))}};
  }
  const TwoStreamsTimes right = d.ends();
  const TwoStreamsTimes& seen = outcome.times;
  Checks checks{end("product", seen.product, right.product, "t = 2 x 100^3 operations"),
                end("direct", seen.direct, right.direct, "a + 2 b + latency"),
                end("ring", seen.ring, right.ring, "3 a - 2 b + 2 latency"),
                end("direct_again", seen.direct_again, right.direct_again, "2 a + 2 b + 2 latency"),
                holds("time.two_streams.ranks", outcome.alike, outcome.alike ? "alike" : "differ",
                      "alike", "the four times, on every rank")};
  for (auto& control : controls(s, options, right)) {
    checks.push_back(std::move(control));
  }
  return checks;
}

std::vector<TrafficComparison> traffic(const JobResult& job) {
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < TwoStreams::ranks; ++r) {
    constexpr std::int64_t formula = 2 * (ring_bytes + 2 * direct_bytes);
    TrafficComparison row{.rank = r,
                          .operation = "all_gather",
                          .label = "round, first, second",
                          .formula = "(p-1) (40,000 + 2 x 15,000)",
                          .sent_formula = formula,
                          .received_formula = formula};
    for (const auto& sum : job.ranks[static_cast<std::size_t>(r)].report.sums) {
      row.sent += sum.sent_bytes;
      row.received += sum.received_bytes;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

void require_two_streams(const Settings& s) {
  if (s.ranks != TwoStreams::ranks || cluster_of(s).nodes(s.ranks) != 1) {
    throw BadUse(fmt::format(
        "parallel.streams = {}: its times are worked out for 3 ranks in one node, but there are {} "
        "on {}: set cluster.nodes = 1 and cluster.gpus_per_node = 3",
        s.parallel.streams, plural(s.ranks, "rank"), plural(cluster_of(s).nodes(s.ranks), "node")));
  }
}

RunReport run_two_streams_scenario(const Settings& s, const JobOptions& options) {
  JobOptions quiet = options;
  quiet.log = LogLevel::none;
  quiet.trace = false;
  quiet.live = false;
  const Outcome outcome = run(s, options, TwoStreamsForm::shared);
  return {.settings = s,
          .headline = fmt::format("{}: two groups of the same 3 ranks on one port: an all-gather "
                                  "round a ring, and two direct ones behind each other",
                                  s.name),
          .checks = checks_of(s, quiet, outcome),
          .traffic = traffic(outcome.job),
          .job = outcome.job};
}

}  // namespace ringside
