#include "runtime/socket_writer.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

namespace ringside {

namespace {

namespace asio = boost::asio;

constexpr std::size_t most_frames = 32;        // in one write
constexpr std::size_t most_bytes = 256 << 10;  // before a write is full
constexpr std::size_t at_once = 1 << 20;       // offered to the system in one call
constexpr int most_attempts = 1000;            // to connect, while there is no free port
constexpr std::chrono::milliseconds pause(2);

// Asio copies the sequence that it writes; this is a cheap one.
struct Pieces {
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;
  const_iterator first;
  const_iterator last;

  const_iterator begin() const { return first; }

  const_iterator end() const { return last; }
};

}  // namespace

SocketWriter::SocketWriter(asio::io_context& io, std::uint16_t port, FrameHead hello,
                           SocketEvents& events)
    : socket_(io), timer_(io), port_(port), hello_(hello), events_(events) {
  seal(hello_, {});
}

void SocketWriter::send(OutgoingFrame frame) {
  if (state_ == State::broken) {
    events_.dropped(frame);
    return;
  }
  waiting_.push_back(frame);
  if (state_ == State::unused) {
    connect();
  } else if (state_ == State::idle) {
    write();
  }
}

void SocketWriter::connect() {
  state_ = State::connecting;
  socket_.async_connect({asio::ip::address_v4::loopback(), port_},
                        [this](const Error& error) { connected(error); });
}

// The peer has listened since before the fork, so a refusal is its end; but the system may be out
// of ports for this side, or strangers may hold the descriptors.
void SocketWriter::connected(const Error& error) {
  const bool no_descriptor = error == asio::error::no_descriptors;
  if (no_descriptor || error == asio::error::address_in_use ||
      error == std::errc::address_not_available) {
    if (++attempts_ < most_attempts) {
      if (no_descriptor) {
        events_.free_descriptors();
      }
      Error ignored;
      socket_.close(ignored);
      timer_.expires_after(pause);
      timer_.async_wait([this](const Error& stopped) { stopped ? void() : connect(); });
      return;
    }
  }
  if (error) {
    fail("cannot connect: " + error.message());
    return;
  }
  Error ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  watch();
  writing_.clear();
  pieces_.assign(1, asio::buffer(hello_.bytes().data(), hello_.bytes().size()));
  state_ = State::writing;
  asio::async_write(socket_, Pieces{pieces_.data(), pieces_.data() + pieces_.size()},
                    [this](const Error& e, std::size_t) { written(e); });
}

// A connection that nobody writes to would not show that the peer is gone: what it owes us, an
// acknowledgement, comes another way.
void SocketWriter::watch() {
  socket_.async_read_some(asio::buffer(never_), [this](const Error& error, std::size_t) {
    if (state_ != State::broken) {
      fail(error == asio::error::eof ? "it closed the connection"
           : error                   ? error.message()
                                     : "it answered where nothing is to be said");
    }
  });
}

void SocketWriter::write() {
  state_ = State::writing;
  std::size_t bytes = 0;
  while (!waiting_.empty() && writing_.size() < most_frames && bytes < most_bytes) {
    bytes += waiting_.front().length;
    writing_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  pieces_.clear();
  for (OutgoingFrame& frame : writing_) {
    seal(frame.head, {frame.payload, frame.length});
    pieces_.emplace_back(frame.head.bytes().data(), frame.head.bytes().size());
    if (frame.length > 0) {
      pieces_.emplace_back(frame.payload, frame.length);
    }
  }
  asio::async_write(
      socket_, Pieces{pieces_.data(), pieces_.data() + pieces_.size()},
      [](const Error& error, std::size_t) { return error ? 0 : at_once; },
      [this](const Error& error, std::size_t) { written(error); });
}

void SocketWriter::written(const Error& error) {
  if (state_ == State::broken) {
    drop_all();
    return;
  }
  state_ = State::idle;
  if (error) {
    fail(error.message());
    return;
  }
  for (const OutgoingFrame& frame : writing_) {
    events_.written(frame);
  }
  writing_.clear();
  if (!waiting_.empty()) {
    write();
  }
}

// What a write under way still reads is dropped at its end, which the closing brings about.
void SocketWriter::fail(const std::string& why) {
  const bool writes = state_ == State::writing;
  state_ = State::broken;
  Error ignored;
  socket_.close(ignored);
  events_.ended(peer(), why);
  if (!writes) {
    drop_all();
  }
}

void SocketWriter::drop_all() {
  for (const OutgoingFrame& frame : writing_) {
    events_.dropped(frame);
  }
  writing_.clear();
  for (const OutgoingFrame& frame : waiting_) {
    events_.dropped(frame);
  }
  waiting_.clear();
}

}  // namespace ringside
