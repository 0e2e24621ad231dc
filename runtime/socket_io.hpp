// The connections of one rank and the thread that serves them: the inside of the socket wire.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/socket_events.hpp"
#include "runtime/socket_reader.hpp"
#include "runtime/socket_writer.hpp"
#include "runtime/waiter.hpp"

namespace ringside {

class SocketIo final : public SocketEvents {
 public:
  SocketIo(int rank, SharedJob& job, Waiter& waiter, const std::vector<int>& listeners);
  ~SocketIo();
  SocketIo(const SocketIo&) = delete;
  SocketIo& operator=(const SocketIo&) = delete;

  // The rank's side.
  void push(Message& message);
  void release(Message& message);
  void flush();

 private:
  void enqueue(const OutgoingFrame& frame);
  OutgoingFrame frame_to(int peer, FrameType type, std::uint64_t number) const;

  // The thread's side, as are the events.
  void run();
  void accept();
  void forget_acquaintances();
  void make_room_for_stranger();
  void take_outbox();
  void left(const OutgoingFrame& frame);
  void lose(int peer, const std::string& why);

  void written(const OutgoingFrame& frame) override;
  void dropped(const OutgoingFrame& frame) override;
  bool welcome(const FrameHeader& hello) override;
  ReceivedMessage& room_for(std::uint64_t bytes) override;
  void received(ReceivedMessage& message) override;
  void damaged(ReceivedMessage& message) override;
  bool acknowledged(std::uint64_t number) override;
  void free_descriptors() override;
  void broken(int peer, const std::string& why) override;
  void ended(int peer, const std::string& why) override;

  int rank_;
  SharedJob& job_;
  Waiter& waiter_;
  std::uint64_t secret_;
  ReceivedMessages messages_;

  std::uint64_t numbers_ = 0;  // the rank's: of its messages
  std::mutex outbox_mutex_;
  std::vector<OutgoingFrame> outbox_;
  std::atomic<std::uint64_t> inside_{0};  // frames that have not been written
  std::atomic<bool> flushing_{false};

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  boost::asio::steady_timer accept_again_{io_};
  std::vector<std::unique_ptr<SocketWriter>> writers_;  // by rank
  std::list<std::weak_ptr<SocketReader>> strangers_;    // oldest first
  std::vector<bool> welcomed_;
  std::size_t most_strangers_;
  std::vector<OutgoingFrame> taken_;
  std::unordered_map<std::uint64_t, Message*> unacknowledged_;
  std::string lost_;  // written once, before Waiter::lost_reason points to it
  std::jthread thread_;
};

}  // namespace ringside
