// A decoder-only transformer: embedding, blocks, norm, head (Touvron et al. 2023, LLaMA).
//
// It predicts a byte from those before it in its sample, of which the last is its input (0 at the
// start): batches have a context of 1.
#pragma once

#include <cstdint>
#include <memory>

#include "models/gpt_part.hpp"
#include "models/model.hpp"

namespace ringside {

// Layers and parameters: "embed" (embed.weight [vocab, hidden]); "layers.<i>" (norm1.weight
// [hidden], attention.q.weight [hidden, heads * dim], k, v [hidden, kv_heads * dim], o [heads *
// dim, hidden], norm2.weight, mlp.gate.weight, up [hidden, ffn], down [ffn, hidden]); "final_norm"
// (final_norm.weight); "head" (head.weight [vocab, hidden], or none when tied).
//
// Values depend on (seed, name, place in the whole) only, so a part of a model has the bits of that
// part of the whole one; gains are 1, the rest uniform within 1/sqrt(in). A tied head without the
// embedding beside it has an embed.weight of its own, a Parameter::copy. Throws what require_usable
// does, and for layers that are not there.
std::unique_ptr<Model> make_gpt(Device device, const GptConfig& config, std::uint64_t seed,
                                GptPart part = {});

}  // namespace ringside
