#include "models/byte_embedding.hpp"

#include <algorithm>

#include "models/initialise.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::size_t a_row_for_every_byte(std::size_t vocab) {
  if (vocab < 256) {
    throw BadUse("a vocabulary of " + std::to_string(vocab) +
                 " cannot hold the 256 values of a byte");
  }
  return vocab;
}

}  // namespace

template <class T>
ByteEmbedding<T>::ByteEmbedding(Device device, std::string name, std::size_t vocab,
                                std::size_t width, std::uint64_t seed)
    : device_(device),
      name_(std::move(name)),
      width_(width),
      table_(make_parameter<T>(device, name_ + ".weight", {a_row_for_every_byte(vocab), width}, 1.0,
                               seed)) {}

template <class T>
Tensor ByteEmbedding<T>::forward(const Tensor& contexts, Saved& saved) {
  saved = {contexts};
  Tensor out(device_.memory, dtype_of<T>(),
             {contexts.shape().front(), contexts.shape().back() * width_}, Category::activations,
             name_ + ".out");
  const auto table = table_.value.template as<T>();
  auto to = out.as<T>().begin();
  for (const std::uint8_t byte : contexts.as<std::uint8_t>()) {
    const auto row = table.subspan(byte * width_, width_);
    to = std::copy(row.begin(), row.end(), to);
  }
  return out;
}

template <class T>
Tensor ByteEmbedding<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  saved.push_back(grad_out);
  return {};
}

template <class T>
void ByteEmbedding<T>::backward_weight(Saved& saved) {
  const auto grad = table_.grad.template as<T>();
  auto from = saved.at(1).as<T>().begin();
  for (const std::uint8_t byte : saved.at(0).as<std::uint8_t>()) {
    for (T& element : grad.subspan(byte * width_, width_)) {
      element += *from++;
    }
  }
  saved.clear();
}

template class ByteEmbedding<float>;
template class ByteEmbedding<double>;

}  // namespace ringside
