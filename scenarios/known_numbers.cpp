#include "scenarios/known_numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "collectives/chunk.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr std::int64_t foreign = 120;  // no input is it
constexpr std::size_t block_size = 4096;
using Block = std::array<std::int64_t, block_size>;

template <class Fn>
auto with_type(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::f32:
      return fn(float{});
    case DType::f64:
      return fn(double{});
    case DType::bf16:
      return fn(Bf16{});
    case DType::f16:
      return fn(F16{});
    case DType::i32:
      return fn(std::int32_t{});
    case DType::i64:
      return fn(std::int64_t{});
    case DType::u8:
      return fn(std::uint8_t{});
    default:
      throw BadUse("results of type " + std::string(name_of(dtype)) +
                   " cannot be checked here: run with -c 0");
  }
}

// Largest whole number up to which a type counts without a gap (24 bits are enough for any sum).
std::int64_t exact_up_to(DType dtype) {
  return dtype == DType::u8     ? 255
         : dtype == DType::bf16 ? 256
         : dtype == DType::f16  ? 2048
                                : 1 << 24;
}

template <class T>
constexpr bool is_half = std::is_same_v<T, Bf16> || std::is_same_v<T, F16>;

template <class T>
T element(std::int64_t value) {
  if constexpr (is_half<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// The numbers of one call, as a function of rank and element: a hash of both.
class Numbers {
 public:
  explicit Numbers(const KnownCall& call)
      : signed_(call.dtype != DType::u8),
        product_(call.op == ReduceOp::prod),
        slots_(std::bit_ceil(static_cast<unsigned>(call.ranks)) - 1),
        top_(call.op == ReduceOp::none ? 99U
                                       : static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                                             exact_up_to(call.dtype) / call.ranks, 1, 16))) {}

  std::int64_t at(int rank, std::size_t i) const {
    auto h = static_cast<std::uint32_t>(i ^ (i >> 32)) * 0x9E3779B1U +
             static_cast<std::uint32_t>(rank + 1) * 0x85EBCA6BU;
    h ^= h >> 15;
    h *= 0x2C1B3C6DU;
    const std::int64_t sign = signed_ && ((h >> 8) & 1U) != 0 ? -1 : 1;
    return sign * (product_ ? factor(rank, i) : 1 + (((h >> 16) * top_) >> 16));
  }

 private:
  // Among the ranks at most six twos for each element, so that the product stays exact; each rank
  // has its turn.
  std::int64_t factor(int rank, std::size_t i) const {
    return ((static_cast<unsigned>(rank) + static_cast<unsigned>(i)) & slots_) < 6 ? 2 : 1;
  }

  bool signed_;
  bool product_;
  unsigned slots_;
  std::uint32_t top_;
};

std::int64_t combined(ReduceOp op, std::int64_t a, std::int64_t b) {
  return op == ReduceOp::prod  ? a * b
         : op == ReduceOp::min ? std::min(a, b)
         : op == ReduceOp::max ? std::max(a, b)
                               : a + b;
}

bool is_reduction(std::string_view operation) {
  return operation == "all_reduce" || operation == "reduce_scatter" || operation == "reduce";
}

struct Range {
  std::size_t first = 0;
  std::size_t count = 0;
};

Range own_chunk(const KnownCall& call, int rank) {
  const Chunk c = chunk_of(call.count, call.ranks, rank);
  return {c.first, c.count};
}

// Elements [first, first + n) of the whole by definition, before an average is divided.
void define_reduction(const KnownCall& call, const Numbers& numbers, Range range, Block& into) {
  if (call.between_blocks) {
    call.between_blocks();
  }
  for (int r = 0; r < call.ranks; ++r) {
    for (std::size_t k = 0; k < range.count; ++k) {
      const auto value = numbers.at(r, range.first + k);
      into[k] = r == 0 ? value : combined(call.op, into[k], value);
    }
  }
}

void define_moved(const KnownCall& call, const Numbers& numbers, int rank, Range range,
                  Block& into) {
  const bool rooted = call.operation == "broadcast" || call.operation == "scatter";
  const bool transposed = call.operation == "all_to_all";
  int owner = 0;
  Range part = own_chunk(call, 0);
  for (std::size_t k = 0; k < range.count; ++k) {
    const std::size_t i = range.first + k;
    while (i >= part.first + part.count) {
      part = own_chunk(call, ++owner);
    }
    const std::size_t source = transposed ? own_chunk(call, rank).first + (i - part.first) : i;
    into[k] = numbers.at(rooted ? call.root : owner, source);
  }
}

