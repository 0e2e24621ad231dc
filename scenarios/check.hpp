// One line of a verdict table: what was measured, beside the gate that it must pass.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringside {

enum class CheckVerdict : std::uint8_t { pass, fail, not_applicable };

struct Check {
  std::string name;         // "gradients.absolute"
  nlohmann::json measured;  // a number, or a word
  std::string gate{};       // "< 1e-06"
  CheckVerdict verdict = CheckVerdict::fail;
  bool control = false;  // a deliberate fault, which passes when it was caught
  std::string note{};    // what a reader should know; may be empty
};

using Checks = std::vector<Check>;

std::string_view name_of(CheckVerdict verdict);

// measured < limit.
Check below(std::string name, double measured, double limit, std::string note = {});
// measured == expected, in whole units ("bytes", "ps").
Check equal(std::string name, std::int64_t measured, std::int64_t expected, std::string unit,
            std::string note = {});
// A claim that holds or does not: measured is a word for what was seen.
Check holds(std::string name, bool held, std::string seen, std::string gate, std::string note = {});

// Whether no check failed (one that is not applicable fails no run).
bool all_hold(const Checks& checks);

}  // namespace ringside
