#include "parallel/plan_traffic.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>

#include "collectives/chunk.hpp"

namespace ringside {

namespace {

constexpr std::int64_t element = 2;  // bytes, bf16

std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

class RankPlan {
 public:
  RankPlan(const MeshPlan& plan, const PublishedModel& model, std::size_t sequence,
           const Cluster& cluster, int rank)
      : plan_(plan),
        config_(model.config),
        cluster_(cluster),
        mesh_(plan.mesh, rank),
        rank_(rank),
        share_(share_of(plan, model, rank)) {
    if (plan.mesh.pp > 1) {
      const Schedule schedule = schedule_of(plan);
      stages_ = schedule.stages;
      placement_.emplace(schedule);
    }
    const auto samples = chunk_of(plan.batch, plan.mesh.dp, mesh_.at(Axis::dp)).count;
    const std::int64_t cuts = plan.mesh.cp > 1 ? 2 * plan.mesh.cp : 1;  // zig-zag
    const std::int64_t of_sample =
        rounded_up(static_cast<std::int64_t>(sequence), cuts) / plan.mesh.cp;
    for (int m = 0; m < plan.microbatches; ++m) {
      const auto count = chunk_of(samples, plan.microbatches, m).count;
      rows_.push_back(static_cast<std::int64_t>(count) * of_sample);
    }
  }

  std::vector<PlannedSending> sendings() {
    tensor_parallel();
    context_parallel();
    pipeline();
    expert_parallel();
    data_parallel();
    return std::move(rows_of_table_);
  }

 private:
  void add(std::string group, std::vector<int> members, std::string operation, std::string what,
           std::string formula, std::int64_t bytes) {
    if (members.size() < 2 || bytes == 0) {
      return;
    }
    const LinkClass link = link_of(cluster_, members);
    rows_of_table_.push_back({.group = std::move(group),
                              .members = std::move(members),
                              .operation = std::move(operation),
                              .what = std::move(what),
                              .formula = std::move(formula),
                              .bytes = bytes,
                              .link = link,
                              .time = cluster_.link(link).duration(bytes)});
  }

  std::int64_t sequence_ranks() const { return plan_.sequence_parallel ? plan_.mesh.tp : 1; }

  std::int64_t hidden() const { return static_cast<std::int64_t>(config_.hidden); }

  // Reductions of the gradients in a step.
  std::int64_t reductions() const { return plan_.zero > 1 ? plan_.microbatches : 1; }

  bool runs(const StageShare& stage, int microbatch) const {
    return plan_.mesh.pp == 1 ||
           placement_->device_of(stage.stage, microbatch) == mesh_.at(Axis::pp);
  }

  // What of the micro-batches passes a stage here. `multiple`: to which each is padded.
  std::int64_t tokens(const StageShare& stage, std::int64_t multiple = 1) const {
    std::int64_t sum = 0;
    for (int m = 0; m < plan_.microbatches; ++m) {
      sum += runs(stage, m) ? rounded_up(rows_[static_cast<std::size_t>(m)], multiple) : 0;
    }
    return sum;
  }

  // Tokens, `what` times.
  template <class What>
  std::int64_t tokens_times(What what, std::int64_t multiple = 1) const {
    std::int64_t sum = 0;
    for (const StageShare& stage : share_.stages) {
      sum += static_cast<std::int64_t>(stage.*what) * tokens(stage, multiple);
    }
    return sum;
  }

  template <class What>
  std::int64_t count(What what) const {
    std::int64_t sum = 0;
    for (const StageShare& stage : share_.stages) {
      sum += static_cast<std::int64_t>(stage.*what);
    }
    return sum;
  }

