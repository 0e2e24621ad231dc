// The simulated cluster: nodes of GPUs, and the two classes of links that join them.
//
// Defaults: 160 GB/s inside a node and 50 GB/s between nodes, per GPU and direction (DeepSeek-V3
// technical report, section 3.2); latencies 1 us and 5 us are round figures of the field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/units.hpp"

namespace ringside {

enum class LinkClass : std::uint8_t { nvlink, ib, self };

std::string_view name_of(LinkClass link);

struct Link {
  Rate bandwidth;
  Time latency{0};

  // How long `bytes` occupy the link, without the latency.
  Time duration(std::int64_t bytes) const { return time_for(bytes, bandwidth); }
};

struct Cluster {
  int gpus_per_node = 0;  // 0: all ranks in one node; the last node may hold fewer
  Link nvlink{Rate{160'000'000'000}, std::chrono::microseconds(1)};
  Link ib{Rate{50'000'000'000}, std::chrono::microseconds(5)};
  Rate flops{400'000'000'000'000};
  std::optional<Bytes> capacity;  // modelled device memory of a GPU; none: unlimited

  int node_of(int rank) const { return gpus_per_node > 0 ? rank / gpus_per_node : 0; }

  int nodes(int ranks) const {
    return gpus_per_node > 0 ? (ranks + gpus_per_node - 1) / gpus_per_node : 1;
  }

  // The class of a message follows from the topology, whatever wire carries it.
  LinkClass link_class(int a, int b) const {
    return a == b ? LinkClass::self : node_of(a) == node_of(b) ? LinkClass::nvlink : LinkClass::ib;
  }

  Link link(LinkClass c) const {
    return c == LinkClass::nvlink ? nvlink : c == LinkClass::ib ? ib : Link{};
  }
};

}  // namespace ringside
