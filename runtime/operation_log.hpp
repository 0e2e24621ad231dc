// The last operations of one rank, in shared memory: a ring that the rank writes on its way, and
// that tells what it was in when it is dead.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/message.hpp"
#include "runtime/shared_record.hpp"

namespace ringside {

struct OperationRecord {
  Signature signature{};
  std::uint64_t group = 0;
  Text<32> group_name{};
  std::uint64_t number = 0;  // of the rank's operations in all its groups
};

class OperationLog {
 public:
  static constexpr std::size_t kept = 8;

  struct Entry {
    OperationRecord operation;
    int step = -1;
    bool finished = false;
  };

  // The rank's side: an operation of that number begins, is in a step, ends. Operations may nest.
  std::uint64_t begin(OperationRecord operation);
  void step(std::uint64_t number, int step);
  void end(std::uint64_t number);

  // Anybody's, at any time: oldest first; the innermost that has begun and not ended; the last
  // that has ended.
  std::vector<Entry> last() const;

  std::optional<Entry> current() const { return latest(false); }

  std::optional<Entry> finished() const { return latest(true); }

 private:
  struct Slot {
    SharedRecord<OperationRecord> operation;
    std::atomic<std::int32_t> step{-1};
    std::atomic<bool> finished{false};
  };

  std::optional<Entry> entry(std::uint64_t number) const;
  std::optional<Entry> latest(bool finished) const;

  Slot& slot(std::uint64_t number) { return slots_[number % kept]; }

  std::array<Slot, kept> slots_{};
  std::atomic<std::uint64_t> begun_{0};
};

// "all_reduce (ring, sum) #3 of 1000 f32 in group dp, step 4".
std::string text_of(const OperationLog::Entry& entry);

// Whether two ranks are in the same operation of one group and mean different things by it.
bool disagree(const OperationRecord& a, const OperationRecord& b);

// "group dp: rank 0 is in all_reduce …, but rank 1 is in broadcast …".
std::string disagreement_text(int rank, const OperationRecord& mine, int peer,
                              const Signature& theirs);

}  // namespace ringside
