// The keys of a config.json that change no tensor of a model, in any family.
#pragma once

#include <span>
#include <string_view>

namespace ringside {

std::span<const std::string_view> keys_without_tensors();

// Also true of a key that begins with an underscore, which is a remark.
bool changes_no_tensor(std::string_view key);

}  // namespace ringside
