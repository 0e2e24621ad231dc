#include "models/half_layer.hpp"

#include "models/tensor_elements.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

Tensor copy_in(DeviceMemory& memory, const Tensor& from, DType dtype, Category category) {
  Tensor to(memory, dtype, from.shape(), category, from.name());
  convert(from.buffer(), to.buffer());
  return to;
}

// Its f32 tensors are replaced by bf16 ones; inside, nothing is left.
std::shared_ptr<HalfParameter> rounded(Device device, Parameter& inside) {
  auto half = std::make_shared<HalfParameter>(HalfParameter{.inside = &inside, .stored = inside});
  half->stored.value = copy_in(device.memory, inside.value, DType::bf16, Category::weights);
  half->stored.grad = copy_in(device.memory, inside.grad, DType::bf16, Category::gradients);
  inside.value = Tensor();
  inside.grad = Tensor();
  return half;
}

}  // namespace

// The f32 copies, while they are needed.
class HalfLayer::Copies {
 public:
  enum class Gradients : std::uint8_t { no, yes };

  Copies(const HalfLayer& layer, Gradients gradients) : layer_(layer), gradients_(gradients) {
    for_all([&](HalfParameter& half) {
      half.inside->trainable = half.stored.trainable;
      half.inside->value =
          copy_in(layer_.device_.memory, half.stored.value, DType::f32, Category::buffers);
      if (gradients_ == Gradients::yes && half.stored.trainable) {
        half.inside->grad = Tensor(layer_.device_.memory, DType::f32, half.stored.value.shape(),
                                   Category::buffers, half.stored.name + ".grad");
      }
    });
  }

  ~Copies() {
    for_all([](HalfParameter& half) {
      half.inside->value = Tensor();
      half.inside->grad = Tensor();
    });
  }

  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  void add_gradients() const {
    for_all([](HalfParameter& half) {
      if (half.stored.trainable && !half.stored.grad.meta()) {
        const auto sum = half.stored.grad.as<Bf16>();
        const auto part = half.inside->grad.as<float>();
        for (std::size_t i = 0; i < sum.size(); ++i) {
          sum[i] = Bf16(static_cast<float>(sum[i]) + part[i]);
        }
      }
    });
  }

 private:
  template <class Fn>
  void for_all(Fn fn) const {
    for (const auto& half : layer_.own_) {
      fn(*half);
    }
    for (const auto& half : layer_.borrowed_) {
      fn(*half);
    }
  }

  const HalfLayer& layer_;
  Gradients gradients_;
};

HalfLayer::HalfLayer(Device device, std::unique_ptr<Layer> inside, HalfParameters& known)
    : device_(device), inside_(std::move(inside)) {
  for (Parameter* p : inside_->parameters()) {
    own_.push_back(known.emplace(p, rounded(device, *p)).first->second);
  }
  for (Parameter* p : inside_->borrowed()) {
    borrowed_.push_back(known.at(p));
  }
}

Tensor HalfLayer::forward(const Tensor& in, Saved& saved) {
  const Copies copies(*this, Copies::Gradients::no);
  return inside_->forward(in, saved);
}

Tensor HalfLayer::backward_input(const Tensor& grad_out, Saved& saved) {
  const Copies copies(*this, Copies::Gradients::no);
  return inside_->backward_input(grad_out, saved);
}

void HalfLayer::backward_weight(Saved& saved) {
  const Copies copies(*this, Copies::Gradients::yes);
  inside_->backward_weight(saved);
  copies.add_gradients();
}

std::vector<Parameter*> HalfLayer::parameters() {
  std::vector<Parameter*> all;
  for (const auto& half : own_) {
    all.push_back(&half->stored);
  }
  return all;
}

std::vector<Parameter*> HalfLayer::borrowed() {
  std::vector<Parameter*> all;
  for (const auto& half : borrowed_) {
    all.push_back(&half->stored);
  }
  return all;
}

}  // namespace ringside
