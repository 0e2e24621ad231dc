// A typed piece of memory that somebody else owns: what the verbs of a Comm move.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/backing.hpp"
#include "runtime/dtype.hpp"

namespace ringside {

struct Buffer {
  std::byte* data = nullptr;  // none, with elements: a meta buffer, of which nothing is stored
  std::size_t count = 0;
  DType dtype = DType::f32;
  int chunk = -1;  // which chunk of the operation this is, for the log; -1: the whole

  std::size_t bytes() const { return count * size_of(dtype); }

  // Whether the elements have a count and a type only (backing.hpp).
  bool meta() const { return data == nullptr && count > 0; }

  Backing backing() const { return meta() ? Backing::meta : Backing::real; }

  // Elements that lie in memory.
  std::size_t stored() const { return meta() ? 0 : count; }

  // Elements [first, first + n). Throws BadUse when they are not all in it.
  Buffer slice(std::size_t first, std::size_t n) const;

  // The elements as T; throws BadUse when T is not the element type, or the buffer is meta.
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
