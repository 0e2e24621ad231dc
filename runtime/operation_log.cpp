#include "runtime/operation_log.hpp"

#include <algorithm>
#include <string>

#include "runtime/group_identity.hpp"

namespace ringside {

std::uint64_t OperationLog::begin(OperationRecord operation) {
  const std::uint64_t number = begun_.load(std::memory_order_relaxed);
  Slot& entry = slot(number);
  operation.number = number;
  entry.operation.write(operation);
  entry.step.store(-1, std::memory_order_relaxed);
  entry.finished.store(false, std::memory_order_relaxed);
  begun_.store(number + 1, std::memory_order_release);
  return number;
}

void OperationLog::step(std::uint64_t number, int step) {
  slot(number).step.store(step, std::memory_order_relaxed);
}

// Enough operations inside this one have taken its place.
void OperationLog::end(std::uint64_t number) {
  if (number + kept >= begun_.load(std::memory_order_relaxed)) {
    slot(number).finished.store(true, std::memory_order_release);
  }
}

std::optional<OperationLog::Entry> OperationLog::entry(std::uint64_t number) const {
  const Slot& from = slots_[number % kept];
  const auto operation = from.operation.read();
  if (!operation || operation->number != number) {
    return std::nullopt;
  }
  return Entry{.operation = *operation,
               .step = from.step.load(std::memory_order_relaxed),
               .finished = from.finished.load(std::memory_order_acquire)};
}

std::vector<OperationLog::Entry> OperationLog::last() const {
  const std::uint64_t begun = begun_.load(std::memory_order_acquire);
  std::vector<Entry> entries;
  for (std::uint64_t number = begun - std::min<std::uint64_t>(begun, kept); number < begun;
       ++number) {
    if (const auto kept_entry = entry(number)) {
      entries.push_back(*kept_entry);
    }
  }
  return entries;
}

// Looked at before each parking: reads no more than it has to.
std::optional<OperationLog::Entry> OperationLog::latest(bool finished) const {
  const std::uint64_t begun = begun_.load(std::memory_order_acquire);
  const std::uint64_t oldest = begun - std::min<std::uint64_t>(begun, kept);
  for (std::uint64_t number = begun; number > oldest; --number) {
    if (slots_[(number - 1) % kept].finished.load(std::memory_order_acquire) == finished) {
      if (const auto found = entry(number - 1); found && found->finished == finished) {
        return found;
      }
    }
  }
  return std::nullopt;
}

std::string text_of(const OperationLog::Entry& entry) {
  std::string text =
      text_of(entry.operation.signature) + " in group " + std::string(entry.operation.group_name);
  return entry.finished || entry.step < 0 ? text : text + ", step " + std::to_string(entry.step);
}

bool disagree(const OperationRecord& a, const OperationRecord& b) {
  return a.group == b.group && a.signature.sequence == b.signature.sequence &&
         !same_operation(a.signature, b.signature);
}

std::string disagreement_text(int rank, const OperationRecord& mine, int peer,
                              const Signature& theirs) {
  return "group " + std::string(mine.group_name) + ": rank " + std::to_string(rank) + " is in " +
         text_of(mine.signature) + ", but rank " + std::to_string(peer) + " is in " +
         text_of(theirs);
}

}  // namespace ringside
