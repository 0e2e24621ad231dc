// One rank's way to the others: the pool of its messages, its wires, its mailbox.
//
// A payload up to the eager limit travels inside the message and the send is over at once. A larger
// one stays where it is, the receiver reads it there, and its acknowledgement ends the send. An
// eager limit of zero acknowledges everything: a program that then deadlocks lived on buffering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/device_memory.hpp"
#include "runtime/message.hpp"
#include "runtime/waiter.hpp"
#include "runtime/wire.hpp"

namespace ringside {

enum class Payload : std::uint8_t {
  in_place,  // stays as it is until the receiver has taken it
  copied,    // into the message, which is acknowledged
  lent,      // stays where it is until it has come back; the message is to be reclaimed then
  returned   // a copy of what was lent, on its way back
};

class Endpoint {
 public:
  Endpoint(RankState& me, DeviceMemory& memory, Waiter& waiter, std::size_t eager_limit);

  // The wire to each rank of the job, by world rank.
  void connect(std::vector<Wire*> wires) { wires_ = std::move(wires); }

  // Sends; never blocks. The payload must stay as it is until the message was taken, unless it is
  // `copied` or within the eager limit. Returns the message to wait for, or none when it is over.
  // A meta payload is waited for like a real one of its size, and is none.
  Message* post(Envelope envelope, Buffer payload, Payload mode);

  // Whether the receiver has taken an acknowledged message; waits for it; ends it.
  void wait_taken(Message& message, const WaitRecord& what);

  // The borrower's side, inside a node: what was lent has been written in place, and goes back.
  void answer(Message& lent, const Envelope& back);
  // The lender's side: waits for the answer, and gives its envelope.
  Envelope wait_answered(Message& lent, const WaitRecord& what);
  // A message that lent its payload, which has come back.
  void reclaim(Message& message);

  // The oldest message of (group, source, tag); waits for it. To be released.
  Message& take(std::uint64_t group, int source, std::int64_t tag, const WaitRecord& what);
  void release(Message& message);

  // Messages that have come in and that nobody has received yet.
  std::vector<Envelope> unreceived();

 private:
  struct Key {
    std::uint64_t group;
    std::int64_t tag;
    std::int32_t source;
    bool operator==(const Key&) const = default;
  };

  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  // Messages that have come in, oldest first, linked by `next`.
  struct Queue {
    Message* first = nullptr;
    Message* last = nullptr;
  };

  struct Node;

  // Messages with room for a payload of one size.
  struct Pool {
    std::vector<Node*> spare;
    std::deque<Node*> outstanding;  // eager ones: free again when the receiver or the wire says so
  };

  Node& new_message(std::size_t capacity);
  void drain();
  // Throws Desync when a message has come whose sender is in the same operation of the same group
  // and means something else by it: what this rank waits for may never come.
  void check_arrived();

  RankState& me_;
  DeviceMemory& memory_;
  Waiter& waiter_;
  std::size_t eager_limit_;
  std::vector<Wire*> wires_;
  std::map<std::size_t, Pool> pools_;  // by capacity
  bool unchecked_ = false;             // something has come since check_arrived()
  // Queues stay when they are empty: the next message of their kind comes soon.
  std::unordered_map<Key, Queue, KeyHash> arrived_;
};

}  // namespace ringside