template <class T>
T finished(const KnownCall& call, std::int64_t total) {
  if (call.op != ReduceOp::avg) {
    return element<T>(total);
  }
  if constexpr (is_half<T>) {
    return T(static_cast<float>(total) / static_cast<float>(call.ranks));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::int64_t{static_cast<T>(total)} / call.ranks);
  } else {
    return static_cast<T>(total) / static_cast<T>(call.ranks);
  }
}

// Where this rank's result lies; element k of it is element range.first + k of the whole.
struct Result {
  Buffer buffer;
  Range range;
};

Result result_of(const KnownCall& call, Placement placement, int rank, CallBuffers buffers) {
  const bool root_only = call.operation == "reduce" || call.operation == "gather";
  const bool one_chunk = call.operation == "reduce_scatter" || call.operation == "scatter";
  if (call.operation == "barrier" || (root_only && rank != call.root)) {
    return {};
  }
  if (!one_chunk) {
    return {call.operation == "all_to_all" ? buffers.other : buffers.data, {0, call.count}};
  }
  const Range own = own_chunk(call, rank);
  const bool moved = placement == Placement::out_of_place;
  return {moved ? buffers.other : buffers.data.slice(own.first, own.count), own};
}

// Where this rank's input lies, in `data`; out of place all_gather has it in `other`.
Range input_of(const KnownCall& call, int rank) {
  const bool at_root = call.operation == "broadcast" || call.operation == "scatter";
  if (at_root) {
    return {0, rank == call.root ? call.count : 0};
  }
  const bool part = call.operation == "all_gather" || call.operation == "gather";
  return part ? own_chunk(call, rank) : Range{0, call.count};
}

template <class T>
void fill_as(const KnownCall& call, Placement placement, int rank, CallBuffers buffers) {
  const auto data = buffers.data.as<T>();
  const auto other = buffers.other.as<T>();
  std::fill(data.begin(), data.end(), element<T>(foreign));
  std::fill(other.begin(), other.end(), element<T>(foreign));
  const Range in = input_of(call, rank);
  const bool apart = call.operation == "all_gather" && placement == Placement::out_of_place;
  const auto into = apart ? other : data.subspan(in.first, in.count);
  const Numbers numbers(call);
  for (std::size_t k = 0; k < into.size(); ++k) {
    into[k] = element<T>(numbers.at(rank, in.first + k));
  }
}

template <class T>
std::size_t wrong_as(const KnownCall& call, int rank, const Result& result) {
  const auto got = result.buffer.as<T>();
  const Numbers numbers(call);
  std::size_t wrong = 0;
  Block block;
  for (std::size_t done = 0; done < got.size(); done += block_size) {
    const Range range{result.range.first + done, std::min(block_size, got.size() - done)};
    if (is_reduction(call.operation)) {
      define_reduction(call, numbers, range, block);
    } else {
      define_moved(call, numbers, rank, range, block);
    }
    for (std::size_t k = 0; k < range.count; ++k) {
      wrong += got[done + k] == finished<T>(call, block[k]) ? 0U : 1U;
    }
  }
  return wrong;
}

template <class T>
void define_as(const KnownCall& call, std::size_t first, std::span<T> into) {
  const Numbers numbers(call);
  Block block;
  for (std::size_t done = 0; done < into.size(); done += block_size) {
    const Range range{first + done, std::min(block_size, into.size() - done)};
    define_reduction(call, numbers, range, block);
    for (std::size_t k = 0; k < range.count; ++k) {
      into[done + k] = finished<T>(call, block[k]);
    }
  }
}

template <class T>
std::size_t differing_as(std::span<T> got, std::span<T> expected) {
  std::size_t differ = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    differ += got[k] == expected[k] ? 0U : 1U;
  }
  return differ;
}

}  // namespace

void define_all_reduce(const KnownCall& call, std::size_t first, Buffer into) {
  with_type(call.dtype, [&](auto zero) {
    define_as(call, first, into.as<decltype(zero)>());
    return 0;
  });
}

std::size_t differing_elements(Buffer got, Buffer expected) {
  return with_type(expected.dtype, [&](auto zero) {
    return differing_as(got.as<decltype(zero)>(), expected.as<decltype(zero)>());
  });
}

void fill_known(const KnownCall& call, Placement placement, int rank, CallBuffers buffers) {
  buffers.other.dtype = call.dtype;
  with_type(call.dtype, [&](auto zero) {
    fill_as<decltype(zero)>(call, placement, rank, buffers);
    return 0;
  });
}

std::size_t wrong_elements(const KnownCall& call, Placement placement, int rank,
                           CallBuffers buffers) {
  Result result = result_of(call, placement, rank, buffers);
  result.buffer.dtype = call.dtype;
  return with_type(call.dtype,
                   [&](auto zero) { return wrong_as<decltype(zero)>(call, rank, result); });
}

}  // namespace ringside
