// Buckets: how many there are, what messages and bytes they cost, beside a count of its own, made
// from the sizes of tensors alone and not with the function that cuts them for the run.
#include <numeric>
#include <set>

#include "scenarios/checks.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/control.hpp"
#include "scenarios/model_settings.hpp"

namespace ringside {

namespace {

// Elements of each bucket: what closes before it would pass the limit, from the last layer on.
std::vector<std::size_t> elements_by_count(const Settings& s) {
  const auto most = static_cast<std::size_t>(s.dp.bucket.count / element_of(s));
  const auto layers = part_counts_of(s);
  std::vector<std::size_t> elements;
  bool open = false;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    open = open && s.dp.bucket_by == "size";
    for (const std::size_t tensor : *layer) {
      if (!open || elements.back() + tensor > most) {
        elements.push_back(0);
        open = true;
      }
      elements.back() += tensor;
    }
  }
  return elements;
}

struct Cost {
  std::int64_t buckets = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  // sent, padding included
};

// Of all ranks: a ring takes 2(p-1) steps, and in each every rank sends a chunk of a bucket.
Cost by_count(const Settings& s) {
  const auto p = static_cast<std::size_t>(s.ranks);
  const std::size_t unit = std::lcm(p, static_cast<std::size_t>(s.dp.alignment));
  Cost cost;
  for (const std::size_t elements : elements_by_count(s)) {
    const auto padded = static_cast<std::int64_t>((elements + unit - 1) / unit * unit);
    ++cost.buckets;
    cost.bytes += std::int64_t{2} * (s.ranks - 1) * padded * element_of(s);
  }
  const std::int64_t times = std::int64_t{reductions_of(s)} * s.train.steps;
  cost.messages = cost.buckets * s.ranks * 2 * (s.ranks - 1) * times;
  cost.bytes *= times;
  return cost;
}

Cost seen_in(const JobResult& job) {
  Cost cost;
  std::set<std::string> labels;
  for (const auto& rank : job.ranks) {
    for (const auto& sum : rank.report.sums) {
      const std::string label{std::string_view(sum.label)};
      if (label.starts_with("grad.bucket.")) {
        labels.insert(label);
        cost.messages += sum.sent_messages;
        cost.bytes += sum.sent_bytes;
      }
    }
  }
  cost.buckets = static_cast<std::int64_t>(labels.size());
  return cost;
}

// Why nothing is known of the buckets; empty: all is.
std::string unknown(const Settings& s) {
  const auto& p = s.parallel;
  if (s.ranks == 1) {
    return "one rank sends nothing";
  }
  if (p.tp * p.cp * p.pp > 1 || p.zero > 0 || has_experts(s)) {
    return "the count is of plain data parallelism";
  }
  return s.collectives.all_reduce == "ring"
             ? ""
             : "the count is of a ring, not of " + s.collectives.all_reduce;
}

// The control: a run that cuts them by the other rule has another number.
Check other_rule(const CheckContext& context, const Cost& expected) {
  Settings other = context.settings;
  other.dp.bucket_by = other.dp.bucket_by == "size" ? "layer" : "size";
  const std::string name = "control.buckets_by_" + other.dp.bucket_by;
  if (by_count(other).buckets == expected.buckets) {
    return control_changes_nothing("buckets_by_" + other.dp.bucket_by,
                                   "both rules make as many of these tensors");
  }
  const Cost seen = seen_in(context.run(other, context.truth).job);
  const bool caught = seen.buckets != expected.buckets && seen.messages != expected.messages;
  return {.name = name,
          .measured = seen.buckets,
          .gate = "other than " + std::to_string(expected.buckets) + " buckets",
          .verdict = caught ? CheckVerdict::pass : CheckVerdict::fail,
          .control = true,
          .note = std::to_string(seen.messages) + " messages"};
}

}  // namespace

Checks check_buckets(const CheckContext& context) {
  const Settings& s = context.settings;
  if (const std::string reason = unknown(s); !reason.empty()) {
    return {{.name = "buckets",
             .measured = "no count",
             .gate = "a ring all-reduce of plain data parallelism",
             .verdict = CheckVerdict::not_applicable,
             .note = reason}};
  }
  const Cost expected = by_count(s);
  const Cost seen = seen_in(context.main.job);
  return {equal("buckets.number", seen.buckets, expected.buckets, "buckets",
                "counted from the sizes of tensors, by " + s.dp.bucket_by),
          equal("buckets.messages", seen.messages, expected.messages, "messages",
                "a bucket 2(p-1) of each of p ranks"),
          equal("buckets.bytes", seen.bytes, expected.bytes, "bytes",
                "sent by all ranks, a bucket padded to a multiple of p"),
          other_rule(context, expected)};
}

}  // namespace ringside
