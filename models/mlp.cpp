#include "models/mlp.hpp"

#include <algorithm>

#include "models/byte_embedding.hpp"
#include "models/cross_entropy.hpp"
#include "models/linear.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_usable(const MlpConfig& config) {
  if (config.context == 0 || config.embedding == 0 || config.hidden == 0) {
    throw BadUse("a model needs context, embedding and hidden of at least 1; they are " +
                 std::to_string(config.context) + ", " + std::to_string(config.embedding) +
                 " and " + std::to_string(config.hidden));
  }
  if (config.dtype != DType::f32 && config.dtype != DType::f64) {
    throw BadUse("a model is made of f32 or f64, not of " + std::string(name_of(config.dtype)));
  }
}

void require_fitting(const Batch& batch, std::size_t context) {
  if (batch.contexts.size() != batch.targets.size() * context) {
    throw BadUse("a batch of " + std::to_string(batch.targets.size()) + " tokens with " +
                 std::to_string(batch.contexts.size()) + " context bytes does not fit a model of " +
                 std::to_string(context) + " context bytes a token");
  }
}

template <class T>
class MlpOf : public Mlp {
 public:
  MlpOf(Device device, const MlpConfig& config, std::uint64_t seed)
      : device_(device), context_(config.context) {
    layers_.push_back(std::make_unique<ByteEmbedding<T>>(device, "embedding", config.vocab,
                                                         config.embedding, seed));
    std::size_t width = config.context * config.embedding;
    for (std::size_t i = 0; i < config.layers; ++i) {
      layers_.push_back(std::make_unique<Linear<T>>(device, "hidden." + std::to_string(i), width,
                                                    config.hidden, Activation::tanh, seed));
      width = config.hidden;
    }
    layers_.push_back(std::make_unique<Linear<T>>(device, "head", width, config.vocab,
                                                  Activation::identity, seed));
  }

  std::vector<std::vector<Parameter*>> layers() override {
    std::vector<std::vector<Parameter*>> all;
    for (auto& layer : layers_) {
      all.push_back(layer->parameters());
    }
    return all;
  }

  double forward_backward(const Batch& batch,
                          const std::function<void(std::size_t)>& layer_done) override {
    std::vector<Saved> saved(layers_.size());
    Tensor x = contexts_of(batch);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = layers_[i]->forward(x, saved[i]);
    }
    auto [loss, grad] = cross_entropy<T>(device_, x, batch.targets);
    x = Tensor();
    for (std::size_t i = layers_.size(); i-- > 0;) {
      grad = layers_[i]->backward_input(grad, saved[i]);
      layers_[i]->backward_weight(saved[i]);
      layer_done(i);
    }
    return loss;
  }

 private:
  // [tokens, context], u8
  Tensor contexts_of(const Batch& batch) const {
    require_fitting(batch, context_);
    Tensor contexts(device_.memory, DType::u8, {batch.targets.size(), context_},
                    Category::activations, "contexts");
    std::copy(batch.contexts.begin(), batch.contexts.end(), contexts.as<std::uint8_t>().begin());
    return contexts;
  }

  Device device_;
  std::size_t context_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace

std::vector<std::vector<std::size_t>> mlp_tensor_counts(const MlpConfig& config) {
  std::vector<std::vector<std::size_t>> counts{{config.vocab * config.embedding}};
  std::size_t width = config.context * config.embedding;
  for (std::size_t i = 0; i < config.layers; ++i) {
    counts.push_back({width * config.hidden, config.hidden});
    width = config.hidden;
  }
  counts.push_back({width * config.vocab, config.vocab});
  return counts;
}

std::unique_ptr<Mlp> make_mlp(Device device, const MlpConfig& config, std::uint64_t seed) {
  require_usable(config);
  if (config.dtype == DType::f64) {
    return std::make_unique<MlpOf<double>>(device, config, seed);
  }
  return std::make_unique<MlpOf<float>>(device, config, seed);
}

}  // namespace ringside
