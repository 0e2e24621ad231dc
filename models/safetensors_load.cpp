#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>

#include "models/safetensors.hpp"
#include "models/safetensors_types.hpp"
#include "runtime/files/input_file.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::json;

constexpr std::size_t most_header_bytes = 100'000'000;  // as in the reference implementation

std::string header_of(InputFile& file) {
  if (file.size() < safetensors_length_bytes) {
    file.refuse("has " + std::to_string(file.size()) +
                " bytes, and the header's length alone takes 8: the file is cut, or no "
                "safetensors file");
  }
  std::array<char, safetensors_length_bytes> first{};
  file.read(first);
  const auto length = std::bit_cast<std::uint64_t>(first);
  const std::uintmax_t follow = file.size() - safetensors_length_bytes;
  if (length > most_header_bytes || length > follow) {
    file.refuse("its first 8 bytes say that the header has " + std::to_string(length) +
                " bytes, but " + std::to_string(follow) + " follow, and at most " +
                std::to_string(most_header_bytes) +
                " are accepted: the file is cut, or no safetensors file");
  }
  std::string header(length, '\0');
  header.resize(file.read(header));
  return header;
}

Json parsed(const std::filesystem::path& path, std::string_view text) {
  require_bounded_json(text, path.string() + ": its header");
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
    refuse_file(path, "its header is no JSON (" + escaped(shortened(error.what())) +
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
      refuse_file(path, "its __metadata__ has under \"" + escaped(shortened(key)) + "\" " +
                            quoted_json(text) + ": only texts can stand there");
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
    refuse_tensor(path, name,
                  std::string("needs \"") + key + "\", a list of whole numbers from 0; it is " +
                      quoted_json(row));
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
                "its dtype is " +
                    (row.contains("dtype") ? quoted_json(row["dtype"]) : "not given") +
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

// One after the other, from the first byte to the last; in this order from here on.
void require_contiguous(const std::filesystem::path& path, std::vector<Extent>& extents,
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

void read_elements(InputFile& input, const std::vector<Extent>& extents, NamedTensors& tensors) {
  for (const Extent& extent : extents) {
    auto& bytes = tensors[extent.name].bytes;
    bytes.resize(extent.end - extent.begin);
    const std::size_t got = input.read({reinterpret_cast<char*>(bytes.data()), bytes.size()});
    if (got < bytes.size()) {
      refuse_tensor(input.path(), extent.name,
                    "only " + std::to_string(got) + " of its " + std::to_string(bytes.size()) +
                        " bytes are there: the file has just been cut");
    }
  }
}

}  // namespace

SafetensorsFile load_safetensors(const std::filesystem::path& path, std::uintmax_t most) {
  InputFile input(path, "a safetensors file");
  input.require_at_most(most);
  const std::string header = header_of(input);
  const std::size_t data_bytes = input.size() - safetensors_length_bytes - header.size();
  SafetensorsFile file;
  std::vector<Extent> extents;
  const Json rows = parsed(path, header);
  for (const auto& [name, row] : rows.items()) {
    if (name == "__metadata__") {
      file.metadata = metadata_of(path, row);
    } else {
      extents.push_back(extent_of(path, name, row, file.tensors[name], data_bytes));
    }
  }
  require_contiguous(path, extents, data_bytes);
  read_elements(input, extents, file.tensors);
  return file;
}

}  // namespace ringside
