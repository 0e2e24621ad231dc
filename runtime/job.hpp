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

#include "runtime/mailbox.hpp"
#include "runtime/shared_record.hpp"

namespace ringside {

// What a parked rank waits for, for reports.
struct WaitRecord {
  Text<16> kind{};  // "recv", "send"; empty: not waiting
  std::int32_t peer = -1;
  std::int64_t tag = 0;
  std::uint64_t bytes = 0;
  std::int32_t step = 0;
  std::uint64_t sequence = 0;
  Text<16> operation{};
  Text<24> algorithm{};
  Text<32> group{};
};

// "recv from rank 3 in group dp, all_reduce (ring) #12, step 4, 64.0 KiB".
std::string text_of(const WaitRecord& what);

struct alignas(64) RankState {
  Mailbox mailbox;
  SharedRecord<WaitRecord> waiting;
  std::atomic<std::uint64_t> activity{0};   // grows with everything the rank does
  std::atomic<std::uint32_t> in_socket{0};  // messages written to a socket for it, not yet pushed
  std::atomic<bool> finished{false};        // its function has returned
};

struct JobState {
  std::atomic<bool> aborted{false};
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

  // Sets the flag and wakes every rank.
  void abort();

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  int ranks_;
  std::size_t region_bytes_;
};

// The steady clock in nanoseconds; not moved by changes of the time of day.
std::int64_t steady_ns();

}  // namespace ringside
