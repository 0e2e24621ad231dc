#include "models/safetensors_types.hpp"

#include <limits>

#include "runtime/errors.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape, DType dtype) {
  std::size_t bytes = size_of(dtype);
  for (const std::size_t extent : shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::size_t>::max() / extent) {
      return std::nullopt;
    }
    bytes *= extent;
  }
  return bytes;
}

void refuse_file(const std::filesystem::path& path, const std::string& why) {
  throw BadUse(path.string() + ": " + why);
}

void refuse_tensor(const std::filesystem::path& path, const std::string& tensor,
                   const std::string& why) {
  refuse_file(path, "tensor \"" + escaped(shortened(tensor)) + "\": " + why);
}

}  // namespace ringside
