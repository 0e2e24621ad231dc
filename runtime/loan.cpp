#include "runtime/loan.hpp"

#include <exception>
#include <utility>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"

namespace ringside {

Loan::Loan(Loan&& other) noexcept
    : comm_(std::exchange(other.comm_, nullptr)),
      peer_(other.peer_),
      data_(other.data_),
      message_(other.message_),
      departed_(other.departed_) {}

Loan::~Loan() noexcept(false) {
  if (std::uncaught_exceptions() == 0) {
    wait();
  }
}

// The message may be used again only now: what came back may lie in it.
void Loan::wait() {
  Comm* comm = std::exchange(comm_, nullptr);
  if (comm == nullptr) {
    return;
  }
  comm->receive(peer_, data_, return_tag, [&](Buffer incoming) {
    if (incoming.data != data_.data) {
      comm->copy(incoming, data_);
    }
  });
  comm->owner_.endpoint().reclaim(*message_);
  comm->reached(departed_);
}

Borrowed::Borrowed(Comm& comm, int peer, Message& message, Buffer view)
    : comm_(&comm), peer_(peer), message_(&message), lent_(message.envelope.lent), view_(view) {}

Borrowed::Borrowed(Borrowed&& other) noexcept
    : comm_(std::exchange(other.comm_, nullptr)),
      peer_(other.peer_),
      message_(other.message_),
      lent_(other.lent_),
      view_(other.view_) {}

Borrowed::~Borrowed() {
  if (comm_ != nullptr && !lent_ && std::uncaught_exceptions() == 0) {
    release();
  }
}

void Borrowed::release() {
  if (lent_) {
    throw BadUse("group " + comm_->name() + ": what rank " +
                 std::to_string(comm_->world_rank(peer_)) + " has lent must be given back");
  }
  if (Comm* comm = std::exchange(comm_, nullptr)) {
    comm->owner_.endpoint().release(*message_);
  }
}

// Inside a node the data is in the lender's memory already, and the message is the lender's to use
// again; between nodes it is a copy that came over a wire.
void Borrowed::give_back() {
  if (!lent_) {
    throw BadUse("group " + comm_->name() + ": rank " + std::to_string(comm_->world_rank(peer_)) +
                 " has sent this, not lent it: there is nothing to give back");
  }
  Comm& comm = *std::exchange(comm_, nullptr);
  Time departed{0};
  if (comm.in_my_node(peer_)) {
    comm.post(peer_, view_, return_tag, Payload::theirs, departed);
  } else {
    comm.post(peer_, view_, return_tag, Payload::returned, departed);
    comm.owner_.endpoint().release(*message_);
  }
}

void Shared::end() {
  for (Borrowed& borrowed : borrowed_) {
    borrowed.release();
  }
  borrowed_.clear();
  for (Request& send : sends_) {
    send.wait();
  }
  sends_.clear();
}

}  // namespace ringside
