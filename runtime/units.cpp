// All in integers, 128 bits wide where they meet: nothing here is rounded but what is printed.
#include "runtime/units.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "runtime/decimal.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr Wide largest = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view name;
  std::int64_t size;
  bool printed = true;  // decimal units are printed, binary ones and aliases are only read
};

// Ascending in what is printed.
constexpr std::array byte_units{Unit{"B", 1},
                                Unit{"kB", 1'000},
                                Unit{"MB", 1'000'000},
                                Unit{"GB", 1'000'000'000},
                                Unit{"TB", 1'000'000'000'000},
                                Unit{"PB", 1'000'000'000'000'000},
                                Unit{"KiB", 1LL << 10, false},
                                Unit{"MiB", 1LL << 20, false},
                                Unit{"GiB", 1LL << 30, false},
                                Unit{"TiB", 1LL << 40, false},
                                Unit{"PiB", 1LL << 50, false}};
constexpr std::array flop_units{Unit{"FLOP", 1},
                                Unit{"kFLOP", 1'000},
                                Unit{"MFLOP", 1'000'000},
                                Unit{"GFLOP", 1'000'000'000},
                                Unit{"TFLOP", 1'000'000'000'000},
                                Unit{"PFLOP", 1'000'000'000'000'000},
                                Unit{"EFLOP", 1'000'000'000'000'000'000}};
constexpr std::array time_units{Unit{"ps", 1},
                                Unit{"ns", 1'000},
                                Unit{"us", 1'000'000},
                                Unit{"ms", 1'000'000'000},
                                Unit{"s", 1'000'000'000'000},
                                Unit{"\u00b5s", 1'000'000, false}};

// What a kind of quantity is called, and how it may be written.
struct Kind {
  std::string_view name;
  std::string_view example;
  std::string_view whole;  // what there must be a whole number of
  std::span<const Unit> units;
  std::string_view per = "";  // follows the unit
};

constexpr Kind byte_kind{"a size", "\"25 MiB\"", "bytes", byte_units};
constexpr Kind bandwidth_kind{"a bandwidth", "\"160 GB/s\" or \"inf\"", "bytes per second",
                              byte_units, "/s"};
constexpr Kind flops_kind{"a speed", "\"400 TFLOP/s\" or \"inf\"", "operations per second",
                          flop_units, "/s"};
constexpr Kind time_kind{"a time", "\"1.5 us\"", "picoseconds", time_units};

std::string text_of(const Kind& kind, const Unit& unit) {
  return std::string(unit.name) + std::string(kind.per);
}

[[noreturn]] void refuse(const Kind& kind, std::string_view text, const std::string& reason) {
  std::string units;
  for (const Unit& unit : kind.units) {
    units += (units.empty() ? "" : ", ") + text_of(kind, unit);
  }
  throw BadUse("cannot read \"" + std::string(text) + "\" as " + std::string(kind.name) + ": " +
               reason + "; write a number and its unit, such as " + std::string(kind.example) +
               " (units: " + units + ")");
}

const Unit* unit_named(const Kind& kind, std::string_view name) {
  for (const Unit& unit : kind.units) {
    if (text_of(kind, unit) == name) {
      return &unit;
    }
  }
  return nullptr;
}

std::int64_t whole(const Kind& kind, std::string_view text, Decimal number, const Unit& unit) {
  const Product product = times(number, unit.size);
  if (product.exactness == Product::not_whole) {
    refuse(kind, text, "it is no whole number of " + std::string(kind.whole));
  }
  if (product.exactness == Product::too_large) {
    refuse(kind, text,
           "the largest is " + std::to_string(std::numeric_limits<std::int64_t>::max()) + " " +
               std::string(kind.whole));
  }
  return product.amount;
}

// `bare`: a number may stand without a unit, and then counts the first one; zero always may.
enum class Bare { refused, zero, counted };

std::int64_t parse(const Kind& kind, std::string_view text, Bare bare) {
  std::string_view rest = text;
  const auto number = take_decimal(rest);
  if (!number) {
    refuse(kind, text, "it does not start with a number of at most 19 digits, 0 or more");
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.empty() && (bare == Bare::counted || (bare == Bare::zero && number->digits == 0))) {
    return whole(kind, text, *number, kind.units.front());
  }
  const Unit* unit = unit_named(kind, rest);
  if (unit == nullptr) {
    refuse(kind, text,
           rest.empty() ? "the unit is missing" : "no unit \"" + std::string(rest) + "\"");
  }
  return whole(kind, text, *number, *unit);
}

Rate parse_rate(const Kind& kind, std::string_view text) {
  if (text == "inf") {
    return Rate{};
  }
  const std::int64_t rate = parse(kind, text, Bare::refused);
  if (rate == 0) {
    refuse(kind, text, "it must be above 0");
  }
  if (rate == Rate::infinite) {
    refuse(kind, text, "it is too large, other than \"inf\"");
  }
  return Rate{rate};
}

constexpr std::size_t significant_digits = 5;

// amount / unit with five significant digits, as scaled / 10^decimals, half up.
struct Rounded {
  Wide scaled;
  std::size_t decimals;
};

Rounded rounded(Wide amount, const Unit& unit) {
  const auto size = static_cast<Wide>(unit.size);
  std::size_t whole_digits = 1;
  for (Wide left = amount / size; left >= 10; left /= 10) {
    ++whole_digits;
  }
  Rounded result{amount, 0};
  for (; whole_digits + result.decimals < significant_digits; ++result.decimals) {
    result.scaled *= 10;
  }
  result.scaled = (result.scaled + size / 2) / size;
  return result;
}

// "781.25", without trailing zeros.
std::string digits_of(Rounded value) {
  for (; value.decimals > 0 && value.scaled % 10 == 0; --value.decimals) {
    value.scaled /= 10;
  }
  std::string text = std::to_string(static_cast<std::uint64_t>(value.scaled));
  if (value.decimals > 0) {
    if (text.size() <= value.decimals) {
      text.insert(0, value.decimals + 1 - text.size(), '0');
    }
    text.insert(text.size() - value.decimals, 1, '.');
  }
  return text;
}

// In the first unit that needs no four digits before the point.
std::string print(const Kind& kind, std::int64_t amount) {
  const bool negative = amount < 0;
  const Wide magnitude = negative ? Wide{0} - static_cast<Wide>(amount) : static_cast<Wide>(amount);
  std::string text;
  for (const Unit& unit : kind.units) {
    if (!unit.printed) {
      continue;
    }
    const Rounded value = rounded(magnitude, unit);
    text = (negative ? "-" : "") + digits_of(value) + " " + text_of(kind, unit);
    Wide thousand = 1000;
    for (std::size_t i = 0; i < value.decimals; ++i) {
      thousand *= 10;
    }
    if (value.scaled < thousand) {
      break;
    }
  }
  return text;
}

std::string print_rate(const Kind& kind, Rate rate) {
  return rate.per_second == Rate::infinite ? "inf" : print(kind, rate.per_second);
}

}  // namespace

Time time_for(std::int64_t amount, Rate rate) {
  if (rate.per_second <= 0) {
    throw BadUse("a rate must be above 0; it is " + std::to_string(rate.per_second) +
                 " per second");
  }
  if (amount < 0) {
    throw BadUse("no time for a negative amount: " + std::to_string(amount));
  }
  if (rate.per_second == Rate::infinite) {
    return Time::zero();
  }
  constexpr Wide picoseconds_per_second = std::pico::den;
  const auto per_second = static_cast<Wide>(rate.per_second);
  const Wide time =
      (static_cast<Wide>(amount) * picoseconds_per_second + per_second - 1) / per_second;
  if (time > largest) {
    throw BadUse(std::to_string(amount) + " at " + std::to_string(rate.per_second) +
                 " per second take longer than modelled time can count (106 days)");
  }
  return Time{static_cast<std::int64_t>(time)};
}

Time add(Time a, Time b) {
  Time::rep sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) {
    throw BadUse("modelled time ends at 106 days: " + to_string(a) + " + " + to_string(b) +
                 " is beyond it");
  }
  return Time{sum};
}

Bytes parse_bytes(std::string_view text) {
  return Bytes{parse(byte_kind, text, Bare::counted)};
}

Rate parse_bandwidth(std::string_view text) {
  return parse_rate(bandwidth_kind, text);
}

Rate parse_flops(std::string_view text) {
  return parse_rate(flops_kind, text);
}

Time parse_time(std::string_view text) {
  return Time{parse(time_kind, text, Bare::zero)};
}

std::string to_string(Bytes bytes) {
  return print(byte_kind, bytes.count);
}

std::string bandwidth_string(Rate rate) {
  return print_rate(bandwidth_kind, rate);
}

std::string flops_string(Rate rate) {
  return print_rate(flops_kind, rate);
}

std::string to_string(Time time) {
  return print(time_kind, time.count());
}

}  // namespace ringside
