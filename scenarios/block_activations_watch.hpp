// Reads from the ledger what the blocks of a published model hold of activations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/layer_hooks.hpp"
#include "models/model.hpp"
#include "runtime/rank.hpp"

namespace ringside {

class BlockActivationsWatch : public LayerHooks {
 public:
  // Both outlive it. A layer of a block is named "layers.<number>…".
  BlockActivationsWatch(Rank& rank, Model& model);

  void before_backward(std::size_t layer) override;
  void after_backward(std::size_t layer) override;

  // Bytes that backward of all blocks gave back: what forward had kept of them.
  std::int64_t kept() const { return kept_; }

  // The most that backward of a block held, over what was held when backward came to the last one.
  // Seen when layers charge, the weight gradient too, at which a layer holds all it ever does.
  std::int64_t in_flight() const { return in_flight_; }

 private:
  std::int64_t held() const;

  Rank& rank_;
  std::size_t first_ = 0;  // layers of blocks
  std::size_t last_ = 0;
  std::int64_t before_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t in_flight_ = 0;
  std::function<void(std::string_view label, Time start, Time end)> charged_;  // as it was
};

}  // namespace ringside
