#include "scenarios/context_experiments.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "models/meta_layer.hpp"
#include "parallel/context/ring_attention.hpp"
#include "runtime/launch.hpp"

namespace ringside {

namespace {

enum class Passes : std::uint8_t { forward, both };

// A rank's passes of one layer's attention, of one sample.
void attend(Rank& rank, CausalAttention& attention, const Sequences& sequences, const Heads& heads,
            DType dtype, Passes passes = Passes::forward) {
  const auto rows = [&](std::size_t width, const char* name) {
    return Tensor(rank.memory(), dtype, {sequences.positions.size(), width * heads.dim},
                  Category::activations, name);
  };
  const AttentionCall call{"attention", heads, sequences};
  std::vector<Tensor> kept;
  const Tensor out = attention.forward(call, rows(heads.queries, "q"), rows(heads.kv, "k"),
                                       rows(heads.kv, "v"), kept);
  if (passes == Passes::both) {
    attention.backward(call, out, rows(heads.queries, "grad_out"), kept);
  }
}

Sequences sequences_of_rank(const TokenBlocks& blocks, std::size_t tokens, int rank) {
  const std::vector<std::size_t> whole{tokens};
  return {
      .lengths = {blocks.rows(tokens)}, .positions = blocks.places(whole, rank), .whole = whole};
}

}  // namespace

std::vector<std::int64_t> executed_pairs(const ContextParallelOptions& options, int ranks,
                                         std::size_t tokens) {
  const std::size_t heads =
      options.form == ContextForm::ulysses ? static_cast<std::size_t>(ranks) : std::size_t{1};
  const GptConfig config{.hidden = 2 * heads, .heads = heads, .kv_heads = heads, .ffn = 1};
  return run_ranks(ranks, {.memory = Backing::meta}, [&](Rank& rank) {
    const ContextParallel cp(rank.world(), {rank.memory(), rank.clock()}, config, options);
    const TokenBlocks blocks(options.layout, ranks);
    attend(rank, *cp.attention(), sequences_of_rank(blocks, tokens, rank.id()),
           {heads, heads, config.head_width()}, DType::f32);
    return cp.head_pairs() / static_cast<std::int64_t>(heads);
  });
}

std::vector<std::int64_t> executed_operations(const ContextParallelOptions& options, int ranks,
                                              std::size_t tokens) {
  const std::size_t heads =
      options.form == ContextForm::ulysses ? static_cast<std::size_t>(ranks) : std::size_t{1};
  const GptConfig config{.hidden = 2 * heads, .heads = heads, .kv_heads = heads, .ffn = 1};
  Cluster cluster;
  cluster.flops = Rate{1'000'000'000'000};  // an operation takes a picosecond
  return run_ranks(ranks, {.cluster = cluster, .memory = Backing::meta}, [&](Rank& rank) {
    std::int64_t operations = 0;
    rank.clock().on_charge = [&](std::string_view, Time start, Time end) {
      operations += (end - start).count();
    };
    const ContextParallel cp(rank.world(), {rank.memory(), rank.clock()}, config, options);
    const TokenBlocks blocks(options.layout, ranks);
    attend(rank, *cp.attention(), sequences_of_rank(blocks, tokens, rank.id()),
           {heads, heads, config.head_width()}, DType::f32, Passes::both);
    rank.clock().on_charge = nullptr;
    return operations;
  });
}

std::string with_colons(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, " : "));
}

std::vector<KeysSent> executed_keys(const PublishedModel& model, int ranks, std::size_t tokens,
                                    const Cluster& cluster) {
  const Heads heads{model.config.heads, model.config.kv_heads, model.config.head_width};
  return run_ranks(ranks, {.cluster = cluster, .memory = Backing::meta}, [&](Rank& rank) {
    const TokenBlocks blocks(ContextLayout::zigzag, ranks);
    const auto ring = make_ring_attention(rank.world(), {rank.memory(), rank.clock()}, blocks);
    attend(rank, *ring, sequences_of_rank(blocks, tokens, rank.id()), heads, DType::bf16);
    KeysSent seen;
    for (const TrafficSum& sum : rank.traffic().sums()) {
      seen.bytes += sum.sent_bytes;
      seen.messages += sum.sent_messages;
    }
    return seen;
  });
}

std::int64_t executed_layer_inputs(const PublishedModel& model, std::size_t tokens) {
  DeviceMemory memory(std::size_t{1} << 20, Backing::meta);
  DeviceMemory parameters(std::size_t{1} << 20, Backing::meta);
  ComputeClock clock;
  const auto meta = make_meta_model({memory, clock}, model, DType::bf16, Cut{},
                                    std::make_shared<Seam>(), &parameters);
  std::vector<Saved> inputs;
  Tensor x = meta->input_of(meta_batch(tokens));
  for (std::size_t i = 0; i < meta->layer_count(); ++i) {
    const std::string& name = meta->layer(i).name();
    Saved saved;
    x = meta->layer(i).forward(x, saved);
    if (name.starts_with("layers.") && !name.ends_with(".mlp")) {
      inputs.push_back(std::move(saved));
    }
  }
  x = Tensor();
  return memory.ledger().current[static_cast<std::size_t>(Category::activations)];
}

}  // namespace ringside
