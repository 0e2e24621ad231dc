#include "models/gpt_cut.hpp"

#include <algorithm>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

using std::to_string;

// The multiples of `step` on both sides of `value`, from 1 multiple on: "8 or 12".
std::string nearest_multiples(std::size_t value, std::size_t step) {
  const std::size_t below = value / step * step;
  return (below > 0 ? to_string(below) + " or " : "") + to_string(below + step);
}

std::string divisors(std::size_t value) {
  std::string list;
  for (std::size_t d = 1; d <= value; ++d) {
    if (value % d == 0) {
      list += (list.empty() ? "" : ", ") + to_string(d);
    }
  }
  return list;
}

void require_widths(const GptConfig& c) {
  if (c.hidden == 0 || c.heads == 0 || c.kv_heads == 0 || c.ffn == 0 || c.vocab == 0) {
    throw BadUse("a GPT needs hidden, heads, kv_heads, ffn and vocab of at least 1; they are " +
                 to_string(c.hidden) + ", " + to_string(c.heads) + ", " + to_string(c.kv_heads) +
                 ", " + to_string(c.ffn) + " and " + to_string(c.vocab));
  }
  if (c.dtype != DType::f32 && c.dtype != DType::f64 && c.dtype != DType::bf16) {
    throw BadUse("a GPT is made of f32, f64 or bf16, not of " + std::string(name_of(c.dtype)));
  }
}

void require_heads(const GptConfig& c) {
  if (c.heads % c.kv_heads != 0) {
    throw BadUse("heads = " + to_string(c.heads) +
                 " cannot be shared by kv_heads = " + to_string(c.kv_heads) + ": kv_heads may be " +
                 divisors(c.heads) + ", or heads " + nearest_multiples(c.heads, c.kv_heads));
  }
  if (c.head_dim == 0 && c.hidden % c.heads != 0) {
    throw BadUse("hidden = " + to_string(c.hidden) +
                 " cannot be divided over heads = " + to_string(c.heads) +
                 ": give head_dim, or make hidden " + nearest_multiples(c.hidden, c.heads));
  }
  if (c.head_width() % 2 != 0) {
    throw BadUse("head_dim = " + to_string(c.head_width()) +
                 (c.head_dim == 0 ? " (hidden = " + to_string(c.hidden) +
                                        " / heads = " + to_string(c.heads) + ")"
                                  : "") +
                 " is odd, but rotary positions turn pairs: make it " +
                 nearest_multiples(c.head_width(), 2));
  }
}

bool shares_kv_heads(const GptConfig& c, std::size_t ranks) {
  return c.kv_heads % ranks == 0 || ranks % c.kv_heads == 0;
}

// Ranks over which all of it can be cut.
std::string usable_ranks(const GptConfig& c) {
  std::string list;
  for (std::size_t ranks = 1; ranks <= c.heads; ++ranks) {
    const bool mlp = c.experts > 0 || c.ffn % ranks == 0;
    if (c.heads % ranks == 0 && mlp && shares_kv_heads(c, ranks)) {
      list += (list.empty() ? "" : ", ") + to_string(ranks);
    }
  }
  return list;
}

void require_divisible(const GptConfig& c, const char* what, std::size_t value, std::size_t ranks) {
  if (value % ranks != 0) {
    throw BadUse(std::string(what) + " = " + to_string(value) + " cannot be divided over " +
                 to_string(ranks) + " tensor-parallel ranks: the ranks may be " + usable_ranks(c) +
                 ", or " + what + " " + nearest_multiples(value, ranks));
  }
}

void require_mixture(const GptConfig& c) {
  require_usable(c.router, c.experts, c.top_k);
  if (c.router.bias_rate > 0 && c.dtype == DType::bf16) {
    throw BadUse("a router's bias moves by " + to_string(c.router.bias_rate) +
                 " a step, which bf16 would round away: choose f32, or bias_rate = 0");
  }
}

Share part(std::size_t whole, Cut cut) {
  const std::size_t count = whole / static_cast<std::size_t>(cut.ranks);
  return {static_cast<std::size_t>(cut.rank) * count, count};
}

}  // namespace

void require_usable(const GptConfig& c, int ranks) {
  require_widths(c);
  require_heads(c);
  if (ranks < 1) {
    throw BadUse("a model cannot be cut over " + to_string(ranks) + " ranks");
  }
  const auto tp = static_cast<std::size_t>(ranks);
  require_divisible(c, "heads", c.heads, tp);
  if (c.experts == 0) {
    require_divisible(c, "ffn", c.ffn, tp);
  } else {
    require_mixture(c);
  }
  if (!shares_kv_heads(c, tp)) {
    throw BadUse("kv_heads = " + to_string(c.kv_heads) + " can neither be divided over " +
                 to_string(ranks) + " tensor-parallel ranks nor copied evenly: the ranks may be " +
                 usable_ranks(c) + ", or kv_heads " + nearest_multiples(c.kv_heads, tp));
  }
}

GptShare share_of(const GptConfig& c, Cut cut) {
  require_usable(c, cut.ranks);
  if (cut.rank < 0 || cut.rank >= cut.ranks) {
    throw BadUse("rank " + to_string(cut.rank) + " is outside a group of " + to_string(cut.ranks));
  }
  const auto ranks = static_cast<std::size_t>(cut.ranks);
  GptShare share;
  share.heads = part(c.heads, cut);
  share.ffn = part(c.ffn, cut);
  if (c.kv_heads % ranks == 0) {
    share.kv_heads = part(c.kv_heads, cut);
  } else {
    share.kv_copies = cut.ranks / static_cast<int>(c.kv_heads);
    share.kv_heads = {static_cast<std::size_t>(cut.rank / share.kv_copies), 1};
  }
  share.vocab = part((c.vocab + ranks - 1) / ranks * ranks, cut);
  const std::size_t end = std::min(c.vocab, share.vocab.first + share.vocab.count);
  share.real = end - std::min(end, share.vocab.first);
  return share;
}

}  // namespace ringside
