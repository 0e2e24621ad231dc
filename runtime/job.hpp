// What the processes of one job share: the state of every rank, and how the job was ended.
//
// Lies in an anonymous mapping made before the fork: at the same address in every rank, without a
// name, so nothing can leak.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/mailbox.hpp"
#include "runtime/operation_log.hpp"
#include "runtime/shared_record.hpp"
#include "runtime/wait_record.hpp"

namespace ringside {

// Whether a rank is parked, so that an observer can tell for certain which ranks are stuck:
// deadlock.hpp. Written by the rank alone.
struct Parking {
  std::atomic<std::uint64_t> epoch{0};  // odd: parked; what it waits for was published before
  std::atomic<std::uint32_t> rings{0};  // of its bell, before it last looked and found nothing
};

struct alignas(64) RankState {
  Mailbox mailbox;
  SharedRecord<WaitRecord> waiting;
  Parking parking;
  OperationLog operations;
  std::atomic<std::uint64_t> activity{0};   // grows with everything the rank does
  std::atomic<std::uint32_t> in_socket{0};  // messages written to a socket for it, not yet pushed
  std::atomic<bool> finished{false};        // its function has returned
};

struct JobState {
  std::atomic<bool> aborted{false};
  std::atomic<bool> abort_claimed{false};  // the first cause stands
  Text<1024> abort_text{};                 // written before `aborted`
  std::atomic<std::uint32_t> finished_ranks{0};
  std::atomic<std::int64_t> wall_start_ns{0};  // steady clock; zero until the ranks start
  std::atomic<std::uint64_t> secret{0};        // tells its ranks from strangers; drawn by the first
};

// The mapping: JobState, a RankState per rank, and a region of device memory per rank.
class SharedJob {
 public:
  // Throws BadUse with the bytes needed and available when the mapping cannot be had.
  SharedJob(int ranks, std::size_t region_bytes);
  ~SharedJob();
  SharedJob(const SharedJob&) = delete;
  SharedJob& operator=(const SharedJob&) = delete;

  JobState& job();
  RankState& rank(int r);

  int ranks() const { return ranks_; }

  std::span<std::byte> region(int r);

  // Stores the cause, sets the flag and wakes every rank; the first call counts.
  void abort(std::string_view cause = "another rank had failed");
  // Why the job was ended.
  std::string abort_text();

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  int ranks_;
  std::size_t region_bytes_;
};

// The steady clock in nanoseconds; not moved by changes of the time of day.
std::int64_t steady_ns();

}  // namespace ringside
