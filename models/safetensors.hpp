// Tensors in a safetensors file (https://huggingface.co/docs/safetensors, "Format"): 8 bytes with
// the header's length, little-endian; the header, JSON: by name dtype, shape and data_offsets, and
// under "__metadata__" texts; the elements, without a gap.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>

#include "models/named_tensors.hpp"

namespace ringside {

struct SafetensorsFile {
  std::map<std::string, std::string> metadata{};
  NamedTensors tensors{};
};

// Written beside `path` and renamed: who reads sees the old file or the new one. Tensors of large
// elements come first and the header is filled up to a multiple of 8 with spaces, so every element
// is aligned. Throws BadUse when the file cannot be written, and for a tensor whose bytes are not
// those of its shape, or of symbols.
void save_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

// Throws BadUse with file, tensor and numbers for whatever is not as the format says: a file that
// is cut, a header that is no JSON or has a key twice, a type of another name, offsets that are not
// those of the shape, overlap, leave a gap or end elsewhere than the file.
// It is read after all of that, and when it has more than `most` bytes not at all.
SafetensorsFile load_safetensors(const std::filesystem::path& path,
                                 std::uintmax_t most = std::numeric_limits<std::uintmax_t>::max());

}  // namespace ringside
