// What runs, in one line.
#pragma once

#include <cstddef>
#include <string>

#include "scenarios/settings.hpp"

namespace ringside {

struct ModelShape {
  std::size_t parameters = 0;
  std::size_t buckets = 0;
};

ModelShape shape_of(const Settings& settings);

// "dp/ring: 8 ranks on 1 node, MLP of 70144 parameters in f32, 7 buckets, …".
std::string headline(const Settings& settings);

}  // namespace ringside
