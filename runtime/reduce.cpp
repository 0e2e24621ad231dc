#include "runtime/reduce.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::size_t block_bytes = 16 << 10;  // of a fused reduction: half of a first-level cache

template <class T>
constexpr bool is_half = std::is_same_v<T, Bf16> || std::is_same_v<T, F16>;

// What a type is computed in.
template <class T>
using Wide = std::conditional_t<is_half<T>, float, T>;

// Integers wrap: arithmetic on the unsigned type of the same width, which is defined.
template <class T, class Op>
T wrapping(T a, T b, Op op) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(op(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return op(a, b);
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// Which of two NaNs an addition keeps, and the sign of a new one, is the processor's affair and the
// compiler's: the result is always the same one.
template <class T>
T one_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
  } else {
    return value;
  }
}

// Calls fn with the function of two elements that an operation stands for, and with what is done to
// its last result.
template <class Fn>
void with_op(ReduceOp op, Fn fn) {
  const auto arithmetic = [](auto result) { return one_nan(result); };
  const auto choice = [](auto result) { return result; };
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return fn([](auto a, auto b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); },
                arithmetic);
    case ReduceOp::prod:
      return fn([](auto a, auto b) { return wrapping(a, b, [](auto x, auto y) { return x * y; }); },
                arithmetic);
    case ReduceOp::min:
      return fn([](auto a, auto b) { return is_nan(a) || a < b ? a : b; }, choice);
    case ReduceOp::max:
      return fn([](auto a, auto b) { return is_nan(a) || a > b ? a : b; }, choice);
    case ReduceOp::none:
      throw BadUse("no reduction was named: choose sum, prod, min, max or avg");
  }
}

// Calls fn with a value of the element type.
template <class Fn>
void with_type(DType dtype, Fn fn) {
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
    case DType::symbol:
      throw BadUse("symbols are reduced by the verbs of a Comm: comm.reduce, comm.reduce_all");
  }
}

void check_alike(Buffer a, Buffer b) {
  if (a.dtype != b.dtype || a.count != b.count) {
    throw BadUse("cannot reduce " + std::to_string(a.count) + " elements of " +
                 std::string(name_of(a.dtype)) + " into " + std::to_string(b.count) + " of " +
                 std::string(name_of(b.dtype)));
  }
  if (a.meta() != b.meta()) {
    throw BadUse("cannot reduce " + std::to_string(a.count) + (a.meta() ? " meta" : " real") +
                 " elements of " + std::string(name_of(a.dtype)) + " into " +
                 (b.meta() ? "meta" : "real") + " ones");
  }
}

// Elements [first, first + n) of all operands into all results.
template <class T, class Op, class Finish>
void reduce_block(std::span<const Buffer> operands, std::span<const Buffer> results,
                  std::size_t first, std::size_t n, Op op, Finish finish) {
  using W = Wide<T>;
  std::array<W, block_bytes / sizeof(W)> sum;
  const auto elements = [&](Buffer b) { return reinterpret_cast<T*>(b.data) + first; };
  std::transform(elements(operands[0]), elements(operands[0]) + n, sum.begin(),
                 [](T value) { return static_cast<W>(value); });
  for (const Buffer& operand : operands.subspan(1)) {
    const T* next = elements(operand);
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] = op(sum[i], static_cast<W>(next[i]));
    }
  }
  std::transform(sum.begin(), sum.begin() + n, sum.begin(), finish);
  std::array<T, block_bytes / sizeof(W)> rounded;
  const void* finished = sum.data();
  if constexpr (is_half<T>) {
    std::transform(sum.begin(), sum.begin() + n, rounded.begin(), [](W value) { return T(value); });
    finished = rounded.data();
  }
  for (const Buffer& result : results) {
    std::memcpy(elements(result), finished, n * sizeof(T));
  }
}

}  // namespace

void reduce(Buffer incoming, Buffer into, ReduceOp op, Left left) {
  check_alike(incoming, into);
  with_type(into.dtype, [&](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    with_op(op, [&](auto combine, auto finish) {
      const auto* from = reinterpret_cast<const T*>(incoming.data);
      auto* to = reinterpret_cast<T*>(into.data);
      if (left == Left::incoming) {
        for (std::size_t i = 0; i < into.stored(); ++i) {
          to[i] = static_cast<T>(finish(combine(static_cast<W>(from[i]), static_cast<W>(to[i]))));
        }
      } else {
        for (std::size_t i = 0; i < into.stored(); ++i) {
          to[i] = static_cast<T>(finish(combine(static_cast<W>(to[i]), static_cast<W>(from[i]))));
        }
      }
    });
  });
}

void reduce_all(std::span<const Buffer> operands, std::span<const Buffer> results, ReduceOp op) {
  if (operands.empty()) {
    throw BadUse("a reduction of no operands has no result");
  }
  const Buffer& like = operands.front();
  for (const auto& buffers : {operands, results}) {
    for (const Buffer& buffer : buffers) {
      check_alike(buffer, like);
    }
  }
  with_type(like.dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr std::size_t block = block_bytes / sizeof(Wide<T>);
    with_op(op, [&](auto combine, auto finish) {
      for (std::size_t first = 0; first < like.stored(); first += block) {
        reduce_block<T>(operands, results, first, std::min(block, like.count - first), combine,
                        finish);
      }
    });
  });
}

void finish_average(Buffer into, ReduceOp op, int group_size) {
  if (op != ReduceOp::avg) {
    return;
  }
  with_type(into.dtype, [&](auto zero) {
    using T = decltype(zero);
    // A group may be larger than u8 can count.
    using Divisor = std::conditional_t<std::is_integral_v<T>, std::int64_t, Wide<T>>;
    const auto divisor = static_cast<Divisor>(group_size);
    for (auto& value : std::span(reinterpret_cast<T*>(into.data), into.stored())) {
      value = static_cast<T>(static_cast<Divisor>(value) / divisor);
    }
  });
}

void convert(Buffer from, Buffer to) {
  if (from.count != to.count || from.meta() != to.meta()) {
    throw BadUse("cannot convert " + std::to_string(from.count) + (from.meta() ? " meta" : "") +
                 " elements to " + std::to_string(to.count) + (to.meta() ? " meta ones" : ""));
  }
  with_type(from.dtype, [&](auto a) {
    with_type(to.dtype, [&](auto b) {
      using A = decltype(a);
      using B = decltype(b);
      if constexpr (std::is_integral_v<A> || std::is_integral_v<B>) {
        throw BadUse("only floating-point types are converted");
      } else if (!from.meta()) {
        const auto source = from.as<A>();
        std::transform(source.begin(), source.end(), to.as<B>().begin(), [](A value) {
          return static_cast<B>(static_cast<Wide<B>>(static_cast<Wide<A>>(value)));
        });
      }
    });
  });
}

}  // namespace ringside
