// Sums of a micro-batch that a layer's result depends on, where several ranks may have parts of it.
#pragma once

#include <span>
#include <string_view>

namespace ringside {

// By default nobody else has a part.
class BatchSums {
 public:
  virtual ~BatchSums() = default;

  // In place: each rank's sums become those of all ranks. Every rank calls it, rows or none.
  // `label`: the layer's name.
  virtual void add_up(std::span<double> /*sums*/, std::string_view /*label*/) {}
};

}  // namespace ringside
