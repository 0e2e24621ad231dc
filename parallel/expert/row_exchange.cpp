#include "parallel/expert/row_exchange.hpp"

#include <memory>
#include <numeric>

#include "collectives/all_to_all.hpp"
#include "models/expert_rows.hpp"

namespace ringside {

namespace {

std::size_t sum_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::vector<std::size_t> elements(std::vector<std::size_t> counts, std::size_t width) {
  for (std::size_t& count : counts) {
    count *= width;
  }
  return counts;
}

}  // namespace

RowExchange::RowExchange(Comm& group, DeviceMemory& memory, Copies copies, std::string algorithm)
    : group_(group),
      memory_(memory),
      copies_(std::move(copies)),
      algorithm_(std::move(algorithm)),
      received_(sum_of(copies_.receives)) {}

Arriving RowExchange::exchange(const Tensor& in, const std::vector<std::size_t>& sends,
                               const std::vector<std::size_t>& receives, std::string_view label) {
  const std::size_t width = in.shape().back();
  const Tensor out(memory_, in.dtype(), {sum_of(receives), width}, Category::activations,
                   std::string(label));
  auto work = std::make_shared<Work>(all_to_all_v_async(
      group_, in, elements(sends, width), out, elements(receives, width), {algorithm_, label}));
  return [work, out] {
    work->wait();
    return out;
  };
}

Arriving RowExchange::copies_out(const Tensor& copies, std::string_view label) {
  return exchange(copies, copies_.sends, copies_.receives, label);
}

Arriving RowExchange::copies_back(const Tensor& received, std::string_view label) {
  return exchange(received, copies_.receives, copies_.sends, label);
}

Arriving RowExchange::out(const Tensor& rows, std::string_view label) {
  return copies_out(take_rows(memory_, rows, copies_.rows), label);
}

Arriving RowExchange::back(const Tensor& received, std::size_t count, std::string_view label) {
  return [this, count, arriving = copies_back(received, label)] {
    return add_rows(memory_, arriving(), copies_.rows, count);
  };
}

std::vector<std::int64_t> exchange_counts(Comm& group, std::vector<std::int64_t> counts,
                                          std::string_view algorithm, std::string_view label) {
  std::vector<std::int64_t> theirs(counts.size());
  all_to_all(group, buffer_of(std::span(counts)), buffer_of(std::span(theirs)), {algorithm, label});
  return theirs;
}

}  // namespace ringside
