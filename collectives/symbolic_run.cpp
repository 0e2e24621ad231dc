#include "collectives/symbolic_run.hpp"

#include <cmath>
#include <cstring>

#include "collectives/collectives.hpp"

namespace ringside {

namespace {

template <class T>
void put(std::string& bytes, const std::vector<T>& values) {
  const std::uint64_t size = values.size() * sizeof(T);
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(reinterpret_cast<const char*>(values.data()), size);
}

template <class T>
std::vector<T> take(std::string_view& bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  std::vector<T> values(size / sizeof(T));
  if (size > 0) {
    std::memcpy(static_cast<void*>(values.data()), bytes.data() + sizeof(size), size);
  }
  bytes.remove_prefix(sizeof(size) + size);
  return values;
}

void put(std::string& bytes, const RankSymbols& symbols) {
  put(bytes, symbols.result);
  put(bytes, symbols.numbers);
  put(bytes, std::vector{symbols.history.size()});
  for (const Moment& moment : symbols.history) {
    put(bytes, std::vector{moment.step});
    put(bytes, std::vector{moment.phase});
    put(bytes, moment.values);
    put(bytes, moment.out);
  }
  put(bytes, std::vector{symbols.taken.size()});
  for (const TakenMessage& message : symbols.taken) {
    put(bytes, std::vector{message.envelope});
    put(bytes, std::vector{message.step});
    put(bytes, message.carried);
  }
}

RankSymbols take_symbols(std::string_view& bytes) {
  RankSymbols symbols{.result = take<Symbol>(bytes), .numbers = take<std::byte>(bytes)};
  for (std::size_t left = take<std::size_t>(bytes).front(); left > 0; --left) {
    const int step = take<int>(bytes).front();
    const auto phase = take<Text<16>>(bytes).front();
    auto values = take<Symbol>(bytes);
    symbols.history.push_back({step, phase, std::move(values), take<Symbol>(bytes)});
  }
  for (std::size_t left = take<std::size_t>(bytes).front(); left > 0; --left) {
    const auto envelope = take<Envelope>(bytes).front();
    const int step = take<int>(bytes).front();
    symbols.taken.push_back({envelope, step, take<Symbol>(bytes)});
  }
  return symbols;
}

std::vector<Symbol> watched(const SymbolicJob& job, Buffer data) {
  const auto all = data.as<Symbol>();
  if (job.watched.empty()) {
    return {all.begin(), all.end()};
  }
  std::vector<Symbol> some;
  for (const std::size_t i : job.watched) {
    some.push_back(i < all.size() ? all[i] : Symbol{});
  }
  return some;
}

// A call needs two buffers; all_to_all ends in the other one.
struct Buffers {
  Buffers(Rank& rank, DType dtype, const CollectiveCall& call)
      : data(rank.memory(), dtype, {call.count}, Category::buffers, "data"),
        out(rank.memory(), dtype, {call.count}, Category::buffers, "out"),
        moves(call.operation == "all_to_all") {}

  Buffer result() const { return (moves ? out : data).buffer(); }

  Tensor data;
  Tensor out;
  bool moves;
};

void run_symbols(Rank& rank, const SymbolicJob& job, const CollectiveCall& call,
                 RankSymbols& symbols) {
  const Buffers buffers(rank, DType::symbol, call);
  const auto data = buffers.data.as<Symbol>();
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = Symbol::leaf(rank.id(), i);
  }
  Comm& comm = rank.world();
  const auto look = [&] {
    symbols.history.push_back({comm.step() + 1, comm.phase(), watched(job, buffers.data.buffer()),
                               watched(job, buffers.out.buffer())});
  };
  if (job.history) {
    comm.on_step = look;
    comm.on_take = [&](const Envelope& envelope, Buffer carried) {
      TakenMessage message{envelope, comm.step()};
      if (carried.dtype == DType::symbol && carried.count > 0) {
        const auto all = carried.as<Symbol>();
        message.carried.assign(all.begin(), all.end());
      }
      symbols.taken.push_back(std::move(message));
    };
  }
  job.run(comm, call, buffers.data.buffer(), buffers.out.buffer());
  comm.on_step = {};
  comm.on_take = {};
  const auto result = buffers.result().as<Symbol>();
  symbols.result.assign(result.begin(), result.end());
}

void run_numbers(Rank& rank, const SymbolicJob& job, const CollectiveCall& call,
                 RankSymbols& symbols) {
  std::vector<float> rough(call.count);
  for (std::size_t i = 0; i < rough.size(); ++i) {
    rough[i] = rough_number(rank.id(), i);
  }
  const Buffers buffers(rank, job.numbers, call);
  convert(buffer_of(std::span(rough)), buffers.data.buffer());
  job.run(rank.world(), call, buffers.data.buffer(), buffers.out.buffer());
  const Buffer result = buffers.result();
  symbols.numbers.assign(result.data, result.data + result.bytes());
}

std::string run_rank(Rank& rank, const SymbolicJob& job) {
  std::string bytes;
  for (const CollectiveCall& call : job.calls) {
    RankSymbols symbols;
    run_symbols(rank, job, call, symbols);
    run_numbers(rank, job, call, symbols);
    put(bytes, symbols);
  }
  put(bytes, rank.symbols().nodes());
  return bytes;
}

JobOptions options_of(const SymbolicJob& job) {
  JobOptions options;
  std::size_t elements = 0;
  for (const CollectiveCall& call : job.calls) {
    elements = std::max(elements, call.count);
  }
  options.cluster.gpus_per_node = job.gpus_per_node;
  options.region_bytes = (16UL << 20) + elements * 8 * 16;
  options.limit = job.limit;
  options.log = job.history ? LogLevel::full : LogLevel::none;
  return options;
}

}  // namespace

RunCall run_row(std::string_view algorithm) {
  return [algorithm](Comm& comm, const CollectiveCall& call, Buffer data, Buffer out) {
    run_operation(comm, call.operation, algorithm, data, out, call.op, call.root);
  };
}

SymbolicRun run_on_symbols(const SymbolicJob& job) {
  const JobResult result =
      run_job(job.ranks, options_of(job), [&](Rank& rank) { return run_rank(rank, job); });
  SymbolicRun run;
  if (!result.ok()) {
    run.failure = result.describe();
    try {
      result.raise();
    } catch (...) {
      run.error = std::current_exception();
    }
    return run;
  }
  run.calls.resize(job.calls.size());
  for (const RankOutcome& rank : result.ranks) {
    std::string_view bytes = rank.value;
    for (auto& call : run.calls) {
      call.push_back(take_symbols(bytes));
    }
    run.tables.push_back(take<SymbolNode>(bytes));
    run.messages.insert(run.messages.end(), rank.report.records.begin(), rank.report.records.end());
  }
  return run;
}

float rough_number(int rank, std::size_t i) {
  auto mixed = (static_cast<std::uint64_t>(i) << 16) + static_cast<std::uint64_t>(rank) + 1;
  mixed = (mixed ^ (mixed >> 31)) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  mixed ^= mixed >> 32;
  const auto mantissa = 1 + static_cast<float>(mixed & 0xFFFFFF) / 0x1p24F;
  const int exponent = static_cast<int>((mixed >> 24) % 27) - 13;
  return std::ldexp((mixed >> 40) % 2 == 0 ? mantissa : -mantissa, exponent);
}

}  // namespace ringside
