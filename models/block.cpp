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

// Between the steps the saved tensors are {after attention, what the MLP gave}, without the latter
// when it is under way, and in a full recomputation the input at the end.
template <class T>
void Block<T>::start(const Tensor& in, Saved& saved) {
  saved.parts.assign(4, Saved{.sequences = saved.sequences, .pass = saved.pass});
  auto& parts = saved.parts;
  const Tensor y =
      sum(in, attention_.forward(norm1_.forward(in, parts[0]), parts[1]), ".after_attention");
  const Tensor x = norm2_.forward(y, parts[2]);
  saved.tensors = {y};
  if (phased_ != nullptr) {
    phased_->start_forward(x, parts[3]);
  } else {
    saved.tensors.push_back(mlp_->forward(x, parts[3]));
  }
}

template <class T>
Tensor Block<T>::finish(Saved& saved) {
  const Tensor result =
      phased_ != nullptr ? phased_->finish_forward(saved.parts[3]) : saved.tensors.at(1);
  Tensor out = sum(saved.tensors.at(0), result, ".out");
  saved.tensors.clear();
  return out;
}

template <class T>
void Block<T>::start_forward(const Tensor& in, Saved& saved) {
  start(in, saved);
  if (recompute_ == Recompute::full) {
    saved.tensors.push_back(in);
  }
}

template <class T>
void Block<T>::continue_forward(Saved& saved) {
  if (phased_ != nullptr) {
    phased_->continue_forward(saved.parts[3]);
  }
}

template <class T>
Tensor Block<T>::finish_forward(Saved& saved) {
  const Tensor last = saved.tensors.back();
  Tensor out = finish(saved);
  if (recompute_ == Recompute::full) {
    saved.parts.clear();
    saved.tensors = {last};
  }
  return out;
}

template <class T>
void Block<T>::start_backward(const Tensor& grad_out, Saved& saved) {
  if (recompute_ == Recompute::full) {
    saved.pass = Pass::recompute;
    start(Tensor(saved.tensors.at(0)), saved);
    continue_forward(saved);
    finish(saved);
  }
  saved.tensors = {grad_out};
  if (phased_ != nullptr) {
    phased_->start_backward(grad_out, saved.parts[3]);
  } else {
    saved.tensors.push_back(mlp_->backward_input(grad_out, saved.parts[3]));
  }
}

template <class T>
void Block<T>::continue_backward(Saved& saved) {
  if (phased_ != nullptr) {
    phased_->continue_backward(saved.parts[3]);
  }
}

template <class T>
Tensor Block<T>::finish_backward(Saved& saved) {
  auto& parts = saved.parts;
  if (phased_ != nullptr) {
    saved.tensors.push_back(phased_->finish_backward(parts[3]));
  }
  const Tensor grad_y =
      sum(saved.tensors.at(0), norm2_.backward_input(saved.tensors.at(1), parts[2]),
          ".grad_after_attention");
  saved.tensors.clear();
  const Tensor through_attention =
      norm1_.backward_input(attention_.backward_input(grad_y, parts[1]), parts[0]);
  return sum(grad_y, through_attention, ".grad_in");
}

template <class T>
void Block<T>::backward_weight(Saved& saved) {
  const std::array<Layer*, 4> layers{&norm1_, &attention_, &norm2_, mlp_.get()};
  for (std::size_t i = layers.size(); i-- > 0;) {
    layers[i]->backward_weight(saved.parts.at(i));
  }
  saved.parts.clear();
}

template <class T>
std::vector<Parameter*> Block<T>::parameters() {
  std::vector<Parameter*> all;
  for (Layer* layer : std::array<Layer*, 4>{&norm1_, &attention_, &norm2_, mlp_.get()}) {
    const auto own = layer->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

template class Block<float>;
template class Block<double>;

}  // namespace ringside
