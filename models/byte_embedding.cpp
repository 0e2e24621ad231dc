#include "models/byte_embedding.hpp"

#include "models/initialise.hpp"

namespace ringside {

template <class T>
ByteEmbedding<T>::ByteEmbedding(Device device, std::size_t vocab, std::size_t width,
                                std::uint64_t seed)
    : device_(device),
      width_(width),
      table_(make_parameter<T>(device, "embedding.weight", {vocab, width}, 1.0, seed)) {}

template <class T>
Tensor ByteEmbedding<T>::forward(std::span<const std::uint8_t> contexts, std::size_t context) {
  contexts_ = contexts;
  Tensor out(device_.memory, dtype_of<T>(), {contexts.size() / context, context * width_},
             Category::activations, "embedding.out");
  const auto table = table_.value.as<T>();
  auto to = out.as<T>().begin();
  for (const std::uint8_t byte : contexts) {
    const auto row = table.subspan(byte * width_, width_);
    to = std::copy(row.begin(), row.end(), to);
  }
  device_.clock.charge_flops(0, "embedding forward");
  return out;
}

template <class T>
void ByteEmbedding<T>::backward_weight(const Tensor& grad_out) {
  const auto grad = table_.grad.as<T>();
  const auto from = grad_out.as<T>();
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    for (std::size_t e = 0; e < width_; ++e) {
      grad[contexts_[i] * width_ + e] += from[i * width_ + e];
    }
  }
  device_.clock.charge_flops(static_cast<std::int64_t>(grad_out.count()),
                             "embedding weight gradient");
}

template class ByteEmbedding<float>;
template class ByteEmbedding<double>;

}  // namespace ringside
