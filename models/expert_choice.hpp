// Which experts a token goes to, and which of its choices an expert has no room for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/router_config.hpp"

namespace ringside {

// The `top_k` experts with the largest keys, ascending; among equal keys the lowest index. With a
// limit of groups, of the groups whose two best keys (the only one, in a group of one) have the
// largest sums; among equal sums the lowest group.
std::vector<std::size_t> choose_experts(std::span<const double> keys, std::size_t top_k,
                                        const RouterConfig& config);

// The choices of the tokens here.
struct Routing {
  std::size_t tokens = 0;
  std::size_t top_k = 1;
  std::vector<std::int32_t> experts{};  // [tokens, top_k], ascending in a token; -1: dropped

  std::size_t dropped() const;
};

// Choices of an expert, counted: by expert.
using ExpertCounts = std::vector<std::int64_t>;

// Of tokens [first, first + tokens). What is dropped is not counted.
ExpertCounts count_choices(const Routing& routing, std::size_t experts, std::size_t first,
                           std::size_t tokens);
ExpertCounts count_choices(const Routing& routing, std::size_t experts);

// Of neighbours in a routing group.
struct RunCounts {
  std::size_t place = 0;  // of the first of them
  ExpertCounts counts{};
};

// Choices by the group's tokens before `place`, of which each run lies wholly on one side.
ExpertCounts counts_before(const std::vector<RunCounts>& group, std::size_t place,
                           std::size_t experts);

// ceil(tokens * top_k * factor / experts) (GShard, section 2.2).
std::int64_t expert_capacity(std::int64_t tokens, std::size_t top_k, double factor,
                             std::size_t experts);

// Of tokens [first, first + tokens), drops what passes the capacity of an expert: first come, first
// served, in the order of tokens. `before`: choices of the expert by tokens of the routing group
// that come before these.
void drop_beyond(std::int64_t capacity, const ExpertCounts& before, Routing& routing,
                 std::size_t first, std::size_t tokens);

}  // namespace ringside
