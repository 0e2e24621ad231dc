#include "runtime/wire.hpp"

#include <stdexcept>

namespace ringside {

void Wire::answer(Message&, const Envelope&) {
  throw std::logic_error("this wire cannot write into the memory of its sender");
}

}  // namespace ringside
