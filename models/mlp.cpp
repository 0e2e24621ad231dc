#include "models/mlp.hpp"

#include "models/byte_embedding.hpp"
#include "models/cross_entropy.hpp"
#include "models/linear.hpp"
#include "models/matrix.hpp"

namespace ringside {

namespace {

template <class T>
class MlpOf : public Mlp {
 public:
  MlpOf(Device device, const MlpConfig& config, std::uint64_t seed)
      : device_(device), embedding_(device, config.vocab, config.embedding, seed) {
    std::size_t width = config.context * config.embedding;
    for (std::size_t i = 0; i < config.layers; ++i) {
      linear_.push_back(std::make_unique<Linear<T>>(device, "hidden." + std::to_string(i), width,
                                                    config.hidden, Activation::tanh, seed));
      width = config.hidden;
    }
    linear_.push_back(std::make_unique<Linear<T>>(device, "head", width, config.vocab,
                                                  Activation::identity, seed));
  }

  std::vector<std::vector<Parameter*>> layers() override {
    std::vector<std::vector<Parameter*>> all{embedding_.parameters()};
    for (auto& layer : linear_) {
      all.push_back(layer->parameters());
    }
    return all;
  }

  double forward_backward(const Batch& batch,
                          const std::function<void(std::size_t)>& layer_done) override {
    Tensor x = embedding_.forward(batch.contexts, batch.context);
    for (auto& layer : linear_) {
      x = layer->forward(x);
    }
    auto [loss, grad] = cross_entropy<T>(device_, x, batch.targets);
    x = Tensor();
    for (std::size_t i = linear_.size(); i-- > 0;) {
      grad = linear_[i]->backward_input(grad);
      linear_[i]->backward_weight();
      layer_done(i + 1);
    }
    embedding_.backward_weight(grad);
    layer_done(0);
    return loss;
  }

 private:
  Device device_;
  ByteEmbedding<T> embedding_;
  std::vector<std::unique_ptr<Layer>> linear_;
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
  pin_matrix_products();
  if (config.dtype == DType::f64) {
    return std::make_unique<MlpOf<double>>(device, config, seed);
  }
  return std::make_unique<MlpOf<float>>(device, config, seed);
}

}  // namespace ringside
