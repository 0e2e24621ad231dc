#include "runtime/disturbed_wire.hpp"

#include <chrono>
#include <thread>

namespace ringside {

namespace {

std::mt19937_64 seeded(std::uint64_t seed, int rank) {
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(rank)};
  return std::mt19937_64(sequence);
}

}  // namespace

DisturbedWire::DisturbedWire(std::unique_ptr<Wire> inner, std::uint64_t seed, int rank)
    : inner_(std::move(inner)), random_(seeded(seed, rank)) {}

void DisturbedWire::push(Message& message) {
  dawdle();
  inner_->push(message);
}

void DisturbedWire::release(Message& message) {
  dawdle();
  inner_->release(message);
}

void DisturbedWire::answer(Message& lent, const Envelope& back) {
  dawdle();
  inner_->answer(lent, back);
}

// Half of the time nothing, a quarter gives the core away, a quarter sleeps up to 300 us.
void DisturbedWire::dawdle() {
  const std::uint64_t dice = random_();
  switch (dice % 4) {
    case 0:
      std::this_thread::yield();
      return;
    case 1:
      std::this_thread::sleep_for(std::chrono::microseconds((dice >> 2) % 301));
      return;
    default:
      return;
  }
}

}  // namespace ringside
