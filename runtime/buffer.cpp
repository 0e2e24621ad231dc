#include "runtime/buffer.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

void Buffer::require(DType wanted) const {
  if (wanted != dtype) {
    throw BadUse("a buffer of " + std::string(name_of(dtype)) + " was read as " +
                 std::string(name_of(wanted)));
  }
}

}  // namespace ringside