  void tensor_parallel() {
    const std::int64_t t = plan_.mesh.tp;
    const auto members = mesh_.members({Axis::tp});
    const std::string operation =
        plan_.sequence_parallel ? "reduce_scatter + all_gather" : "all_reduce";
    const auto of = [&](auto what) {
      return 2 * (t - 1) * tokens_times(what, sequence_ranks()) * hidden() * element / t;
    };
    add("tp", members, operation, fmt::format("activations of {} layers", share_.blocks.size()),
        fmt::format("{} x 2(t-1)/t tokens h 2", 2 * count(&StageShare::seams)),
        2 * of(&StageShare::seams));
    add("tp", members, operation, "embedding", "2(t-1)/t tokens h 2", of(&StageShare::embedding));
    add("tp", members, operation, "head", "2(t-1)/t tokens h 2", of(&StageShare::head));
    add("tp", members, "all_reduce", "softmax", "2(t-1)/t tokens 24",
        2 * (t - 1) * tokens_times(&StageShare::head) * 24 / t);
    std::int64_t partial = 0;
    for (const auto& [elements, copies] : share_.partial) {
      partial += 2 * (copies - 1) * elements * element / copies;
    }
    add("tp", members, "all_reduce", "gradients of copies", "2(c-1)/c copies 2",
        partial * reductions());
  }

  void context_parallel() {
    const std::int64_t c = plan_.mesh.cp;
    const auto share = [&](std::size_t heads) {
      return std::max<std::int64_t>(static_cast<std::int64_t>(heads) / plan_.mesh.tp, 1);
    };
    const auto& latent = config_.latent;
    const std::size_t width = latent
                                  ? latent->plain_width + latent->rotary_width + latent->value_width
                                  : 2 * config_.head_width;  // of a key and a value
    const auto pair = static_cast<std::int64_t>(width);
    const std::int64_t kv = share(config_.kv_heads);
    const auto members = mesh_.members({Axis::cp});
    const std::string what = fmt::format("attention of {} layers", count(&StageShare::attentions));
    const std::int64_t rows = tokens_times(&StageShare::attentions);
    if (plan_.cp_form == "ring") {
      add("cp", members, "ring of K and V", what, "(c-1) B, then (c-1) B + c B",
          (3 * c - 2) * rows * kv * pair * element);
      return;
    }
    const std::int64_t columns = (share(config_.heads) + std::max(kv, c)) * pair;
    add("cp", members, "all_to_all", what, "2 (c-1)/c tokens (2 heads + 2 max(kv, c)) dim 2",
        2 * (c - 1) * rows * columns * element / c);
  }

  // Bytes to each device of the pipeline, forward and backward.
  void pipeline() {
    if (plan_.mesh.pp == 1) {
      return;
    }
    std::map<int, std::int64_t> forward;
    std::map<int, std::int64_t> backward;
    for (const StageShare& stage : share_.stages) {
      for (int m = 0; m < plan_.microbatches; ++m) {
        if (runs(stage, m)) {
          add_hop(forward, stage.stage + 1, m);
          add_hop(backward, stage.stage - 1, m);
        }
      }
    }
    add_sends(forward, "activations");
    add_sends(backward, "gradients of activations");
    copies_of_stages();
  }

  void add_hop(std::map<int, std::int64_t>& sent, int to_stage, int m) const {
    if (to_stage < 0 || to_stage == stages_) {
      return;
    }
    const int device = placement_->device_of(to_stage, m);
    if (device != mesh_.at(Axis::pp)) {
      const std::int64_t rows = rows_[static_cast<std::size_t>(m)];
      sent[device] += rounded_up(rows, sequence_ranks()) / sequence_ranks() * hidden() * element;
    }
  }

  void add_sends(const std::map<int, std::int64_t>& sent, const std::string& what) {
    const auto devices = mesh_.members({Axis::pp});
    for (const auto& [device, bytes] : sent) {
      const int peer = devices[static_cast<std::size_t>(device)];
      add("pp", {std::min(rank_, peer), std::max(rank_, peer)}, "send",
          fmt::format("{} to rank {}", what, peer),
          plan_.sequence_parallel ? "tokens h 2 / t" : "tokens h 2", bytes);
    }
  }

