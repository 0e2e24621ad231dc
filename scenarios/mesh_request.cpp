// The flags of `mesh`.
#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/published_choice.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

namespace {

using Given = std::optional<std::string>;

constexpr int most_ranks = 65536;
constexpr int most_microbatches = 65536;
constexpr int most_samples = 1 << 24;
constexpr int most_tokens = 1 << 24;                // of a sample
constexpr std::size_t most_in_a_step = 1ULL << 32;  // so that no figure wraps

struct MeshWords {
  Given tp, cp, pp, dp, ep, order, ranks, rank, gpus_per_node;
  Given config, sequence, microbatches, batch;
  Given zero, cp_form, schedule, chunks;
  bool sp = false;
  bool json = false;
};

void declare(Flags& flags, MeshWords& words) {
  flags.value("--tp", "N", words.tp, "tensor parallelism; 1");
  flags.value("--cp", "N", words.cp, "context parallelism; 1");
  flags.value("--pp", "N", words.pp, "pipeline stages; 1");
  flags.value("--dp", "N", words.dp, "data parallelism; what the others leave of --ranks, or 1");
  flags.value("--ep", "N", words.ep, "expert parallelism, which divides dp x cp; 1");
  flags.value("--order", "AXES", words.order,
              "from inner to outer; tp-cp-pp-dp (DeepSeek-V3: tp-cp-dp-pp)");
  flags.value("--ranks", "N", words.ranks, "GPUs; tp x cp x pp x dp");
  flags.value("--gpus-per-node", "N", words.gpus_per_node, "ranks of a machine; 8");
  flags.value("--rank", "R", words.rank, "whose groups to show; 0");
  flags.value("--config", "NAME", words.config,
              joined(published_names()) + ", or a config.json; qwen3.8-27b");
  flags.value("--sequence", "N", words.sequence, "tokens of a sample; 4096");
  flags.value("--microbatches", "M", words.microbatches, "of a step and replica; 1");
  flags.value("--batch", "N", words.batch, "samples of a step, over all ranks; M x dp");
  flags.flag("--sp", words.sp, "sequence parallelism, with --tp");
  flags.value("--zero", "N", words.zero, "stage of ZeRO: 0 (none), 1, 2 or 3; 0");
  flags.value("--cp-form", "ring|ulysses", words.cp_form, "of context parallelism; ring");
  flags.value("--schedule", "NAME", words.schedule, joined(schedule_names()) + "; 1f1b");
  flags.value("--chunks", "V", words.chunks, "of interleaved: stages of a device; 2");
  flags.flag("--json", words.json, "one JSON document on stdout");
}

int number_or(const std::string& flag, const Given& given, int otherwise, int most) {
  return given ? integer_of(flag, *given, 1, most) : otherwise;
}

// The product may be more than an int holds.
void require_countable(const MeshShape& shape) {
  std::int64_t ranks = 1;
  for (const Axis axis : all_axes) {
    ranks *= shape.extent(axis);
    if (ranks > most_ranks) {
      throw BadUse("--tp, --cp, --pp and --dp make more than " + std::to_string(most_ranks) +
                   " ranks: make one of them smaller");
    }
  }
}

MeshShape shape_of(const MeshWords& words) {
  MeshShape shape{.tp = number_or("--tp", words.tp, 1, most_ranks),
                  .cp = number_or("--cp", words.cp, 1, most_ranks),
                  .pp = number_or("--pp", words.pp, 1, most_ranks),
                  .dp = number_or("--dp", words.dp, 1, most_ranks)};
  require_countable(shape);
  if (words.order) {
    try {
      shape.order = parse_order(*words.order);
    } catch (const BadUse& refusal) {
      throw BadUse("--order: " + std::string(refusal.what()));
    }
  }
  if (words.ranks && !words.dp) {
    shape.dp = std::max(1, integer_of("--ranks", *words.ranks, 1, most_ranks) / shape.ranks());
  }
  return shape;
}

PublishedModel model_of(const std::string& name) {
  return published_model(chosen_config("--config " + name, name));
}

MeshPlan plan_of(const MeshWords& words) {
  const std::string schedule = words.schedule.value_or("1f1b");
  MeshPlan plan{
      .mesh = shape_of(words),
      .ep = number_or("--ep", words.ep, 1, most_ranks),
      .sequence_parallel = words.sp,
      .cp_form =
          words.cp_form ? choice_of("--cp-form", *words.cp_form, {"ring", "ulysses"}) : "ring",
      .zero = words.zero ? integer_of("--zero", *words.zero, 0, 3) : 0,
      .schedule = choice_of("--schedule", schedule, schedule_names()),
      .chunks = number_or("--chunks", words.chunks, schedule == "interleaved" ? 2 : 1, 4096),
      .microbatches = number_or("--microbatches", words.microbatches, 1, most_microbatches)};
  plan.batch =
      words.batch
          ? static_cast<std::size_t>(integer_of("--batch", *words.batch, 1, most_samples))
          : static_cast<std::size_t>(plan.microbatches) * static_cast<std::size_t>(plan.mesh.dp);
  return plan;
}

MeshRequest request_of(const MeshWords& words) {
  MeshRequest request{.plan = plan_of(words),
                      .model = model_of(words.config.value_or("qwen3.8-27b")),
                      .json = words.json};
  const int ranks = number_or("--ranks", words.ranks, request.plan.mesh.ranks(), most_ranks);
  require_usable(request.plan, request.model, ranks);
  request.sequence =
      static_cast<std::size_t>(number_or("--sequence", words.sequence, 4096, most_tokens));
  if (request.plan.batch > most_in_a_step / request.sequence) {
    throw BadUse("a step of " + std::to_string(request.plan.batch) + " samples of " +
                 std::to_string(request.sequence) + " tokens has more than " +
                 std::to_string(most_in_a_step) + " tokens: make --batch or --sequence smaller");
  }
  request.cluster.gpus_per_node = number_or("--gpus-per-node", words.gpus_per_node, 8, most_ranks);
  request.rank = words.rank ? integer_of("--rank", *words.rank, 0, ranks - 1) : 0;
  return request;
}

}  // namespace

Asked<MeshRequest> asked_mesh(const std::vector<std::string>& words) {
  MeshWords given;
  Flags flags("mesh", "ringside mesh [flags]", meaning_of("mesh"), examples_of("mesh"));
  declare(flags, given);
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  return {request_of(given), {}};
}

}  // namespace ringside
