// All-to-all: part j of rank i's input becomes part i of rank j's output.
#pragma once

#include <vector>

#include "collectives/algorithm.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

// A buffer in p parts, one after the other.
class Parts {
 public:
  // As many elements in each part. Throws BadUse when the buffer cannot be cut so.
  static Parts equal(Buffer data, int parts, const std::string& who);
  // Throws BadUse when `counts` do not add up to the buffer.
  Parts(Buffer data, std::span<const std::size_t> counts, const std::string& who);

  Buffer operator[](int part) const;

  Buffer all() const { return data_; }

  // Whether every rank's parts are as large as these.
  bool uniform() const { return uniform_; }

 private:
  Parts(Buffer data, std::vector<std::size_t> firsts) : data_(data), firsts_(std::move(firsts)) {}

  Buffer data_;
  std::vector<std::size_t> firsts_;  // and the end
  bool uniform_ = false;
};

using AllToAll = Algorithm<void(Comm&, const Parts& in, const Parts& out)>;
std::span<const AllToAll> all_to_all_algorithms();

// p equal parts. `in` and `out` have the same count, a multiple of the group's size, and do not
// overlap; throws BadUse with the numbers otherwise.
void all_to_all(Comm& comm, Buffer in, Buffer out, Choice choice = {"pairwise"});

// `send_counts[j]` elements go to rank j, `receive_counts[i]` come from rank i; any may be zero.
// What one rank sends must be what the other expects: Desync on every rank otherwise, naming the
// pair and both counts.
void all_to_all_v(Comm& comm, Buffer in, std::span<const std::size_t> send_counts, Buffer out,
                  std::span<const std::size_t> receive_counts, Choice choice = {"pairwise"});

// Launched on the group's stream: `out` is in flight until wait(), and `in` has left.
[[nodiscard]] Work all_to_all_v_async(Comm& comm, const Tensor& in,
                                      std::span<const std::size_t> send_counts, const Tensor& out,
                                      std::span<const std::size_t> receive_counts,
                                      Choice choice = {"pairwise"});

}  // namespace ringside
