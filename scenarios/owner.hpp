// Whose a path is, for messages about what may not be read or written.
#pragma once

#include <filesystem>
#include <string>

namespace ringside {

// Of `path`, or of the nearest folder above it that can be seen: `"/srv/runs" belongs to root`.
std::string owner_text(std::filesystem::path path);

}  // namespace ringside