  void copies_of_stages() {
    const auto devices = mesh_.members({Axis::pp});
    const auto& holders = placement_->devices_of(share_.stages.front().stage);
    const std::int64_t pieces =
        plan_.zero > 0 ? std::int64_t{plan_.mesh.cp} * plan_.mesh.dp : std::int64_t{1};
    if (holders.size() > 1) {
      std::vector<int> members;
      for (const int device : holders) {
        members.push_back(devices[static_cast<std::size_t>(device)]);
      }
      add("pp", members, "all_reduce", "gradients of the two copies", "2(2-1)/2 params 2",
          (share_.dense + share_.experts) * element / pieces);
    } else {
      add("pp", {devices.front(), devices.back()}, "all_reduce", "gradients of the tied table",
          "2(2-1)/2 table 2", share_.tied_table * element / pieces);
    }
  }

  void expert_parallel() {
    const std::int64_t e = plan_.ep;
    const auto k = static_cast<std::int64_t>(config_.experts ? config_.experts->per_token : 0);
    const std::int64_t here =
        tokens_times(&StageShare::mixtures, sequence_ranks()) / sequence_ranks();
    add("ep", expert_group(mesh_, plan_.ep), "all_to_all",
        fmt::format("tokens of {} layer{}", count(&StageShare::mixtures),
                    count(&StageShare::mixtures) == 1 ? "" : "s"),
        "4 (e-1)/e tokens k h 2, uniform", 4 * (e - 1) * here * k * hidden() * element / e);
  }

  void data_parallel() {
    reduce("dp x cp", mesh_.members({Axis::cp, Axis::dp}), share_.dense, "params");
    reduce("expert dp", expert_data_group(mesh_, plan_.ep), share_.experts, "experts");
  }

  void reduce(const std::string& group, const std::vector<int>& members, std::int64_t elements,
              const std::string& of) {
    const auto n = static_cast<std::int64_t>(members.size());
    const auto sent = [&](std::int64_t passes) {
      const std::int64_t times_n = (n - 1) * elements * element;
      return passes * (times_n / n) + (passes * (times_n % n) + n / 2) / n;
    };
    if (plan_.zero == 0) {
      add(group, members, "all_reduce", "gradients", fmt::format("2(n-1)/n {} 2", of), sent(2));
      return;
    }
    const std::int64_t gathers = plan_.zero < 3 ? 1 : 2 * std::int64_t{plan_.microbatches};
    const auto formula = [&](std::int64_t passes) {
      return fmt::format("{}(n-1)/n {} 2", passes > 1 ? fmt::format("{} x ", passes) : "", of);
    };
    add(group, members, "reduce_scatter", "gradients", formula(reductions()), sent(reductions()));
    add(group, members, "all_gather", "parameters", formula(gathers), sent(gathers));
  }

  const MeshPlan& plan_;
  const PublishedConfig& config_;
  const Cluster& cluster_;
  Mesh mesh_;
  int rank_;
  PlanShare share_;
  int stages_ = 1;
  std::optional<StagePlacement> placement_;  // of a pipeline
  std::vector<std::int64_t> rows_;           // of each micro-batch
  std::vector<PlannedSending> rows_of_table_;
};

}  // namespace

LinkClass link_of(const Cluster& cluster, const std::vector<int>& members) {
  LinkClass link = LinkClass::self;
  for (const int member : members) {
    const LinkClass other = cluster.link_class(members.front(), member);
    if (other == LinkClass::ib || link == LinkClass::self) {
      link = other;
    }
  }
  return link;
}

std::vector<PlannedSending> planned_sendings(const MeshPlan& plan, const PublishedModel& model,
                                             std::size_t sequence, const Cluster& cluster,
                                             int rank) {
  return RankPlan(plan, model, sequence, cluster, rank).sendings();
}

}  // namespace ringside
