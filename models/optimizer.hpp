// Optimizers: SGD with momentum, and AdamW, operation by operation as PyTorch defines them
// (torch.optim.SGD, torch.optim.AdamW; Loshchilov and Hutter 2019 for the decoupled decay).
#pragma once

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
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update from the gradients, which are means over tokens by now.
  virtual void step() = 0;
};

// Its state (Category::optimizer_state) is made in `memory`, of the parameters' type; the
// parameters outlive it. Throws BadUse for another kind.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, DeviceMemory& memory,
                                          std::vector<Parameter*> parameters);

}  // namespace ringside
