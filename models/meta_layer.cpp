#include "models/meta_layer.hpp"

#include "runtime/errors.hpp"

namespace ringside {

MetaLayer::MetaLayer(Device device, const PublishedLayer& layer, DType dtype, std::size_t in,
                     std::size_t out)
    : device_(device), name_(layer.name), kind_(layer.kind), dtype_(dtype), in_(in), out_(out) {
  require_meta(device.memory.backing() == Backing::meta);
  parameters_.reserve(layer.tensors.size());
  for (const PublishedTensor& tensor : layer.tensors) {
    products_ += tensor.products;
    if (tensor.trained) {
      parameters_.push_back(
          {tensor.name, Tensor(device.memory, dtype, tensor.shape, Category::weights, tensor.name),
           Tensor(device.memory, dtype, tensor.shape, Category::gradients, tensor.name + ".grad")});
    }
  }
}

void MetaLayer::require_meta(bool meta) const {
  if (!meta) {
    throw BadUse("layer " + name_ + ": a published model's " + std::string(name_of(kind_)) +
                 " has no implementation here; it runs as meta only: sizes, traffic and times, "
                 "without data");
  }
}

Tensor MetaLayer::make(std::size_t rows, std::size_t cols, const char* what) const {
  return {device_.memory, dtype_, {rows, cols}, Category::activations, name_ + what};
}

void MetaLayer::charge(std::size_t rows, const char* what) const {
  if (products_ > 0) {
    device_.clock.charge_flops(static_cast<std::int64_t>(2 * rows * products_), name_ + what);
  }
}

Tensor MetaLayer::forward(const Tensor& in, Saved& saved) {
  require_meta(in.meta());
  const std::size_t rows = in.shape().front();
  saved.tensors = {in};
  charge(rows, " forward");
  return make(rows, out_, ".out");
}

Tensor MetaLayer::backward_input(const Tensor& grad_out, Saved& saved) {
  require_meta(grad_out.meta());
  const std::size_t rows = grad_out.shape().front();
  saved.tensors.push_back(grad_out);
  if (kind_ == LayerKind::embedding) {
    return {};
  }
  charge(rows, " input gradient");
  return make(rows, in_, ".grad_in");
}

void MetaLayer::backward_weight(Saved& saved) {
  charge(saved.tensors.at(1).shape().front(), " weight gradient");
  saved.tensors.clear();
}

std::vector<Parameter*> MetaLayer::parameters() {
  std::vector<Parameter*> all;
  all.reserve(parameters_.size());
  for (Parameter& parameter : parameters_) {
    all.push_back(&parameter);
  }
  return all;
}

std::unique_ptr<Model> make_meta_model(Device device, const PublishedModel& model, DType dtype) {
  const std::size_t hidden = model.config.hidden;
  std::vector<std::unique_ptr<Layer>> layers;
  for (const PublishedLayer& layer : model.layers) {
    const std::size_t in = layer.kind == LayerKind::embedding ? 1 : hidden;
    const std::size_t out = layer.kind == LayerKind::head ? model.config.vocab : hidden;
    layers.push_back(std::make_unique<MetaLayer>(device, layer, dtype, in, out));
  }
  const auto loss = [device, dtype](const Tensor& logits, std::span<const std::int32_t>) {
    return LossSum{
        0, Tensor(device.memory, dtype, logits.shape(), Category::activations, "logits.grad")};
  };
  return std::make_unique<Model>(device, 1, std::move(layers), loss);
}

Batch meta_batch(std::size_t tokens) {
  return {.context = 1,
          .contexts = std::vector<std::int32_t>(tokens),
          .targets = std::vector<std::int32_t>(tokens),
          .lengths = {tokens}};
}

}  // namespace ringside
