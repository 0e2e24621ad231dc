// Every raw socket call. The rest of the network is Boost.Asio's, in the socket wire.
#include "runtime/listeners.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr int attempts = 400;  // 2 s in all, while somebody else holds every port for a moment
constexpr std::chrono::milliseconds pause(5);

bool bind_to_loopback(int fd) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// False, with the reason in errno, when it cannot listen.
bool start_listening(int fd) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return false;
  }
  for (int attempt = 0; !bind_to_loopback(fd); ++attempt) {
    if (errno != EADDRINUSE || attempt == attempts) {
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
  return listen(fd, SOMAXCONN) == 0;
}

}  // namespace

std::vector<int> listen_on_loopback(int ranks) {
  std::vector<int> sockets;
  for (int r = 0; r < ranks; ++r) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0) {
      sockets.push_back(fd);
    }
    if (fd < 0 || !start_listening(fd)) {
      const std::string reason = std::generic_category().message(errno);
      for (const int open : sockets) {
        close(open);
      }
      throw BadUse("a job that spans nodes needs a listening socket on 127.0.0.1 for each of its " +
                   std::to_string(ranks) + " ranks, and the one of rank " + std::to_string(r) +
                   " could not be had (" + reason + "); use fewer ranks, or put them in one node");
    }
  }
  return sockets;
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sin_family != AF_INET) {
    return 0;
  }
  return ntohs(address.sin_port);
}

}  // namespace ringside
