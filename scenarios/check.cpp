#include "scenarios/check.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace ringside {

std::string_view name_of(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::pass:
      return "pass";
    case CheckVerdict::fail:
      return "fail";
    case CheckVerdict::not_applicable:
      return "not_applicable";
  }
  return "";
}

namespace {

Check make(std::string name, nlohmann::json measured, std::string gate, bool held,
           std::string note) {
  return {.name = std::move(name),
          .measured = std::move(measured),
          .gate = std::move(gate),
          .verdict = held ? CheckVerdict::pass : CheckVerdict::fail,
          .note = std::move(note)};
}

}  // namespace

Check below(std::string name, double measured, double limit, std::string note) {
  return make(std::move(name), measured, fmt::format("< {:g}", limit), measured < limit,
              std::move(note));
}

Check equal(std::string name, std::int64_t measured, std::int64_t expected, std::string unit,
            std::string note) {
  return make(std::move(name), measured, fmt::format("= {} {}", expected, unit),
              measured == expected, std::move(note));
}

Check holds(std::string name, bool held, std::string seen, std::string gate, std::string note) {
  return make(std::move(name), std::move(seen), std::move(gate), held, std::move(note));
}

bool all_hold(const Checks& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& c) { return c.verdict == CheckVerdict::fail; });
}

}  // namespace ringside
