#include "parallel/mesh_plan.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>

#include "models/gpt_cut.hpp"
#include "models/published_cut.hpp"
#include "parallel/context/context_parallel.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// "1, 2, 4" out of 1 … most.
std::string choices(std::size_t most, const std::function<bool(std::size_t)>& usable) {
  std::string list;
  for (std::size_t n = 1; n <= most; ++n) {
    if (usable(n)) {
      list += (list.empty() ? "" : ", ") + std::to_string(n);
    }
  }
  return list;
}

void require_pipeline(const MeshPlan& plan, std::size_t blocks) {
  if (plan.mesh.pp > 1) {
    require_blocks(blocks, schedule_of(plan).stages);
  } else if (plan.chunks > 1) {
    throw BadUse(
        fmt::format("chunks = {} cut the stage of a pipeline, but pp = 1: make pp 2 or "
                    "more, or chunks 1",
                    plan.chunks));
  }
}

void require_experts(const MeshPlan& plan, std::size_t experts) {
  expert_group(Mesh(plan.mesh, 0), plan.ep);
  if (plan.ep == 1) {
    return;
  }
  if (experts == 0) {
    throw BadUse(fmt::format(
        "ep = {} spreads experts, but the model has none: make ep 1, or take a model with experts",
        plan.ep));
  }
  const auto ep = static_cast<std::size_t>(plan.ep);
  if (experts % ep != 0) {
    const auto replicas = static_cast<std::size_t>(plan.mesh.cp * plan.mesh.dp);
    throw BadUse(fmt::format(
        "experts = {} cannot be divided over ep = {} ranks: of dp x cp = {} ranks ep may be {}",
        experts, ep, replicas,
        choices(replicas, [&](std::size_t n) { return experts % n == 0 && replicas % n == 0; })));
  }
}

void require_step(const MeshPlan& plan) {
  if (plan.sequence_parallel && plan.mesh.tp == 1) {
    throw BadUse(
        "sequence parallelism divides the tokens of tensor-parallel ranks, but tp = 1: make tp 2 "
        "or more, or leave it off");
  }
  if (plan.zero < 0 || plan.zero > 3) {
    throw BadUse(fmt::format("zero = {}: stages are 1, 2 and 3, and 0 is none", plan.zero));
  }
  if (plan.microbatches < 1) {
    throw BadUse(fmt::format("microbatches = {}: at least 1", plan.microbatches));
  }
  if (plan.batch < static_cast<std::size_t>(plan.microbatches)) {
    throw BadUse(
        fmt::format("a batch of {0} samples cannot fill {1} micro-batches: at most {0} "
                    "micro-batches, or a batch of {1}",
                    plan.batch, plan.microbatches));
  }
}

// The measures that constrain a plan, as a GPT has them.
GptConfig measures_of(const PublishedConfig& config) {
  return {.layers = config.layers,
          .hidden = config.hidden,
          .heads = config.heads,
          .kv_heads = config.kv_heads,
          .head_dim = config.head_width,
          .ffn = config.ffn,
          .vocab = config.vocab,
          .tied = config.tied,
          .dtype = DType::bf16};
}

}  // namespace

PipelineShape pipeline_shape(const MeshPlan& plan) {
  return {.stages = plan.schedule == "dualpipev" ? 2 * plan.mesh.pp : plan.mesh.pp,
          .microbatches = plan.microbatches,
          .chunks = plan.chunks};
}

Schedule schedule_of(const MeshPlan& plan) {
  return make_schedule(plan.schedule, pipeline_shape(plan));
}

void require_usable(const MeshPlan& plan, const GptConfig& model, int ranks, std::size_t experts) {
  require_usable(plan.mesh, ranks);
  require_usable(model, plan.mesh.tp);
  require_step(plan);
  require_usable(model, plan.mesh.tp, parse_context_form(plan.cp_form), plan.mesh.cp);
  require_pipeline(plan, model.layers);
  require_experts(plan, experts);
}

void require_usable(const MeshPlan& plan, const PublishedModel& model, int ranks) {
  const auto& config = model.config;
  require_usable(plan, measures_of(config), ranks, config.experts ? config.experts->routed : 0);
  for (const PublishedLayer& layer : model.layers) {
    for (const PublishedTensor& tensor : layer.tensors) {
      share_of(tensor, {.rank = 0, .ranks = plan.mesh.tp}, layer.kind);
    }
  }
}

}  // namespace ringside
