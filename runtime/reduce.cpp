#include "runtime/reduce.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

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

template <class T, class Combine>
void combine(const T* incoming, T* into, std::size_t n, Combine op) {
  for (std::size_t i = 0; i < n; ++i) {
    into[i] = op(incoming[i], into[i]);
  }
}

template <class T>
void reduce_as(const std::byte* from, std::byte* to, std::size_t n, ReduceOp op) {
  const auto* incoming = reinterpret_cast<const T*>(from);
  auto* into = reinterpret_cast<T*>(to);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return combine(incoming, into, n,
                     [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); });
    case ReduceOp::prod:
      return combine(incoming, into, n,
                     [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x * y; }); });
    case ReduceOp::min:
      return combine(incoming, into, n, [](T a, T b) { return is_nan(a) || a < b ? a : b; });
    case ReduceOp::max:
      return combine(incoming, into, n, [](T a, T b) { return is_nan(a) || a > b ? a : b; });
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
    case DType::i32:
      return fn(std::int32_t{});
    case DType::i64:
      return fn(std::int64_t{});
    case DType::u8:
      return fn(std::uint8_t{});
  }
}

}  // namespace

void reduce(Buffer incoming, Buffer into, ReduceOp op) {
  if (incoming.dtype != into.dtype || incoming.count != into.count) {
    throw BadUse("cannot reduce " + std::to_string(incoming.count) + " elements of " +
                 std::string(name_of(incoming.dtype)) + " into " + std::to_string(into.count) +
                 " of " + std::string(name_of(into.dtype)));
  }
  with_type(into.dtype, [&](auto zero) {
    reduce_as<decltype(zero)>(incoming.data, into.data, into.count, op);
  });
}

void finish_average(Buffer into, ReduceOp op, int group_size) {
  if (op != ReduceOp::avg) {
    return;
  }
  with_type(into.dtype, [&](auto zero) {
    using T = decltype(zero);
    // A group may be larger than u8 can count.
    using Divisor = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
    const auto divisor = static_cast<Divisor>(group_size);
    for (auto& value : into.as<T>()) {
      value = static_cast<T>(static_cast<Divisor>(value) / divisor);
    }
  });
}

}  // namespace ringside
