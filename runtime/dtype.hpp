// Element types and reductions: what a message carries, and how two of them are combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ringside {

enum class DType : std::uint8_t { f32, f64, i32, i64, u8 };

enum class ReduceOp : std::uint8_t { none, sum, prod, min, max, avg };

std::size_t size_of(DType dtype);
std::string_view name_of(DType dtype);
std::string_view name_of(ReduceOp op);
// Throws BadUse with the accepted names.
DType parse_dtype(std::string_view name);
ReduceOp parse_reduce_op(std::string_view name);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::f64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return DType::i32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return DType::i64;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "no such element type");
    return DType::u8;
  }
}

}  // namespace ringside
