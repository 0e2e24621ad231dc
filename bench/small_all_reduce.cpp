// Wall time of an all-reduce of 4 bytes over 8 ranks, where every cost of the runtime itself shows.
// Prints microseconds an operation: best and median of the batches.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "collectives/all_reduce.hpp"
#include "runtime/launch.hpp"

using namespace ringside;

int main() {
  constexpr int batches = 60;
  constexpr int operations = 500;
  const auto per_rank = run_ranks(8, {}, [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {1}, Category::buffers, "data");
    std::vector<double> micros;
    for (int batch = 0; batch < batches; ++batch) {
      const auto start = rank.wall_ns();
      for (int i = 0; i < operations; ++i) {
        all_reduce(rank.world(), data.buffer());
      }
      micros.push_back(static_cast<double>(rank.wall_ns() - start) / 1000.0 / operations);
    }
    return micros;
  });
  auto micros = per_rank.front();
  std::sort(micros.begin(), micros.end());
  fmt::print("{:.2f} us best, {:.2f} us median\n", micros.front(), micros[micros.size() / 2]);
}
