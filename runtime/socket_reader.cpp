#include "runtime/socket_reader.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstring>
#include <utility>

#include "runtime/crc32c.hpp"

namespace ringside {

namespace {

namespace asio = boost::asio;

constexpr std::size_t buffered = 64 << 10;
constexpr std::size_t at_once = 256 << 10;  // of a payload, so that its checksum finds it in cache

}  // namespace

SocketReader::SocketReader(asio::ip::tcp::socket socket, FrameLimits limits, SocketEvents& events)
    : socket_(std::move(socket)), limits_(limits), events_(events), buffer_(buffered) {}

void SocketReader::close() {
  Error ignored;
  socket_.close(ignored);
}

// The rest of a payload goes where it belongs, and what comes after it into the buffer.
void SocketReader::read() {
  std::array<asio::mutable_buffer, 2> room;
  if (message_ != nullptr) {
    const std::size_t left = header_.length - received_;
    room[0] = asio::buffer(message_->payload + received_, std::min(left, at_once));
    if (left <= at_once) {
      room[1] = asio::buffer(buffer_.data() + filled_, buffer_.size() - filled_);
    }
  } else {
    room[0] = asio::buffer(buffer_.data() + filled_, buffer_.size() - filled_);
  }
  socket_.async_read_some(room, [self = shared_from_this()](const Error& error, std::size_t n) {
    self->has_read(error, n);
  });
}

void SocketReader::has_read(const Error& error, std::size_t bytes) {
  if (!socket_.is_open()) {
    return;
  }
  if (error) {
    close();
    if (source_ >= 0) {
      events_.ended(source_,
                    error == asio::error::eof ? "it closed the connection" : error.message());
    }
    return;
  }
  if (message_ != nullptr) {
    const std::size_t part = std::min<std::size_t>(bytes, header_.length - received_);
    crc_ = crc32c({message_->payload + received_, part}, crc_);
    received_ += part;
    bytes -= part;
  }
  filled_ += bytes;
  if (take_frames()) {
    read();
  }
}

bool SocketReader::take_frames() {
  for (;;) {
    if (message_ != nullptr) {
      take_payload();
      if (received_ < header_.length) {
        break;
      }
      if (!end_message()) {
        return false;
      }
      continue;
    }
    const std::size_t before = begin_;
    if (!begin_frame()) {
      return false;
    }
    if (begin_ == before) {
      break;
    }
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
  filled_ -= std::exchange(begin_, 0);
  return true;
}

// Leaves begin_ where it is when the frame's head is not all there yet.
bool SocketReader::begin_frame() {
  if (unread().size() < sizeof(FrameHeader)) {
    return true;
  }
  std::memcpy(&header_, unread().data(), sizeof header_);
  if (const std::string fault = fault_of(header_, limits_); !fault.empty()) {
    return refuse(fault);
  }
  const bool hello = header_.type == FrameType::hello;
  if (hello != (source_ < 0) || (!hello && header_.source != source_)) {
    return refuse("a frame out of turn");
  }
  if (header_.type == FrameType::message) {
    return begin_message();
  }
  begin_ += sizeof(FrameHeader);
  if (hello) {
    if (!events_.welcome(header_)) {
      return refuse("not of this job");
    }
    source_ = header_.source;
    return true;
  }
  return events_.acknowledged(header_.number) ||
         refuse("an acknowledgement of message " + std::to_string(header_.number) +
                ", which is not under way");
}

bool SocketReader::begin_message() {
  if (unread().size() < sizeof(FrameHead)) {
    return true;
  }
  Envelope envelope;
  std::memcpy(static_cast<void*>(&envelope), unread().data() + sizeof(FrameHeader),
              sizeof envelope);
  begin_ += sizeof(FrameHead);
  crc_ = crc32c(std::as_bytes(std::span(&envelope, 1)));
  received_ = 0;
  message_ = &events_.room_for(header_.length);
  message_->envelope = envelope;
  message_->number = header_.number;
  return true;
}

void SocketReader::take_payload() {
  const std::size_t part = std::min<std::size_t>(header_.length - received_, unread().size());
  if (part == 0) {
    return;
  }
  std::memcpy(message_->payload + received_, unread().data(), part);
  crc_ = crc32c({message_->payload + received_, part}, crc_);
  received_ += part;
  begin_ += part;
}

bool SocketReader::end_message() {
  ReceivedMessage& message = *std::exchange(message_, nullptr);
  std::string fault = fault_of_body(crc_, header_);
  if (fault.empty()) {
    fault = fault_of(message.envelope, header_);
  }
  if (!fault.empty()) {
    events_.damaged(message);
    return refuse(fault);
  }
  events_.received(message);
  return true;
}

// Nonsense from a stranger is none of the job's business.
bool SocketReader::refuse(const std::string& why) {
  close();
  if (source_ >= 0) {
    events_.broken(source_, why);
  }
  return false;
}

}  // namespace ringside
