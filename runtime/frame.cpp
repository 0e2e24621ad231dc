#include "runtime/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

#include "runtime/crc32c.hpp"

namespace ringside {

namespace {

std::uint32_t header_crc(const FrameHeader& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(FrameHeader, header_crc)));
}

std::string hex(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

std::string crc_fault(const char* what, std::uint32_t found, std::uint32_t expected) {
  return std::string(what) + ": CRC-32C " + hex(found) + ", expected " + hex(expected);
}

bool is_type(FrameType type) {
  return type == FrameType::hello || type == FrameType::message ||
         type == FrameType::acknowledgement;
}

}  // namespace

void seal(FrameHead& head, std::span<const std::byte> payload) {
  FrameHeader& header = head.header;
  header.length = payload.size();
  header.body_crc = head.has_envelope() ? crc32c(payload, envelope_crc(head.envelope)) : 0;
  header.header_crc = header_crc(header);
}

std::string fault_of(const FrameHeader& header, const FrameLimits& limits) {
  if (header.magic != frame_magic) {
    return "no frame begins with " + hex(header.magic);
  }
  if (const auto crc = header_crc(header); crc != header.header_crc) {
    return crc_fault("header of a frame", crc, header.header_crc);
  }
  if (!is_type(header.type)) {
    return "there are no frames of type " + std::to_string(static_cast<std::uint32_t>(header.type));
  }
  if (header.destination != limits.destination) {
    return "a frame for rank " + std::to_string(header.destination);
  }
  const std::uint64_t longest = header.type == FrameType::message ? limits.length : 0;
  if (header.length > longest) {
    return "a frame of " + std::to_string(header.length) + " bytes, of at most " +
           std::to_string(longest);
  }
  return {};
}

std::uint32_t envelope_crc(const Envelope& envelope) {
  return crc32c(std::as_bytes(std::span(&envelope, 1)));
}

std::string fault_of(const Envelope& envelope, const FrameHeader& header) {
  if (envelope.source == header.source && envelope.destination == header.destination) {
    return {};
  }
  return "a message from rank " + std::to_string(envelope.source) + " to rank " +
         std::to_string(envelope.destination) + " in a frame from rank " +
         std::to_string(header.source) + " to rank " + std::to_string(header.destination);
}

std::string fault_of_body(std::uint32_t crc, const FrameHeader& header) {
  return crc == header.body_crc ? std::string{} : crc_fault("a frame", crc, header.body_crc);
}

}  // namespace ringside
