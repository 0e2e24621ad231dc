// A ring all-reduce of 1 GB over 8 ranks at 160 GB/s and 1 us: exactly 14 (1 us + 781.25 us) of
// modelled time on every rank. Needs 8 GB of memory.
#include <spdlog/fmt/fmt.h>

#include "collectives/all_reduce.hpp"
#include "runtime/launch.hpp"

using namespace ringside;

int main() {
  constexpr std::size_t elements = 250'000'000;  // f32
  JobOptions options;
  options.region_bytes = elements * sizeof(float) + (1UL << 20);
  options.limit = std::chrono::minutes(10);
  const Time expected = 14 * (std::chrono::microseconds(1) + Time{781'250'000});
  const auto times = run_ranks(8, options, [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {elements}, Category::buffers, "data");
    for (float& x : data.as<float>()) {
      x = static_cast<float>(rank.id());
    }
    all_reduce(rank.world(), data.buffer());
    const bool right = data.as<float>().front() == 28.0F && data.as<float>().back() == 28.0F;
    return right ? rank.now() : Time{-1};
  });
  bool exact = true;
  for (const Time t : times) {
    fmt::print("{} ps\n", t.count());
    exact = exact && t == expected;
  }
  fmt::print("expected {} ps: {}\n", expected.count(), exact ? "exact on every rank" : "NOT equal");
  return exact ? 0 : 1;
}
