// Optimizers: SGD with momentum, and AdamW, as PyTorch defines them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/parameter.hpp"

namespace ringside {

struct OptimizerConfig {
  std::string kind = "sgd";  // or "adamw"
  double lr = 0.1;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;  // of adamw, decoupled (Loshchilov and Hutter 2019)
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update from the gradients, which are means over tokens by now.
  virtual void step() = 0;
};

// Its state is made in `memory`, of the parameters' type. Throws BadUse for another kind.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, DeviceMemory& memory,
                                          std::vector<Parameter*> parameters);

}  // namespace ringside
