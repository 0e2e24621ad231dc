#include "parallel/context/ulysses_attention.hpp"

#include <algorithm>
#include <string>

#include "models/attention_core.hpp"
#include "parallel/context/head_exchange.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

using std::to_string;

bool shares_kv_heads(std::size_t kv, std::size_t ranks) {
  return kv % ranks == 0 || ranks % kv == 0;
}

// Ranks that these heads allow.
std::string usable_ranks(const Heads& heads) {
  std::string list;
  for (std::size_t ranks = 1; ranks <= heads.queries; ++ranks) {
    if (heads.queries % ranks == 0 && shares_kv_heads(heads.kv, ranks)) {
      list += (list.empty() ? "" : ", ") + to_string(ranks);
    }
  }
  return list;
}

// Columns of each rank, where `heads` heads are divided over the ranks, or copied.
std::vector<Share> columns_of_ranks(std::size_t heads, std::size_t dim, int ranks) {
  const auto c = static_cast<std::size_t>(ranks);
  std::vector<Share> all;
  for (std::size_t rank = 0; rank < c; ++rank) {
    all.push_back({rank * heads / c * dim, std::max(heads / c, std::size_t{1}) * dim});
  }
  return all;
}

class UlyssesAttention : public ContextAttention {
 public:
  UlyssesAttention(Comm& group, DeviceMemory& memory, const TokenBlocks& blocks,
                   UlyssesOptions options)
      : group_(group),
        blocks_(blocks),
        exchange_(group, memory, blocks, options.all_to_all),
        inside_(std::move(options.inside)),
        fault_(options.fault) {}

  Tensor forward(const AttentionCall& call, const Tensor& q, const Tensor& k, const Tensor& v,
                 std::vector<Tensor>& kept) override;
  AttentionGradients backward(const AttentionCall& call, const Tensor& out, const Tensor& grad_out,
                              const std::vector<Tensor>& kept) override;

 private:
  Heads own(const Heads& heads) const {
    const auto c = static_cast<std::size_t>(group_.size());
    return {heads.queries / c, std::max(heads.kv / c, std::size_t{1}), heads.dim};
  }

  std::vector<Share> queries(const Heads& heads) const {
    return columns_of_ranks(heads.queries, heads.dim, group_.size());
  }

  std::vector<Share> keys(const Heads& heads) const {
    return columns_of_ranks(heads.kv, heads.dim, group_.size());
  }

  // Rank 0 loses what the rank before it sent.
  LostPart lost(Fault fault) const {
    return fault_ == fault ? LostPart{0, group_.size() - 1} : LostPart{};
  }

  Comm& group_;
  TokenBlocks blocks_;
  HeadExchange exchange_;
  std::shared_ptr<CausalAttention> inside_;
  Fault fault_;
};

Tensor UlyssesAttention::forward(const AttentionCall& call, const Tensor& q, const Tensor& k,
                                 const Tensor& v, std::vector<Tensor>& kept) {
  require_cut(call, blocks_);
  require_divisible_heads(call.heads, group_.size());
  const Heads mine = own(call.heads);
  const auto whole = make_sequences(call.sequences.whole);
  const auto to_heads = [&](const Tensor& x, const std::vector<Share>& of_rank, LostPart lost) {
    return exchange_.to_heads(x, of_rank, call.sequences, call.layer, lost);
  };
  const auto kv = keys(call.heads);
  const Tensor whole_q = to_heads(q, queries(call.heads), {});
  const Tensor whole_k = to_heads(k, kv, lost(Fault::kv_hop_skipped));
  const Tensor whole_v = to_heads(v, kv, lost(Fault::kv_hop_skipped));
  const Tensor mixed =
      inside_->forward({call.layer, mine, *whole, call.pass}, whole_q, whole_k, whole_v, kept);
  if (call.pass == Pass::forward) {
    count(causal_pairs(*whole) * static_cast<std::int64_t>(mine.queries));
  }
  return exchange_.to_tokens(mixed, queries(call.heads), q.shape().back(), call.sequences,
                             call.layer);
}

AttentionGradients UlyssesAttention::backward(const AttentionCall& call, const Tensor& /*out*/,
                                              const Tensor& grad_out,
                                              const std::vector<Tensor>& kept) {
  const Heads mine = own(call.heads);
  const auto whole = make_sequences(call.sequences.whole);
  const auto of_queries = queries(call.heads);
  const Tensor whole_grad = exchange_.to_heads(grad_out, of_queries, call.sequences, call.layer);
  const AttentionGradients grad =
      inside_->backward({call.layer, mine, *whole, call.pass}, {}, whole_grad, kept);
  const auto to_tokens = [&](const Tensor& x, const std::vector<Share>& of_rank, std::size_t heads,
                             LostPart lost) {
    return exchange_.to_tokens(x, of_rank, heads * call.heads.dim, call.sequences, call.layer,
                               lost);
  };
  const auto kv = keys(call.heads);
  const LostPart gone = lost(Fault::kv_gradient_lost);
  const Tensor grad_q = to_tokens(grad.q, of_queries, call.heads.queries, {});
  const Tensor grad_k = to_tokens(grad.k, kv, call.heads.kv, gone);
  return {grad_q, grad_k, to_tokens(grad.v, kv, call.heads.kv, gone)};
}

}  // namespace

void require_divisible_heads(const Heads& heads, int ranks) {
  const auto c = static_cast<std::size_t>(std::max(ranks, 1));
  if (heads.queries % c == 0 && shares_kv_heads(heads.kv, c)) {
    return;
  }
  const std::string over = " over " + to_string(ranks) + " Ulysses ranks";
  const std::string why = heads.queries % c != 0
                              ? "heads = " + to_string(heads.queries) + " cannot be divided" + over
                              : "kv_heads = " + to_string(heads.kv) + " can neither be divided" +
                                    over + " nor copied evenly";
  throw BadUse(why + ": with heads = " + to_string(heads.queries) +
               " and kv_heads = " + to_string(heads.kv) + " the ranks may be " +
               usable_ranks(heads) + "; the ring has no such limit");
}

std::shared_ptr<ContextAttention> make_ulysses_attention(Comm& group, DeviceMemory& memory,
                                                         const TokenBlocks& blocks,
                                                         UlyssesOptions options) {
  return std::make_shared<UlyssesAttention>(group, memory, blocks, std::move(options));
}

}  // namespace ringside
