// Whether a tensor's elements exist.
#pragma once

#include <cstdint>

namespace ringside {

// `meta`, after PyTorch's device of that name: shape, type and the ledger's entry are kept, and
// nothing is stored. Messages of it carry their modelled size, and no data moves.
enum class Backing : std::uint8_t { real, meta };

}  // namespace ringside
