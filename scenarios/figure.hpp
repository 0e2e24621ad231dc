// A figure of the chapter as this program computes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringside {

struct Figure {
  std::string id;      // "DP07"
  std::string source;  // the formula, and whose
  // Its value, where it is one number. Of what is given it is the chapter's own, and is not shown
  // as computed.
  std::optional<double> exact{};
  std::string unit{};
  // As the chapter displays it; empty: there is nothing to compute.
  std::string shown{};
  // Where it is no number: what must hold, and whether it does.
  std::string property{};
  bool holds = true;
  // Whether the chapter's own display can come out: not where its random weights are unknown.
  bool comparable = true;
};

// One number with its unit.
Figure number(std::string id, std::string source, double exact, std::string unit,
              std::string shown);
// A statement that is checked; displayed as `shown` when it holds.
Figure statement(std::string id, std::string source, std::string property, bool holds,
                 std::string shown);
// Quoted from a publication: there is nothing to compute.
Figure quoted(std::string id, std::string source);
// Chosen by the chapter, or true by definition: a number all the same, that others are computed
// from, but beside the chapter's it would be compared with itself.
Figure given(std::string id, std::string source, double value, std::string unit);

// ---- displays ----------------------------------------------------------------------------------

std::string grouped(double value);                      // "27,781,427,952"
std::string fixed(double value, int decimals);          // "1.94"
std::string gigabytes(double bytes, int decimals = 1);  // "444.5 GB"
std::string percent(double ratio, int decimals);        // "21.9%"
std::string one_over(double ratio);                     // "1/3": the nearest such fraction

}  // namespace ringside
