#include "runtime/crc32c.hpp"

#include <boost/crc.hpp>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#endif

namespace ringside {

namespace {

using BoostCrc = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

std::uint32_t mirrored(std::uint32_t bits) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i, bits >>= 1) {
    result = result << 1 | (bits & 1);
  }
  return result;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) std::uint32_t by_sse42(std::span<const std::byte> bytes,
                                                         std::uint32_t before) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = ~before;
  for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    state = _mm_crc32_u64(state, word);
    at += sizeof word;
  }
  auto tail = static_cast<std::uint32_t>(state);
  for (; left > 0; --left) {
    tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(*at++));
  }
  return ~tail;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) {
  BoostCrc crc(mirrored(~before));  // Boost takes its first remainder unreflected
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::uint32_t crc32c_by_processor(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (has_sse42) {
    return by_sse42(bytes, before);
  }
#endif
  return crc32c_by_table(bytes, before);
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc32c_by_processor(bytes, before);
}

}  // namespace ringside
