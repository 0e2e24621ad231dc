// One line of a verdict table: what was measured, beside the gate that it must pass.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

enum class CheckVerdict : std::uint8_t { pass, fail, not_applicable };

struct Check {
  std::string name;         // "gradients.absolute"
  nlohmann::json measured;  // a number, or a word
  std::string gate{};       // "< 1e-06"
  CheckVerdict verdict = CheckVerdict::fail;
  bool control = false;  // a deliberate fault, which passes when it was caught
  bool lesson = false;   // compares the run with another one, as its lesson does
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

// A comparison of the lesson's: that this run has less, or more, of something than another one.
// What the run has and what the other has are printed with all the digits in which they differ.
enum class Than : std::uint8_t { less, more };
Check beside(std::string name, Time here, Than than, Time there, const std::string& of_there,
             std::string note);
Check beside(std::string name, std::int64_t here, Than than, std::int64_t there,
             const std::string& of_there, std::string note);

// The same mark on a comparison of any other form.
Check lesson(Check check);

// In a run whose settings the command line has changed, the lesson's comparison may be void: one
// that does not hold there is not applicable, and says what was changed.
void leave_lessons_to_their_scenario(Checks& checks, const std::vector<std::string>& changed);

// A row that fails: none of the check's rows applies. Nothing where one does.
Checks of_which_none_applies(const std::string& check, const Checks& rows);

// Whether no check failed (one that is not applicable fails no run).
bool all_hold(const Checks& checks);

}  // namespace ringside
