#include "scenarios/operation_convention.hpp"

#include <algorithm>
#include <limits>

#include "collectives/all_gather.hpp"
#include "collectives/reduce_scatter.hpp"
#include "runtime/errors.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {
namespace {

double one(int) {
  return 1;
}

double all_but_one(int ranks) {
  return static_cast<double>(ranks - 1) / ranks;
}

double there_and_back(int ranks) {
  return 2.0 * (ranks - 1) / ranks;
}

const std::vector<OperationConvention>& conventions() {
  using enum Placement;
  static const std::vector<OperationConvention> rows{
      {"all_reduce", false, false, there_and_back, "2(n-1)/n", {in_place}},
      {"reduce_scatter", true, false, all_but_one, "(n-1)/n", {out_of_place, in_place}},
      {"all_gather", true, false, all_but_one, "(n-1)/n", {out_of_place, in_place}},
      {"all_to_all", true, false, all_but_one, "(n-1)/n", {out_of_place}},
      {"broadcast", false, true, one, "1", {in_place}},
      {"reduce", false, true, one, "1", {in_place}},
      {"gather", true, true, all_but_one, "(n-1)/n", {in_place}},
      {"scatter", true, true, all_but_one, "(n-1)/n", {in_place}},
      {"barrier", false, false, one, "1", {in_place}},
  };
  return rows;
}

bool has_algorithm(std::string_view operation) {
  const auto rows = operation_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.operation == operation; });
}

}  // namespace

std::string_view name_of(Placement placement) {
  return placement == Placement::in_place ? "in_place" : "out_of_place";
}

std::vector<std::string> measured_operations() {
  std::vector<std::string> names;
  for (const auto& row : conventions()) {
    if (has_algorithm(row.operation)) {
      names.emplace_back(row.operation);
    }
  }
  return names;
}

const OperationConvention& convention_of(std::string_view operation) {
  const auto& rows = conventions();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const auto& r) { return r.operation == operation; });
  if (row == rows.end() || !has_algorithm(operation)) {
    const auto names = measured_operations();
    throw BadUse("there is no operation " + std::string(operation) +
                 did_you_mean(operation, names) + " (operations are " + joined(names) + ")");
  }
  return *row;
}

std::vector<std::string> algorithms_of(std::string_view operation) {
  std::vector<std::string> names;
  for (const auto& row : operation_rows()) {
    if (row.operation == operation) {
      names.emplace_back(row.algorithm);
    }
  }
  return names;
}

const OperationRow& operation_row(std::string_view operation, std::string_view algorithm) {
  for (const auto& row : operation_rows()) {
    if (row.operation == operation && row.algorithm == algorithm) {
      return row;
    }
  }
  const auto names = algorithms_of(operation);
  throw BadUse("no algorithm of " + std::string(operation) + " is called " +
               std::string(algorithm) + did_you_mean(algorithm, names) + " (choose one of " +
               joined(names) + ")");
}

double algorithm_bandwidth(std::uint64_t bytes, double seconds) {
  if (bytes == 0) {
    return 0;
  }
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9
                     : std::numeric_limits<double>::infinity();
}

double bus_bandwidth(const OperationConvention& convention, int ranks, double algbw) {
  return ranks < 2 ? 0 : algbw * convention.factor(ranks);
}

std::size_t other_count(const OperationConvention& convention, int ranks, std::size_t whole) {
  if (convention.placements.front() == Placement::in_place) {
    return 0;
  }
  return convention.operation == "all_to_all" ? whole : whole / static_cast<std::size_t>(ranks);
}

void run_placed(Comm& comm, const OperationRow& row, Placement placement, Buffer data, Buffer other,
                ReduceOp op, int root) {
  if (placement == Placement::out_of_place && row.operation == "all_gather") {
    return all_gather(comm, other, data, {row.algorithm});
  }
  if (placement == Placement::out_of_place && row.operation == "reduce_scatter") {
    return reduce_scatter(comm, data, other, op, {row.algorithm});
  }
  run_operation(comm, row.operation, row.algorithm, data, other, op, root);
}

}  // namespace ringside
