// The router of a mixture of experts: scores, choice, weights (Shazeer et al. 2017; DeepSeek-V3,
// section 2.1.2).
//
// scores = softmax or sigmoid of x R, in f64; the top_k experts by score + bias; weight of a choice
// = its score / the sum of the token's chosen scores, those of dropped choices among them. Its
// gradient takes the choice as given, and adds that of the auxiliary loss: coefficient * E *
// f_e / sum of scores ... for each token, as router_state.hpp says, of the token sum as all
// gradients are.
#pragma once

#include <optional>

#include "models/expert_dispatch.hpp"
#include "models/projection.hpp"
#include "models/router_state.hpp"

namespace ringside {

template <class T>
class Router {
 public:
  struct Options {
    std::size_t experts = 1;
    std::size_t top_k = 1;
    RouterConfig config{};
  };

  // `weight`: "<name>.weight" [hidden, experts]; `bias` [experts], not trainable, or none.
  Router(Device device, Options options, Parameter weight, std::optional<Parameter> bias);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  struct Routed {
    Routing routing;
    Tensor weights;  // [tokens, top_k]
  };

  // x: [tokens, hidden], those of `runs` in their order. What crosses the routing group goes
  // through `dispatch`. In meta memory the choices go round the experts, so that all have as many.
  Routed forward(const Tensor& x, const std::vector<TokenRun>& runs, ExpertDispatch& dispatch,
                 Saved& saved);
  // Adds to `grad_in`, [tokens, hidden], what comes through the weights and the auxiliary loss.
  void add_input_gradient(const Tensor& grad_weights, const Tensor& grad_in, Saved& saved);
  void backward_weight(Saved& saved);

  void scale_loss(double scale) { loss_scale_ = scale; }

  std::vector<Parameter*> parameters();

  RouterState& state() { return state_; }

 private:
  void score(std::span<const T> logits, std::span<double> scores) const;
  std::vector<std::size_t> choose(std::span<const double> scores, std::size_t token) const;
  void choose_all(const Tensor& scores, Routed& routed) const;
  std::vector<RunCounts> count(const std::vector<TokenRun>& runs, const Routing& routing) const;
  void limit(const std::vector<TokenRun>& runs, const std::vector<RunCounts>& group,
             Routing& routing) const;
  void record(const Routed& routed, const ExpertCounts& counts, const Tensor& scores,
              std::span<const double> fractions);
  void score_gradient(std::span<const double> scores, std::span<const std::int32_t> chosen,
                      std::span<const T> grad_weights, std::span<const double> fractions,
                      std::span<double> grad) const;
  void through_scores(std::span<const double> scores, std::span<double> grad) const;

  Device device_;
  Options options_;
  Projection<T> projection_;
  std::optional<Parameter> bias_;
  RouterState state_;
  double loss_scale_ = 1;
};

}  // namespace ringside
