#include "models/token_embedding.hpp"

#include <algorithm>

#include "runtime/errors.hpp"

namespace ringside {

template <class T>
TokenEmbedding<T>::TokenEmbedding(Device device, std::string name, Parameter table, bool tied,
                                  std::shared_ptr<Seam> seam)
    : device_(device),
      name_(std::move(name)),
      width_(table.value.shape().back()),
      table_(std::move(table)),
      tied_(tied),
      seam_(std::move(seam)) {}

template <class T>
void TokenEmbedding<T>::require_in_vocabulary(std::int32_t token) const {
  const std::size_t vocab = table_.layout.whole.front();
  if (token < 0 || static_cast<std::size_t>(token) >= vocab) {
    throw BadUse(name_ + ": token " + std::to_string(token) + " is outside the vocabulary of " +
                 std::to_string(vocab));
  }
}

template <class T>
void TokenEmbedding<T>::look_up(const Tensor& contexts, const Tensor& out) const {
  const auto table = table_.value.template as<T>();
  const std::size_t rows = real_extent(table_);
  auto to = out.as<T>().begin();
  for (const std::int32_t token : contexts.as<std::int32_t>()) {
    require_in_vocabulary(token);
    const std::size_t row = static_cast<std::size_t>(token) - table_.layout.first;
    if (row < rows) {
      std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(row * width_), width_, to);
    }
    to += static_cast<std::ptrdiff_t>(width_);
  }
}

template <class T>
Tensor TokenEmbedding<T>::forward(const Tensor& contexts, Saved& saved) {
  saved.tensors = {contexts};
  Tensor out(device_.memory, dtype_of<T>(),
             {contexts.shape().front(), contexts.shape().back() * width_}, Category::activations,
             name_ + ".out");
  if (!out.meta()) {
    look_up(contexts, out);
  }
  return seam_->leave(out, name_);
}

template <class T>
Tensor TokenEmbedding<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  const std::size_t tokens = saved.tensors.at(0).shape().front();
  saved.tensors.push_back(seam_->leave_backward(grad_out, tokens, name_));
  return {};
}

template <class T>
void TokenEmbedding<T>::add_rows(const Saved& saved, std::span<T> grad) const {
  const std::size_t rows = real_extent(table_);
  auto from = saved.tensors.at(1).as<T>().begin();
  for (const std::int32_t token : saved.tensors.at(0).as<std::int32_t>()) {
    const std::size_t row = static_cast<std::size_t>(token) - table_.layout.first;
    if (row < rows) {
      for (T& element : grad.subspan(row * width_, width_)) {
        element += *from++;
      }
    } else {
      from += static_cast<std::ptrdiff_t>(width_);
    }
  }
}

template <class T>
void TokenEmbedding<T>::backward_weight(Saved& saved) {
  if (table_.trainable) {
    add_gradient(saved);
  }
  saved.tensors.clear();
}

template <class T>
void TokenEmbedding<T>::add_gradient(const Saved& saved) {
  const Tensor sum = tied_ ? Tensor(device_.memory, dtype_of<T>(), table_.grad.shape(),
                                    Category::buffers, name_ + ".grad_sum")
                           : Tensor();
  if (table_.grad.meta()) {
    return;
  }
  const auto grad = table_.grad.template as<T>();
  if (tied_) {
    const auto rows = sum.as<T>();
    add_rows(saved, rows);
    std::transform(grad.begin(), grad.end(), rows.begin(), grad.begin(), std::plus<T>());
  } else {
    add_rows(saved, grad);
  }
}

template class TokenEmbedding<float>;
template class TokenEmbedding<double>;

}  // namespace ringside
