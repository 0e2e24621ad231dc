// Decimal numbers, read digit by digit into integers: "0.1" is one tenth exactly, and no locale and
// no binary fraction has a say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside {

__extension__ using Wide = unsigned __int128;

// digits * 10^exponent
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
};

// Takes digits[.digits][e[+-]digits] off the front of `rest`. Nothing where there is no such
// number, or one of more than 19 digits.
std::optional<Decimal> take_decimal(std::string_view& rest);

struct Product {
  enum Exactness { whole, not_whole, too_large };

  Exactness exactness = whole;
  std::int64_t amount = 0;  // where it is whole
};

// number * size, exactly.
Product times(Decimal number, std::int64_t size);

}  // namespace ringside
