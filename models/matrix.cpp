#include "models/matrix.hpp"

namespace ringside {

void pin_matrix_products() {
  [[maybe_unused]] static const bool pinned = [] {
    Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 4 * 1024 * 1024);
    Eigen::setNbThreads(1);
    return true;
  }();
}

}  // namespace ringside
