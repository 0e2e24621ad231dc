#include "scenarios/size_sweep.hpp"

#include <spdlog/fmt/fmt.h>

#include <cctype>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"

namespace ringside {
namespace {

constexpr std::size_t most_sizes = 10'000;

std::size_t after(const SizeSweep& sweep, std::size_t size, std::size_t unit) {
  if (sweep.factor == 0) {
    return size + sweep.step;
  }
  return size == 0 ? unit : size * sweep.factor;
}

}  // namespace

std::vector<std::size_t> sizes_of(const SizeSweep& sweep, std::size_t unit) {
  if (sweep.first > sweep.last) {
    throw BadUse(
        fmt::format("-b {} is above -e {}: give the smallest size first", sweep.first, sweep.last));
  }
  std::vector<std::size_t> sizes;
  for (auto size = sweep.first; size <= sweep.last; size = after(sweep, size, unit)) {
    const auto whole = size / unit * unit;
    if (sizes.empty() || whole != sizes.back()) {
      sizes.push_back(whole);
    }
    if (sizes.size() > most_sizes) {
      throw BadUse(fmt::format("-b {} to -e {} are more than {} sizes: give a larger -i, or -f",
                               sweep.first, sweep.last, most_sizes));
    }
  }
  return sizes;
}

std::size_t size_of_flag(const std::string& flag, const std::string& text) {
  constexpr std::string_view binary = "KMGTkmgt";
  const bool suffixed = text.size() > 1 && binary.find(text.back()) != std::string_view::npos &&
                        (std::isdigit(static_cast<unsigned char>(text[text.size() - 2])) != 0);
  if (!suffixed) {
    return bytes_of(flag, text);
  }
  const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  return bytes_of(flag, fmt::format("{} {}iB", text.substr(0, text.size() - 1), letter));
}

}  // namespace ringside
