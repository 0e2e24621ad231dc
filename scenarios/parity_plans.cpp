#include "scenarios/parity_plans.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "parallel/mesh.hpp"
#include "parallel/pipeline/generators.hpp"

namespace ringside {

namespace {

struct ContextChoice {
  const char* form;
  const char* layout;
};

constexpr std::array context_choices{ContextChoice{"ring", "zigzag"},
                                     ContextChoice{"ring", "contiguous"},
                                     ContextChoice{"ulysses", "zigzag"}};
constexpr int zero_stages = 4;  // 0: none

// A vocabulary that no degree divides, KV heads fewer than heads, and several buckets.
Settings small_gpt(int ranks) {
  Settings s;
  s.ranks = ranks;
  s.cluster.nodes = (ranks + s.cluster.gpus_per_node - 1) / s.cluster.gpus_per_node;
  s.model.kind = "gpt";
  s.model.hidden = 32;
  s.model.layers = 8;
  s.model.heads = 8;
  s.model.kv_heads = 4;
  s.model.ffn = 48;
  s.model.vocab = 259;
  s.model.sequence = 16;
  s.dp.bucket = Bytes{64 << 10};
  s.train.steps = 2;
  s.train.batch = 2 * ranks;
  return s;
}

std::vector<int> divisors(int n) {
  std::vector<int> all;
  for (int d = 1; d <= n; ++d) {
    if (n % d == 0) {
      all.push_back(d);
    }
  }
  return all;
}

int largest_divisor(int n, int most) {
  int largest = 1;
  for (const int d : divisors(n)) {
    largest = d <= most ? d : largest;
  }
  return largest;
}

std::vector<MeshShape> meshes(int ranks) {
  std::vector<MeshShape> all;
  for (const int tp : divisors(ranks)) {
    for (const int cp : divisors(ranks / tp)) {
      for (const int pp : divisors(ranks / tp / cp)) {
        all.push_back({.tp = tp, .cp = cp, .pp = pp, .dp = ranks / tp / cp / pp});
      }
    }
  }
  return all;
}

// What can be chosen on a mesh; an axis of one rank leaves nothing to choose.
struct Choices {
  std::size_t zero = 0;
  std::size_t sp = 0;
  std::size_t schedule = 0;
  std::size_t context = 0;
};

Choices how_many(const MeshShape& mesh) {
  return {.zero = zero_stages,
          .sp = mesh.tp > 1 ? 2U : 1U,
          .schedule = mesh.pp > 1 ? schedule_table().size() : 1U,
          .context = mesh.cp > 1 ? context_choices.size() : 1U};
}

Settings settings_of(const MeshShape& mesh, const Choices& chosen = {}) {
  Settings s = small_gpt(mesh.ranks());
  auto& p = s.parallel;
  p.tp = mesh.tp;
  p.cp = mesh.cp;
  p.pp = mesh.pp;
  p.dp = mesh.dp;
  p.zero = static_cast<int>(chosen.zero);
  p.sp = chosen.sp == 1;
  p.cp_form = context_choices.at(chosen.context).form;
  p.cp_layout = context_choices.at(chosen.context).layout;
  p.microbatches = 2 * mesh.pp;
  if (mesh.pp > 1) {
    p.schedule = schedule_table()[chosen.schedule].name;
    p.chunks = p.schedule == "interleaved" ? 2 : 1;
  }
  return s;
}

void add_every_choice(std::vector<ParityPlan>& plans, const MeshShape& mesh) {
  const Choices many = how_many(mesh);
  for (std::size_t zero = 0; zero < many.zero; ++zero) {
    for (std::size_t sp = 0; sp < many.sp; ++sp) {
      for (std::size_t schedule = 0; schedule < many.schedule; ++schedule) {
        for (std::size_t context = 0; context < many.context; ++context) {
          plans.push_back({settings_of(mesh, {zero, sp, schedule, context})});
        }
      }
    }
  }
}

Settings next_in_turn(const MeshShape& mesh, Choices& next) {
  const Choices many = how_many(mesh);
  const Settings s =
      settings_of(mesh, {next.zero % many.zero, next.sp % many.sp, next.schedule % many.schedule,
                         next.context % many.context});
  ++next.zero;
  next.sp += many.sp > 1;
  next.schedule += many.schedule > 1;
  next.context += many.context > 1;
  return s;
}

Settings with_experts(Settings s, int ep) {
  s.model.experts = 8;
  s.model.capacity = 1.25;
  s.model.balance = 0.01;
  s.parallel.ep = ep;
  return s;
}

// Dispatched by node, and overlapped where micro-batches can be paired.
void add_ways(std::vector<ParityPlan>& plans, Settings s) {
  s.parallel.dispatch = "by_node";
  plans.push_back({s});
  s.parallel.ep_overlap = true;
  if (s.parallel.pp == 1) {
    plans.push_back({s});
  }
}

// On every mesh one plan: the other choices in turn, and ep too. In full, with every ep, and its
// ways on data-parallel ranks alone.
void add_experts(std::vector<ParityPlan>& plans, int ranks, bool full) {
  Choices next;
  std::size_t turn = 0;
  for (const MeshShape& mesh : meshes(ranks)) {
    const auto degrees = divisors(mesh.cp * mesh.dp);
    for (std::size_t e = 0; e < degrees.size(); ++e) {
      if (full || e == turn % degrees.size()) {
        plans.push_back({with_experts(next_in_turn(mesh, next), degrees[e])});
      }
    }
    if (degrees.size() > 1) {
      ++turn;
    }
  }
  for (const int ep : divisors(ranks)) {
    if (full) {
      add_ways(plans, with_experts(settings_of({.dp = ranks}), ep));
    }
  }
}

void add_controls(std::vector<ParityPlan>& plans, int ranks) {
  const auto add = [&](const Settings& s, Fault fault, std::string_view name) {
    plans.push_back({s, fault, name});
  };
  const int half = ranks % 2 == 0 && ranks > 2 ? ranks / 2 : ranks;
  const int rest = ranks / half;
  const int ep = divisors(ranks).at(1);
  const Settings dp = settings_of({.dp = ranks});
  add(dp, Fault::contribution_lost, "contribution_lost");
  add(dp, Fault::weights_not_broadcast, "weights_not_broadcast");
  add(settings_of({.dp = ranks}, {.zero = 1}), Fault::shard_offset_wrong, "shard_offset_wrong");
  add(settings_of({.dp = ranks}, {.zero = 3}), Fault::parameters_not_gathered,
      "parameters_not_gathered");
  const int heads = largest_divisor(ranks, dp.model.heads);
  const Settings tp = settings_of({.tp = heads, .dp = ranks / heads}, {.sp = heads > 1 ? 1U : 0U});
  add(tp, Fault::leave_not_reduced, "leave_not_reduced");
  add(tp, Fault::replicated_gradient_not_summed, "replicated_gradient_not_summed");
  add(tp, Fault::padding_counted, "padding_counted");
  const Settings cp = settings_of({.cp = ranks});
  add(cp, Fault::kv_hop_skipped, "kv_hop_skipped");
  add(cp, Fault::kv_gradient_lost, "kv_gradient_lost");
  const Settings pp = settings_of({.pp = rest, .dp = half});
  add(pp, Fault::sum_not_mean, "sum_not_mean");
  add(settings_of({.tp = half, .pp = rest}), Fault::norm_counted_per_rank, "norm_counted_per_rank");
  const Settings experts = with_experts(settings_of({.dp = ranks}), ep);
  add(experts, Fault::expert_gradient_divided, "expert_gradient_divided");
  add(experts, Fault::dispatch_offset_wrong, "dispatch_offset_wrong");
  const int two = ranks % 4 == 0 ? 2 : 1;
  const Settings product = with_experts(settings_of({.tp = two, .cp = two, .dp = ranks / two / two},
                                                    {.zero = 1, .sp = two > 1 ? 1U : 0U}),
                                        ranks / two);
  add(product, Fault::expert_gradient_divided, "expert_gradient_divided");
  add(product, Fault::dropped_kept, "dropped_kept");
}

}  // namespace

std::string plan_name(const Settings& s) {
  const auto& p = s.parallel;
  std::string name;
  const auto axis = [&](const char* axis_name, int degree, const std::string& how) {
    if (degree > 1) {
      name += fmt::format("{}{} {}{}", name.empty() ? "" : " x ", axis_name, degree, how);
    }
  };
  axis("tp", p.tp, p.sp ? " with SP" : "");
  axis("cp", p.cp, p.cp_form == "ring" ? " (ring, " + p.cp_layout + ")" : " (ulysses)");
  axis("pp", p.pp, " (" + p.schedule + ")");
  axis("dp", p.dp, "");
  if (s.model.experts > 0) {
    name +=
        fmt::format(", {} experts over ep {}{}{}", s.model.experts, p.ep,
                    p.dispatch == "straight" ? "" : " by node", p.ep_overlap ? ", overlapped" : "");
  }
  return name + (p.zero > 0 ? fmt::format(", ZeRO {}", p.zero) : "");
}

std::vector<ParityPlan> parity_plans(int ranks, bool full) {
  std::vector<ParityPlan> plans;
  Choices next;
  for (const MeshShape& mesh : meshes(ranks)) {
    if (full) {
      add_every_choice(plans, mesh);
    } else {
      plans.push_back({next_in_turn(mesh, next)});
    }
  }
  add_experts(plans, ranks, full);
  add_controls(plans, ranks);
  return plans;
}

}  // namespace ringside
