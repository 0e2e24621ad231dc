#include "models/model_config.hpp"

namespace ringside {

namespace {

std::size_t activations_of(const MlpConfig& m, std::size_t /*sequence*/) {
  const std::size_t in = m.context * m.embedding;
  const std::size_t of_a_layer = m.batch_norm ? 5 : 3;
  return in + of_a_layer * m.layers * m.hidden + 3 * m.vocab + 2 * m.hidden + in;
}

std::size_t activations_of(const GptConfig& m, std::size_t sequence) {
  const std::size_t heads = (m.heads + 2 * m.kv_heads) * m.head_width();
  return (m.layers + 2) * (8 * m.hidden + 4 * heads + 6 * m.ffn + 3 * m.heads * sequence) +
         4 * m.vocab;
}

std::unique_ptr<Model> make(Device device, const MlpConfig& config, std::uint64_t seed) {
  return make_mlp(device, config, seed);
}

std::unique_ptr<Model> make(Device device, const GptConfig& config, std::uint64_t seed) {
  return make_gpt(device, config, seed);
}

}  // namespace

DType dtype_of(const ModelConfig& config) {
  return std::visit([](const auto& c) { return c.dtype; }, config);
}

std::vector<std::vector<std::size_t>> tensor_counts(const ModelConfig& config) {
  return std::visit([](const auto& c) { return tensor_counts(c); }, config);
}

std::size_t activations_of_a_token(const ModelConfig& config, std::size_t sequence) {
  return std::visit([=](const auto& c) { return activations_of(c, sequence); }, config);
}

std::unique_ptr<Model> make_model(Device device, const ModelConfig& config, std::uint64_t seed) {
  return std::visit([=](const auto& c) { return make(device, c, seed); }, config);
}

}  // namespace ringside
