// Ranks that are joined by socket wires and driven by one thread: posts never block, so it can play
// all of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/endpoint.hpp"
#include "runtime/listeners.hpp"
#include "runtime/socket_wire.hpp"

namespace ringside {

struct SocketRanks {
  static constexpr std::size_t region_bytes = 80UL << 20;

  // Ranks in `by_hand` have no wire: the test plays them, with listeners[r].
  SocketRanks(int n, std::size_t eager_limit, std::vector<int> by_hand = {},
              std::chrono::nanoseconds limit = std::chrono::seconds(20))
      : job(n, region_bytes), listeners(listen_on_loopback(n)) {
    for (int r = 0; r < n; ++r) {
      ports.push_back(port_of(listeners[static_cast<std::size_t>(r)]));
      states_.push_back(std::make_unique<State>(job, r, eager_limit, limit));
    }
    for (int r = 0; r < n; ++r) {
      if (std::find(by_hand.begin(), by_hand.end(), r) == by_hand.end()) {
        start_wire(r);
      }
    }
  }

  void start_wire(int r) {
    State& s = state(r);
    s.wire = std::make_unique<SocketWire>(r, job, s.waiter, listeners);
    s.endpoint.connect(std::vector<Wire*>(states_.size(), s.wire.get()));
  }

  Wire& wire(int r) { return *state(r).wire; }

  void close_wire(int r) { state(r).wire.reset(); }

  Endpoint& endpoint(int r) { return state(r).endpoint; }

  Waiter& waiter(int r) { return state(r).waiter; }

  Buffer noise(int rank, std::size_t bytes) {
    std::byte* data = state(rank).memory.allocate(bytes, Category::buffers, "noise");
    const Buffer buffer{data, bytes, DType::u8};
    const auto values = buffer.as<std::uint8_t>();
    std::uint32_t value = 1;
    for (std::uint8_t& byte : values) {
      value = value * 1664525 + 1013904223;
      byte = static_cast<std::uint8_t>(value >> 24);
    }
    return buffer;
  }

  void forget(int rank, Buffer data) {
    state(rank).memory.release(data.data, data.bytes(), Category::buffers);
  }

  Envelope envelope(int from, int to, Buffer data) {
    return {
        .group = 7, .source = from, .destination = to, .count = data.count, .bytes = data.bytes()};
  }

  Message* post(int from, int to, Buffer data, Payload mode = Payload::in_place) {
    return endpoint(from).post(envelope(from, to, data), data, mode);
  }

  Message& take(int rank, int from) {
    return endpoint(rank).take(7, from, 0, {.kind = std::string_view("recv"), .peer = from});
  }

  // Receives a message to its end; `sent` as post() returned it.
  void end(Message* sent, int from, Message& received, int to) {
    endpoint(to).release(received);
    if (sent != nullptr) {
      endpoint(from).wait_taken(*sent, {.kind = std::string_view("send"), .peer = to});
    }
  }

  // A small message, from its post to its end.
  void deliver(int from, int to) {
    const Buffer data = noise(from, 8);
    Message* sent = post(from, to, data);
    end(sent, from, take(to, from), to);
    forget(from, data);
  }

  // After a moment in which they can come to rest.
  std::uint32_t in_sockets() {
    std::uint32_t sum = 1;
    for (int look = 0; look < 1000 && sum > 0; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(look > 0 ? 1 : 0));
      sum = 0;
      for (int r = 0; r < job.ranks(); ++r) {
        sum += job.rank(r).in_socket.load();
      }
    }
    return sum;
  }

  SharedJob job;
  std::vector<int> listeners;
  std::vector<std::uint16_t> ports;

 private:
  struct State {
    State(SharedJob& job, int r, std::size_t eager_limit, std::chrono::nanoseconds limit)
        : memory(job.region(r), {}, "rank " + std::to_string(r)),
          waiter(job, r, limit),
          endpoint(job.rank(r), memory, waiter, eager_limit) {}

    DeviceMemory memory;
    Waiter waiter;
    Endpoint endpoint;
    std::unique_ptr<SocketWire> wire;
  };

  State& state(int r) { return *states_[static_cast<std::size_t>(r)]; }

  std::vector<std::unique_ptr<State>> states_;
};

}  // namespace ringside
