// Copies of rows, sent to the ranks of a group and brought back: the all-to-all of a mixture of
// experts (GShard, section 3.2).
//
// Dispatch and combine are one exchange in both directions, and each is the other's gradient.
#pragma once

#include <string>
#include <vector>

#include "models/expert_dispatch.hpp"
#include "runtime/comm.hpp"

namespace ringside {

class RowExchange {
 public:
  struct Copies {
    std::vector<std::size_t> rows{};      // of which row each copy is, by rank that it goes to
    std::vector<std::size_t> sends{};     // copies to each rank
    std::vector<std::size_t> receives{};  // copies from each rank
  };

  // `group` and `memory` outlive it. `algorithm`: of all_to_all.
  RowExchange(Comm& group, DeviceMemory& memory, Copies copies, std::string algorithm);

  // Rows that come in.
  std::size_t received() const { return received_; }

  const Copies& copies() const { return copies_; }

  // [rows, width] -> [received, width], by the rank they come from.
  Arriving out(const Tensor& rows, std::string_view label);
  // [received, width] -> [count, width]: the sum over each row's copies, in their order.
  Arriving back(const Tensor& received, std::size_t count, std::string_view label);

  // The same of something that each copy has: [copies, width] -> [received, width], and back.
  Arriving copies_out(const Tensor& copies, std::string_view label);
  Arriving copies_back(const Tensor& received, std::string_view label);

 private:
  Arriving exchange(const Tensor& in, const std::vector<std::size_t>& sends,
                    const std::vector<std::size_t>& receives, std::string_view label);

  Comm& group_;
  DeviceMemory& memory_;
  Copies copies_;
  std::string algorithm_;
  std::size_t received_;
};

// Of `counts` [ranks, each], what each of the ranks has for this one, in the same form.
std::vector<std::int64_t> exchange_counts(Comm& group, std::vector<std::int64_t> counts,
                                          std::string_view algorithm, std::string_view label);

}  // namespace ringside
