// A message: an envelope, which goes over any wire as it is, and a payload.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/dtype.hpp"
#include "runtime/topology.hpp"
#include "runtime/units.hpp"

namespace ringside {

// A short text held in place, cut where it is too long, so that an envelope is plain data.
template <std::size_t N>
struct Text {
  char chars[N] = {};
  Text() = default;

  Text(std::string_view text) {  // NOLINT(google-explicit-constructor): a text is a text
    text.copy(chars, N - 1);
  }

  operator std::string_view() const { return {chars, std::strlen(chars)}; }  // NOLINT

  // What follows the end is zero, so all bytes may be compared at once.
  bool same(const Text& other) const { return std::memcmp(chars, other.chars, N) == 0; }
};

// What a member says of the operation it is in; equal on all members of the group but for label.
struct Signature {
  std::uint64_t sequence = 0;  // of the operation in its group
  std::uint64_t count = 0;     // elements of the whole operation
  Text<16> operation{};        // "all_reduce", "send"
  Text<24> algorithm{};        // "ring"
  Text<32> label{};            // what the data is: "grad.bucket.7"
  std::int32_t root = -1;
  DType dtype = DType::f32;
  ReduceOp reduction = ReduceOp::none;
};

struct Envelope {
  // Matched on these three, first in, first out.
  std::uint64_t group = 0;
  std::int64_t tag = 0;
  std::int32_t source = 0;  // world ranks

  std::int32_t destination = 0;
  Text<32> group_name{};
  Signature signature{};
  Text<16> phase{};
  std::int32_t step = 0;
  std::int32_t chunk = -1;
  std::uint64_t count = 0;  // elements of this message
  std::uint64_t bytes = 0;
  LinkClass link = LinkClass::self;
  bool acknowledged = false;  // the sender waits until the payload has been taken
  bool lent = false;          // the sender waits until the payload has come back
  bool meta = false;          // the elements are counted and do not exist: there is no payload
  Time t0{0};                 // start and end of the departure
  Time t1{0};
};

// Tags below zero are the runtime's own.
inline constexpr std::int64_t collective_tag = -1;
inline constexpr std::int64_t return_tag = -2;  // of what was lent and comes back

enum class Delivery : std::uint32_t { free, under_way, taken };

// A node of a mailbox's list. Belongs to the sender again from the moment it is released or
// acknowledged: copy what you need of the envelope first.
struct Message {
  Envelope envelope;
  std::byte* payload = nullptr;  // where the receiver reads it
  std::atomic<Delivery> delivery{Delivery::free};
  Message* next = nullptr;
};

}  // namespace ringside
