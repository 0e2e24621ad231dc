// What `ringside collective` is asked to measure, and what it measured: plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/job_options.hpp"
#include "scenarios/operation_convention.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

struct CollectiveRequest {
  Settings settings{};  // its cluster and links
  std::string operation{};
  std::vector<std::string> algorithms{};  // of the table, or auto
  std::vector<std::size_t> sizes{};       // S in bytes, each a multiple of size_unit()
  DType dtype = DType::f32;
  std::vector<ReduceOp> ops{ReduceOp::none};
  int root = 0;
  int iterations = 20;
  int warmup = 1;
  bool check = true;
  std::size_t eager_limit = JobOptions{}.eager_limit;
  double pace = 0;
  std::chrono::nanoseconds timeout = JobOptions{}.limit;
  bool json = false;
};

// What sizes are multiples of: an element, or one for each rank.
inline std::size_t size_unit(const OperationConvention& convention, int ranks, DType dtype) {
  return size_of(dtype) * (convention.count_per_rank ? static_cast<std::size_t>(ranks) : 1);
}

// One line of the table.
struct CollectiveCase {
  const OperationRow* row = nullptr;
  std::size_t bytes = 0;  // S
  std::size_t count = 0;  // elements of the whole buffer
  ReduceOp op = ReduceOp::none;
};

// One placement of a case, over all ranks.
struct Measurement {
  Placement placement = Placement::in_place;
  Time modelled{0};          // of one call that all ranks start at the same modelled time
  std::int64_t sent_most{};  // bytes of that call, by the rank that sends most
  std::int64_t sent_all{};   // by all ranks
  double wall_s = 0;         // mean of the timed calls, of the slowest rank
  std::int64_t wrong = 0;    // elements; 0 without a check
};

struct MeasuredCase {
  CollectiveCase what;
  std::vector<Measurement> placements;
};

}  // namespace ringside
