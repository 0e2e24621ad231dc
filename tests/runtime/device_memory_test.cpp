// Device memory: the ledger, the modelled capacity, the real region behind it.
#include "runtime/device_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr std::size_t region_bytes = 1UL << 20;

struct Region {
  std::unique_ptr<std::byte[]> bytes{new std::byte[region_bytes]};

  std::span<std::byte> span() const { return {bytes.get(), region_bytes}; }
};

std::size_t at(Category category) {
  return static_cast<std::size_t>(category);
}

TEST(Ledger, CountsCurrentAndPeakByCategory) {
  DeviceMemory memory(region_bytes);
  std::byte* weights = memory.allocate(1000, Category::weights, "w");
  std::byte* gradients = memory.allocate(3000, Category::gradients, "g");
  memory.release(weights, 1000, Category::weights);
  std::byte* activations = memory.allocate(500, Category::activations, "a");
  const Ledger& ledger = memory.ledger();
  EXPECT_EQ(ledger.current[at(Category::weights)], 0);
  EXPECT_EQ(ledger.peak[at(Category::weights)], 1000);
  EXPECT_EQ(ledger.current[at(Category::gradients)], 3000);
  EXPECT_EQ(ledger.current[at(Category::activations)], 500);
  EXPECT_EQ(ledger.current[at(Category::optimizer_state)], 0);
  EXPECT_EQ(ledger.total, 3500);
  EXPECT_EQ(ledger.total_peak, 4000);
  memory.release(gradients, 3000, Category::gradients);
  memory.release(activations, 500, Category::activations);
  EXPECT_EQ(ledger.total, 0);
  EXPECT_EQ(ledger.total_peak, 4000);
}

TEST(Ledger, NamesEveryCategory) {
  Ledger ledger;
  ledger.add(Category::master_weights, 4096);
  const std::string text = ledger.describe();
  for (const auto category :
       {Category::weights, Category::gradients, Category::master_weights, Category::optimizer_state,
        Category::activations, Category::buffers}) {
    EXPECT_NE(text.find(name_of(category)), std::string::npos) << text;
  }
  EXPECT_NE(text.find("in all " + to_string(Bytes{4096})), std::string::npos) << text;
}

template <class Error>
std::string text_of_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Capacity, TheErrorHasTheTensorAndTheWholeLedger) {
  const Region region;
  DeviceMemory memory(region.span(), Bytes{10'000}, "rank 3");
  memory.allocate(6000, Category::weights, "layers.0.weight");
  const std::string text = text_of_error<OutOfDeviceMemory>(
      [&] { memory.allocate(5000, Category::gradients, "layers.0.grad"); });
  for (const std::string& part :
       {std::string("rank 3"), std::string("\"layers.0.grad\""), std::string("gradients"),
        to_string(Bytes{5000}), to_string(Bytes{10'000}), "weights " + to_string(Bytes{6000})}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  EXPECT_EQ(memory.ledger().total, 6000) << "what did not fit is not counted";
  EXPECT_NO_THROW(memory.allocate(4000, Category::gradients, "exactly full"));
}

TEST(Capacity, AbsurdSizesAreRefusedToo) {
  const Region region;
  DeviceMemory memory(region.span(), Bytes{10'000}, "rank 0");
  memory.allocate(1, Category::weights, "one byte");
  for (const std::size_t bytes : {std::size_t{1} << 62, ~std::size_t{0} >> 1, ~std::size_t{0}}) {
    EXPECT_THROW(memory.allocate(bytes, Category::buffers, "absurd"), OutOfDeviceMemory) << bytes;
  }
  EXPECT_EQ(memory.ledger().total, 1);
}

TEST(Capacity, WithoutOneOnlyTheRegionIsALimit) {
  const Region region;
  DeviceMemory memory(region.span(), std::nullopt, "rank 5");
  const std::string text = text_of_error<BadUse>(
      [&] { memory.allocate(2 * region_bytes, Category::buffers, "too much"); });
  for (const std::string& part :
       {std::string("rank 5"), to_string(Bytes{region_bytes}), to_string(Bytes{2 * region_bytes}),
        std::string("larger region")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  EXPECT_EQ(memory.ledger().total, 0);
}

TEST(DeviceMemory, IsAlignedAndReusedAfterRelease) {
  DeviceMemory memory(region_bytes);
  for (int round = 0; round < 1000; ++round) {
    std::byte* data = memory.allocate(region_bytes / 2, Category::buffers, "half");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    memory.release(data, region_bytes / 2, Category::buffers);
  }
  std::byte* nothing = memory.allocate(0, Category::buffers, "no elements");
  EXPECT_NE(nothing, nullptr);
  memory.release(nothing, 0, Category::buffers);
}

TEST(DeviceMemory, MessagesUnderWayAreNotInTheLedger) {
  DeviceMemory memory(region_bytes);
  std::byte* message = memory.allocate_message(5000);
  EXPECT_EQ(memory.ledger().total_peak, 0);
  memory.release_message(message);
}

TEST(DeviceMemory, KnowsWhatPeersCanRead) {
  const Region region;
  DeviceMemory memory(region.span(), std::nullopt, "rank 0");
  const std::byte* start = region.span().data();
  std::byte elsewhere{};
  EXPECT_TRUE(memory.contains(start, region_bytes));
  EXPECT_FALSE(memory.contains(start, region_bytes + 1));
  EXPECT_FALSE(memory.contains(start + region_bytes, 1));
  EXPECT_FALSE(memory.contains(&elsewhere, 1));
  EXPECT_FALSE(memory.contains(nullptr, 0));
}

}  // namespace
}  // namespace ringside
