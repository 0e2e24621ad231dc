// A rank: one process in the place of one GPU. Everything it has hangs off this object; there are
// no globals, so ranks can be threads too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compute_clock.hpp"
#include "runtime/device_memory.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/job.hpp"
#include "runtime/job_options.hpp"
#include "runtime/port.hpp"
#include "runtime/rank_report.hpp"
#include "runtime/symbol.hpp"
#include "runtime/topology.hpp"
#include "runtime/traffic.hpp"
#include "runtime/waiter.hpp"

namespace ringside {

class Comm;
class LiveLog;
class Wires;

class Rank {
 public:
  // `listeners` are the listening sockets of the job, by rank; empty when it lies in one node.
  // `send_note` brings a text to the launcher.
  Rank(int id, SharedJob& job, const JobOptions& options, const std::vector<int>& listeners,
       std::function<void(std::string_view)> send_note);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int id() const { return id_; }

  int size() const { return job_.ranks(); }

  const JobOptions& options() const { return options_; }

  const Cluster& cluster() const { return options_.cluster; }

  Comm& world() { return *world_; }

  DeviceMemory& memory() { return memory_; }

  ComputeClock& clock() { return clock_; }

  // The modelled time of the program itself: its compute stream.
  Time now() { return clock_.stream().now; }

  // The program waits until `t`; under a pace, so does the wall clock.
  void advance_to(Time t);

  // A text for the launcher's JobOptions::on_note (progress, test failures).
  void note(std::string_view text) { send_note_(text); }

  // Brings what is under way to its end: called when the rank's function has returned.
  void finish();
  RankReport report();

  // For Comm.
  Endpoint& endpoint() { return endpoint_; }

  Traffic& traffic() { return traffic_; }

  OperationLog& operations() { return state_.operations; }

  SymbolTable& symbols() { return symbols_; }

  Port& send_port(LinkClass link) { return send_ports_[static_cast<std::size_t>(link)]; }

  Port& receive_port(LinkClass link) { return receive_ports_[static_cast<std::size_t>(link)]; }

  Stream& new_stream(std::string name);
  void record(const Stream& stream, std::string_view name, Time start, Time end);
  std::int64_t wall_ns() const;
  // How many groups of this identity the rank has made before: equal on all members.
  std::uint64_t group_instance(std::uint64_t identity);

 private:
  void keep_pace();
  void sleep_until(std::int64_t wall_ns);

  int id_;
  SharedJob& job_;
  RankState& state_;
  const JobOptions& options_;
  std::function<void(std::string_view)> send_note_;
  DeviceMemory memory_;
  Waiter waiter_;
  Endpoint endpoint_;
  Traffic traffic_;
  SymbolTable symbols_;
  ComputeClock clock_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::array<Port, 3> send_ports_;
  // What ended before the program, and is kept for receives that come late: docs/time.md.
  static constexpr std::size_t kept_arrivals = 4096;
  std::array<Port, 3> receive_ports_{Port(kept_arrivals), Port(kept_arrivals), Port(kept_arrivals)};
  std::vector<Span> spans_;
  std::map<std::uint64_t, std::uint64_t> groups_;
  std::int64_t behind_ns_ = 0;
  std::unique_ptr<LiveLog> live_;
  std::unique_ptr<Wires> wires_;
  std::unique_ptr<Comm> world_;
};

}  // namespace ringside
