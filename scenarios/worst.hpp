// Where a gate is broken: the element, tensor, rank and step of the worst of what it looks at.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/message.hpp"

namespace ringside {

// One element of a rank's tensor, as a rank reports it; plain, so that it travels as it is.
struct Spot {
  Text<64> tensor{};          // empty: there is none
  std::uint64_t element = 0;  // of the whole tensor
  double run = 0;
  double reference = 0;

  bool there() const { return !std::string_view(tensor).empty(); }
};

struct Worst {
  std::string what{};                      // "gradient", "parameter", "loss", "gradient norm"
  std::string tensor{};                    // empty: it is of no tensor
  std::optional<std::uint64_t> element{};  // of the whole tensor
  int rank = 0;
  std::optional<int> step{};    // of the run, from 1; 0: before the first; none: there are no steps
  std::optional<double> run{};  // this and the next: what stands there, and what should
  std::optional<double> reference{};
  std::string judge = "in one process";  // whose the reference is
  std::string cause{};                   // what is known of the reason; may be empty
};

// Of a rank's spot.
Worst worst_at(std::string what, const Spot& spot, int rank, int step);

// "gradient of hidden.0.weight, element 7, on rank 3 at step 1: 0.25 in the run, 0.5 in one
// process: …"
std::string sentence(const Worst& worst);

// {what, tensor, element, rank, step, run, reference, cause}: null where there is none.
nlohmann::json worst_json(const Worst& worst);

// A number that JSON has, or the word "inf", "-inf" or "nan".
nlohmann::json json_number(double value);

}  // namespace ringside
