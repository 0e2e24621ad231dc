#include "parallel/expert/flat_routes.hpp"

#include "models/expert_rows.hpp"

namespace ringside {

FlatRoutes::FlatRoutes(Comm& group, DeviceMemory& memory, const Routing& routing,
                       const ExpertOrder& order, const std::string& algorithm,
                       std::string_view label, bool shift)
    : memory_(memory),
      tokens_(routing.tokens),
      top_k_(routing.top_k),
      choices_(choices_by_expert(routing, order.experts, order.of_all)) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::size_t each = order.experts.size() / ranks;
  const ExpertCounts chosen = count_choices(routing, order.of_all);
  std::vector<std::int64_t> mine;
  for (const std::size_t e : order.experts) {
    mine.push_back(chosen[e]);
  }
  const auto theirs = exchange_counts(group, mine, algorithm, std::string(label) + ".counts");
  RowExchange::Copies copies{.sends = std::vector<std::size_t>(ranks),
                             .receives = std::vector<std::size_t>(ranks)};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    copies.sends[i / each] += static_cast<std::size_t>(mine[i]);
    copies.receives[i / each] += static_cast<std::size_t>(theirs[i]);
  }
  for (const std::size_t choice : choices_) {
    copies.rows.push_back(choice / top_k_);
  }
  exchange_ = std::make_unique<RowExchange>(group, memory, std::move(copies), algorithm);
  cut_segments(theirs, each, shift);
}

// `counts`: [ranks, experts here].
void FlatRoutes::cut_segments(const std::vector<std::int64_t>& counts, std::size_t experts_here,
                              bool shift) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<std::size_t>(counts[i]);
    if (count > 0) {
      segments_.push_back({(i + (shift ? 1 : 0)) % experts_here, first, count});
    }
    first += count;
  }
}

Arriving FlatRoutes::to_experts(const Tensor& tokens, std::string_view label) {
  return exchange_->out(tokens, label);
}

Arriving FlatRoutes::from_experts(const Tensor& rows, std::string_view label) {
  return exchange_->back(rows, tokens_, label);
}

Tensor FlatRoutes::weights_to_experts(const Tensor& weights, std::string_view label) {
  const Tensor column = weights.view(0, {weights.count(), 1}, weights.name());
  return exchange_->copies_out(take_rows(memory_, column, choices_), label)();
}

Tensor FlatRoutes::weights_from_experts(const Tensor& of_rows, std::string_view label) {
  const Tensor sums =
      add_rows(memory_, exchange_->copies_back(of_rows, label)(), choices_, tokens_ * top_k_);
  return sums.view(0, {tokens_, top_k_}, sums.name());
}

}  // namespace ringside
