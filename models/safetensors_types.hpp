// What both sides of a safetensors file use: its names of types, sizes, and how it is refused.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/dtype.hpp"

namespace ringside {

struct SafetensorsType {
  DType dtype;
  std::string_view name;
};

inline constexpr std::array safetensors_types{
    SafetensorsType{DType::f64, "F64"}, SafetensorsType{DType::f32, "F32"},
    SafetensorsType{DType::f16, "F16"}, SafetensorsType{DType::bf16, "BF16"},
    SafetensorsType{DType::i64, "I64"}, SafetensorsType{DType::i32, "I32"},
    SafetensorsType{DType::u8, "U8"}};

// Of the header's length, at the beginning of the file.
inline constexpr std::size_t safetensors_length_bytes = 8;

// None: more than can be counted.
std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape, DType dtype);

// Throw BadUse "path: why", "path: tensor "name": why".
[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why);
[[noreturn]] void refuse_tensor(const std::filesystem::path& path, const std::string& tensor,
                                const std::string& why);

}  // namespace ringside
