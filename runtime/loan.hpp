// What shared memory makes possible: reading a peer's memory where it is, and writing into it.
//
// lend → borrow → give_back moves a chunk to a peer, lets it be changed there, and brings it back:
// a message each way, and inside a node no byte is copied. Across nodes the same calls are ordinary
// messages. A Borrowed is also how a message is looked at in place, without being received into.
#pragma once

#include <vector>

#include "runtime/message.hpp"
#include "runtime/request.hpp"

namespace ringside {

// What was lent, until the peer has given it back. Untouchable before wait().
class [[nodiscard]] Loan {
 public:
  Loan(Loan&& other) noexcept;
  Loan& operator=(Loan&&) = delete;
  // Waits, unless an exception is on its way.
  ~Loan() noexcept(false);

  void wait();

 private:
  friend class Comm;

  Loan(Comm& comm, int peer, Buffer data) : comm_(&comm), peer_(peer), data_(data) {}

  Comm* comm_;
  int peer_;
  Buffer data_;
  Message* message_ = nullptr;
  Time departed_{0};
};

// A peer's data, readable in place until it is released or given back. A chunk that was lent may be
// written too, and has to be given back.
class [[nodiscard]] Borrowed {
 public:
  Borrowed(Borrowed&& other) noexcept;
  Borrowed& operator=(Borrowed&&) = delete;
  ~Borrowed();

  Buffer view() const { return view_; }

  // The sender goes on.
  void release();
  // What was lent returns, with what was written into it: a message. Never blocks.
  void give_back();

 private:
  friend class Comm;
  Borrowed(Comm& comm, int peer, Message& message, Buffer view);

  Comm* comm_;
  int peer_;
  Message* message_;
  bool lent_;
  Buffer view_;
};

// Everyone's data, in rank order; readable until end(), before which nobody may change its own.
class [[nodiscard]] Shared {
 public:
  const std::vector<Buffer>& views() const { return views_; }

  void end();

 private:
  friend class Comm;
  std::vector<Buffer> views_;
  std::vector<Request> sends_;
  std::vector<Borrowed> borrowed_;
};

}  // namespace ringside
