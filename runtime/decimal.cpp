#include "runtime/decimal.hpp"

#include <charconv>
#include <limits>

namespace ringside {
namespace {

constexpr Wide largest = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the digits off the front of `rest`; false where there is none, or more than fit.
bool take_digits(std::string_view& rest, Decimal& number, bool fraction) {
  const auto before = rest.size();
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
    if (number.digits > largest / 10) {
      return false;
    }
    number.digits = number.digits * 10 + static_cast<Wide>(rest.front() - '0');
    number.exponent -= fraction ? 1 : 0;
  }
  return rest.size() < before;
}

// Takes "e12", "E+12", "e-3" off the front of `rest`, where it is there ("5EFLOP/s" has none).
bool take_exponent(std::string_view& rest, Decimal& number) {
  if (rest.empty() || (rest.front() != 'e' && rest.front() != 'E')) {
    return true;
  }
  std::string_view tail = rest.substr(1);
  if (tail.starts_with('+') && tail.size() > 1 && is_digit(tail[1])) {
    tail.remove_prefix(1);
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
  if (error == std::errc::invalid_argument) {
    return true;
  }
  if (error != std::errc() || exponent < -1000 || exponent > 1000) {
    return false;
  }
  number.exponent += exponent;
  rest = tail.substr(static_cast<std::size_t>(end - tail.data()));
  return true;
}

}  // namespace

std::optional<Decimal> take_decimal(std::string_view& rest) {
  Decimal number;
  if (!take_digits(rest, number, false)) {
    return std::nullopt;
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (!take_digits(rest, number, true)) {
      return std::nullopt;
    }
  }
  if (!take_exponent(rest, number)) {
    return std::nullopt;
  }
  return number;
}

Product times(Decimal number, std::int64_t size) {
  if (number.digits == 0) {
    return {};
  }
  Wide amount = number.digits * static_cast<Wide>(size);
  for (; number.exponent < 0; ++number.exponent) {
    if (amount % 10 != 0) {
      return {Product::not_whole};
    }
    amount /= 10;
  }
  for (; number.exponent > 0 && amount <= largest; --number.exponent) {
    amount *= 10;
  }
  if (amount > largest) {
    return {Product::too_large};
  }
  return {Product::whole, static_cast<std::int64_t>(amount)};
}

}  // namespace ringside
