// Parameters that the ranks of a group hold alike, and who reduces their gradients: plain data
// parallelism or ZeRO.
#pragma once

#include <optional>
#include <vector>

#include "parallel/data_parallel.hpp"
#include "parallel/zero.hpp"

namespace ringside {

struct ReplicatedOptions {
  int zero = 0;                // stage; 0: plain data parallelism
  DataParallelOptions data{};  // of plain data parallelism
  ZeroOptions sharded{};       // of ZeRO
};

class Replicated {
 public:
  // All ranks of `group` take the weights of the first; gradients move into buckets, and with ZeRO
  // each rank keeps what is its. `group` and `model` outlive it.
  Replicated(Comm& group, DeviceMemory& memory, Model& model, ReplicatedOptions options);

  GradientReduction& reduction();

  const std::vector<Bucket>& buckets() const { return zero_ ? zero_->buckets() : data_->buckets(); }

  // What this rank updates, those that do not learn among it.
  std::vector<Parameter*> parameters();

  // With ZeRO, of the same order; else empty.
  std::vector<ShardPiece> pieces() const;

  // Of the gradients of those that `counts` names, added in f64: with ZeRO of the pieces here.
  double sum_of_squares(const ParameterFilter& counts);

  // After the optimizer's step.
  void end_update();

 private:
  Model& model_;
  ReplicatedOptions options_;
  std::optional<DataParallel> data_;
  std::optional<Zero> zero_;
};

}  // namespace ringside
