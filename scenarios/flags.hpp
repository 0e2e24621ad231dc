// Reads the words after a verb: CLI11 behind one small interface, with our messages.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ringside {

// The flags of one verb. All values come as text, so that every refusal is worded by us; of a flag
// given twice the last counts.
class Flags {
 public:
  // `use`: the line that shows the use ("ringside run NAME [flags]"); `footer` ends the help.
  Flags(const std::string& verb, const std::string& use, const std::string& meaning,
        const std::string& footer);

  void flag(const std::string& names, bool& into, const std::string& meaning);
  void value(const std::string& names, const std::string& what, std::optional<std::string>& into,
             const std::string& meaning);
  void values(const std::string& names, const std::string& what, std::vector<std::string>& into,
              const std::string& meaning);
  void word(const std::string& what, std::optional<std::string>& into, const std::string& meaning);

  // Throws BadUse with the nearest flag for one that does not exist, and for words that are too
  // many or missing values. False: help was asked for, and is in help().
  bool parse(std::vector<std::string> words);

  std::string help() const;

 private:
  void refuse_flags_as_values() const;
  std::string complaint(const std::vector<std::string>& extra) const;

  std::string verb_;
  CLI::App app_;
};

}  // namespace ringside
