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

// Inside a node the data has changed in place, unless it had to be copied into the message; between
// nodes it comes back in a message of its own, and the first one may be used again only then.
void Loan::wait() {
  Comm* comm = std::exchange(comm_, nullptr);
  if (comm == nullptr) {
    return;
  }
  Endpoint& endpoint = comm->owner_.endpoint();
  if (comm->in_my_node(peer_)) {
    const Buffer lent{message_->payload, data_.count, data_.dtype};
    const Envelope back = endpoint.wait_answered(
        *message_, comm->wait_record("return", peer_, return_tag, data_.bytes()));
    if (comm->on_take) {
      comm->on_take(back, lent);
    }
    if (lent.data != data_.data) {
      comm->copy(lent, data_);
    }
    comm->arrived(back);
  } else {
    comm->receive(peer_, data_, return_tag, [&](Buffer incoming) { comm->copy(incoming, data_); });
  }
  endpoint.reclaim(*message_);
  comm->reached(departed_);
  // What this rank has given back leaves through the same port, after what it lent.
  const LinkClass link =
      comm->owner_.cluster().link_class(comm->owner_.id(), comm->world_rank(peer_));
  comm->reached(comm->owner_.send_port(link).end(comm->stream_.index));
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

// Inside a node the data is in the lender's memory already, and the answer is the message itself,
// which is the lender's again; between nodes it is a copy that came over a wire.
void Borrowed::give_back() {
  if (!lent_) {
    throw BadUse("group " + comm_->name() + ": rank " + std::to_string(comm_->world_rank(peer_)) +
                 " has sent this, not lent it: there is nothing to give back");
  }
  Comm& comm = *std::exchange(comm_, nullptr);
  Endpoint& endpoint = comm.owner_.endpoint();
  if (comm.in_my_node(peer_)) {
    endpoint.answer(*message_, comm.departing(peer_, view_, return_tag));
  } else {
    Time departed{0};
    comm.post(peer_, view_, return_tag, Payload::returned, departed);
    endpoint.release(*message_);
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
