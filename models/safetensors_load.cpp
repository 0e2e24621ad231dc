#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "models/safetensors.hpp"
#include "models/safetensors_types.hpp"

namespace ringside {

namespace {

static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::json;

constexpr std::size_t most_header_bytes = 100'000'000;  // as in the reference implementation

std::string content_of(const std::filesystem::path& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  std::ifstream in(path, std::ios::binary);
  if (failed || !in) {
    refuse_file(path, "cannot be read: give a safetensors file that exists and that you may read");
  }
  std::string content(size, '\0');
  if (!in.read(content.data(), static_cast<std::streamsize>(size))) {
    refuse_file(path, "only " + std::to_string(in.gcount()) + " of its " + std::to_string(size) +
                          " bytes can be read");
  }
  return content;
}

std::string_view header_in(const std::filesystem::path& path, std::string_view content) {
  if (content.size() < safetensors_length_bytes) {
    refuse_file(path, "has " + std::to_string(content.size()) +
                          " bytes, and the header's length alone takes 8: the file is cut, or no "
                          "safetensors file");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  if (length > most_header_bytes || length > content.size() - safetensors_length_bytes) {
    refuse_file(path, "its first 8 bytes say that the header has " + std::to_string(length) +
                          " bytes, but " +
                          std::to_string(content.size() - safetensors_length_bytes) +
                          " follow, and at most " + std::to_string(most_header_bytes) +
                          " are accepted: the file is cut, or no safetensors file");
  }
  return content.substr(safetensors_length_bytes, length);
}

Json parsed(const std::filesystem::path& path, std::string_view text) {
  std::set<std::string> seen;
  const auto once = [&](int depth, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !seen.insert(value.get<std::string>()).second) {
      refuse_tensor(path, value.get<std::string>(), "is in the header twice: write the file anew");
    }
    return true;
  };
  try {
    Json header = Json::parse(text, once);
    if (header.is_object()) {
      return header;
    }
  } catch (const Json::exception& error) {
    refuse_file(path, std::string("its header is no JSON (") + error.what() +
                          "): the file is damaged, or no safetensors file");
  }
  refuse_file(path, "its header is no JSON object: the file is damaged, or no safetensors file");
}

std::map<std::string, std::string> metadata_of(const std::filesystem::path& path,
                                               const Json& value) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) {
    refuse_file(path, "its __metadata__ is no JSON object");
  }
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      refuse_file(path, "its __metadata__ has under \"" + key + "\" " + text.dump() +
                            ": only texts can stand there");
    }
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// The numbers of an array; throws for anything else than whole numbers from 0.
std::vector<std::size_t> numbers(const std::filesystem::path& path, const std::string& name,
                                 const Json& row, const char* key) {
  const bool usable =
      row.contains(key) && row[key].is_array() &&
      std::ranges::all_of(row[key], [](const Json& number) { return number.is_number_unsigned(); });
  if (!usable) {
    refuse_tensor(
        path, name,
        std::string("needs \"") + key + "\", a list of whole numbers from 0; it is " + row.dump());
  }
  return row[key].get<std::vector<std::size_t>>();
}

DType dtype_in(const std::filesystem::path& path, const std::string& name, const Json& row) {
  std::string accepted;
  for (const auto& type : safetensors_types) {
    if (row.contains("dtype") && row["dtype"] == type.name) {
      return type.dtype;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(type.name);
  }
  refuse_tensor(path, name,
                "its dtype is " + (row.contains("dtype") ? row["dtype"].dump() : "not given") +
                    ": one of " + accepted + " can be read");
}

struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name{};
};

Extent extent_of(const std::filesystem::path& path, const std::string& name, const Json& row,
                 HostTensor& tensor, std::size_t data_bytes) {
  tensor.dtype = dtype_in(path, name, row);
  tensor.shape = numbers(path, name, row, "shape");
  const auto offsets = numbers(path, name, row, "data_offsets");
  const auto bytes = bytes_of(tensor.shape, tensor.dtype);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || bytes != offsets[1] - offsets[0]) {
    refuse_tensor(path, name,
                  "data_offsets " + text_of(offsets) + " are not those of " +
                      text_of(tensor.shape) + " in " + std::string(name_of(tensor.dtype)) +
                      ", which takes " + (bytes ? std::to_string(*bytes) : "more than 2^64") +
                      " bytes");
  }
  if (offsets[1] > data_bytes) {
    refuse_tensor(path, name,
                  "ends at byte " + std::to_string(offsets[1]) + " of the elements, but only " +
                      std::to_string(data_bytes) + " are there: the file is cut");
  }
  return {offsets[0], offsets[1], name};
}

// One after the other, from the first byte to the last.
void require_contiguous(const std::filesystem::path& path, std::vector<Extent> extents,
                        std::size_t data_bytes) {
  std::ranges::sort(extents, [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t at = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != at) {
      refuse_tensor(path, extent.name,
                    "begins at byte " + std::to_string(extent.begin) +
                        " of the elements, but what lies before it ends at " + std::to_string(at) +
                        (extent.begin < at ? ": the two overlap" : ": there is a gap"));
    }
    at = extent.end;
  }
  if (at != data_bytes) {
    refuse_file(path, "its tensors end at byte " + std::to_string(at) + " of the elements, but " +
                          std::to_string(data_bytes) + " are there");
  }
}

}  // namespace

SafetensorsFile load_safetensors(const std::filesystem::path& path) {
  const std::string content = content_of(path);
  const std::string_view header = header_in(path, content);
  const std::string_view data =
      std::string_view(content).substr(safetensors_length_bytes + header.size());
  SafetensorsFile file;
  std::vector<Extent> extents;
  const Json rows = parsed(path, header);
  for (const auto& [name, row] : rows.items()) {
    if (name == "__metadata__") {
      file.metadata = metadata_of(path, row);
      continue;
    }
    HostTensor& tensor = file.tensors[name];
    const Extent extent = extent_of(path, name, row, tensor, data.size());
    tensor.bytes.resize(extent.end - extent.begin);
    std::ranges::copy(std::as_bytes(std::span(data.substr(extent.begin, tensor.bytes.size()))),
                      tensor.bytes.begin());
    extents.push_back(extent);
  }
  require_contiguous(path, std::move(extents), data.size());
  return file;
}

}  // namespace ringside
