#include "models/vocabulary_head.hpp"

#include "models/matrix.hpp"

namespace ringside {

template <class T>
VocabularyHead<T>::VocabularyHead(Device device, std::string name, Parameter weight,
                                  std::shared_ptr<Seam> seam)
    : device_(device), name_(std::move(name)), own_(std::move(weight)), seam_(std::move(seam)) {
  pin_matrix_products();
}

template <class T>
VocabularyHead<T>::VocabularyHead(Device device, std::string name, Parameter* tied,
                                  std::shared_ptr<Seam> seam)
    : device_(device), name_(std::move(name)), tied_(tied), seam_(std::move(seam)) {
  pin_matrix_products();
}

template <class T>
Tensor VocabularyHead<T>::make(std::size_t rows, std::size_t cols, const char* what) const {
  return {device_.memory, dtype_of<T>(), {rows, cols}, Category::activations, name_ + what};
}

template <class T>
void VocabularyHead<T>::charge(std::size_t rows, const char* what) const {
  device_.clock.charge_flops(static_cast<std::int64_t>(2 * rows * weight().value.count()),
                             name_ + what);
}

template <class T>
Tensor VocabularyHead<T>::forward(const Tensor& in, Saved& saved) {
  const Tensor x = seam_->enter(in, saved.tokens(in), name_);
  saved.tensors = {x};
  Tensor logits = make(x.shape().front(), weight().value.shape().front(), ".out");
  if (!logits.meta()) {
    matrix<T>(logits).noalias() = matrix<T>(x) * matrix<T>(weight().value).transpose();
  }
  charge(x.shape().front(), " forward");
  return logits;
}

template <class T>
Tensor VocabularyHead<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  saved.tensors.push_back(grad_out);
  const Tensor grad_in = make(grad_out.shape().front(), weight().value.shape().back(), ".grad_in");
  if (!grad_in.meta()) {
    matrix<T>(grad_in).noalias() = matrix<T>(grad_out) * matrix<T>(weight().value);
  }
  charge(grad_out.shape().front(), " input gradient");
  return seam_->enter_backward(grad_in, name_);
}

template <class T>
void VocabularyHead<T>::backward_weight(Saved& saved) {
  if (weight().trainable) {
    if (!weight().grad.meta()) {
      matrix<T>(weight().grad).noalias() +=
          matrix<T>(saved.tensors.at(1)).transpose() * matrix<T>(saved.tensors.at(0));
    }
    charge(saved.tensors.at(1).shape().front(), " weight gradient");
  }
  saved.tensors.clear();
}

template <class T>
std::vector<Parameter*> VocabularyHead<T>::parameters() {
  return own_ ? std::vector<Parameter*>{&*own_} : std::vector<Parameter*>{};
}

template <class T>
std::vector<Parameter*> VocabularyHead<T>::borrowed() {
  return own_ ? std::vector<Parameter*>{} : std::vector<Parameter*>{tied_};
}

template class VocabularyHead<float>;
template class VocabularyHead<double>;

}  // namespace ringside
