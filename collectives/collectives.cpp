#include "collectives/collectives.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/barrier.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/gather.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "collectives/scatter.hpp"

namespace ringside {

namespace {

struct Arguments {
  Comm& comm;
  Choice choice;
  Buffer data;
  Buffer out;
  ReduceOp op;
  int root;
};

struct Operation {
  std::string_view name;
  std::function<void(const Arguments&)> run;
  std::vector<OperationRow> rows{};
};

struct Takes {
  bool reduction = false;
  bool root = false;
  bool equal_parts = false;
};

// A row of one's own may lack a field, or have the name of another.
template <class Run>
void require_whole(std::string_view operation, std::span<const Algorithm<Run>> table) {
  std::set<std::string_view> names{"auto", ""};
  for (const auto& row : table) {
    const std::string which =
        "the table of " + std::string(operation) + ", row \"" + std::string(row.name) + "\": ";
    if (!names.insert(row.name).second) {
      throw BadUse(which + "the name is empty, \"auto\", or that of another row");
    }
    if (row.run == nullptr || row.steps == nullptr || row.sent == nullptr) {
      throw BadUse(which + "it wants .run, .steps and .sent, each a function");
    }
  }
}

template <class Run>
Operation operation(std::string_view name, std::span<const Algorithm<Run>> table, Takes takes,
                    std::function<void(const Arguments&)> run) {
  Operation op{name, std::move(run)};
  require_whole(name, table);
  for (const auto& row : table) {
    op.rows.push_back({name, row.name, row.steps, row.sent, row.paper, takes.reduction, takes.root,
                       takes.equal_parts});
  }
  return op;
}

const std::vector<Operation>& operations() {
  using A = const Arguments&;
  static const std::vector<Operation> all{
      operation("all_reduce", all_reduce_algorithms(), {.reduction = true},
                [](A a) { all_reduce(a.comm, a.data, a.op, a.choice); }),
      operation("reduce_scatter", reduce_scatter_algorithms(), {.reduction = true},
                [](A a) { reduce_scatter(a.comm, a.data, a.op, a.choice); }),
      operation("all_gather", all_gather_algorithms(), {},
                [](A a) { all_gather(a.comm, a.data, a.choice); }),
      operation("all_to_all", all_to_all_algorithms(), {.equal_parts = true},
                [](A a) { all_to_all(a.comm, a.data, a.out, a.choice); }),
      operation("broadcast", broadcast_algorithms(), {.root = true},
                [](A a) { broadcast(a.comm, a.data, a.root, a.choice); }),
      operation("reduce", reduce_algorithms(), {.reduction = true, .root = true},
                [](A a) { reduce(a.comm, a.data, a.op, a.root, a.choice); }),
      operation("gather", gather_algorithms(), {.root = true},
                [](A a) { gather(a.comm, a.data, a.root, a.choice); }),
      operation("scatter", scatter_algorithms(), {.root = true},
                [](A a) { scatter(a.comm, a.data, a.root, a.choice); }),
      operation("barrier", barrier_algorithms(), {}, [](A a) { barrier(a.comm, a.choice); }),
  };
  return all;
}

}  // namespace

std::span<const OperationRow> operation_rows() {
  static const auto rows = [] {
    std::vector<OperationRow> all;
    for (const auto& op : operations()) {
      all.insert(all.end(), op.rows.begin(), op.rows.end());
    }
    return all;
  }();
  return rows;
}

std::span<const std::string_view> operation_names() {
  static const auto names = [] {
    std::vector<std::string_view> all;
    for (const auto& op : operations()) {
      all.push_back(op.name);
    }
    return all;
  }();
  return names;
}

void run_operation(Comm& comm, std::string_view operation, std::string_view algorithm, Buffer data,
                   Buffer out, ReduceOp op, int root) {
  const auto& all = operations();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const auto& candidate) { return candidate.name == operation; });
  if (found == all.end()) {
    throw BadUse("there is no operation \"" + std::string(operation) + "\"");
  }
  found->run({comm, {algorithm}, data, out, op, root});
}

}  // namespace ringside
