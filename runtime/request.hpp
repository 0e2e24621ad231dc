// A send or receive under way. Wait for each: it is done, in memory and in modelled time, only
// then. Receives of one peer and tag take their messages in the order of their waits.
#pragma once

#include <cstdint>

#include "runtime/buffer.hpp"
#include "runtime/message.hpp"
#include "runtime/units.hpp"

namespace ringside {

class Comm;

class [[nodiscard]] Request {
 public:
  Request(Request&& other) noexcept;
  Request& operator=(Request&&) = delete;
  // Waits, unless an exception is on its way.
  ~Request() noexcept(false);

  void wait();

 private:
  friend class Comm;
  Request(Comm& comm, int peer, std::int64_t tag, Buffer data);

  Comm* comm_;
  int peer_;
  std::int64_t tag_;
  Buffer data_;  // where to receive into
  bool receives_ = true;
  Message* message_ = nullptr;  // the send to wait for
  Time departed_{0};
};

}  // namespace ringside
