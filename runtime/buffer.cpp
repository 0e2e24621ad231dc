#include "runtime/buffer.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

Buffer Buffer::slice(std::size_t first, std::size_t n) const {
  if (first > count || n > count - first) {
    throw BadUse("a slice of " + std::to_string(n) + " elements from element " +
                 std::to_string(first) + " on does not lie in a buffer of " +
                 std::to_string(count));
  }
  return {data == nullptr ? nullptr : data + first * size_of(dtype), n, dtype, chunk};
}

void Buffer::require(DType wanted) const {
  if (wanted != dtype) {
    throw BadUse("a buffer of " + std::string(name_of(dtype)) + " was read as " +
                 std::string(name_of(wanted)));
  }
  if (meta()) {
    throw BadUse(
        "a meta buffer of " + std::to_string(count) + " " + std::string(name_of(dtype)) +
        " has no elements to read or write: its device memory keeps shapes and sizes only");
  }
}

}  // namespace ringside
