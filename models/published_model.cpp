#include "models/published_model.hpp"

#include <algorithm>
#include <array>

#include "models/published_blocks.hpp"
#include "runtime/errors.hpp"

namespace ringside {

std::size_t PublishedTensor::count() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape) {
    product *= extent;
  }
  return product;
}

std::string_view name_of(LayerKind kind) {
  constexpr std::array<std::string_view, 10> names{"embedding",
                                                   "attention",
                                                   "Gated DeltaNet",
                                                   "multi-head latent attention",
                                                   "MLP",
                                                   "mixture of experts",
                                                   "final norm",
                                                   "head",
                                                   "vision tower",
                                                   "multi-token prediction"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t PublishedLayer::parameters() const {
  std::size_t sum = 0;
  for (const auto& tensor : tensors) {
    sum += tensor.trained ? tensor.count() : 0;
  }
  return sum;
}

bool continues_block(const PublishedLayer& layer) {
  return layer.kind == LayerKind::mlp || layer.kind == LayerKind::experts;
}

std::size_t PublishedModel::count(std::string_view group) const {
  std::size_t sum = 0;
  for (const auto& layer : layers) {
    for (const auto& tensor : layer.tensors) {
      sum += tensor.stored && (group.empty() || tensor.group == group) ? tensor.count() : 0;
    }
  }
  return sum;
}

std::size_t PublishedModel::count() const {
  return count("");
}

std::size_t PublishedModel::tensors() const {
  std::size_t sum = 0;
  for (const auto& layer : layers) {
    sum += static_cast<std::size_t>(std::ranges::count_if(layer.tensors, &PublishedTensor::stored));
  }
  return sum;
}

namespace {

void append(Tensors& tensors, Tensors more) {
  tensors.insert(tensors.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

PublishedLayer mixer_of(const PublishedConfig& config, const std::string& prefix, std::size_t i) {
  PublishedLayer layer{
      .name = "layers." + std::to_string(i) + ".attention",
      .kind = LayerKind::attention,
      .tensors = {vector(prefix + "input_layernorm.weight", "layer_norms", config.hidden)}};
  if (config.latent) {
    layer.kind = LayerKind::latent_attention;
    append(layer.tensors, latent_attention_tensors(config, prefix));
  } else if (config.delta_net && (i + 1) % config.delta_net->interval != 0) {
    layer.kind = LayerKind::gated_delta_net;
    append(layer.tensors, delta_net_tensors(config, prefix));
  } else {
    append(layer.tensors, attention_tensors(config, prefix));
  }
  return layer;
}

PublishedLayer mlp_of(const PublishedConfig& config, const std::string& prefix, std::size_t i) {
  PublishedLayer layer{.name = "layers." + std::to_string(i) + ".mlp",
                       .kind = LayerKind::mlp,
                       .tensors = {vector(prefix + "post_attention_layernorm.weight", "layer_norms",
                                          config.hidden)}};
  if (config.experts && config.experts->in_layer(i)) {
    layer.kind = LayerKind::experts;
    append(layer.tensors, experts_tensors(config, prefix));
  } else {
    const std::string_view group = config.experts ? "dense_mlp" : "mlp";
    append(layer.tensors,
           mlp_tensors(prefix + "mlp.", group, config.hidden, config.ffn, config.mlp_bias));
  }
  return layer;
}

// DeepSeek-V3 stores its embedding and its head once more beside the layer that predicts.
void append_deepseek_ends(Tensors& tensors, const PublishedConfig& config,
                          const std::string& prefix) {
  const std::size_t h = config.hidden;
  append(tensors,
         {vector(prefix + "enorm.weight", "mtp", h), vector(prefix + "hnorm.weight", "mtp", h),
          vector(prefix + "shared_head.norm.weight", "mtp", h),
          whole(prefix + "eh_proj.weight", "mtp", h, 2 * h)});
  for (const char* copy : {"embed_tokens.weight", "shared_head.head.weight"}) {
    tensors.push_back({.name = prefix + copy,
                       .shape = {config.vocab, h},
                       .group = "mtp_shared_copy",
                       .trained = false});
  }
}

// A layer more, that predicts the token after next; no tensor of it is cut.
PublishedLayer prediction_of(const PublishedConfig& config) {
  const std::size_t h = config.hidden;
  const bool deepseek = config.latent.has_value();
  // With this number its attention is a full one, and its MLP has experts where there are any.
  const std::size_t last =
      config.delta_net ? config.delta_net->interval * config.layers - 1 : config.layers;
  const std::string prefix =
      deepseek ? "model.layers." + std::to_string(config.layers) + "." : "mtp.layers.0.";
  PublishedLayer layer{.name = "mtp", .kind = LayerKind::prediction, .tensors = {}};
  append(layer.tensors, mixer_of(config, prefix, last).tensors);
  append(layer.tensors, mlp_of(config, prefix, last).tensors);
  for (PublishedTensor& tensor : layer.tensors) {
    tensor.group = "mtp";
    tensor.split = -1;
    tensor.parts = 1;
  }
  if (deepseek) {
    append_deepseek_ends(layer.tensors, config, prefix);
  } else {
    append(layer.tensors, {whole("mtp.fc.weight", "mtp", h, 2 * h),
                           vector("mtp.pre_fc_norm_embedding.weight", "mtp", h),
                           vector("mtp.pre_fc_norm_hidden.weight", "mtp", h),
                           vector("mtp.norm.weight", "mtp", h)});
  }
  return layer;
}

// The list of tensors takes memory: the largest published model has some hundred thousand.
void require_countable(const PublishedConfig& config) {
  constexpr std::size_t most = 500'000;
  constexpr std::size_t beside_experts = 20;  // at most, of a block
  const std::size_t routed = config.experts ? config.experts->routed : 0;
  const std::size_t blocks = config.layers + config.predictors;
  const std::size_t tensors = blocks * (beside_experts + 3 * routed) +
                              (config.vision ? config.vision->depth : 0) * beside_experts;
  if (tensors > most) {
    throw BadUse(
        "model " + config.name + ": " + std::to_string(blocks) + " layers of " +
        std::to_string(routed) + " experts" +
        (config.vision ? " and a vision tower of " + std::to_string(config.vision->depth) : "") +
        " have up to " + std::to_string(tensors) + " tensors: at most " + std::to_string(most) +
        " are listed");
  }
}

void check(const PublishedConfig& config) {
  require_countable(config);
  if (config.heads % config.kv_heads != 0) {
    throw BadUse("model " + config.name + ": " + std::to_string(config.heads) +
                 " heads cannot share " + std::to_string(config.kv_heads) +
                 " key and value heads evenly");
  }
}

}  // namespace

PublishedModel published_model(const PublishedConfig& config) {
  check(config);
  const std::string text = config.vision ? "model.language_model." : "model.";
  PublishedTensor table = cut_by_outputs(text + "embed_tokens.weight", "embed", config.vocab,
                                         config.hidden, config.vocab);
  table.products = 0;  // looked up
  PublishedModel model{.config = config, .layers = {}};
  model.layers.push_back({"embed", LayerKind::embedding, {table}});
  if (config.vision) {
    model.layers.push_back({"vision", LayerKind::vision, vision_tensors(config)});
  }
  for (std::size_t i = 0; i < config.layers; ++i) {
    const std::string prefix = text + "layers." + std::to_string(i) + ".";
    model.layers.push_back(mixer_of(config, prefix, i));
    model.layers.push_back(mlp_of(config, prefix, i));
  }
  if (config.predictors > 0) {
    model.layers.push_back(prediction_of(config));
  }
  model.layers.push_back({"final_norm",
                          LayerKind::final_norm,
                          {vector(text + "norm.weight", "final_norm", config.hidden)}});
  PublishedTensor head =
      cut_by_outputs("lm_head.weight", "lm_head", config.vocab, config.hidden, config.vocab);
  if (config.tied) {
    head.name = table.name;
    head.group = table.group;
    head.trained = head.stored = false;
  }
  model.layers.push_back({"head", LayerKind::head, {std::move(head)}});
  return model;
}

PublishedModel published_model(std::string_view name) {
  return published_model(published_config(name));
}

}  // namespace ringside
