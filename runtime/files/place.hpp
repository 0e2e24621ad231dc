// Where a path leads, from where the user stands.
#pragma once

#include <filesystem>

namespace ringside {

// Absolute and without "..". Throws BadUse with the path when the working folder is gone.
std::filesystem::path absolute_place(const std::filesystem::path& path);

}  // namespace ringside
