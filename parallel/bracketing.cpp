#include "parallel/bracketing.hpp"

#include <map>

#include "collectives/diagnosis.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void write(const Expressions& expressions, Symbol symbol, std::vector<int>& program) {
  if (symbol.is_leaf()) {
    program.push_back(symbol.rank());
    return;
  }
  const SymbolNode& node = expressions.node(symbol);
  write(expressions, node.left, program);
  write(expressions, node.right, program);
  program.push_back(Bracketing::add);
}

std::vector<int> rank_order(int ranks) {
  std::vector<int> program{0};
  for (int r = 1; r < ranks; ++r) {
    program.insert(program.end(), {r, Bracketing::add});
  }
  return program;
}

// The programs, each once.
class Programs {
 public:
  std::uint32_t number(const std::vector<int>& program) {
    const auto [found, fresh] =
        numbers_.try_emplace(program, static_cast<std::uint32_t>(programs.size()));
    if (fresh) {
      programs.push_back(program);
    }
    return found->second;
  }

  std::vector<std::vector<int>> programs;

 private:
  std::map<std::vector<int>, std::uint32_t> numbers_;
};

}  // namespace

Bracketing in_rank_order(std::size_t elements, int ranks) {
  return {{rank_order(ranks)}, std::vector<std::uint32_t>(elements, 0)};
}

RunCall all_reduce_call(std::string_view algorithm, const AllReduce* planted) {
  return [=, name = std::string(algorithm)](Comm& comm, const CollectiveCall& call, Buffer data,
                                            Buffer) {
    planted != nullptr ? all_reduce(comm, *planted, data, call.op)
                       : all_reduce(comm, data, call.op, Choice{name});
  };
}

RunOrder order_of_run(const RunCall& all_reduce, int ranks, int gpus_per_node,
                      std::size_t elements) {
  const CollectiveCall call{"all_reduce", elements, ReduceOp::sum, 0};
  const SymbolicRun run = run_on_symbols(
      {.run = all_reduce, .ranks = ranks, .gpus_per_node = gpus_per_node, .calls = {call}});
  if (run.failure) {
    throw PeerLost(*run.failure);
  }
  const Expressions expressions(run.tables);
  Programs programs;
  RunOrder result;
  const auto program_of = [&](std::size_t i, int rank) {
    const Symbol held = run.calls[0][static_cast<std::size_t>(rank)].result[i];
    std::vector<int> program;
    if (holds_required(expressions, call, ranks, rank, i, held)) {
      write(expressions, held, program);
    }
    return program;  // empty: incomplete
  };
  for (std::size_t i = 0; i < elements; ++i) {
    auto program = program_of(i, 0);
    for (int r = 1; r < ranks; ++r) {
      const auto other = program_of(i, r);
      result.equal = result.equal && other == program;
      program = program.empty() || other.empty() ? std::vector<int>() : program;
    }
    if (program.empty()) {
      ++result.incomplete;
      program = rank_order(ranks);
    }
    result.order.program_of.push_back(programs.number(program));
  }
  result.order.programs = std::move(programs.programs);
  return result;
}

}  // namespace ringside
