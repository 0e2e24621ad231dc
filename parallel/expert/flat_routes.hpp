// Tokens straight to the ranks of their experts: a row for each choice, in one all-to-all.
#pragma once

#include "parallel/expert/row_exchange.hpp"

namespace ringside {

// The experts of a group, by rank: as many on each.
struct ExpertOrder {
  std::vector<std::size_t> experts;
  std::size_t of_all = 0;  // experts there are
};

class FlatRoutes : public ExpertRoutes {
 public:
  // Tells the ranks how many rows they will get of each expert: 8 bytes an expert and pair of
  // ranks, under "<label>.counts". `shift`: a deliberate fault, by which the counts of a rank's
  // experts are read one expert further on.
  FlatRoutes(Comm& group, DeviceMemory& memory, const Routing& routing, const ExpertOrder& order,
             const std::string& algorithm, std::string_view label, bool shift = false);

  const std::vector<ExpertSegment>& segments() const override { return segments_; }

  std::size_t rows() const override { return exchange_->received(); }

  Arriving to_experts(const Tensor& tokens, std::string_view label) override;
  Arriving from_experts(const Tensor& rows, std::string_view label) override;
  Tensor weights_to_experts(const Tensor& weights, std::string_view label) override;
  Tensor weights_from_experts(const Tensor& of_rows, std::string_view label) override;

 private:
  void cut_segments(const std::vector<std::int64_t>& counts, std::size_t experts_here, bool shift);

  DeviceMemory& memory_;
  std::size_t tokens_;
  std::size_t top_k_;
  std::vector<std::size_t> choices_;  // in [tokens, top_k], by expert
  std::unique_ptr<RowExchange> exchange_;
  std::vector<ExpertSegment> segments_;
};

}  // namespace ringside
