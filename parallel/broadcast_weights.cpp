#include "parallel/broadcast_weights.hpp"

#include "collectives/broadcast.hpp"

namespace ringside {

void broadcast_weights(Comm& group, const std::vector<std::vector<Parameter*>>& layers,
                       const ParameterFilter& meant, const std::string& algorithm) {
  for (const auto& layer : layers) {
    for (const Parameter* parameter : layer) {
      if (!meant || meant(*parameter)) {
        broadcast(group, parameter->value.buffer(), 0, {algorithm, parameter->name});
      }
    }
  }
}

}  // namespace ringside
