// Optimizers: SGD with momentum, and AdamW, operation by operation as PyTorch defines them
// (torch.optim.SGD, torch.optim.AdamW; Loshchilov and Hutter 2019 for the decoupled decay).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/parameter.hpp"

namespace ringside {

struct OptimizerConfig {
  std::string kind = "sgd";  // or "adamw"
  double lr = 0.1;
  double momentum = 0.9;  // of sgd; 0: no velocity is kept
  double beta1 = 0.9;     // this and the following: of adamw
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  bool decay_gains = false;  // of norms
  bool masters = true;       // of bf16 weights: keep them in f32 too
};

// What is kept for one parameter, in place: it can be read, and replaced by what was stored.
struct OptimizerState {
  const Parameter* parameter = nullptr;
  std::vector<Tensor> tensors{};  // "<parameter>.exp_avg", ".master", ...: all of its shape
  std::int64_t* steps = nullptr;  // updates so far
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update of what is trainable, from the gradients, which are means over tokens by now. A
  // parameter that has begun to learn since gets its state now, and counts its steps from here.
  virtual void step() = 0;
  // Updates so far of the parameter that has had most.
  virtual std::int64_t steps() const = 0;
  // Of the parameters that have state. Lives as long as the optimizer.
  virtual std::vector<OptimizerState> state() = 0;
};

// Its state (Category::optimizer_state) is made in `memory`, of the parameters' type; for bf16
// parameters, f32. The parameters outlive it. Throws BadUse for another kind.
//
// Meta parameters get their state in the ledger, and no update.
//
// bf16 weights are updated in f32: with masters (Category::master_weights, which start as the
// weights) every weight is its master's rounding; without, each update is rounded to bf16.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, DeviceMemory& memory,
                                          std::vector<Parameter*> parameters);

// What is to be said of such a training before it begins; empty when there is nothing.
std::string precision_warning(const OptimizerConfig& config, DType weights);

}  // namespace ringside
