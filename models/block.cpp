#include "models/block.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace ringside {

template <class T>
Tensor Block<T>::sum(const Tensor& a, const Tensor& b, const char* what) const {
  Tensor out(device_.memory, dtype_of<T>(), a.shape(), Category::activations, name_ + what);
  if (out.meta()) {
    return out;
  }
  const auto x = a.as<T>();
  std::transform(x.begin(), x.end(), b.as<T>().begin(), out.as<T>().begin(), std::plus<T>());
  return out;
}

template <class T>
Tensor Block<T>::run(const Tensor& in, Saved& saved) {
  saved.parts.assign(4, Saved{.sequences = saved.sequences, .pass = saved.pass});
  auto& parts = saved.parts;
  const Tensor y =
      sum(in, attention_.forward(norm1_.forward(in, parts[0]), parts[1]), ".after_attention");
  return sum(y, mlp_.forward(norm2_.forward(y, parts[2]), parts[3]), ".out");
}

template <class T>
Tensor Block<T>::forward(const Tensor& in, Saved& saved) {
  Tensor out = run(in, saved);
  if (recompute_ == Recompute::full) {
    saved.parts.clear();
    saved.tensors = {in};
  }
  return out;
}

template <class T>
Tensor Block<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  if (recompute_ == Recompute::full) {
    saved.pass = Pass::recompute;
    run(saved.tensors.at(0), saved);
    saved.tensors.clear();
  }
  auto& parts = saved.parts;
  const Tensor through_mlp =
      norm2_.backward_input(mlp_.backward_input(grad_out, parts[3]), parts[2]);
  const Tensor grad_y = sum(grad_out, through_mlp, ".grad_after_attention");
  const Tensor through_attention =
      norm1_.backward_input(attention_.backward_input(grad_y, parts[1]), parts[0]);
  return sum(grad_y, through_attention, ".grad_in");
}

template <class T>
void Block<T>::backward_weight(Saved& saved) {
  const std::array<Layer*, 4> layers{&norm1_, &attention_, &norm2_, &mlp_};
  for (std::size_t i = layers.size(); i-- > 0;) {
    layers[i]->backward_weight(saved.parts.at(i));
  }
  saved.parts.clear();
}

template <class T>
std::vector<Parameter*> Block<T>::parameters() {
  std::vector<Parameter*> all;
  for (Layer* layer : std::array<Layer*, 4>{&norm1_, &attention_, &norm2_, &mlp_}) {
    const auto own = layer->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

template class Block<float>;
template class Block<double>;

}  // namespace ringside
