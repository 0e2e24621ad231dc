// A plain socket for tests that play a peer, or a stranger, by hand.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "runtime/process.hpp"

namespace ringside {

class RawSocket {
 public:
  // Connects to a port on 127.0.0.1.
  explicit RawSocket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("a test cannot connect");
    }
  }

  static RawSocket accept_from(int listener) {
    return RawSocket(Descriptor(accept(listener, nullptr, nullptr)));
  }

  // False when the other side is gone.
  bool send_all(std::span<const std::byte> bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  std::vector<std::byte> read_exactly(std::size_t count) {
    std::vector<std::byte> bytes(count);
    if (recv(fd_.get(), bytes.data(), count, MSG_WAITALL) != static_cast<ssize_t>(count)) {
      throw std::runtime_error("a test's connection ended early");
    }
    return bytes;
  }

  // Whether the other side closes the connection within a second.
  bool is_closed_by_peer() {
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::byte byte{};
    const auto got = recv(fd_.get(), &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  explicit RawSocket(Descriptor fd) : fd_(std::move(fd)) {}

  Descriptor fd_;
};

}  // namespace ringside
