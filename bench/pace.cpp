// How well the wall clock follows the modelled one: a send of 200 MB over a link of 1 GB/s takes
// 0.2 s of modelled time, and with a pace of 1 as much on the wall.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "runtime/comm.hpp"
#include "runtime/launch.hpp"

using namespace ringside;

namespace {

constexpr std::size_t bytes = 200'000'000;

// Wall seconds that rank `r` was in its send or receive.
std::vector<double> send_once() {
  JobOptions options;
  options.cluster.nvlink = {Rate{1'000'000'000}, Time{0}};
  options.region_bytes = bytes + (1UL << 20);
  options.pace = 1;
  return run_ranks(2, options, [](Rank& rank) {
    const Tensor data(rank.memory(), DType::u8, {bytes}, Category::buffers, "data");
    rank.world().send_recv((rank.id() + 1) % 2, {}, (rank.id() + 1) % 2, {});  // start together
    const double start = static_cast<double>(rank.wall_ns());
    if (rank.id() == 0) {
      rank.world().send(1, data.buffer());
    } else {
      rank.world().recv(0, data.buffer());
    }
    return (static_cast<double>(rank.wall_ns()) - start) / 1e9;
  });
}

}  // namespace

int main() {
  std::vector<double> ratios;
  for (int run = 0; run < 9; ++run) {
    const auto walls = send_once();
    ratios.push_back(walls[1] / 0.2);
    fmt::print("run {}: sender {:.4f} s, receiver {:.4f} s of 0.2 s\n", run, walls[0], walls[1]);
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("wall over modelled: least {:.4f}, median {:.4f}, most {:.4f}\n", ratios.front(),
             ratios[ratios.size() / 2], ratios.back());
}
