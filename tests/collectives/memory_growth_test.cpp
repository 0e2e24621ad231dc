// Many ranks: a job's memory grows with their number, not with its square.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/barrier.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

// Bytes of the pages of [start, end) that anybody has touched.
std::size_t touched(std::uintptr_t start, std::uintptr_t end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((end - start) / page);
  void* address = reinterpret_cast<void*>(start);  // NOLINT(performance-no-int-to-ptr)
  if (mincore(address, end - start, resident.data()) != 0) {
    return 0;
  }
  return page * static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(),
                                                       [](unsigned char r) { return r % 2 != 0; }));
}

// Of the job's mapping: the largest shared one without a name.
std::size_t touched_bytes_of_the_job() {
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("rw-s") == std::string::npos || line.find("/dev/zero") == std::string::npos) {
      continue;
    }
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> from >> dash >> to;
    if (to - from > end - start) {
      start = from;
      end = to;
    }
  }
  return touched(start, end);
}

// Private memory of this process.
std::size_t private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) {
      return std::stoul(line.substr(8)) * 1024;
    }
  }
  return 0;
}

struct Memory {
  std::size_t shared;        // of the whole job
  std::size_t private_mean;  // of a rank
};

Memory memory_of(int p, std::size_t eager_limit) {
  JobOptions options;
  options.eager_limit = eager_limit;
  options.region_bytes = 8UL << 20;
  const auto values = run_ranks_tested(p, options, [p](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {16'384}, Category::buffers, "64 KiB");
    for (int step = 0; step < 2; ++step) {
      std::fill(data.as<float>().begin(), data.as<float>().end(), 1.0F);
      all_reduce(rank.world(), data.buffer());
      EXPECT_EQ(data.as<float>()[16'383], static_cast<float>(p));
    }
    barrier(rank.world());
    const Memory memory{rank.id() == 0 ? touched_bytes_of_the_job() : 0, private_bytes()};
    barrier(rank.world());
    return memory;
  });
  Memory memory{values[0].shared, 0};
  for (const auto& value : values) {
    memory.private_mean += value.private_mean / static_cast<std::size_t>(p);
  }
  return memory;
}

// Without buffering a rank's share is the same at any size. With it, a rank may run ahead of its
// neighbour, by p - 1 messages of a ring at most: its pool holds as many as were under way at once
// (measured: 74 KB a rank of 16, 205 KB a rank of 256), and never one for every pair of ranks.
TEST(MemoryGrowth, LargeJobsTakeNoMoreARank) {
  const Memory few = memory_of(16, 0);
  const Memory more = memory_of(64, 0);
  EXPECT_GT(few.shared / 16, 64UL << 10) << "at least its tensor";
  EXPECT_LT(few.shared / 16, 256UL << 10);
  EXPECT_LT(more.shared / 64, few.shared / 16 * 11 / 10);
  EXPECT_LT(more.private_mean, 2 * few.private_mean);

  const Memory buffering = memory_of(16, JobOptions{}.eager_limit);
  const Memory many = memory_of(256, JobOptions{}.eager_limit);
  EXPECT_LT(many.shared / 256, 4 * buffering.shared / 16);
  EXPECT_LT(many.private_mean, 2 * buffering.private_mean);
}

}  // namespace
}  // namespace ringside
