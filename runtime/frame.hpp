// What goes over a socket: frames of a header, and for a message its envelope and its payload.
//
// The header has a checksum of its own, so that a damaged length is found at once, not after
// waiting for bytes that never come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/message.hpp"

namespace ringside {

enum class FrameType : std::uint32_t { hello = 1, message = 2, acknowledgement = 3 };

inline constexpr std::uint32_t frame_magic = 0x31465352;  // "RSF1"

struct FrameHeader {
  std::uint32_t magic = frame_magic;
  FrameType type = FrameType::hello;
  std::uint64_t number = 0;  // of the message at its sender; hello: the secret of the job
  std::uint64_t length = 0;  // bytes of the payload
  std::int32_t source = -1;  // world ranks
  std::int32_t destination = -1;
  std::uint32_t body_crc = 0;    // CRC-32C of envelope and payload
  std::uint32_t header_crc = 0;  // CRC-32C of all before it
};

// Header and envelope lie in one piece, so that a message goes out as two.
struct FrameHead {
  FrameHeader header;
  Envelope envelope;

  bool has_envelope() const { return header.type == FrameType::message; }

  // What goes before the payload.
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(this, 1))
        .first(has_envelope() ? sizeof(FrameHead) : sizeof(FrameHeader));
  }
};

static_assert(sizeof(FrameHeader) == 40);
static_assert(sizeof(FrameHead) == sizeof(FrameHeader) + sizeof(Envelope));
static_assert(std::is_trivially_copyable_v<FrameHead>);

// Fills in length and checksums.
void seal(FrameHead& head, std::span<const std::byte> payload);

struct FrameLimits {
  int destination = 0;
  std::uint64_t length = 0;  // the longest payload
};

// What is wrong with a header, "header with CRC-32C 0x… expected 0x…"; empty: nothing.
std::string fault_of(const FrameHeader& header, const FrameLimits& limits);
// The same of an envelope and its checksum, and of the payload after it.
std::uint32_t envelope_crc(const Envelope& envelope);
std::string fault_of(const Envelope& envelope, const FrameHeader& header);
std::string fault_of_body(std::uint32_t crc, const FrameHeader& header);

}  // namespace ringside
