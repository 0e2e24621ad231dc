// A rank's "GPU memory": an arena in the shared mapping, and a ledger of what it holds.
//
// Peers can read the arena, so a large message inside a node is never copied twice. Capacity is
// modelled bookkeeping; the region behind it is sized by what is really stored. Meta memory stores
// no tensor: ledger and capacity are as always, and the region holds messages only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backing.hpp"
#include "runtime/units.hpp"

namespace ringside {

enum class Category : std::uint8_t {
  weights,
  gradients,
  master_weights,
  optimizer_state,
  activations,
  buffers
};

inline constexpr std::size_t category_count = 6;
std::string_view name_of(Category category);

// Bytes in use now and at the worst moment, by category and in all.
struct Ledger {
  std::array<std::int64_t, category_count> current{};
  std::array<std::int64_t, category_count> peak{};
  std::int64_t total = 0;
  std::int64_t total_peak = 0;

  void add(Category category, std::int64_t bytes);
  std::string describe() const;
};

class DeviceMemory {
 public:
  // An arena over `region`, which outlives it. `owner` names it in errors ("rank 3").
  DeviceMemory(std::span<std::byte> region, std::optional<Bytes> capacity, std::string owner,
               Backing backing = Backing::real);
  // An arena on the heap of this process, for a single process that talks to nobody.
  explicit DeviceMemory(std::size_t region_bytes, Backing backing = Backing::real);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Bytes aligned to a cache line, entered in the ledger. Throws OutOfDeviceMemory (capacity
  // passed: the whole ledger and `name`) or BadUse (the region is too small). Meta bytes are
  // entered and have no address.
  std::byte* allocate(std::size_t bytes, Category category, std::string_view name) {
    return allocate(bytes, category, name, backing_);
  }

  std::byte* allocate(std::size_t bytes, Category category, std::string_view name, Backing backing);
  void release(std::byte* data, std::size_t bytes, Category category);

  // Space for messages under way, which is the runtime's own and not in the ledger.
  std::byte* allocate_message(std::size_t bytes);
  void release_message(std::byte* data);

  // Whether peers can read [data, data + bytes) in place.
  bool contains(const std::byte* data, std::size_t bytes) const;

  // Of tensors, unless they say otherwise.
  Backing backing() const { return backing_; }

  const Ledger& ledger() const { return ledger_; }

 private:
  struct Arena;  // Boost.Interprocess's allocator; private to its rank, so no lock to die with
  std::unique_ptr<std::byte[]> heap_;
  std::span<std::byte> region_;
  std::optional<Bytes> capacity_;
  std::string owner_;
  Backing backing_;
  std::unique_ptr<Arena> arena_;
  Ledger ledger_;
};

}  // namespace ringside
