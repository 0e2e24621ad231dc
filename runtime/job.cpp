#include "runtime/job.hpp"

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/exceptions.hpp>
#include <chrono>
#include <limits>
#include <new>

#include "runtime/errors.hpp"
#include "runtime/process.hpp"
#include "runtime/units.hpp"

namespace ringside {

namespace {

namespace ipc = boost::interprocess;

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes (" + to_string(Bytes{static_cast<std::int64_t>(bytes)}) +
         ")";
}

[[noreturn]] void refuse(int ranks, std::size_t region, std::uint64_t needed,
                         const std::string& reason) {
  throw BadUse(std::to_string(ranks) + " ranks with " + bytes_text(region) +
               " of real device memory each need a mapping of " + bytes_text(needed) + ", but " +
               reason + "; use fewer ranks or a smaller region");
}

// What stands in the way of a mapping that the system has refused.
std::string available_memory() {
  std::string text = "it was refused";
  if (const auto limit = address_space_limit()) {
    text += ": the limit of the address space is " + bytes_text(*limit) + ", of which " +
            bytes_text(address_space_in_use().value_or(0)) + " are in use";
  }
  if (const auto memory = machine_memory()) {
    text += "; the machine has " + bytes_text(memory->available) + " of memory available";
  }
  return text;
}

ipc::mapped_region map(int ranks, std::size_t region_bytes, std::uint64_t needed) {
  if (const auto memory = machine_memory(); memory && needed > memory->total) {
    refuse(ranks, region_bytes, needed,
           "the machine has " + bytes_text(memory->total) + ", of which " +
               bytes_text(memory->available) + " are available");
  }
  try {
    ipc::mapped_region region(ipc::anonymous_shared_memory(needed));
    leave_out_of_core_dumps(region.get_address(), needed);
    return region;
  } catch (const ipc::interprocess_exception&) {
    refuse(ranks, region_bytes, needed, available_memory());
  }
}

constexpr std::size_t ranks_at = (sizeof(JobState) + 63) / 64 * 64;

std::size_t whole_pages(std::size_t bytes) {
  const std::size_t page = ipc::mapped_region::get_page_size();
  return (bytes + page - 1) / page * page;
}

}  // namespace

struct SharedJob::Mapping {
  ipc::mapped_region memory;
  JobState* job = nullptr;
  RankState* ranks = nullptr;
  std::byte* regions = nullptr;
};

SharedJob::SharedJob(int ranks, std::size_t region_bytes)
    : mapping_(std::make_unique<Mapping>()), ranks_(ranks), region_bytes_(region_bytes) {
  if (ranks < 1) {
    throw BadUse("a job has at least 1 rank, not " + std::to_string(ranks));
  }
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t states = whole_pages(ranks_at + n * sizeof(RankState));
  if (region_bytes > (std::numeric_limits<std::size_t>::max() / 2 - states) / n) {
    throw BadUse(std::to_string(ranks) + " regions of " + std::to_string(region_bytes) +
                 " bytes are more than an address can count");
  }
  region_bytes_ = whole_pages(region_bytes);
  mapping_->memory = map(ranks, region_bytes, states + n * region_bytes_);
  auto* start = static_cast<std::byte*>(mapping_->memory.get_address());
  mapping_->job = new (start) JobState;
  mapping_->ranks = reinterpret_cast<RankState*>(start + ranks_at);
  std::uninitialized_default_construct_n(mapping_->ranks, n);
  mapping_->regions = start + states;
}

SharedJob::~SharedJob() {
  std::destroy_n(mapping_->ranks, static_cast<std::size_t>(ranks_));
  std::destroy_at(mapping_->job);
}

JobState& SharedJob::job() {
  return *mapping_->job;
}

RankState& SharedJob::rank(int r) {
  return mapping_->ranks[r];
}

std::span<std::byte> SharedJob::region(int r) {
  return {mapping_->regions + static_cast<std::size_t>(r) * region_bytes_, region_bytes_};
}

void SharedJob::abort(std::string_view cause) {
  JobState& state = job();
  if (state.abort_claimed.exchange(true, std::memory_order_seq_cst)) {
    return;
  }
  constexpr std::string_view cut = " [cut]";
  constexpr std::size_t room = sizeof state.abort_text.chars - 1;
  state.abort_text = cause.size() <= room
                         ? decltype(state.abort_text)(cause)
                         : decltype(state.abort_text)(
                               std::string(cause.substr(0, room - cut.size())) + std::string(cut));
  state.aborted.store(true, std::memory_order_seq_cst);
  for (int r = 0; r < ranks_; ++r) {
    rank(r).mailbox.bell.ring();
  }
}

std::string SharedJob::abort_text() {
  return job().aborted.load(std::memory_order_acquire)
             ? std::string(std::string_view(job().abort_text))
             : std::string("another rank had failed");
}

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ringside
