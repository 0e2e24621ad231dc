// A layer whose calls can be taken in three steps, with something under way in between: tokens that
// travel to experts, and results that travel back. Another micro-batch can be computed meanwhile.
#pragma once

#include "models/layer.hpp"

namespace ringside {

// The steps of one micro-batch come in this order, each once; those of another may come between.
class PhasedLayer : public Layer {
 public:
  // Until the tokens leave.
  virtual void start_forward(const Tensor& in, Saved& saved) = 0;
  // From their arrival until the results leave.
  virtual void continue_forward(Saved& saved) = 0;
  // From the results' arrival.
  virtual Tensor finish_forward(Saved& saved) = 0;

  // The same with gradients.
  virtual void start_backward(const Tensor& grad_out, Saved& saved) = 0;
  virtual void continue_backward(Saved& saved) = 0;
  virtual Tensor finish_backward(Saved& saved) = 0;

  Tensor forward(const Tensor& in, Saved& saved) final {
    start_forward(in, saved);
    continue_forward(saved);
    return finish_forward(saved);
  }

  Tensor backward_input(const Tensor& grad_out, Saved& saved) final {
    start_backward(grad_out, saved);
    continue_backward(saved);
    return finish_backward(saved);
  }
};

}  // namespace ringside
