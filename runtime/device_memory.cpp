#include "runtime/device_memory.hpp"

#include <algorithm>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <limits>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::array<std::string_view, category_count> category_names{
    "weights", "gradients", "master weights", "optimizer state", "activations", "buffers"};

}  // namespace

std::string_view name_of(Category category) {
  return category_names[static_cast<std::size_t>(category)];
}

void Ledger::add(Category category, std::int64_t bytes) {
  const auto c = static_cast<std::size_t>(category);
  current[c] += bytes;
  total += bytes;
  peak[c] = std::max(peak[c], current[c]);
  total_peak = std::max(total_peak, total);
}

std::string Ledger::describe() const {
  std::string text;
  for (std::size_t c = 0; c < category_count; ++c) {
    text +=
        (c == 0 ? "" : ", ") + std::string(category_names[c]) + " " + to_string(Bytes{current[c]});
  }
  return text + "; in all " + to_string(Bytes{total});
}

struct DeviceMemory::Arena {
  explicit Arena(std::span<std::byte> region)
      : buffer(boost::interprocess::create_only, region.data(), region.size()) {}

  boost::interprocess::managed_external_buffer buffer;
};

DeviceMemory::DeviceMemory(std::span<std::byte> region, std::optional<Bytes> capacity,
                           std::string owner, Backing backing)
    : region_(region),
      capacity_(capacity),
      owner_(std::move(owner)),
      backing_(backing),
      arena_(std::make_unique<Arena>(region)) {}

DeviceMemory::DeviceMemory(std::size_t region_bytes, Backing backing)
    : heap_(new std::byte[region_bytes]),
      region_(heap_.get(), region_bytes),
      owner_("the single process"),
      backing_(backing),
      arena_(std::make_unique<Arena>(region_)) {}

DeviceMemory::~DeviceMemory() = default;

std::byte* DeviceMemory::allocate(std::size_t bytes, Category category, std::string_view name,
                                  Backing backing) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const auto more = static_cast<std::int64_t>(std::min(bytes, most));
  if (capacity_ && more > capacity_->count - ledger_.total) {
    throw OutOfDeviceMemory(owner_ + ": \"" + std::string(name) + "\" (" +
                            std::string(name_of(category)) + ") needs " + to_string(Bytes{more}) +
                            " and does not fit in device memory of " + to_string(*capacity_) +
                            ". Held now: " + ledger_.describe());
  }
  std::byte* data = backing == Backing::real ? allocate_message(bytes) : nullptr;
  ledger_.add(category, more);
  return data;
}

void DeviceMemory::release(std::byte* data, std::size_t bytes, Category category) {
  if (data != nullptr) {
    release_message(data);
  }
  ledger_.add(category, -static_cast<std::int64_t>(bytes));
}

std::byte* DeviceMemory::allocate_message(std::size_t bytes) {
  try {
    void* data = arena_->buffer.allocate_aligned(std::max<std::size_t>(bytes, 1), cache_line);
    return static_cast<std::byte*>(data);
  } catch (const boost::interprocess::bad_alloc&) {
    throw BadUse(owner_ + ": the real memory behind its device, " +
                 to_string(Bytes{static_cast<std::int64_t>(region_.size())}) +
                 ", is used up: " + to_string(Bytes{static_cast<std::int64_t>(bytes)}) +
                 " more were asked for. Held now: " + ledger_.describe() +
                 ", and messages under way. Give the job a larger region");
  }
}

void DeviceMemory::release_message(std::byte* data) {
  arena_->buffer.deallocate(data);
}

bool DeviceMemory::contains(const std::byte* data, std::size_t bytes) const {
  return data >= region_.data() && data + bytes <= region_.data() + region_.size();
}

}  // namespace ringside
