// Frames: every flipped bit is found, absurd ones are refused; the two ways to a CRC-32C agree.
#include "runtime/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "runtime/crc32c.hpp"

namespace ringside {
namespace {

constexpr FrameLimits limits{.destination = 1, .length = 1 << 20};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> noise(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

FrameHead sealed(std::span<const std::byte> payload, FrameType type = FrameType::message) {
  FrameHead head;
  head.header = {.type = type, .number = 42, .source = 0, .destination = 1};
  head.envelope = {.group = 7, .tag = -3, .source = 0, .destination = 1, .bytes = payload.size()};
  seal(head, payload);
  return head;
}

// What a receiver finds wrong with a whole frame.
std::string fault(std::span<const std::byte> head_bytes, std::span<const std::byte> payload) {
  FrameHead head;
  std::memcpy(static_cast<void*>(&head), head_bytes.data(), sizeof head);
  if (const auto header_fault = fault_of(head.header, limits); !header_fault.empty()) {
    return header_fault;
  }
  if (const auto body = fault_of_body(crc32c(payload, envelope_crc(head.envelope)), head.header);
      !body.empty()) {
    return body;
  }
  return fault_of(head.envelope, head.header);
}

TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c_by_table(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c_by_processor(bytes_of("123456789")), 0xE3069283U);
  const std::vector<std::byte> zeros(32);  // RFC 3720, B.4
  EXPECT_EQ(crc32c_by_table(zeros), 0x8A9136AAU);
  EXPECT_EQ(crc32c_by_processor(zeros), 0x8A9136AAU);
}

TEST(Crc32c, BothWaysAgreeAtEveryLengthAndAlignment) {
  const auto bytes = noise(300);
  for (std::size_t first = 0; first < 9; ++first) {
    for (std::size_t count = 0; count + first < bytes.size(); ++count) {
      const auto part = std::span(bytes).subspan(first, count);
      ASSERT_EQ(crc32c_by_table(part), crc32c_by_processor(part)) << first << " " << count;
    }
  }
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const auto bytes = noise(100);
  const auto all = std::span(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto first = all.first(cut);
    const auto rest = all.subspan(cut);
    ASSERT_EQ(crc32c_by_table(rest, crc32c_by_table(first)), crc32c(all)) << cut;
    ASSERT_EQ(crc32c_by_processor(rest, crc32c_by_processor(first)), crc32c(all)) << cut;
  }
}

TEST(Frame, AWholeOneHasNoFault) {
  for (const std::size_t count : {0UL, 1UL, 4097UL}) {
    const auto payload = noise(count);
    const FrameHead head = sealed(payload);
    EXPECT_EQ(head.header.length, count);
    EXPECT_EQ(head.bytes().size(), sizeof(FrameHead));
    EXPECT_EQ(fault(head.bytes(), payload), "");
  }
}

TEST(Frame, OthersThanMessagesAreHeadersOnly) {
  for (const FrameType type : {FrameType::hello, FrameType::acknowledgement}) {
    const FrameHead head = sealed({}, type);
    EXPECT_EQ(head.bytes().size(), sizeof(FrameHeader));
    EXPECT_EQ(fault_of(head.header, limits), "");
  }
}

TEST(Frame, AFlippedBitInAnyPlaceIsFound) {
  auto payload = noise(97);
  const FrameHead head = sealed(payload);
  std::vector<std::byte> bytes(head.bytes().begin(), head.bytes().end());
  const auto flipped_is_found = [&](std::byte& byte, std::size_t place) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_NE(fault(bytes, payload), "") << "bit " << bit << " of byte " << place;
      byte ^= std::byte{1} << bit;
    }
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    flipped_is_found(bytes[i], i);
  }
  for (std::size_t i = 0; i < payload.size(); ++i) {
    flipped_is_found(payload[i], bytes.size() + i);
  }
  EXPECT_EQ(fault(bytes, payload), "");
}

// A receiver that believed a damaged length would wait for bytes that never come.
TEST(Frame, ADamagedLengthIsFoundInTheHeaderAlone) {
  FrameHead head = sealed(noise(100));
  head.header.length ^= 1 << 4;
  EXPECT_NE(fault_of(head.header, limits).find("header of a frame: CRC-32C 0x"), std::string::npos)
      << fault_of(head.header, limits);
}

TEST(Frame, AbsurdOnesAreRefused) {
  const auto refused = [](auto change) {
    FrameHead head = sealed({}, FrameType::acknowledgement);
    change(head.header);
    const std::uint64_t length = head.header.length;
    seal(head, {});
    if (length != 0) {  // sealing sets it
      head.header.length = length;
      head.header.header_crc = crc32c(
          std::as_bytes(std::span(&head.header, 1)).first(offsetof(FrameHeader, header_crc)));
    }
    return fault_of(head.header, limits);
  };
  EXPECT_EQ(refused([](FrameHeader& h) { h.magic = 0x20544547; }),
            "no frame begins with 0x20544547");
  EXPECT_EQ(refused([](FrameHeader& h) { h.type = static_cast<FrameType>(9); }),
            "there are no frames of type 9");
  EXPECT_EQ(refused([](FrameHeader& h) { h.destination = 2; }), "a frame for rank 2");
  EXPECT_EQ(refused([](FrameHeader& h) { h.length = 1; }), "a frame of 1 bytes, of at most 0");
  EXPECT_EQ(refused([](FrameHeader& h) {
              h.type = FrameType::message;
              h.length = 1UL << 62;
            }),
            "a frame of 4611686018427387904 bytes, of at most 1048576");
}

TEST(Frame, AnEnvelopeOfOtherRanksIsRefused) {
  FrameHead head = sealed({});
  head.envelope.source = 5;
  seal(head, {});
  EXPECT_EQ(fault(head.bytes(), {}),
            "a message from rank 5 to rank 1 in a frame from rank 0 to rank 1");
}

}  // namespace
}  // namespace ringside
