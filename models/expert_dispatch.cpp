#include "models/expert_dispatch.hpp"

#include <numeric>

#include "models/expert_rows.hpp"

namespace ringside {

namespace {

// All experts are here: rows are copied, and nothing travels.
class LocalRoutes : public ExpertRoutes {
 public:
  LocalRoutes(Device device, const Routing& routing, std::span<const std::size_t> order)
      : device_(device),
        tokens_(routing.tokens),
        top_k_(routing.top_k),
        choices_(choices_by_expert(routing, order, order.size())) {
    for (const std::size_t choice : choices_) {
      token_of_.push_back(choice / top_k_);
    }
    const ExpertCounts counts = count_choices(routing, order.size());
    std::size_t first = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
      const auto count = static_cast<std::size_t>(counts[order[place]]);
      if (count > 0) {
        segments_.push_back({place, first, count});
      }
      first += count;
    }
  }

  const std::vector<ExpertSegment>& segments() const override { return segments_; }

  std::size_t rows() const override { return choices_.size(); }

  Arriving to_experts(const Tensor& tokens, std::string_view /*label*/) override {
    return arrived(take_rows(device_.memory, tokens, token_of_));
  }

  Arriving from_experts(const Tensor& rows, std::string_view /*label*/) override {
    return arrived(add_rows(device_.memory, rows, token_of_, tokens_));
  }

  Tensor weights_to_experts(const Tensor& weights, std::string_view /*label*/) override {
    return take_rows(device_.memory, weights.view(0, {weights.count(), 1}, weights.name()),
                     choices_);
  }

  Tensor weights_from_experts(const Tensor& of_rows, std::string_view /*label*/) override {
    const Tensor sums = add_rows(device_.memory, of_rows, choices_, tokens_ * top_k_);
    return sums.view(0, {tokens_, top_k_}, sums.name());
  }

 private:
  static Arriving arrived(Tensor tensor) {
    return [tensor = std::move(tensor)] { return tensor; };
  }

  Device device_;
  std::size_t tokens_;
  std::size_t top_k_;
  std::vector<std::size_t> choices_;
  std::vector<std::size_t> token_of_;
  std::vector<ExpertSegment> segments_;
};

}  // namespace

std::vector<std::size_t> ExpertDispatch::experts_here(std::size_t experts) const {
  std::vector<std::size_t> all(experts);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<TokenRun> ExpertDispatch::tokens_here(std::size_t rows,
                                                  const Sequences* /*sequences*/) const {
  return {{.row = 0, .count = rows, .place = 0}};
}

std::vector<RunCounts> ExpertDispatch::group_counts(const std::vector<RunCounts>& here,
                                                    std::string_view /*label*/) {
  return here;
}

std::unique_ptr<ExpertRoutes> ExpertDispatch::route(Device device, const Routing& routing,
                                                    std::size_t experts,
                                                    std::string_view /*label*/) {
  return std::make_unique<LocalRoutes>(device, routing, ExpertDispatch::experts_here(experts));
}

}  // namespace ringside
