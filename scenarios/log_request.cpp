// The flags of `log`.

#include <limits>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/requests.hpp"

namespace ringside {
namespace {

using Given = std::optional<std::string>;

constexpr int largest = std::numeric_limits<int>::max();

}  // namespace

Asked<LogRequest> asked_log(const std::vector<std::string>& after_verb) {
  LogRequest request;
  Given run, rank, op, group, step, link, label, by, top;
  Flags flags("log", "ringside log RUN [flags]", meaning_of("log"), examples_of("log"));
  flags.word("RUN", run, "a run folder, its traffic.jsonl, or latest: the last run under ./runs");
  flags.value("--rank", "R", rank, "sent or received by this rank");
  flags.value("--op", "NAME", op, "of this operation, such as all_reduce");
  flags.value("--group", "NAME", group, "in this group, such as dp");
  flags.value("--step", "K", step, "in this step of its operation");
  flags.value("--link", "nvlink|ib|self", link, "over links of this class");
  flags.value("--label", "NAME", label, "of this label, such as grad.bucket.0 or grad.*");
  flags.value("--by", "operation|label", by, "what the first table sums by; operation");
  flags.value("--top", "N", top, "only the N largest");
  flags.flag("--matrix", request.matrix, "bytes from each rank to each rank");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(after_verb)) {
    return {std::nullopt, flags.help()};
  }
  if (!run) {
    throw BadUse("log: which run? Give its folder, as `ringside run` prints it");
  }
  request.run = *run;
  request.op = op.value_or("");
  request.group = group.value_or("");
  request.label = label.value_or("");
  request.by_label = by && choice_of("--by", *by, {"operation", "label"}) == "label";
  if (rank) {
    request.rank = integer_of("--rank", *rank, 0, largest);
  }
  if (step) {
    request.step = integer_of("--step", *step, 0, largest);
  }
  if (link) {
    request.link = choice_of("--link", *link, {"nvlink", "ib", "self"});
  }
  if (top) {
    request.top = integer_of("--top", *top, 1, largest);
  }
  return {request, {}};
}

}  // namespace ringside
