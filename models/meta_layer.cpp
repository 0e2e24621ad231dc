#include "models/meta_layer.hpp"

#include "models/recomputed_layers.hpp"
#include "runtime/errors.hpp"

namespace ringside {

MetaLayer::MetaLayer(Device device, const PublishedLayer& layer, DType dtype, std::size_t in,
                     std::size_t out, Cut cut, std::shared_ptr<Seam> seam, DeviceMemory* initial)
    : device_(device),
      name_(layer.name),
      kind_(layer.kind),
      dtype_(dtype),
      in_(in),
      out_(out),
      seam_(std::move(seam)) {
  require_meta(device.memory.backing() == Backing::meta);
  DeviceMemory& memory = initial != nullptr ? *initial : device.memory;
  parameters_.reserve(layer.tensors.size());
  for (const PublishedTensor& tensor : layer.tensors) {
    const PublishedShare share = share_of(tensor, cut, kind_);
    products_ += share.products;
    if (tensor.trained) {
      parameters_.push_back(
          {.name = tensor.name,
           .value = Tensor(memory, dtype, share.shape, Category::weights, tensor.name),
           .grad = Tensor(memory, dtype, share.shape, Category::gradients, tensor.name + ".grad"),
           .layout = share.layout});
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

bool MetaLayer::enters() const {
  return (leaves() && kind_ != LayerKind::embedding) || kind_ == LayerKind::head;
}

bool MetaLayer::leaves() const {
  return kind_ != LayerKind::final_norm && kind_ != LayerKind::head && kind_ != LayerKind::vision &&
         kind_ != LayerKind::prediction;
}

Tensor MetaLayer::forward(const Tensor& in, Saved& saved) {
  require_meta(in.meta());
  const Tensor x = enters() ? seam_->enter(in, saved.tokens(in), name_) : in;
  const std::size_t rows = x.shape().front();
  saved.tensors = {x};
  charge(rows, saved.pass == Pass::recompute ? " recompute" : " forward");
  const Tensor out = make(rows, out_, ".out");
  return leaves() ? seam_->leave(out, name_) : out;
}

Tensor MetaLayer::backward_input(const Tensor& grad_out, Saved& saved) {
  require_meta(grad_out.meta());
  const std::size_t tokens = saved.tensors.at(0).shape().front();
  const Tensor grad = leaves() ? seam_->leave_backward(grad_out, tokens, name_) : grad_out;
  saved.tensors.push_back(grad);
  if (kind_ == LayerKind::embedding) {
    return {};
  }
  const std::size_t rows = grad.shape().front();
  charge(rows, " input gradient");
  const Tensor grad_in = make(rows, in_, ".grad_in");
  return enters() ? seam_->enter_backward(grad_in, name_) : grad_in;
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

namespace {

// "layers.3" of "layers.3.attention" and "layers.3.mlp".
std::unique_ptr<Layer> block_of(std::unique_ptr<Layer> attention, std::unique_ptr<Layer> mlp) {
  const std::string name = attention->name().substr(0, attention->name().rfind('.'));
  std::vector<std::unique_ptr<Layer>> halves;
  halves.push_back(std::move(attention));
  halves.push_back(std::move(mlp));
  return std::make_unique<RecomputedLayers>(name, std::move(halves));
}

// Softmax and gradient of the logits, as memory and traffic see them.
auto loss_of(Device device, DType dtype, const std::shared_ptr<Seam>& seam) {
  return [device, dtype, seam](const Tensor& logits, std::span<const std::int32_t>) {
    const std::size_t tokens = logits.shape().front();
    const auto made = [&](DType type, std::vector<std::size_t> shape, const char* name) {
      return Tensor(device.memory, type, std::move(shape), Category::activations, name);
    };
    seam->largest_over_vocabulary(made(DType::f64, {tokens}, "logits.largest"), "loss");
    seam->sum_over_vocabulary(made(DType::f64, {2, tokens}, "logits.sums"), "loss");
    return LossSum{0, made(dtype, logits.shape(), "logits.grad")};
  };
}

}  // namespace

std::unique_ptr<Model> make_meta_model(Device device, const PublishedModel& model, DType dtype,
                                       Cut cut, const std::shared_ptr<Seam>& seam,
                                       DeviceMemory* initial, Recompute recompute) {
  if (recompute == Recompute::selective) {
    throw BadUse(
        "selective recompute forgets the weights of attention, and a published model's "
        "meta layers save none: take full or none");
  }
  const std::size_t hidden = model.config.hidden;
  const auto ranks = static_cast<std::size_t>(cut.ranks);
  const std::size_t vocab = (model.config.vocab + ranks - 1) / ranks;
  MetaLayer* table = nullptr;
  std::vector<std::unique_ptr<Layer>> layers;
  for (const PublishedLayer& layer : model.layers) {
    const std::size_t in = layer.kind == LayerKind::embedding ? 1 : hidden;
    const std::size_t out = layer.kind == LayerKind::head ? vocab : hidden;
    auto meta = std::make_unique<MetaLayer>(device, layer, dtype, in, out, cut, seam, initial);
    table = layer.kind == LayerKind::embedding ? meta.get() : table;
    if (layer.kind == LayerKind::head && model.config.tied && table != nullptr) {
      meta->borrow(*table);
    }
    if (recompute == Recompute::full && continues_block(layer)) {
      layers.back() = block_of(std::move(layers.back()), std::move(meta));
    } else {
      layers.push_back(std::move(meta));
    }
  }
  return std::make_unique<Model>(device, 1, std::move(layers), loss_of(device, dtype, seam));
}

Batch meta_batch(std::size_t tokens) {
  return {.context = 1,
          .contexts = std::vector<std::int32_t>(tokens),
          .targets = std::vector<std::int32_t>(tokens),
          .lengths = {tokens}};
}

}  // namespace ringside
