#include "runtime/dtype.hpp"

#include <array>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

struct TypeRow {
  DType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array types{TypeRow{DType::f32, "f32", 4},   TypeRow{DType::f64, "f64", 8},
                           TypeRow{DType::bf16, "bf16", 2}, TypeRow{DType::f16, "f16", 2},
                           TypeRow{DType::i32, "i32", 4},   TypeRow{DType::i64, "i64", 8},
                           TypeRow{DType::u8, "u8", 1},     TypeRow{DType::symbol, "symbol", 8}};

struct OpRow {
  ReduceOp op;
  std::string_view name;
};

constexpr std::array ops{OpRow{ReduceOp::none, "none"}, OpRow{ReduceOp::sum, "sum"},
                         OpRow{ReduceOp::prod, "prod"}, OpRow{ReduceOp::min, "min"},
                         OpRow{ReduceOp::max, "max"},   OpRow{ReduceOp::avg, "avg"}};

template <class Rows>
const auto& find(const Rows& rows, std::string_view name, std::string_view what) {
  std::string accepted;
  for (const auto& row : rows) {
    if (row.name == name) {
      return row;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(row.name);
  }
  throw BadUse("no " + std::string(what) + " is called \"" + std::string(name) +
               "\": choose one of " + accepted);
}

}  // namespace

std::size_t size_of(DType dtype) {
  return types[static_cast<std::size_t>(dtype)].size;
}

std::string_view name_of(DType dtype) {
  return types[static_cast<std::size_t>(dtype)].name;
}

std::string_view name_of(ReduceOp op) {
  return ops[static_cast<std::size_t>(op)].name;
}

DType parse_dtype(std::string_view name) {
  return find(types, name, "element type").type;
}

ReduceOp parse_reduce_op(std::string_view name) {
  return find(ops, name, "reduction").op;
}

}  // namespace ringside
