#include "runtime/buffer.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

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
