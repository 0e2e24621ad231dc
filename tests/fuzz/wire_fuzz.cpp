// What comes over a socket and in a traffic log, as bytes that nobody wrote on purpose. The first
// byte selects: a stream of frames, some of them sealed with right checksums; or a line of a log.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/errors.hpp"
#include "runtime/socket_reader.hpp"
#include "runtime/traffic_line.hpp"

namespace {

using namespace ringside;

constexpr std::uint64_t longest = 4096;

// A rank that takes whatever is put before it.
class Listener final : public SocketEvents {
 public:
  void written(const OutgoingFrame&) override {}

  void dropped(const OutgoingFrame&) override {}

  bool welcome(const FrameHeader&) override { return true; }

  ReceivedMessage& room_for(std::uint64_t bytes) override {
    if (bytes > longest) {
      std::abort();  // past the limit that the reader was given
    }
    auto& message = messages_.emplace_back();
    payloads_.emplace_back(bytes);
    message.payload = payloads_.back().data();
    return message;
  }

  void received(ReceivedMessage&) override {}

  void damaged(ReceivedMessage&) override {}

  bool acknowledged(std::uint64_t number) override { return number % 2 == 0; }

  void broken(int, const std::string&) override {}

  void ended(int, const std::string&) override {}

  void free_descriptors() override {}

 private:
  std::deque<ReceivedMessage> messages_;
  std::deque<std::vector<std::byte>> payloads_;
};

// Frames as their sender would seal them where the byte before them is odd, else as they come.
std::vector<std::byte> stream_of(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> stream;
  while (size > 2) {
    const bool sealed = (data[0] & 1U) != 0;
    const std::size_t payload = std::min<std::size_t>(data[1], size - 2);
    data += 2;
    size -= 2;
    FrameHead head{};
    std::memcpy(static_cast<void*>(&head), data, std::min(size, sizeof head));
    const std::size_t taken = std::min(size, sizeof head);
    data += taken;
    size -= taken;
    const auto body = std::as_bytes(std::span(data, std::min(payload, size)));
    if (sealed) {
      head.header.magic = frame_magic;
      head.header.destination = 0;
      seal(head, body);
    }
    const auto bytes = head.bytes();
    stream.insert(stream.end(), bytes.begin(), bytes.end());
    stream.insert(stream.end(), body.begin(), body.end());
    data += body.size();
    size -= body.size();
  }
  return stream;
}

void read_frames(const std::vector<std::byte>& stream) {
  constexpr std::size_t at_once = 64 << 10;  // what a socket holds without a reader
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    std::abort();
  }
  Listener listener;
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context, boost::asio::ip::tcp::v4(), ends[0]);
  std::make_shared<SocketReader>(std::move(socket),
                                 FrameLimits{.destination = 0, .length = longest}, listener)
      ->start();
  for (std::size_t at = 0; at < stream.size(); at += at_once) {
    const std::size_t part = std::min(at_once, stream.size() - at);
    if (send(ends[1], stream.data() + at, part, MSG_NOSIGNAL | MSG_DONTWAIT) <= 0) {
      break;  // it has closed the connection
    }
    context.poll();
    context.restart();
  }
  close(ends[1]);
  context.run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  if (data[0] % 2 == 0) {
    read_frames(stream_of(data + 1, size - 1));
    return 0;
  }
  const std::string_view line(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const LoggedMessage message = parse_traffic_line(line);
    const std::string again = traffic_line(message);
    if (traffic_line(parse_traffic_line(again)) != again) {
      std::abort();  // what is written is read back as it was
    }
  } catch (const BadUse&) {  // a refusal is an answer
  }
  return 0;
}
