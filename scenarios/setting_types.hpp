// The types of settings: which values are accepted, and how they are printed in TOML.
//
// A reader throws BadUse that says what is accepted ("must be an integer from 1 to 8"); where the
// value stood is added by the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/units.hpp"
#include "scenarios/setting_value.hpp"

namespace ringside {

template <class T>
struct SettingType {
  std::string text;  // for people: "integer, 1 to 65536"
  std::function<T(const SettingValue&)> read;
  std::function<std::string(const T&)> print;  // as a TOML value that reads back equal
};

// Bounds of a real number; an open one is not accepted itself.
struct Interval {
  double low, high;
  bool low_open = false, high_open = false;
};

std::int64_t read_integer(const SettingValue& value, std::int64_t low, std::int64_t high);

SettingType<std::int64_t> integer64(std::int64_t low, std::int64_t high);
SettingType<int> integer(int low, int high);
SettingType<double> number(Interval bounds);
SettingType<bool> boolean();
SettingType<std::string> text();
SettingType<std::string> one_of(std::vector<std::string> names);
// One of the names, or a number in the interval, which is kept as its text.
SettingType<std::string> one_of_or(std::vector<std::string> names, Interval bounds);
SettingType<std::vector<std::string>> list_of(std::vector<std::string> names);

SettingType<Bytes> bytes(Bytes low, Bytes high);
SettingType<std::optional<Bytes>> bytes_or_none(Bytes low, Bytes high);
SettingType<Rate> bandwidth();
SettingType<Rate> flops();
SettingType<Time> time(Time high);

// `text` in double quotes as TOML wants it; bytes that are not UTF-8 become U+FFFD.
std::string toml_quoted(const std::string& text);

}  // namespace ringside
