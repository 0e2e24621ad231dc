// A tensor seen as a row-major matrix.
#pragma once

#include <Eigen/Core>

#include "runtime/tensor.hpp"

namespace ringside {

template <class T>
using Matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// [rows, cols]; a tensor of one dimension is one row.
template <class T>
Matrix<T> matrix(const Tensor& tensor) {
  const auto& shape = tensor.shape();
  const auto cols = static_cast<Eigen::Index>(shape.back());
  const auto rows = shape.size() == 1 ? Eigen::Index{1} : static_cast<Eigen::Index>(shape.front());
  return {tensor.as<T>().data(), rows, cols};
}

template <class T>
using MatrixBlock = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                               Eigen::Unaligned, Eigen::OuterStride<>>;

struct BlockPlace {
  std::size_t row;
  std::size_t rows;
  std::size_t col;
  std::size_t cols;
};

// Rows [row, row + rows) and columns [col, col + cols) of a tensor of two dimensions.
template <class T>
MatrixBlock<T> block(const Tensor& tensor, BlockPlace at) {
  const std::size_t stride = tensor.shape().back();
  return {tensor.as<T>().data() + at.row * stride + at.col, static_cast<Eigen::Index>(at.rows),
          static_cast<Eigen::Index>(at.cols),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(stride))};
}

// Eigen's blocking depends on the caches it finds; pinned, so that every machine gives the same
// bits.
void pin_matrix_products();

}  // namespace ringside
