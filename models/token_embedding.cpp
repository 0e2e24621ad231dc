#include "models/token_embedding.hpp"

#include <algorithm>

#include "models/initialise.hpp"
#include "runtime/errors.hpp"

namespace ringside {

template <class T>
TokenEmbedding<T>::TokenEmbedding(Device device, std::string name, std::size_t vocab,
                                  std::size_t width, double scale, std::uint64_t seed)
    : device_(device),
      name_(std::move(name)),
      width_(width),
      table_(make_parameter<T>(device, name_ + ".weight", {vocab, width}, scale, seed)) {}

template <class T>
void TokenEmbedding<T>::require_rows(const Tensor& contexts) const {
  const auto vocab = static_cast<std::int32_t>(table_.value.shape().front());
  for (const std::int32_t token : contexts.as<std::int32_t>()) {
    if (token < 0 || token >= vocab) {
      throw BadUse(name_ + ": token " + std::to_string(token) + " is outside the vocabulary of " +
                   std::to_string(vocab));
    }
  }
}

template <class T>
Tensor TokenEmbedding<T>::forward(const Tensor& contexts, Saved& saved) {
  require_rows(contexts);
  saved.tensors = {contexts};
  Tensor out(device_.memory, dtype_of<T>(),
             {contexts.shape().front(), contexts.shape().back() * width_}, Category::activations,
             name_ + ".out");
  const auto table = table_.value.template as<T>();
  auto to = out.as<T>().begin();
  for (const std::int32_t token : contexts.as<std::int32_t>()) {
    const auto row = table.subspan(static_cast<std::size_t>(token) * width_, width_);
    to = std::copy(row.begin(), row.end(), to);
  }
  return out;
}

template <class T>
Tensor TokenEmbedding<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  saved.tensors.push_back(grad_out);
  return {};
}

template <class T>
void TokenEmbedding<T>::backward_weight(Saved& saved) {
  const auto grad = table_.grad.template as<T>();
  auto from = saved.tensors.at(1).as<T>().begin();
  for (const std::int32_t token : saved.tensors.at(0).as<std::int32_t>()) {
    for (T& element : grad.subspan(static_cast<std::size_t>(token) * width_, width_)) {
      element += *from++;
    }
  }
  saved.tensors.clear();
}

template class TokenEmbedding<float>;
template class TokenEmbedding<double>;

}  // namespace ringside
