// CRC-32C (Castagnoli, 1993), the checksum of what goes over sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringside {

// The checksum of `bytes` after others whose checksum is `before`. By the processor's own
// instruction where there is one: a table takes a byte at a time, far slower than the socket.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The two ways, for tests; the first falls back to the second.
std::uint32_t crc32c_by_processor(std::span<const std::byte> bytes, std::uint32_t before = 0);
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace ringside
