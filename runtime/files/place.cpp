#include "runtime/files/place.hpp"

#include <system_error>

#include "runtime/errors.hpp"

namespace ringside {

std::filesystem::path absolute_place(const std::filesystem::path& path) {
  std::error_code failed;
  const auto place = std::filesystem::absolute(path, failed);
  if (failed) {
    throw BadUse(path.string() + ": cannot be found from the working folder, which is gone (" +
                 failed.message() + "): change to a folder that is there");
  }
  return place.lexically_normal();
}

}  // namespace ringside
