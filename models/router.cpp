#include "models/router.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/elementary.hpp"

namespace ringside {

namespace {

constexpr double least_sum = 1e-20;  // of scores that are divided by (DeepSeek-V3's own code)

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

constexpr std::size_t behind_all = std::numeric_limits<std::size_t>::max();

// Each expert's part of the routing group's choices.
std::vector<double> fractions_of(const std::vector<RunCounts>& group, std::size_t experts) {
  const ExpertCounts sums = counts_before(group, behind_all, experts);
  const auto all = static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}));
  std::vector<double> fractions;
  for (const std::int64_t count : sums) {
    fractions.push_back(all == 0 ? 0 : static_cast<double>(count) / all);
  }
  return fractions;
}

template <class T>
std::span<T> row_of(std::span<T> elements, std::size_t row, std::size_t width) {
  return elements.subspan(row * width, width);
}

}  // namespace

template <class T>
Router<T>::Router(Device device, Options options, Parameter weight, std::optional<Parameter> bias)
    : device_(device),
      options_(options),
      projection_(device, std::move(weight)),
      bias_(std::move(bias)) {
  const std::string& weight_name = projection_.weight().name;
  state_ = {.name = weight_name.substr(0, weight_name.rfind('.')),
            .top_k = options.top_k,
            .bias_rate = options.config.bias_rate,
            .counts = ExpertCounts(options.experts, 0),
            .bias = bias_ ? &*bias_ : nullptr};
}

template <class T>
void Router<T>::score(std::span<const T> logits, std::span<double> scores) const {
  if (options_.config.score == RouterScore::sigmoid) {
    std::ranges::transform(logits, scores.begin(),
                           [](T z) { return 1 / (1 + exponential(-static_cast<double>(z))); });
    return;
  }
  const double top = static_cast<double>(*std::ranges::max_element(logits));
  std::ranges::transform(logits, scores.begin(),
                         [&](T z) { return exponential(static_cast<double>(z) - top); });
  const double sum = sum_of(scores);
  std::ranges::transform(scores, scores.begin(), [&](double s) { return s / sum; });
}

template <class T>
std::vector<std::size_t> Router<T>::choose(std::span<const double> scores,
                                           std::size_t token) const {
  std::vector<double> keys(options_.experts, 0);
  if (scores.empty()) {
    for (std::size_t j = 0; j < options_.top_k; ++j) {
      keys[(token * options_.top_k + j) % options_.experts] = 1;
    }
  } else {
    std::ranges::copy(scores, keys.begin());
  }
  if (bias_ && !bias_->value.meta()) {
    std::ranges::transform(keys, bias_->value.template as<T>(), keys.begin(),
                           [](double key, T b) { return key + static_cast<double>(b); });
  }
  for (std::size_t e = 0; e < options_.config.hot; ++e) {
    keys[e] += 2;  // a score is at most 1
  }
  return choose_experts(keys, options_.top_k, options_.config);
}

template <class T>
void Router<T>::choose_all(const Tensor& scores, Routed& routed) const {
  const std::size_t experts = options_.experts;
  const bool real = !scores.meta() && scores.count() > 0;
  for (std::size_t t = 0; t < routed.routing.tokens; ++t) {
    const auto row =
        real ? row_of<const double>(scores.as<double>(), t, experts) : std::span<const double>{};
    const auto chosen = choose(row, t);
    for (const std::size_t e : chosen) {
      routed.routing.experts.push_back(static_cast<std::int32_t>(e));
    }
    if (real) {
      double sum = least_sum;
      for (const std::size_t e : chosen) {
        sum += row[e];
      }
      const auto weights = row_of(routed.weights.template as<T>(), t, options_.top_k);
      std::ranges::transform(chosen, weights.begin(),
                             [&](std::size_t e) { return static_cast<T>(row[e] / sum); });
    }
  }
}

template <class T>
std::vector<RunCounts> Router<T>::count(const std::vector<TokenRun>& runs,
                                        const Routing& routing) const {
  std::vector<RunCounts> counts;
  std::size_t first = 0;
  for (const TokenRun& run : runs) {
    counts.push_back({run.place, count_choices(routing, options_.experts, first, run.count)});
    first += run.count;
  }
  return counts;
}

// Drops what an expert has no room for.
template <class T>
void Router<T>::limit(const std::vector<TokenRun>& runs, const std::vector<RunCounts>& group,
                      Routing& routing) const {
  if (options_.config.capacity == 0 || options_.config.dropped_kept) {
    return;
  }
  const ExpertCounts all = counts_before(group, behind_all, options_.experts);
  const std::int64_t tokens = std::accumulate(all.begin(), all.end(), std::int64_t{0}) /
                              static_cast<std::int64_t>(options_.top_k);
  const std::int64_t capacity =
      expert_capacity(tokens, options_.top_k, options_.config.capacity, options_.experts);
  std::size_t first = 0;
  for (const TokenRun& run : runs) {
    drop_beyond(capacity, counts_before(group, run.place, options_.experts), routing, first,
                run.count);
    first += run.count;
  }
}

template <class T>
void Router<T>::record(const Routed& routed, const ExpertCounts& counts, const Tensor& scores,
                       std::span<const double> fractions) {
  std::ranges::transform(state_.counts, counts, state_.counts.begin(), std::plus<>());
  state_.tokens += static_cast<std::int64_t>(routed.routing.tokens);
  state_.dropped += static_cast<std::int64_t>(routed.routing.dropped());
  if (scores.meta() || scores.count() == 0) {
    return;
  }
  const std::size_t experts = options_.experts;
  for (std::size_t t = 0; t < routed.routing.tokens; ++t) {
    const auto row = row_of<const double>(scores.as<double>(), t, experts);
    double product = 0;
    for (std::size_t e = 0; e < experts; ++e) {
      product += fractions[e] * row[e];
    }
    state_.balance += static_cast<double>(experts) * product / (sum_of(row) + least_sum);
  }
}

