// A published model, tensor by tensor, as its safetensors files hold it: nothing is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/published_config.hpp"

namespace ringside {

struct PublishedTensor {
  std::string name;                // "model.layers.3.mlp.up_proj.weight"
  std::vector<std::size_t> shape;  // (out, in)
  std::string_view group;          // "full_attn", "mlp": what it is counted with
  // The dimension that tensor parallelism cuts; -1: every rank has all of it. There are no more
  // parts than `parts`: KV heads are copied where there are fewer of them than ranks.
  int split = -1;
  std::size_t parts = 1;
  // Multiplications of a matrix product for one token of text: 0 for what is looked up, added,
  // scaled or convolved, and for the vision tower, which text does not pass. Routed experts: those
  // of the experts that a token is sent to, spread over all of them.
  std::size_t products = 0;
  // False for a stored copy of another tensor, and for a bias that the loss does not train.
  bool trained = true;
  // False for the table of the embedding once more in a tied head: multiplied with, counted there.
  bool stored = true;

  std::size_t count() const;
};

enum class LayerKind : std::uint8_t {
  embedding,
  attention,
  gated_delta_net,
  latent_attention,
  mlp,
  experts,
  final_norm,
  head,
  vision,
  prediction
};

// "Gated DeltaNet".
std::string_view name_of(LayerKind kind);

struct PublishedLayer {
  std::string name;  // "embed", "layers.3.attention", "layers.3.mlp", "final_norm", "head", …
  LayerKind kind = LayerKind::embedding;
  std::vector<PublishedTensor> tensors;

  // Elements that are trained.
  std::size_t parameters() const;
};

// Whether it makes one block together with the layer before it: an MLP with its attention.
bool continues_block(const PublishedLayer& layer);

struct PublishedModel {
  PublishedConfig config;
  // In forward order; what stands beside the text (vision, prediction of more tokens) where its
  // output or input belongs.
  std::vector<PublishedLayer> layers;

  // Elements, copies included, of one group, or of all.
  std::size_t count(std::string_view group) const;
  std::size_t count() const;
  std::size_t tensors() const;
};

// Throws BadUse when the shapes do not fit together: heads that KV heads do not divide.
PublishedModel published_model(const PublishedConfig& config);
PublishedModel published_model(std::string_view name);

}  // namespace ringside
