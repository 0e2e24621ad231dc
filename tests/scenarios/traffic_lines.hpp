// traffic.jsonl, as equal runs must agree on it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/program.hpp"

namespace ringside {

// The file without its wall times, which end each line.
inline std::string modelled_traffic(const std::filesystem::path& file) {
  constexpr std::string_view key = ",\"wall_ns\":";
  const std::string all = content(file);
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const auto wall = all.find(key, at);
    kept.append(all, at, wall - at);
    at = wall == std::string::npos ? all.size()
                                   : all.find_first_not_of("0123456789", wall + key.size());
  }
  return kept;
}

}  // namespace ringside
