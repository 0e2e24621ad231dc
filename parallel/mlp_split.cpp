#include "parallel/mlp_split.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "models/matrix.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::array<std::string_view, 3> names{"column_row", "row_first", "column_only"};
constexpr std::size_t tokens = bench_tokens.size();
constexpr std::size_t width = 4;
constexpr std::size_t ffn = 8;

Tensor copied(DeviceMemory& memory, const Tensor& whole, BlockPlace at, const std::string& name,
              Category category) {
  Tensor part(memory, DType::f64, {at.rows, at.cols}, category, name);
  matrix<double>(part) = block<double>(whole, at);
  return part;
}

// Part `rank` of `ranks`.
Tensor columns(DeviceMemory& memory, const Tensor& whole, int rank, int ranks, Category category) {
  const std::size_t count = whole.shape().back() / static_cast<std::size_t>(ranks);
  return copied(memory, whole,
                {0, whole.shape().front(), static_cast<std::size_t>(rank) * count, count},
                whole.name() + ".columns", category);
}

Tensor rows(DeviceMemory& memory, const Tensor& whole, int rank, int ranks) {
  const std::size_t count = whole.shape().front() / static_cast<std::size_t>(ranks);
  return copied(memory, whole,
                {static_cast<std::size_t>(rank) * count, count, 0, whole.shape().back()},
                whole.name() + ".rows", Category::weights);
}

class Split {
 public:
  Split(Comm& group, DeviceMemory& memory, const GeluMlp& mlp, const MlpSplitOptions& options)
      : group_(group), memory_(memory), mlp_(mlp), options_(options) {}

  Tensor column_row() {
    const Tensor a = columns_of(mlp_.a);
    const Tensor b = rows_of(mlp_.b);
    const Tensor hidden = gelu(memory_, product(memory_, mlp_.x, a, "x A"));
    return summed(product(memory_, hidden, b, "y"));
  }

  // Every rank's part of x A has all columns, and a part of each sum.
  Tensor row_first() {
    const Tensor x = columns_of(mlp_.x, Category::activations);
    const Tensor a = rows_of(mlp_.a);
    const Tensor b = rows(memory_, mlp_.b, 0, 1);
    const Tensor part = product(memory_, x, a, "x A");
    return summed(product(memory_, gelu(memory_, part), b, "y"));
  }

  Tensor column_only() {
    const Tensor a = columns_of(mlp_.a);
    const Tensor b = columns_of(mlp_.b);
    const Tensor part = gelu(memory_, product(memory_, mlp_.x, a, "x A"));
    const Tensor hidden = gathered(part, "bench.hidden");
    return gathered(product(memory_, hidden, b, "y"), "bench.out");
  }

 private:
  Tensor columns_of(const Tensor& whole, Category category = Category::weights) {
    return columns(memory_, whole, group_.rank(), group_.size(), category);
  }

  Tensor rows_of(const Tensor& whole) { return rows(memory_, whole, group_.rank(), group_.size()); }

  Tensor summed(Tensor part) {
    if (options_.fault != Fault::leave_not_reduced) {
      all_reduce(group_, part.buffer(), ReduceOp::sum, {options_.all_reduce, "bench.out"});
    }
    return part;
  }

  // Ranks' columns lie one after the other when they have come; they are put side by side.
  Tensor gathered(const Tensor& part, std::string_view label) {
    const auto ranks = static_cast<std::size_t>(group_.size());
    const std::size_t count = part.shape().back();
    const Tensor come(memory_, DType::f64, {ranks * tokens, count}, Category::activations, "come");
    all_gather(group_, part.buffer(), come.buffer(), {options_.all_gather, label});
    Tensor whole(memory_, DType::f64, {tokens, ranks * count}, Category::activations, part.name());
    for (std::size_t r = 0; r < ranks; ++r) {
      block<double>(whole, {0, tokens, r * count, count}) =
          block<double>(come, {r * tokens, tokens, 0, count});
    }
    return whole;
  }

  Comm& group_;
  DeviceMemory& memory_;
  const GeluMlp& mlp_;
  MlpSplitOptions options_;
};

}  // namespace

std::string_view name_of(MlpSplit split) {
  return names[static_cast<std::size_t>(split)];
}

MlpSplit parse_mlp_split(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<MlpSplit>(i);
    }
  }
  throw BadUse("no way to cut an MLP is called \"" + std::string(name) +
               "\": choose column_row, row_first or column_only");
}

void require_divisible(MlpSplit split, int ranks) {
  const std::size_t cut = split == MlpSplit::column_row ? ffn : width;
  if (ranks < 1 || cut % static_cast<std::size_t>(ranks) != 0) {
    throw BadUse(
        fmt::format("{} cuts {} {} of the bench's MLP over {} ranks, which do not divide "
                    "them: the ranks may be 1, 2{}",
                    name_of(split), cut,
                    split == MlpSplit::column_row  ? "hidden columns"
                    : split == MlpSplit::row_first ? "rows of A"
                                                   : "columns of B",
                    ranks, cut == ffn ? ", 4 or 8" : " or 4"));
  }
}

Tensor run_split(Comm& group, DeviceMemory& memory, const GeluMlp& mlp,
                 const MlpSplitOptions& options) {
  require_divisible(options.split, group.size());
  Split split(group, memory, mlp, options);
  switch (options.split) {
    case MlpSplit::row_first:
      return split.row_first();
    case MlpSplit::column_only:
      return split.column_only();
    default:
      return split.column_row();
  }
}

std::int64_t weights_of_split(MlpSplit split, int ranks) {
  const auto matrix = static_cast<std::int64_t>(width * ffn * sizeof(double));
  return split == MlpSplit::row_first ? matrix / ranks + matrix : 2 * matrix / ranks;
}

std::int64_t sent_by_split(MlpSplit split, int ranks) {
  const std::int64_t peers = ranks - 1;
  const auto bytes = [&](std::size_t elements) {
    return static_cast<std::int64_t>(elements * sizeof(double)) / ranks;
  };
  return split == MlpSplit::column_only ? peers * (bytes(tokens * ffn) + bytes(tokens * width))
                                        : 2 * peers * bytes(tokens * width);
}

GeluOfParts worst_of_parts(DeviceMemory& memory, const GeluMlp& mlp, int ranks) {
  std::vector<Tensor> parts;
  for (int r = 0; r < ranks; ++r) {
    parts.push_back(product(memory, columns(memory, mlp.x, r, ranks, Category::activations),
                            rows(memory, mlp.a, r, ranks), "x A"));
  }
  GeluOfParts worst;
  for (std::size_t i = 0; i < tokens * ffn; ++i) {
    GeluOfParts here{.token = i / ffn, .column = i % ffn};
    for (const Tensor& part : parts) {
      const double value = part.as<double>()[i];
      here.sum += value;
      here.sum_of_gelus += gelu(value);
      here.parts += (here.parts.empty() ? "" : " + ") + fmt::format("{:.3f}", value);
    }
    here.gelu_of_sum = gelu(here.sum);
    if (std::abs(here.sum_of_gelus - here.gelu_of_sum) >=
        std::abs(worst.sum_of_gelus - worst.gelu_of_sum)) {
      worst = here;
    }
  }
  return worst;
}

}  // namespace ringside
