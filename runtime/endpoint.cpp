#include "runtime/endpoint.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/group_identity.hpp"

namespace ringside {

struct Endpoint::Node : Message {
  std::size_t capacity = 0;
};

namespace {

constexpr std::size_t header = 512;               // of a node, so that its payload is aligned
constexpr std::size_t largest_kept = 64UL << 10;  // larger ones go back to the arena
constexpr int looks = 4;                          // at the oldest eager messages, before a new one

std::size_t capacity_for(std::size_t bytes) {
  return bytes == 0 || bytes > largest_kept ? bytes : std::bit_ceil(bytes);
}

}  // namespace

Endpoint::Endpoint(RankState& me, DeviceMemory& memory, Waiter& waiter, std::size_t eager_limit)
    : me_(me), memory_(memory), waiter_(waiter), eager_limit_(eager_limit) {
  waiter_.before_parking = [this] { check_arrived(); };
}

Endpoint::Node& Endpoint::new_message(std::size_t capacity) {
  static_assert(sizeof(Node) <= header);
  Pool& pool = pools_[capacity];
  for (int look = 0; look < looks && pool.spare.empty() && !pool.outstanding.empty(); ++look) {
    Node* oldest = pool.outstanding.front();
    pool.outstanding.pop_front();
    if (oldest->delivery.load(std::memory_order_acquire) == Delivery::free) {
      pool.spare.push_back(oldest);
    } else {
      pool.outstanding.push_back(oldest);
    }
  }
  if (!pool.spare.empty()) {
    Node* node = pool.spare.back();
    pool.spare.pop_back();
    return *node;
  }
  auto* node = new (memory_.allocate_message(header + capacity)) Node;
  node->capacity = capacity;
  return *node;
}

Message* Endpoint::post(Envelope envelope, Buffer payload, Payload mode) {
  const std::size_t bytes = payload.bytes();
  const bool loan = mode == Payload::lent;
  const bool eager =
      mode == Payload::returned || (!loan && eager_limit_ > 0 && bytes <= eager_limit_);
  const bool copy = !payload.meta() &&
                    (eager || mode == Payload::copied || !memory_.contains(payload.data, bytes));
  Node& node = new_message(copy ? capacity_for(bytes) : 0);
  node.envelope = envelope;
  node.envelope.acknowledged = !eager && !loan;
  node.envelope.lent = loan;
  node.payload = payload.data;
  if (copy) {
    node.payload = reinterpret_cast<std::byte*>(&node) + header;
    if (bytes > 0) {
      std::memcpy(node.payload, payload.data, bytes);
    }
  }
  node.delivery.store(Delivery::under_way, std::memory_order_relaxed);
  if (eager) {
    pools_[node.capacity].outstanding.push_back(&node);
  }
  me_.activity.fetch_add(1, std::memory_order_relaxed);
  wires_[static_cast<std::size_t>(envelope.destination)]->push(node);
  return eager ? nullptr : &node;
}

void Endpoint::wait_taken(Message& message, const WaitRecord& what) {
  waiter_.until([&] { return message.delivery.load(std::memory_order_seq_cst) == Delivery::taken; },
                what);
  reclaim(message);
}

void Endpoint::answer(Message& lent, const Envelope& back) {
  me_.activity.fetch_add(1, std::memory_order_relaxed);
  wires_[static_cast<std::size_t>(back.destination)]->answer(lent, back);
}

Envelope Endpoint::wait_answered(Message& lent, const WaitRecord& what) {
  waiter_.until([&] { return lent.delivery.load(std::memory_order_seq_cst) == Delivery::taken; },
                what);
  return lent.envelope;
}

void Endpoint::reclaim(Message& message) {
  auto& node = static_cast<Node&>(message);
  if (node.capacity > largest_kept) {
    memory_.release_message(reinterpret_cast<std::byte*>(&node));
  } else {
    pools_[node.capacity].spare.push_back(&node);
  }
}

std::size_t Endpoint::KeyHash::operator()(const Key& key) const {
  const auto mixed = key.group ^ (static_cast<std::uint64_t>(key.source) << 32) ^
                     static_cast<std::uint64_t>(key.tag);
  return mixed * 0x9E3779B97F4A7C15U;
}

void Endpoint::drain() {
  for (Message* message = me_.mailbox.take_all(); message != nullptr;) {
    Message* next = message->next;
    const Envelope& e = message->envelope;
    Queue& queue = arrived_[{e.group, e.tag, e.source}];
    message->next = nullptr;
    (queue.first == nullptr ? queue.first : queue.last->next) = message;
    queue.last = message;
    unchecked_ = true;
    message = next;
  }
}

void Endpoint::check_arrived() {
  drain();
  if (!std::exchange(unchecked_, false)) {
    return;
  }
  const auto current = me_.operations.current();
  if (!current) {
    return;
  }
  const OperationRecord& mine = current->operation;
  for (const auto& [key, queue] : arrived_) {
    if (key.group != mine.group || key.tag != collective_tag) {
      continue;
    }
    for (const Message* message = queue.first; message != nullptr; message = message->next) {
      const Envelope& e = message->envelope;
      if (e.signature.sequence == mine.signature.sequence &&
          !same_operation(e.signature, mine.signature)) {
        throw Desync(disagreement_text(e.destination, mine, e.source, e.signature));
      }
    }
  }
}

// The map's nodes stay where they are when others are added.
Message& Endpoint::take(std::uint64_t group, int source, std::int64_t tag, const WaitRecord& what) {
  Queue& queue = arrived_[{group, tag, source}];
  waiter_.until(
      [&] {
        drain();
        return queue.first != nullptr;
      },
      what);
  Message& message = *queue.first;
  queue.first = message.next;
  me_.activity.fetch_add(1, std::memory_order_relaxed);
  return message;
}

void Endpoint::release(Message& message) {
  wires_[static_cast<std::size_t>(message.envelope.source)]->release(message);
}

std::vector<Envelope> Endpoint::unreceived() {
  drain();
  std::vector<Envelope> left;
  for (const auto& [key, queue] : arrived_) {
    for (const Message* message = queue.first; message != nullptr; message = message->next) {
      left.push_back(message->envelope);
    }
  }
  return left;
}

}  // namespace ringside
