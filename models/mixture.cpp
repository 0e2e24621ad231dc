#include "models/mixture.hpp"

#include <algorithm>

#include "models/expert_rows.hpp"
#include "models/matrix.hpp"

namespace ringside {

// Of one micro-batch.
struct RoutedTokens {
  std::unique_ptr<ExpertRoutes> routes{};
  std::size_t rows_in = 0;            // of the layer, padding included
  std::vector<std::size_t> tokens{};  // which of these rows are tokens
  std::size_t hidden = 0;
  Arriving arriving{};
  Tensor grad_weights{};  // [tokens, top_k]
};

namespace {

// The rows of one expert.
Tensor segment_of(const Tensor& rows, const ExpertSegment& segment) {
  const std::size_t width = rows.shape().back();
  return rows.view(segment.first * width, {segment.count, width}, rows.name());
}

template <class T>
void copy_elements(const Tensor& from, const Tensor& to) {
  if (!to.meta() && to.count() > 0) {
    std::ranges::copy(from.as<T>(), to.as<T>().begin());
  }
}

// Each row of `rows` times its weight.
template <class T>
void weigh(const Tensor& rows, const Tensor& weights, const Tensor& out) {
  if (out.meta() || out.count() == 0) {
    return;
  }
  const std::size_t width = rows.shape().back();
  const auto in = rows.as<T>();
  const auto w = weights.as<T>();
  const auto y = out.as<T>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = w[i / width] * in[i];
  }
}

// The product of each row of `a` with that of `b`, added in f64 in column order.
template <class T>
void row_products(const Tensor& a, const Tensor& b, const Tensor& out) {
  if (out.meta() || out.count() == 0) {
    return;
  }
  const std::size_t width = a.shape().back();
  const auto x = a.as<T>();
  const auto y = b.as<T>();
  const auto sums = out.as<T>();
  for (std::size_t r = 0; r < sums.size(); ++r) {
    double sum = 0;
    for (std::size_t j = 0; j < width; ++j) {
      sum += static_cast<double>(x[r * width + j]) * static_cast<double>(y[r * width + j]);
    }
    sums[r] = static_cast<T>(sum);
  }
}

}  // namespace

template <class T>
Mixture<T>::Mixture(Device device, std::string name, typename Router<T>::Options options,
                    Weights weights, std::shared_ptr<ExpertDispatch> dispatch)
    : device_(device),
      name_(std::move(name)),
      experts_(options.experts),
      router_(device, options, std::move(weights.router), std::move(weights.bias)),
      dispatch_(std::move(dispatch)) {
  for (auto& expert : weights.experts) {
    const std::string& gate = expert.gate.name;  // "<expert>.gate.weight"
    const std::string expert_name = gate.substr(0, gate.rfind('.', gate.rfind('.') - 1));
    here_.push_back(std::make_unique<SwiGlu<T>>(device, expert_name, std::move(expert),
                                                std::make_shared<Seam>()));
  }
}

template <class T>
Tensor Mixture<T>::make(std::vector<std::size_t> shape, const char* what) const {
  return {device_.memory, dtype_of<T>(), std::move(shape), Category::activations, name_ + what};
}

// Of all rows those that are tokens.
template <class T>
Tensor Mixture<T>::tokens_of(const Tensor& rows, const RoutedTokens& way) const {
  return way.tokens.size() == way.rows_in ? rows : take_rows(device_.memory, rows, way.tokens);
}

// The tokens among rows of 0.
template <class T>
Tensor Mixture<T>::rows_with(const Tensor& tokens, const RoutedTokens& way) const {
  return way.tokens.size() == way.rows_in
             ? tokens
             : add_rows(device_.memory, tokens, way.tokens, way.rows_in);
}

