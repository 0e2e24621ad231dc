// The types of settings that have a unit.

#include <spdlog/fmt/fmt.h>

#include <array>
#include <utility>

#include "runtime/errors.hpp"
#include "scenarios/setting_types.hpp"

namespace ringside {
namespace {

using Kind = SettingValue::Kind;

using Unit = std::pair<const char*, std::int64_t>;

// In the largest unit that divides it, so that nothing is rounded.
template <std::size_t N>
std::string exact(std::int64_t amount, const std::array<Unit, N>& units) {
  for (const auto& [name, size] : units) {
    if (amount != 0 && amount % size == 0) {
      return fmt::format("\"{} {}\"", amount / size, name);
    }
  }
  return fmt::format("\"{} {}\"", amount, units.back().first);
}

constexpr std::array<Unit, 9> byte_units{{{"TiB", 1LL << 40},
                                          {"TB", 1'000'000'000'000},
                                          {"GiB", 1LL << 30},
                                          {"GB", 1'000'000'000},
                                          {"MiB", 1 << 20},
                                          {"MB", 1'000'000},
                                          {"KiB", 1 << 10},
                                          {"kB", 1'000},
                                          {"B", 1}}};
constexpr std::array<Unit, 4> bandwidth_units{
    {{"GB/s", 1'000'000'000}, {"MB/s", 1'000'000}, {"kB/s", 1'000}, {"B/s", 1}}};
constexpr std::array<Unit, 4> flops_units{{{"TFLOP/s", 1'000'000'000'000},
                                           {"GFLOP/s", 1'000'000'000},
                                           {"MFLOP/s", 1'000'000},
                                           {"FLOP/s", 1}}};
constexpr std::array<Unit, 5> time_units{
    {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}, {"ps", 1}}};

bool has_unit(const SettingValue& value) {
  return value.kind == Kind::string || value.kind == Kind::word;
}

// What a type accepts, in the words of a refusal, and an example.
struct Accepted {
  std::string type;
  const char* example;

  [[noreturn]] void refuse() const {
    throw BadUse("must be " + type + ", such as \"" + example + "\"");
  }
};

// parse(value.text); a failure says what is accepted and what is wrong with the text.
template <class Parse>
auto parsed(const SettingValue& value, const Accepted& accepted, Parse parse) {
  try {
    return parse(value.text);
  } catch (const BadUse& reason) {
    throw BadUse("must be " + accepted.type + ": " + reason.what());
  }
}

Bytes read_bytes(const SettingValue& value, Bytes low, Bytes high, const Accepted& accepted) {
  if (!has_unit(value) && value.kind != Kind::integer) {
    accepted.refuse();
  }
  const Bytes read = parsed(value, accepted, parse_bytes);
  if (read < low || read > high) {
    accepted.refuse();
  }
  return read;
}

std::string print_bytes(Bytes value) {
  return exact(value.count, byte_units);
}

std::string without_quotes(const std::string& text) {
  return text.substr(1, text.size() - 2);
}

std::string bytes_text(Bytes low, Bytes high) {
  return fmt::format("bytes, {} to {}", without_quotes(print_bytes(low)),
                     without_quotes(print_bytes(high)));
}

Rate read_rate(const SettingValue& value, Rate (*parse)(std::string_view),
               const Accepted& accepted) {
  const bool infinite = value.kind == Kind::number && value.text == "inf";
  if (!has_unit(value) && !infinite) {
    accepted.refuse();
  }
  return parsed(value, accepted, parse);  // refuses zero itself
}

template <std::size_t N>
std::string print_rate(Rate rate, const std::array<Unit, N>& units) {
  return rate.per_second == Rate::infinite ? "\"inf\"" : exact(rate.per_second, units);
}

}  // namespace

SettingType<Bytes> bytes(Bytes low, Bytes high) {
  const auto type = bytes_text(low, high);
  return {type,
          [=](const SettingValue& value) {
            return read_bytes(value, low, high, {type, "25 MiB"});
          },
          [](const Bytes& value) { return print_bytes(value); }};
}

SettingType<std::optional<Bytes>> bytes_or_none(Bytes low, Bytes high) {
  const auto type = bytes_text(low, high) + ", or none";
  return {type,
          [=](const SettingValue& value) -> std::optional<Bytes> {
            if (has_unit(value) && value.text == "none") {
              return std::nullopt;
            }
            return read_bytes(value, low, high, {type, "80 GB"});
          },
          [](const std::optional<Bytes>& value) {
            return value ? print_bytes(*value) : std::string("\"none\"");
          }};
}

SettingType<Rate> bandwidth() {
  const std::string type = "bandwidth above 0, or inf";
  return {type,
          [=](const SettingValue& value) {
            return read_rate(value, parse_bandwidth, {"a " + type, "160 GB/s"});
          },
          [](const Rate& value) { return print_rate(value, bandwidth_units); }};
}

SettingType<Rate> flops() {
  const std::string type = "FLOP/s above 0, or inf";
  return {type,
          [=](const SettingValue& value) {
            return read_rate(value, parse_flops, {type, "400 TFLOP/s"});
          },
          [](const Rate& value) { return print_rate(value, flops_units); }};
}

SettingType<Time> time(Time high) {
  const auto type = fmt::format("time, 0 to {}", without_quotes(exact(high.count(), time_units)));
  return {type,
          [=](const SettingValue& value) {
            const Accepted accepted{"a " + type, "1 us"};
            const bool zero = value.kind == Kind::integer && value.text == "0";
            if (!has_unit(value) && !zero) {
              accepted.refuse();
            }
            const Time read = parsed(value, accepted, parse_time);
            if (read < Time::zero() || read > high) {
              accepted.refuse();
            }
            return read;
          },
          [](const Time& value) { return exact(value.count(), time_units); }};
}

}  // namespace ringside
