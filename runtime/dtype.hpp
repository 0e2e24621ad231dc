// Element types and reductions: what a message carries, and how two of them are combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "runtime/float16.hpp"

namespace ringside {

struct Symbol;

// A symbol is an expression in place of a number: runtime/symbol.hpp.
enum class DType : std::uint8_t { f32, f64, bf16, f16, i32, i64, u8, symbol };

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
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return DType::bf16;
  } else if constexpr (std::is_same_v<T, F16>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, Symbol>) {
    return DType::symbol;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "no such element type");
    return DType::u8;
  }
}

}  // namespace ringside
