// Before the first step: one rank's weights for all.
#pragma once

#include <string>
#include <vector>

#include "parallel/buckets.hpp"
#include "runtime/comm.hpp"

namespace ringside {

// Of the parameters that are meant, those that do not learn among them, the values of the group's
// rank 0.
void broadcast_weights(Comm& group, const std::vector<std::vector<Parameter*>>& layers,
                       const ParameterFilter& meant, const std::string& algorithm);

}  // namespace ringside
