// A group of ranks, and the verbs that collectives are written with.
//
// Ranks are group ranks here, 0 … size-1. Every verb really moves its data before it returns
// (isend and irecv: before their wait returns), and charges modelled time to the group's stream.
// Meta buffers take the same messages, times and log, and move nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/loan.hpp"
#include "runtime/message.hpp"
#include "runtime/rank.hpp"
#include "runtime/reduce.hpp"
#include "runtime/request.hpp"
#include "runtime/work.hpp"

namespace ringside {

class Comm {
 public:
  // `members` are world ranks in group order; every member makes the same groups in the same order.
  // Throws BadUse when this rank is not among them, or one is named twice or does not exist.
  Comm(Rank& rank, std::string name, std::vector<int> members);
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return me_; }

  int size() const { return static_cast<int>(members_.size()); }

  // The neighbours on the ring.
  int next() const { return (me_ + 1) % size(); }

  int prev() const { return (me_ + size() - 1) % size(); }

  const std::string& name() const { return name_; }

  int world_rank(int r) const { return members_[static_cast<std::size_t>(r)]; }

  Rank& owner() { return owner_; }

  // The node of a group rank, and whether it is this rank's own.
  int node_of(int r) const;

  bool in_my_node(int r) const { return node_of(r) == node_of(me_); }

  // The members of equal colour, in the order of (key, rank), as a group "name/colour". Collective.
  std::unique_ptr<Comm> split(int colour, int key);

  // ---- verbs -------------------------------------------------------------------------------
  // All throw Desync when what arrives has another type or count than the receiver's buffer, or one
  // of the two is meta.
  void send(int to, Buffer data, std::int64_t tag = 0);
  void recv(int from, Buffer data, std::int64_t tag = 0);
  // into = op(incoming, into), read straight from the sender's memory where that can be. When two
  // ranks exchange with each other, the lower one's operand stands left on both.
  void recv_reduce(int from, Buffer into, ReduceOp op);
  // Both directions at once. Where the sent and the written elements overlap, a copy is sent.
  void send_recv(int to, Buffer out, int from, Buffer in);
  void send_recv_reduce(int to, Buffer out, int from, Buffer into, ReduceOp op);
  // Never block; the data must stay as it is (isend) or untouched (irecv) until wait().
  Request isend(int to, Buffer data, std::int64_t tag = 0);
  Request irecv(int from, Buffer data, std::int64_t tag = 0);
  // A copy within this rank: no message, no time.
  void copy(Buffer from, Buffer to);
  // The kernels of reduce.hpp, for symbols too: no message, no time.
  void reduce(Buffer incoming, Buffer into, ReduceOp op, Left left = Left::incoming);
  void reduce_all(std::span<const Buffer> operands, std::span<const Buffer> results, ReduceOp op);
  void finish_average(Buffer into, ReduceOp op);

  // Memory for `like.count` elements of its type, for the time of an operation; meta when it is.
  Tensor scratch(Buffer like) { return scratch(like, like.backing()); }

  Tensor scratch(Buffer like, Backing backing);

  // ---- in place (loan.hpp) -------------------------------------------------------------------
  // The peer may read and overwrite the chunk until it gives it back.
  Loan lend(int to, Buffer data);
  // What `from` sends or lends, where it is: as many elements as `like` has. To be released, or
  // given back.
  Borrowed borrow(int from, Buffer like);
  // What each rank has in `data`. An all-gather of p-1 messages a rank, without the gathering.
  Shared share(Buffer data);

  // Starts the next step of the operation, for the log: "reduce_scatter", "all_gather".
  void next_step(std::string_view phase);

  int step() const { return step_; }

  std::string_view phase() const { return phase_; }

  // Called when a step of an operation begins, before anything of it, and when the operation ends.
  std::function<void()> on_step{};
  // Called for every message that is taken, with what it carries, before anything is done with it.
  std::function<void(const Envelope&, Buffer)> on_take{};

  // ---- operations --------------------------------------------------------------------------
  // Launches an operation on the group's stream: `algorithm` runs now, with the verbs above, and
  // its modelled time starts when the stream and the program are both ready. Fills in the sequence.
  template <class Algorithm>
  Work launch(Signature signature, Algorithm&& algorithm) {
    begin(signature);
    algorithm();
    return end();
  }

 private:
  friend class Request;
  friend class Loan;
  friend class Borrowed;

  void begin(const Signature& signature);
  Work end();
  Envelope envelope_to(int to, Buffer data, std::int64_t tag);
  WaitRecord wait_record(std::string_view kind, int peer, std::int64_t tag,
                         std::size_t bytes) const;
  Envelope departing(int to, Buffer data, std::int64_t tag);
  Message* post(int to, Buffer data, std::int64_t tag, Payload mode, Time& departed);
  template <class Take>
  void exchange(int to, Buffer out, int from, Buffer in, Take&& take);

  template <class Take>
  void receive(int from, Buffer into, std::int64_t tag, Take&& take_payload) {
    Message& message = take(from, into, tag);
    const Envelope envelope = message.envelope;  // the message is gone once it is released
    take_payload(payload_of(message, into));
    owner_.endpoint().release(message);
    arrived(envelope);
  }

  Message& take(int from, Buffer into, std::int64_t tag);
  // Where what has come can be read.
  static Buffer payload_of(const Message& message, Buffer like);
  void arrived(const Envelope& envelope);
  void check(const Envelope& envelope, int from, Buffer into) const;
  Time ready();
  void reached(Time t);

  std::int64_t tag_of(std::int64_t tag) const {
    return launched_ && tag != return_tag ? collective_tag : tag;
  }

  Rank& owner_;
  std::string name_;
  std::vector<int> members_;
  int me_ = -1;
  std::uint64_t id_ = 0;
  Stream& stream_;
  std::uint64_t operations_ = 0;
  std::uint64_t single_sends_ = 0;
  bool launched_ = false;
  std::uint64_t operation_ = 0;  // its number in the rank's log
  Signature signature_;
  Text<16> phase_;
  int step_ = -1;
  Time started_{0};
};

}  // namespace ringside
