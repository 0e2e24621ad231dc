// A layer: forward, and a backward split in input gradient and weight gradient, because pipelines
// need both apart.
//
// Between its calls a layer keeps nothing but its parameters. What a micro-batch needs for backward
// is in a Saved that the caller holds, so any number of micro-batches can be under way, in any
// order. Matrix products charge 2 m n k operations under "<name> forward", "<name> input gradient"
// and "<name> weight gradient"; all else is free: bias, activation, look-up, softmax, norm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/batch_sums.hpp"
#include "models/parameter.hpp"
#include "models/sequences.hpp"
#include "runtime/compute_clock.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

struct RoutedTokens;  // models/mixture.cpp
struct RouterState;   // models/router_state.hpp

// What a layer computes with. Both outlive it.
struct Device {
  DeviceMemory& memory;
  ComputeClock& clock;
};

// Forward is run for the first time, or again in backward: operations are then charged under
// "<name> recompute".
enum class Pass : std::uint8_t { forward, recompute };

// What one layer keeps of one micro-batch. The caller sets `sequences` before forward; only the
// layer looks at the rest.
struct Saved {
  std::shared_ptr<const Sequences> sequences{};
  Pass pass = Pass::forward;
  std::vector<Tensor> tensors{};           // Category::activations
  std::vector<Saved> parts{};              // of the layers that this one is made of
  std::shared_ptr<RoutedTokens> routed{};  // of a mixture of experts: where its tokens went

  // Tokens of the micro-batch, of which `in` may hold a part (seam.hpp); without sequences, its
  // rows.
  std::size_t tokens(const Tensor& in) const {
    return sequences ? sequences->positions.size() : in.shape().front();
  }
};

// The calls for one micro-batch come in this order, each once. Tensors that are passed or returned
// share their storage with what is saved: nobody writes into them. Rows are tokens; none is an
// ordinary case. In meta memory a layer makes, saves and charges the same, and computes nothing.
class Layer {
 public:
  virtual ~Layer() = default;

  virtual const std::string& name() const = 0;

  // [tokens, in] -> [tokens, out]; fills `saved`.
  virtual Tensor forward(const Tensor& in, Saved& saved) = 0;
  // [tokens, out] -> [tokens, in]; from here `saved` holds what the weight gradient needs. A layer
  // whose input is not differentiable returns an empty tensor.
  virtual Tensor backward_input(const Tensor& grad_out, Saved& saved) = 0;
  // Adds to the gradients of the parameters that are trainable, and empties `saved` of tensors and
  // parts.
  virtual void backward_weight(Saved& saved) = 0;

  virtual std::vector<Parameter*> parameters() = 0;

  // Parameters of other layers that it computes with, and adds gradients to (a tied head).
  virtual std::vector<Parameter*> borrowed() { return {}; }

  // Losses are multiplied by this before backward: for who adds a loss of his own.
  virtual void scale_loss(double /*scale*/) {}

  // Of a layer whose result depends on all rows of a micro-batch: how its sums become those of all
  // ranks. They outlive it.
  virtual void share_statistics(BatchSums& /*sums*/) {}

  // Of the mixtures of experts in it.
  virtual std::vector<RouterState*> routers() { return {}; }
};

}  // namespace ringside
