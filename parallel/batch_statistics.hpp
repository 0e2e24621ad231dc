// Statistics of a batch that data-parallel ranks share: their sums are all-reduced, so that a layer
// sees the rows of all ranks ("SyncBatchNorm" in PyTorch).
#pragma once

#include <string>

#include "models/batch_sums.hpp"
#include "runtime/comm.hpp"

namespace ringside {

class BatchStatistics : public BatchSums {
 public:
  // `group` outlives it.
  BatchStatistics(Comm& group, std::string all_reduce)
      : group_(group), all_reduce_(std::move(all_reduce)) {}

  // Waits for the sum: nothing can be normalised before. Labelled "<label>.statistics".
  void add_up(std::span<double> sums, std::string_view label) override;

 private:
  Comm& group_;
  std::string all_reduce_;
};

}  // namespace ringside
