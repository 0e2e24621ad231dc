// What a block forgets after forward and computes again in backward.
#pragma once

#include <cstdint>

namespace ringside {

// none: nothing. selective: the weights of attention (Korthikanti et al. 2022, section 5). full:
// all but the block's input (Chen et al. 2016).
enum class Recompute : std::uint8_t { none, selective, full };

}  // namespace ringside
