// The receiving end of a connection: takes the stream of bytes apart into frames.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/socket_events.hpp"

namespace ringside {

class SocketReader : public std::enable_shared_from_this<SocketReader> {
 public:
  SocketReader(boost::asio::ip::tcp::socket socket, FrameLimits limits, SocketEvents& events);

  void start() { read(); }

  // Whether it still waits for a hello.
  bool is_stranger() const { return source_ < 0 && socket_.is_open(); }

  void close();

 private:
  using Error = boost::system::error_code;

  void read();
  void has_read(const Error& error, std::size_t bytes);
  // False when the connection was closed.
  bool take_frames();
  bool begin_frame();
  bool begin_message();
  void take_payload();
  bool end_message();
  bool refuse(const std::string& why);

  std::span<const std::byte> unread() const {
    return std::span(buffer_).subspan(begin_, filled_ - begin_);
  }

  boost::asio::ip::tcp::socket socket_;
  FrameLimits limits_;
  SocketEvents& events_;
  int source_ = -1;  // known once it has said hello
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
  FrameHeader header_;
  ReceivedMessage* message_ = nullptr;  // its payload is under way
  std::uint64_t received_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace ringside
