// A value before it has a type: out of a TOML file, or a word of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

struct SettingValue {
  enum class Kind : std::uint8_t {
    word,  // of the command line: may become anything
    boolean,
    integer,
    number,
    string,
    list,   // of strings
    other,  // a table, a date, a list of something else
  };
  Kind kind = Kind::word;
  std::string text;                // of all kinds, as the user would write it, without quotes
  std::vector<std::string> items;  // of a list
};

}  // namespace ringside
