#include "models/mlp.hpp"

#include "models/batch_norm.hpp"
#include "models/half_layer.hpp"
#include "models/initialise.hpp"
#include "models/linear.hpp"
#include "models/token_embedding.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_usable(const MlpConfig& config) {
  if (config.context == 0 || config.embedding == 0 || config.hidden == 0) {
    throw BadUse("a model needs context, embedding and hidden of at least 1; they are " +
                 std::to_string(config.context) + ", " + std::to_string(config.embedding) +
                 " and " + std::to_string(config.hidden));
  }
  if (config.vocab < 256) {
    throw BadUse("a vocabulary of " + std::to_string(config.vocab) +
                 " cannot hold the 256 values of a byte");
  }
  if (config.dtype != DType::f32 && config.dtype != DType::f64 && config.dtype != DType::bf16) {
    throw BadUse("a model is made of f32, f64 or bf16, not of " +
                 std::string(name_of(config.dtype)));
  }
}

template <class T>
std::vector<std::unique_ptr<Layer>> layers_of(Device device, const MlpConfig& config,
                                              std::uint64_t seed) {
  std::vector<std::unique_ptr<Layer>> layers;
  HalfParameters halves;
  const auto add = [&](std::unique_ptr<Layer> layer) {
    layers.push_back(config.dtype == DType::bf16
                         ? std::make_unique<HalfLayer>(device, std::move(layer), halves)
                         : std::move(layer));
  };
  add(std::make_unique<TokenEmbedding<T>>(
      device, "embedding",
      make_parameter<T>(device, "embedding.weight", {config.vocab, config.embedding}, 1.0, seed)));
  std::size_t width = config.context * config.embedding;
  for (std::size_t i = 0; i < config.layers; ++i) {
    add(std::make_unique<Linear<T>>(device, "hidden." + std::to_string(i), width, config.hidden,
                                    Activation::tanh, seed));
    if (config.batch_norm) {
      add(std::make_unique<BatchNorm<T>>(device, "norm." + std::to_string(i), config.hidden));
    }
    width = config.hidden;
  }
  layers.push_back(
      std::make_unique<Linear<T>>(device, "head", width, config.vocab, Activation::identity, seed));
  return layers;
}

template <class T>
std::unique_ptr<Model> mlp_of(Device device, const MlpConfig& config, std::uint64_t seed) {
  return std::make_unique<Model>(
      device, config.context, layers_of<T>(device, config, seed),
      [device](const Tensor& logits, std::span<const std::int32_t> targets) {
        return cross_entropy<T>(device, logits, targets);
      });
}

}  // namespace

std::vector<std::vector<std::size_t>> tensor_counts(const MlpConfig& config) {
  std::vector<std::vector<std::size_t>> counts{{config.vocab * config.embedding}};
  std::size_t width = config.context * config.embedding;
  for (std::size_t i = 0; i < config.layers; ++i) {
    counts.push_back({width * config.hidden, config.hidden});
    if (config.batch_norm) {
      counts.push_back({config.hidden, config.hidden});
    }
    width = config.hidden;
  }
  counts.push_back({width * config.vocab, config.vocab});
  return counts;
}

std::unique_ptr<Model> make_mlp(Device device, const MlpConfig& config, std::uint64_t seed) {
  require_usable(config);
  return config.dtype == DType::f64 ? mlp_of<double>(device, config, seed)
                                    : mlp_of<float>(device, config, seed);
}

}  // namespace ringside
