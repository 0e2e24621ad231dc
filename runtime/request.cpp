#include "runtime/request.hpp"

#include <cstring>
#include <exception>
#include <utility>

#include "runtime/comm.hpp"

namespace ringside {

Request::Request(Comm& comm, int peer, std::int64_t tag, Buffer data)
    : comm_(&comm), peer_(peer), tag_(tag), data_(data) {}

Request::Request(Request&& other) noexcept
    : comm_(std::exchange(other.comm_, nullptr)),
      peer_(other.peer_),
      tag_(other.tag_),
      data_(other.data_),
      receives_(other.receives_),
      message_(other.message_),
      departed_(other.departed_) {}

Request::~Request() noexcept(false) {
  if (std::uncaught_exceptions() == 0) {
    wait();
  }
}

void Request::wait() {
  Comm* comm = std::exchange(comm_, nullptr);
  if (comm == nullptr) {
    return;
  }
  if (receives_) {
    comm->recv(peer_, data_, tag_);
    return;
  }
  if (message_ != nullptr) {
    comm->owner_.endpoint().wait_taken(*message_,
                                       comm->wait_record("send", peer_, tag_, data_.bytes()));
  }
  comm->reached(departed_);
}

}  // namespace ringside