template <class T>
void Mixture<T>::start_forward(const Tensor& in, Saved& saved) {
  const auto runs = dispatch_->tokens_here(in.shape().front(), saved.sequences.get());
  auto way = std::make_shared<RoutedTokens>(RoutedTokens{
      .rows_in = in.shape().front(), .tokens = rows_of(runs), .hidden = in.shape().back()});
  const Tensor x = tokens_of(in, *way);
  saved.parts.assign(1, Saved{.pass = saved.pass});
  const auto routed = router_.forward(x, runs, *dispatch_, saved.parts[0]);
  way->routes = dispatch_->route(device_, routed.routing, experts_, name_);
  saved.tensors = {way->routes->weights_to_experts(routed.weights, name_ + ".weights")};
  way->arriving = way->routes->to_experts(x, name_ + ".dispatch");
  saved.routed = std::move(way);
}

// The saved tensors are then {weights, results} of the rows.
template <class T>
void Mixture<T>::continue_forward(Saved& saved) {
  RoutedTokens& way = *saved.routed;
  const Tensor x = way.arriving();
  const Tensor results = make({way.routes->rows(), way.hidden}, ".results");
  for (const ExpertSegment& segment : way.routes->segments()) {
    Saved& part = saved.parts.emplace_back(Saved{.pass = saved.pass});
    copy_elements<T>(here_[segment.expert]->forward(segment_of(x, segment), part),
                     segment_of(results, segment));
  }
  saved.tensors.push_back(results);
  const Tensor weighted = make(results.shape(), ".weighted");
  weigh<T>(results, saved.tensors[0], weighted);
  way.arriving = way.routes->from_experts(weighted, name_ + ".combine");
}

template <class T>
Tensor Mixture<T>::finish_forward(Saved& saved) {
  RoutedTokens& way = *saved.routed;
  const Tensor sums = way.arriving();
  way.arriving = nullptr;
  return rows_with(sums, way);
}

template <class T>
void Mixture<T>::start_backward(const Tensor& grad_out, Saved& saved) {
  RoutedTokens& way = *saved.routed;
  way.arriving = way.routes->to_experts(tokens_of(grad_out, way), name_ + ".grad.dispatch");
}

template <class T>
void Mixture<T>::continue_backward(Saved& saved) {
  RoutedTokens& way = *saved.routed;
  const Tensor grad = way.arriving();
  const Tensor weights = saved.tensors.at(0);
  const Tensor grad_weights = make(weights.shape(), ".grad_weights");
  row_products<T>(grad, saved.tensors.at(1), grad_weights);
  const Tensor grad_results = make(grad.shape(), ".grad_results");
  weigh<T>(grad, weights, grad_results);
  saved.tensors.clear();
  const Tensor grad_rows = make(grad.shape(), ".grad_rows");
  std::size_t part = 1;
  for (const ExpertSegment& segment : way.routes->segments()) {
    copy_elements<T>(here_[segment.expert]->backward_input(segment_of(grad_results, segment),
                                                           saved.parts[part++]),
                     segment_of(grad_rows, segment));
  }
  way.grad_weights = way.routes->weights_from_experts(grad_weights, name_ + ".grad.weights");
  way.arriving = way.routes->from_experts(grad_rows, name_ + ".grad.combine");
}

template <class T>
Tensor Mixture<T>::finish_backward(Saved& saved) {
  RoutedTokens& way = *saved.routed;
  const Tensor grad = way.arriving();
  way.arriving = nullptr;
  router_.add_input_gradient(way.grad_weights, grad, saved.parts[0]);
  way.grad_weights = Tensor();
  return rows_with(grad, way);
}

template <class T>
void Mixture<T>::backward_weight(Saved& saved) {
  router_.backward_weight(saved.parts.at(0));
  std::size_t part = 1;
  for (const ExpertSegment& segment : saved.routed->routes->segments()) {
    here_[segment.expert]->backward_weight(saved.parts[part++]);
  }
  saved.parts.clear();
  saved.tensors.clear();
  saved.routed = nullptr;
}

template <class T>
std::vector<Parameter*> Mixture<T>::parameters() {
  std::vector<Parameter*> all = router_.parameters();
  for (const auto& expert : here_) {
    const auto own = expert->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

template class Mixture<float>;
template class Mixture<double>;

}  // namespace ringside
