// The sending end of a connection, made when it is first used. Nothing ever comes back on it.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/socket_events.hpp"

namespace ringside {

class SocketWriter {
 public:
  // Lives until the thread of `io` has ended. `hello` goes before all else.
  SocketWriter(boost::asio::io_context& io, std::uint16_t port, FrameHead hello,
               SocketEvents& events);

  void send(OutgoingFrame frame);

 private:
  using Error = boost::system::error_code;
  enum class State : std::uint8_t { unused, connecting, idle, writing, broken };

  void connect();
  void connected(const Error& error);
  void watch();
  void write();
  void written(const Error& error);
  void fail(const std::string& why);
  void drop_all();

  int peer() const { return hello_.header.destination; }

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::uint16_t port_;
  FrameHead hello_;
  SocketEvents& events_;
  State state_ = State::unused;
  int attempts_ = 0;
  std::deque<OutgoingFrame> waiting_;
  std::vector<OutgoingFrame> writing_;
  std::vector<boost::asio::const_buffer> pieces_;
  std::array<std::byte, 1> never_{};
};

}  // namespace ringside
