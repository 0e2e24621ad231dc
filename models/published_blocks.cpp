#include "models/published_blocks.hpp"

#include <utility>

namespace ringside {

PublishedTensor cut_by_outputs(std::string name, std::string_view group, std::size_t out,
                               std::size_t in, std::size_t parts) {
  return {.name = std::move(name),
          .shape = {out, in},
          .group = group,
          .split = 0,
          .parts = parts,
          .products = out * in};
}

PublishedTensor cut_by_inputs(std::string name, std::string_view group, std::size_t out,
                              std::size_t in, std::size_t parts) {
  PublishedTensor tensor = cut_by_outputs(std::move(name), group, out, in, parts);
  tensor.split = 1;
  return tensor;
}

PublishedTensor whole(std::string name, std::string_view group, std::size_t out, std::size_t in) {
  return {.name = std::move(name), .shape = {out, in}, .group = group, .products = out * in};
}

PublishedTensor vector(std::string name, std::string_view group, std::size_t count) {
  return {.name = std::move(name), .shape = {count}, .group = group};
}

namespace {

// What is no matrix product, with an entry or a row for each of `parts` heads or columns.
PublishedTensor by_heads(std::string name, std::string_view group, std::vector<std::size_t> shape,
                         std::size_t parts) {
  return {.name = std::move(name),
          .shape = std::move(shape),
          .group = group,
          .split = 0,
          .parts = parts};
}

}  // namespace

Tensors attention_tensors(const PublishedConfig& config, const std::string& prefix) {
  constexpr std::string_view group = "full_attn";
  const std::string at = prefix + "self_attn.";
  const std::size_t h = config.hidden;
  const std::size_t queries = config.heads * config.head_width;
  const std::size_t keys = config.kv_heads * config.head_width;
  const std::size_t gate = config.output_gate ? queries : 0;
  Tensors tensors{cut_by_outputs(at + "q_proj.weight", group, queries + gate, h, config.heads),
                  cut_by_outputs(at + "k_proj.weight", group, keys, h, config.kv_heads),
                  cut_by_outputs(at + "v_proj.weight", group, keys, h, config.kv_heads),
                  cut_by_inputs(at + "o_proj.weight", group, h, queries, config.heads)};
  if (config.attention_bias) {
    tensors.push_back(by_heads(at + "q_proj.bias", group, {queries + gate}, config.heads));
    tensors.push_back(by_heads(at + "k_proj.bias", group, {keys}, config.kv_heads));
    tensors.push_back(by_heads(at + "v_proj.bias", group, {keys}, config.kv_heads));
    tensors.push_back(vector(at + "o_proj.bias", group, h));
  }
  if (config.query_norms) {
    tensors.push_back(vector(at + "q_norm.weight", group, config.head_width));
    tensors.push_back(vector(at + "k_norm.weight", group, config.head_width));
  }
  return tensors;
}

Tensors delta_net_tensors(const PublishedConfig& config, const std::string& prefix) {
  constexpr std::string_view group = "linear_attn";
  const GatedDeltaNetConfig& net = *config.delta_net;
  const std::string at = prefix + "linear_attn.";
  const std::size_t h = config.hidden;
  const std::size_t values = net.value_heads * net.value_width;
  const std::size_t mixed = 2 * net.key_heads * net.key_width + values;
  return {cut_by_outputs(at + "in_proj_qkv.weight", group, mixed, h, net.key_heads),
          cut_by_outputs(at + "in_proj_z.weight", group, values, h, net.value_heads),
          cut_by_outputs(at + "in_proj_b.weight", group, net.value_heads, h, net.value_heads),
          cut_by_outputs(at + "in_proj_a.weight", group, net.value_heads, h, net.value_heads),
          by_heads(at + "conv1d.weight", group, {mixed, 1, net.kernel}, net.key_heads),
          by_heads(at + "A_log", group, {net.value_heads}, net.value_heads),
          by_heads(at + "dt_bias", group, {net.value_heads}, net.value_heads),
          vector(at + "norm.weight", group, net.value_width),
          cut_by_inputs(at + "out_proj.weight", group, h, values, net.value_heads)};
}

Tensors latent_attention_tensors(const PublishedConfig& config, const std::string& prefix) {
  constexpr std::string_view group = "mla";
  const LatentAttentionConfig& mla = *config.latent;
  const std::string at = prefix + "self_attn.";
  const std::size_t h = config.hidden;
  const std::size_t heads = config.heads;
  const std::size_t queries = heads * (mla.plain_width + mla.rotary_width);
  Tensors tensors;
  const auto bias = [&](const char* name, std::size_t count) {
    if (config.attention_bias) {
      tensors.push_back(vector(at + name, group, count));
    }
  };
  if (mla.query_rank == 0) {
    tensors = {cut_by_outputs(at + "q_proj.weight", group, queries, h, heads)};
  } else {
    tensors = {whole(at + "q_a_proj.weight", group, mla.query_rank, h)};
    bias("q_a_proj.bias", mla.query_rank);
    tensors.push_back(vector(at + "q_a_layernorm.weight", group, mla.query_rank));
    tensors.push_back(
        cut_by_outputs(at + "q_b_proj.weight", group, queries, mla.query_rank, heads));
  }
  tensors.push_back(
      whole(at + "kv_a_proj_with_mqa.weight", group, mla.key_value_rank + mla.rotary_width, h));
  bias("kv_a_proj_with_mqa.bias", mla.key_value_rank + mla.rotary_width);
  tensors.push_back(vector(at + "kv_a_layernorm.weight", group, mla.key_value_rank));
  tensors.push_back(cut_by_outputs(at + "kv_b_proj.weight", group,
                                   heads * (mla.plain_width + mla.value_width), mla.key_value_rank,
                                   heads));
  tensors.push_back(cut_by_inputs(at + "o_proj.weight", group, h, heads * mla.value_width, heads));
  bias("o_proj.bias", h);
  return tensors;
}

Tensors mlp_tensors(const std::string& prefix, std::string_view group, std::size_t hidden,
                    std::size_t ffn, bool bias) {
  Tensors tensors{cut_by_outputs(prefix + "gate_proj.weight", group, ffn, hidden, ffn),
                  cut_by_outputs(prefix + "up_proj.weight", group, ffn, hidden, ffn),
                  cut_by_inputs(prefix + "down_proj.weight", group, hidden, ffn, ffn)};
  if (bias) {
    tensors.push_back(by_heads(prefix + "gate_proj.bias", group, {ffn}, ffn));
    tensors.push_back(by_heads(prefix + "up_proj.bias", group, {ffn}, ffn));
    tensors.push_back(vector(prefix + "down_proj.bias", group, hidden));
  }
  return tensors;
}

Tensors experts_tensors(const PublishedConfig& config, const std::string& prefix) {
  const ExpertsConfig& experts = *config.experts;
  const std::string at = prefix + "mlp.";
  const std::size_t h = config.hidden;
  Tensors tensors;
  for (std::size_t e = 0; e < experts.routed; ++e) {
    const std::string expert = at + "experts." + std::to_string(e) + ".";
    for (PublishedTensor& tensor : mlp_tensors(expert, "routed_experts", h, experts.ffn)) {
      tensor.products = tensor.products * experts.per_token / experts.routed;
      tensors.push_back(std::move(tensor));
    }
  }
  if (experts.shared > 0) {
    const auto shared =
        mlp_tensors(at + "shared_experts.", "shared_expert", h, experts.shared * experts.ffn);
    tensors.insert(tensors.end(), shared.begin(), shared.end());
  }
  tensors.push_back(whole(at + "gate.weight", "router", experts.routed, h));
  if (experts.score_bias) {
    tensors.push_back(vector(at + "gate.e_score_correction_bias", "router_bias", experts.routed));
    tensors.back().trained = false;
  }
  return tensors;
}

namespace {

constexpr std::string_view vision_group = "vision";

// A weight and a bias of the vision tower, which text does not pass and nobody cuts.
void add_pair(Tensors& tensors, const std::string& name, std::vector<std::size_t> shape) {
  const std::size_t out = shape.front();
  tensors.push_back({.name = name + ".weight", .shape = std::move(shape), .group = vision_group});
  tensors.push_back(vector(name + ".bias", vision_group, out));
}

}  // namespace

Tensors vision_tensors(const PublishedConfig& config) {
  const VisionConfig& v = *config.vision;
  const std::string at = "model.visual.";
  const std::size_t merged = v.hidden * v.merge * v.merge;
  Tensors tensors;
  add_pair(tensors, at + "patch_embed.proj", {v.hidden, v.channels, v.frames, v.patch, v.patch});
  tensors.push_back(
      {.name = at + "pos_embed.weight", .shape = {v.positions, v.hidden}, .group = vision_group});
  for (std::size_t i = 0; i < v.depth; ++i) {
    const std::string block = at + "blocks." + std::to_string(i) + ".";
    add_pair(tensors, block + "norm1", {v.hidden});
    add_pair(tensors, block + "norm2", {v.hidden});
    add_pair(tensors, block + "attn.qkv", {3 * v.hidden, v.hidden});
    add_pair(tensors, block + "attn.proj", {v.hidden, v.hidden});
    add_pair(tensors, block + "mlp.linear_fc1", {v.ffn, v.hidden});
    add_pair(tensors, block + "mlp.linear_fc2", {v.hidden, v.ffn});
  }
  add_pair(tensors, at + "merger.norm", {v.hidden});
  add_pair(tensors, at + "merger.linear_fc1", {merged, merged});
  add_pair(tensors, at + "merger.linear_fc2", {config.hidden, merged});
  return tensors;
}

}  // namespace ringside