// Saves {x, scores, the group's fractions, chosen}: scores and fractions in f64.
template <class T>
auto Router<T>::forward(const Tensor& x, const std::vector<TokenRun>& runs,
                        ExpertDispatch& dispatch, Saved& saved) -> Routed {
  const std::size_t tokens = x.shape().front();
  const std::size_t experts = options_.experts;
  const auto make = [&](DType dtype, std::vector<std::size_t> shape, const char* what) {
    return Tensor(device_.memory, dtype, std::move(shape), Category::activations,
                  state_.name + what);
  };
  const Tensor logits = projection_.forward(x, saved.pass);
  const Tensor scores = make(DType::f64, {tokens, experts}, ".scores");
  Routed routed{{.tokens = tokens, .top_k = options_.top_k},
                make(dtype_of<T>(), {tokens, options_.top_k}, ".weights")};
  if (!scores.meta()) {
    for (std::size_t t = 0; t < tokens; ++t) {
      score(row_of<const T>(logits.as<T>(), t, experts), row_of(scores.as<double>(), t, experts));
    }
  }
  choose_all(scores, routed);
  const Tensor chosen = make(DType::i32, {tokens, options_.top_k}, ".chosen");
  if (!chosen.meta()) {
    std::ranges::copy(routed.routing.experts, chosen.as<std::int32_t>().begin());
  }
  const ExpertCounts here = count_choices(routed.routing, experts);
  const auto group = dispatch.group_counts(count(runs, routed.routing), state_.name);
  limit(runs, group, routed.routing);
  const auto fractions = fractions_of(group, experts);
  const Tensor kept = make(DType::f64, {experts}, ".fractions");
  if (!kept.meta()) {
    std::ranges::copy(fractions, kept.as<double>().begin());
  }
  if (saved.pass == Pass::forward) {
    record(routed, here, scores, fractions);
  }
  saved.tensors = {x, scores, kept, chosen};
  return routed;
}

// By the scores of one token.
template <class T>
void Router<T>::score_gradient(std::span<const double> scores, std::span<const std::int32_t> chosen,
                               std::span<const T> grad_weights, std::span<const double> fractions,
                               std::span<double> grad) const {
  std::ranges::fill(grad, 0);
  double sum = least_sum;
  for (const std::int32_t e : chosen) {
    sum += scores[static_cast<std::size_t>(e)];
  }
  double through_sum = 0;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    through_sum +=
        static_cast<double>(grad_weights[j]) * (scores[static_cast<std::size_t>(chosen[j])] / sum);
  }
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    grad[static_cast<std::size_t>(chosen[j])] +=
        (static_cast<double>(grad_weights[j]) - through_sum) / sum;
  }
  if (options_.config.balance == 0) {
    return;
  }
  const double all = sum_of(scores) + least_sum;
  const double scale =
      options_.config.balance * loss_scale_ * static_cast<double>(options_.experts);
  double mean = 0;
  for (std::size_t e = 0; e < scores.size(); ++e) {
    mean += fractions[e] * (scores[e] / all);
  }
  for (std::size_t e = 0; e < scores.size(); ++e) {
    grad[e] += scale * (fractions[e] - mean) / all;
  }
}

// By the logits, in place.
template <class T>
void Router<T>::through_scores(std::span<const double> scores, std::span<double> grad) const {
  if (options_.config.score == RouterScore::sigmoid) {
    std::ranges::transform(grad, scores, grad.begin(),
                           [](double g, double s) { return g * s * (1 - s); });
    return;
  }
  double mean = 0;
  for (std::size_t e = 0; e < scores.size(); ++e) {
    mean += grad[e] * scores[e];
  }
  std::ranges::transform(grad, scores, grad.begin(),
                         [&](double g, double s) { return s * (g - mean); });
}

// Turns the saved tensors into {x, gradient of the logits}.
template <class T>
void Router<T>::add_input_gradient(const Tensor& grad_weights, const Tensor& grad_in,
                                   Saved& saved) {
  const Tensor x = saved.tensors.at(0);
  const Tensor scores = saved.tensors.at(1);
  const std::size_t tokens = x.shape().front();
  const std::size_t experts = options_.experts;
  const Tensor grad_logits(device_.memory, dtype_of<T>(), {tokens, experts}, Category::activations,
                           state_.name + ".grad_logits");
  if (!x.meta() && tokens > 0) {
    const Tensor& chosen = saved.tensors.at(3);
    std::vector<double> grad(experts);
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto row = row_of<const double>(scores.as<double>(), t, experts);
      score_gradient(row, row_of<const std::int32_t>(chosen.as<std::int32_t>(), t, options_.top_k),
                     row_of<const T>(grad_weights.as<T>(), t, options_.top_k),
                     saved.tensors.at(2).template as<double>(), grad);
      through_scores(row, grad);
      std::ranges::transform(grad, row_of(grad_logits.as<T>(), t, experts).begin(),
                             [](double g) { return static_cast<T>(g); });
    }
  }
  saved.tensors = {x, grad_logits};
  projection_.add_input_gradient(grad_logits, grad_in);
}

template <class T>
void Router<T>::backward_weight(Saved& saved) {
  projection_.add_weight_gradient(saved.tensors.at(0), saved.tensors.at(1));
  saved.tensors.clear();
}

template <class T>
std::vector<Parameter*> Router<T>::parameters() {
  return bias_ ? std::vector<Parameter*>{&projection_.weight(), &*bias_}
               : std::vector<Parameter*>{&projection_.weight()};
}

template class Router<float>;
template class Router<double>;

}  // namespace ringside
