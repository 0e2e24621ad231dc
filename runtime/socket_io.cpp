#include "runtime/socket_io.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <random>

#include "runtime/listeners.hpp"
#include "runtime/preflight.hpp"
#include "runtime/process.hpp"

namespace ringside {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::uint64_t most_strangers = 64;  // connections that have not said hello
constexpr std::uint64_t in_hand = 16;         // descriptors that the rank itself may need for files
constexpr std::chrono::milliseconds pause(20);

// Fewer where descriptors are few: those of the peers, both ways, must stay free.
std::size_t room_for_strangers(std::size_t ranks) {
  const auto limit = descriptor_limit();
  if (!limit) {
    return most_strangers;
  }
  const std::uint64_t used = open_descriptors() + 2 * ranks + in_hand;
  return std::clamp(*limit - std::min(*limit, used), fewest_strangers, most_strangers);
}

// Known to the ranks of the job and to nobody else: the first rank that asks draws it.
std::uint64_t secret_of(SharedJob& job) {
  std::random_device random;
  const std::uint64_t drawn = (std::uint64_t{random()} << 32 | random()) | 1;
  std::uint64_t secret = 0;
  return job.job().secret.compare_exchange_strong(secret, drawn) ? drawn : secret;
}

}  // namespace

SocketIo::SocketIo(int rank, SharedJob& job, Waiter& waiter, const std::vector<int>& listeners)
    : rank_(rank),
      job_(job),
      waiter_(waiter),
      secret_(secret_of(job)),
      welcomed_(listeners.size()),
      most_strangers_(room_for_strangers(listeners.size())) {
  acceptor_.assign(tcp::v4(), listeners[static_cast<std::size_t>(rank)]);
  for (int peer = 0; peer < job.ranks(); ++peer) {
    const auto port = port_of(listeners[static_cast<std::size_t>(peer)]);
    writers_.push_back(std::make_unique<SocketWriter>(
        io_, port, frame_to(peer, FrameType::hello, secret_).head, *this));
  }
  accept();
  thread_ = std::jthread([this] { run(); });
}

SocketIo::~SocketIo() {
  io_.stop();
  thread_.join();
}

void SocketIo::run() {
  try {
    io_.run();
  } catch (const std::exception& e) {
    lose(rank_, std::string("its socket thread failed: ") + e.what());
  }
}

// ---- the rank's side ---------------------------------------------------------------------------

OutgoingFrame SocketIo::frame_to(int peer, FrameType type, std::uint64_t number) const {
  OutgoingFrame frame;
  frame.head.header.type = type;
  frame.head.header.number = number;
  frame.head.header.source = rank_;
  frame.head.header.destination = peer;
  return frame;
}

void SocketIo::push(Message& message) {
  OutgoingFrame frame = frame_to(message.envelope.destination, FrameType::message, ++numbers_);
  frame.head.envelope = message.envelope;
  frame.payload = message.payload;
  frame.length = message.payload == nullptr ? 0 : message.envelope.bytes;
  frame.message = &message;
  enqueue(frame);
}

void SocketIo::release(Message& message) {
  auto& taken = static_cast<ReceivedMessage&>(message);
  if (taken.envelope.acknowledged) {
    enqueue(frame_to(taken.envelope.source, FrameType::acknowledgement, taken.number));
  }
  messages_.give_back(taken);
}

void SocketIo::enqueue(const OutgoingFrame& frame) {
  job_.rank(frame.head.header.destination).in_socket.fetch_add(1, std::memory_order_seq_cst);
  inside_.fetch_add(1, std::memory_order_seq_cst);
  bool first = false;
  {
    const std::scoped_lock lock(outbox_mutex_);
    first = outbox_.empty();
    outbox_.push_back(frame);
  }
  if (first) {
    asio::post(io_, [this] { take_outbox(); });
  }
}

void SocketIo::flush() {
  flushing_.store(true, std::memory_order_seq_cst);
  waiter_.until([&] { return inside_.load(std::memory_order_seq_cst) == 0; },
                {.kind = std::string_view("flush")});
  flushing_.store(false, std::memory_order_relaxed);
}

// ---- the thread's side -------------------------------------------------------------------------

void SocketIo::take_outbox() {
  {
    const std::scoped_lock lock(outbox_mutex_);
    taken_.swap(outbox_);
  }
  for (OutgoingFrame& frame : taken_) {
    if (frame.message != nullptr && frame.head.envelope.acknowledged) {
      unacknowledged_.emplace(frame.head.header.number, frame.message);
      frame.message = nullptr;  // the receiver says when it is over, maybe before the write's end
    }
    writers_[static_cast<std::size_t>(frame.head.header.destination)]->send(frame);
  }
  taken_.clear();
}

