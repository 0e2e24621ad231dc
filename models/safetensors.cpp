#include "models/safetensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/errors.hpp"
#include "runtime/text_file.hpp"

namespace ringside {

namespace {

static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t most_header_bytes = 100'000'000;  // as in the reference implementation

struct TypeName {
  DType dtype;
  std::string_view name;
};

constexpr std::array type_names{TypeName{DType::f64, "F64"}, TypeName{DType::f32, "F32"},
                                TypeName{DType::f16, "F16"}, TypeName{DType::bf16, "BF16"},
                                TypeName{DType::i64, "I64"}, TypeName{DType::i32, "I32"},
                                TypeName{DType::u8, "U8"}};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw BadUse(path.string() + ": " + why);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& tensor,
                         const std::string& why) {
  refuse(path, "tensor \"" + tensor + "\": " + why);
}

// None: more than can be counted.
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

// ---- writing ---------------------------------------------------------------------------------

std::string_view format_name(const std::filesystem::path& path, const std::string& name,
                             DType dtype) {
  for (const auto& row : type_names) {
    if (row.dtype == dtype) {
      return row.name;
    }
  }
  refuse(path, name, "safetensors has no type for " + std::string(name_of(dtype)));
}

using Entry = NamedTensors::value_type;

std::vector<const Entry*> in_file_order(const NamedTensors& tensors) {
  std::vector<const Entry*> order;
  for (const auto& entry : tensors) {
    order.push_back(&entry);
  }
  std::ranges::stable_sort(order, [](const Entry* a, const Entry* b) {
    return size_of(a->second.dtype) > size_of(b->second.dtype);
  });
  return order;
}

std::string header_of(const std::filesystem::path& path, const SafetensorsFile& file,
                      const std::vector<const Entry*>& order) {
  Json header = Json::object();
  if (!file.metadata.empty()) {
    header["__metadata__"] = file.metadata;
  }
  std::size_t at = 0;
  for (const Entry* entry : order) {
    const auto& [name, tensor] = *entry;
    const std::size_t end = at + tensor.bytes.size();
    if (bytes_of(tensor.shape, tensor.dtype) != tensor.bytes.size()) {
      refuse(path, name,
             std::to_string(tensor.bytes.size()) + " bytes are not those of " +
                 text_of(tensor.shape) + " in " + std::string(name_of(tensor.dtype)));
    }
    header[name] = {{"dtype", format_name(path, name, tensor.dtype)},
                    {"shape", tensor.shape},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

template <class T>
std::string_view bytes_in(const T* data, std::size_t count) {
  return {reinterpret_cast<const char*>(data), count * sizeof(T)};
}

// ---- reading ---------------------------------------------------------------------------------

std::string content_of(const std::filesystem::path& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  std::ifstream in(path, std::ios::binary);
  if (failed || !in) {
    refuse(path, "cannot be read: give a safetensors file that exists and that you may read");
  }
  std::string content(size, '\0');
  if (!in.read(content.data(), static_cast<std::streamsize>(size))) {
    refuse(path, "only " + std::to_string(in.gcount()) + " of its " + std::to_string(size) +
                     " bytes can be read");
  }
  return content;
}

std::string_view header_in(const std::filesystem::path& path, std::string_view content) {
  if (content.size() < length_bytes) {
    refuse(path, "has " + std::to_string(content.size()) +
                     " bytes, and the header's length alone takes 8: the file is cut, or no "
                     "safetensors file");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  if (length > most_header_bytes || length > content.size() - length_bytes) {
    refuse(path, "its first 8 bytes say that the header has " + std::to_string(length) +
                     " bytes, but " + std::to_string(content.size() - length_bytes) +
                     " follow, and at most " + std::to_string(most_header_bytes) +
                     " are accepted: the file is cut, or no safetensors file");
  }
  return content.substr(length_bytes, length);
}

Json parsed(const std::filesystem::path& path, std::string_view text) {
  std::set<std::string> seen;
  const auto once = [&](int depth, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !seen.insert(value.get<std::string>()).second) {
      refuse(path, value.get<std::string>(), "is in the header twice: write the file anew");
    }
    return true;
  };
  try {
    Json header = Json::parse(text, once);
    if (header.is_object()) {
      return header;
    }
  } catch (const Json::exception& error) {
    refuse(path, std::string("its header is no JSON (") + error.what() +
                     "): the file is damaged, or no safetensors file");
  }
  refuse(path, "its header is no JSON object: the file is damaged, or no safetensors file");
}

std::map<std::string, std::string> metadata_of(const std::filesystem::path& path,
                                               const Json& value) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) {
    refuse(path, "its __metadata__ is no JSON object");
  }
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      refuse(path, "its __metadata__ has under \"" + key + "\" " + text.dump() +
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
    refuse(
        path, name,
        std::string("needs \"") + key + "\", a list of whole numbers from 0; it is " + row.dump());
  }
  return row[key].get<std::vector<std::size_t>>();
}

DType dtype_in(const std::filesystem::path& path, const std::string& name, const Json& row) {
  std::string accepted;
  for (const auto& type : type_names) {
    if (row.contains("dtype") && row["dtype"] == type.name) {
      return type.dtype;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(type.name);
  }
  refuse(path, name,
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
    refuse(path, name,
           "data_offsets " + text_of(offsets) + " are not those of " + text_of(tensor.shape) +
               " in " + std::string(name_of(tensor.dtype)) + ", which takes " +
               (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes");
  }
  if (offsets[1] > data_bytes) {
    refuse(path, name,
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
      refuse(path, extent.name,
             "begins at byte " + std::to_string(extent.begin) +
                 " of the elements, but what lies before it ends at " + std::to_string(at) +
                 (extent.begin < at ? ": the two overlap" : ": there is a gap"));
    }
    at = extent.end;
  }
  if (at != data_bytes) {
    refuse(path, "its tensors end at byte " + std::to_string(at) + " of the elements, but " +
                     std::to_string(data_bytes) + " are there");
  }
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  const auto order = in_file_order(file.tensors);
  const std::string header = header_of(path, file, order);
  const std::uint64_t length = header.size();
  std::filesystem::path unfinished = path;
  unfinished += "." + std::to_string(getpid()) + ".tmp";
  try {
    TextFile out(unfinished);
    out.write(bytes_in(&length, 1));
    out.write(header);
    for (const Entry* entry : order) {
      out.write(bytes_in(entry->second.bytes.data(), entry->second.bytes.size()));
    }
    out.close();
    std::filesystem::rename(unfinished, path);
  } catch (const std::exception& failed) {
    std::error_code left;
    std::filesystem::remove(unfinished, left);
    refuse(path, std::string("cannot be written: ") + failed.what());
  }
}

SafetensorsFile load_safetensors(const std::filesystem::path& path) {
  const std::string content = content_of(path);
  const std::string_view header = header_in(path, content);
  const std::string_view data = std::string_view(content).substr(length_bytes + header.size());
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
