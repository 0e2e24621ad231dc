// A wire that dawdles at random, so that tests see orders of events which a quiet machine never
// shows. Modelled times must not change.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "runtime/wire.hpp"

namespace ringside {

class DisturbedWire : public Wire {
 public:
  DisturbedWire(std::unique_ptr<Wire> inner, std::uint64_t seed, int rank);

  void push(Message& message) override;
  void release(Message& message) override;
  void answer(Message& lent, const Envelope& back) override;

  void flush() override { inner_->flush(); }

 private:
  void dawdle();

  std::unique_ptr<Wire> inner_;
  std::mt19937_64 random_;
};

}  // namespace ringside