void SocketIo::accept() {
  acceptor_.async_accept([this](const Error& error, tcp::socket socket) {
    if (error) {  // out of descriptors, or the caller has gone already
      if (error == asio::error::no_descriptors) {
        free_descriptors();
      }
      accept_again_.expires_after(pause);
      accept_again_.async_wait([this](const Error&) { accept(); });
      return;
    }
    make_room_for_stranger();
    const FrameLimits limits{.destination = rank_, .length = job_.region(rank_).size()};
    const auto reader = std::make_shared<SocketReader>(std::move(socket), limits, *this);
    strangers_.push_back(reader);
    reader->start();
    accept();
  });
}

void SocketIo::forget_acquaintances() {
  strangers_.remove_if([](const std::weak_ptr<SocketReader>& weak) {
    const auto reader = weak.lock();
    return reader == nullptr || !reader->is_stranger();
  });
}

// Peers that have connected, and are yet to say so, must not be taken for strangers.
void SocketIo::make_room_for_stranger() {
  forget_acquaintances();
  const auto expected = static_cast<std::size_t>(std::ranges::count(welcomed_, false));
  while (strangers_.size() >= most_strangers_ + expected) {
    strangers_.front().lock()->close();
    strangers_.pop_front();
  }
}

// The oldest half of the strangers: a peer says hello at once.
void SocketIo::free_descriptors() {
  forget_acquaintances();
  for (std::size_t left = (strangers_.size() + 1) / 2; left > 0; --left) {
    strangers_.front().lock()->close();
    strangers_.pop_front();
  }
}

void SocketIo::left(const OutgoingFrame& frame) {
  if (frame.message != nullptr) {
    frame.message->delivery.store(Delivery::free, std::memory_order_release);
  }
  if (inside_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      flushing_.load(std::memory_order_seq_cst)) {
    job_.rank(rank_).mailbox.bell.ring();
  }
}

void SocketIo::written(const OutgoingFrame& frame) {
  left(frame);
}

void SocketIo::dropped(const OutgoingFrame& frame) {
  job_.rank(frame.head.header.destination).in_socket.fetch_sub(1, std::memory_order_seq_cst);
  left(frame);
}

bool SocketIo::welcome(const FrameHeader& hello) {
  const auto source = static_cast<std::size_t>(hello.source);
  if (hello.number != secret_ || source >= welcomed_.size() || welcomed_[source]) {
    return false;
  }
  welcomed_[source] = true;
  return true;
}

ReceivedMessage& SocketIo::room_for(std::uint64_t bytes) {
  return messages_.make(bytes);
}

void SocketIo::received(ReceivedMessage& message) {
  RankState& me = job_.rank(rank_);
  me.mailbox.push(message);
  me.in_socket.fetch_sub(1, std::memory_order_seq_cst);
}

void SocketIo::damaged(ReceivedMessage& message) {
  messages_.give_back(message);
  job_.rank(rank_).in_socket.fetch_sub(1, std::memory_order_seq_cst);
}

bool SocketIo::acknowledged(std::uint64_t number) {
  const auto found = unacknowledged_.find(number);
  if (found == unacknowledged_.end()) {
    return false;
  }
  RankState& me = job_.rank(rank_);
  found->second->delivery.store(Delivery::taken, std::memory_order_seq_cst);
  unacknowledged_.erase(found);
  me.mailbox.bell.ring();
  me.in_socket.fetch_sub(1, std::memory_order_seq_cst);
  return true;
}

void SocketIo::broken(int peer, const std::string& why) {
  lose(peer, why);
}

void SocketIo::ended(int peer, const std::string& why) {
  if (!job_.rank(peer).finished.load(std::memory_order_seq_cst)) {
    lose(peer, why);
  }
}

// The first loss stands: the others follow from it.
void SocketIo::lose(int peer, const std::string& why) {
  if (job_.job().aborted.load(std::memory_order_seq_cst) || !lost_.empty()) {
    return;
  }
  lost_ = why;
  waiter_.lost_reason.store(lost_.c_str(), std::memory_order_release);
  waiter_.lost_peer.store(peer, std::memory_order_release);
  job_.rank(rank_).mailbox.bell.ring();
}

}  // namespace ringside
