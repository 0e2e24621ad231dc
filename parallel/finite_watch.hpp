// The first gradient of a rank's own that is infinite or no number: seen before it is added to
// those of others, which then all have it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layer_hooks.hpp"
#include "models/parameter.hpp"

namespace ringside {

class FiniteWatch : public LayerHooks {
 public:
  struct Found {
    const Parameter* parameter = nullptr;
    std::uint64_t element = 0;  // of the rank's part
    double value = 0;
  };

  // The parameters outlive this.
  explicit FiniteWatch(std::vector<std::vector<Parameter*>> layers) : layers_(std::move(layers)) {}

  void begin_step() { found_.reset(); }

  // Of this step, in the order of backward.
  const std::optional<Found>& found() const { return found_; }

 private:
  void after_backward(std::size_t layer) override;

  std::vector<std::vector<Parameter*>> layers_;
  std::optional<Found> found_{};
};

}  // namespace ringside
