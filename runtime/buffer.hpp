// A typed piece of memory that somebody else owns: what the verbs of a Comm move.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/dtype.hpp"

namespace ringside {

struct Buffer {
  std::byte* data = nullptr;
  std::size_t count = 0;
  DType dtype = DType::f32;
  int chunk = -1;  // which chunk of the operation this is, for the log; -1: the whole

  std::size_t bytes() const { return count * size_of(dtype); }

  // Elements [first, first + n).
  Buffer slice(std::size_t first, std::size_t n) const {
    return {data + first * size_of(dtype), n, dtype, chunk};
  }

  // The elements as T; throws BadUse when T is not the element type.
  template <class T>
  std::span<T> as() const {
    require(dtype_of<T>());
    return {reinterpret_cast<T*>(data), count};
  }

 private:
  void require(DType wanted) const;
};

template <class T>
Buffer buffer_of(std::span<T> elements) {
  return {reinterpret_cast<std::byte*>(elements.data()), elements.size(), dtype_of<T>()};
}

}  // namespace ringside
