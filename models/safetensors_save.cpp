#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "models/safetensors.hpp"
#include "models/safetensors_types.hpp"
#include "runtime/files/text_file.hpp"

namespace ringside {

namespace {

static_assert(std::endian::native == std::endian::little);

using Json = nlohmann::json;

std::string_view format_name(const std::filesystem::path& path, const std::string& name,
                             DType dtype) {
  for (const auto& row : safetensors_types) {
    if (row.dtype == dtype) {
      return row.name;
    }
  }
  refuse_tensor(path, name, "safetensors has no type for " + std::string(name_of(dtype)));
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
      refuse_tensor(path, name,
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

}  // namespace

void save_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  const auto order = in_file_order(file.tensors);
  const std::string header = header_of(path, file, order);
  const std::uint64_t length = header.size();
  TextFile out(path);
  out.write(bytes_in(&length, 1));
  out.write(header);
  for (const Entry* entry : order) {
    out.write(bytes_in(entry->second.bytes.data(), entry->second.bytes.size()));
  }
  out.close();
}

}  // namespace ringside
