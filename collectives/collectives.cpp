#include "collectives/collectives.hpp"

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/barrier.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/reduce_scatter.hpp"

namespace ringside {

namespace {

using Run = std::function<void(Comm&, Choice, Buffer data, Buffer out, ReduceOp, int root)>;

struct OperationEntry {
  std::string_view name;
  Run run;
};

const std::vector<OperationEntry>& operations() {
  static const std::vector<OperationEntry> entries{
      {"all_reduce",
       [](Comm& c, Choice a, Buffer d, Buffer, ReduceOp op, int) { all_reduce(c, d, op, a); }},
      {"reduce_scatter",
       [](Comm& c, Choice a, Buffer d, Buffer, ReduceOp op, int) { reduce_scatter(c, d, op, a); }},
      {"all_gather",
       [](Comm& c, Choice a, Buffer d, Buffer, ReduceOp, int) { all_gather(c, d, a); }},
      {"all_to_all",
       [](Comm& c, Choice a, Buffer d, Buffer out, ReduceOp, int) { all_to_all(c, d, out, a); }},
      {"broadcast",
       [](Comm& c, Choice a, Buffer d, Buffer, ReduceOp, int root) { broadcast(c, d, root, a); }},
      {"barrier", [](Comm& c, Choice a, Buffer, Buffer, ReduceOp, int) { barrier(c, a); }},
  };
  return entries;
}

template <class Run>
void add(std::vector<OperationRow>& rows, std::string_view operation,
         std::span<const Algorithm<Run>> table, bool reduces = false) {
  for (const auto& row : table) {
    rows.push_back({operation, row.name, row.steps, row.sent, row.paper, reduces});
  }
}

}  // namespace

std::span<const OperationRow> operation_rows() {
  static const std::vector<OperationRow> rows = [] {
    std::vector<OperationRow> all;
    add(all, "all_reduce", all_reduce_algorithms(), true);
    add(all, "reduce_scatter", reduce_scatter_algorithms(), true);
    add(all, "all_gather", all_gather_algorithms());
    add(all, "all_to_all", all_to_all_algorithms());
    add(all, "broadcast", broadcast_algorithms());
    add(all, "barrier", barrier_algorithms());
    return all;
  }();
  return rows;
}

void run_operation(Comm& comm, std::string_view operation, std::string_view algorithm, Buffer data,
                   Buffer out, ReduceOp op, int root) {
  for (const auto& entry : operations()) {
    if (entry.name == operation) {
      return entry.run(comm, {algorithm}, data, out, op, root);
    }
  }
  throw BadUse("there is no operation \"" + std::string(operation) + "\"");
}

}  // namespace ringside
