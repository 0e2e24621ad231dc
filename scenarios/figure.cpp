#include "scenarios/figure.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace ringside {

Figure number(std::string id, std::string source, double exact, std::string unit,
              std::string shown) {
  return {.id = std::move(id),
          .source = std::move(source),
          .exact = exact,
          .unit = std::move(unit),
          .shown = std::move(shown)};
}

Figure statement(std::string id, std::string source, std::string property, bool holds,
                 std::string shown) {
  return {.id = std::move(id),
          .source = std::move(source),
          .shown = holds ? std::move(shown) : "does not hold",
          .property = std::move(property),
          .holds = holds};
}

Figure quoted(std::string id, std::string source) {
  return {.id = std::move(id), .source = std::move(source)};
}

Figure given(std::string id, std::string source, double value, std::string unit) {
  return {
      .id = std::move(id), .source = std::move(source), .exact = value, .unit = std::move(unit)};
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

std::string fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string gigabytes(double bytes, int decimals) {
  return decimals == 0 ? grouped(bytes / 1e9) + " GB" : fixed(bytes / 1e9, decimals) + " GB";
}

std::string percent(double ratio, int decimals) {
  return fixed(100 * ratio, decimals) + "%";
}

std::string one_over(double ratio) {
  return fmt::format("1/{:.0f}", std::round(1 / ratio));
}

}  // namespace ringside
