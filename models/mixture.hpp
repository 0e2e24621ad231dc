// A mixture of experts: y = sum over a token's choices of weight * expert(x) (Shazeer et al. 2017;
// GShard, section 2.2). The experts are SwiGLU MLPs.
//
// Rows are computed where the dispatch has them; each is multiplied by its weight there, so that
// what comes back is only to be added. A token whose choices are all dropped gives 0, and passes
// through the block's residual alone.
#pragma once

#include "models/phased_layer.hpp"
#include "models/router.hpp"
#include "models/swiglu.hpp"

namespace ringside {

template <class T>
class Mixture : public PhasedLayer {
 public:
  struct Weights {
    Parameter router;  // [hidden, experts]
    std::optional<Parameter> bias{};
    std::vector<typename SwiGlu<T>::Weights>
        experts{};  // those that are here, in the dispatch's order
  };

  Mixture(Device device, std::string name, typename Router<T>::Options options, Weights weights,
          std::shared_ptr<ExpertDispatch> dispatch);

  const std::string& name() const override { return name_; }

  // Saves the router's part, and of each row that is here what entered its expert, gate, up, its
  // result and its weight.
  void start_forward(const Tensor& in, Saved& saved) override;
  void continue_forward(Saved& saved) override;
  Tensor finish_forward(Saved& saved) override;
  void start_backward(const Tensor& grad_out, Saved& saved) override;
  void continue_backward(Saved& saved) override;
  Tensor finish_backward(Saved& saved) override;
  void backward_weight(Saved& saved) override;

  // The router's, then those of the experts here.
  std::vector<Parameter*> parameters() override;

  void scale_loss(double scale) override { router_.scale_loss(scale); }

  std::vector<RouterState*> routers() override { return {&router_.state()}; }

 private:
  Tensor make(std::vector<std::size_t> shape, const char* what) const;
  Tensor tokens_of(const Tensor& rows, const RoutedTokens& way) const;
  Tensor rows_with(const Tensor& tokens, const RoutedTokens& way) const;

  Device device_;
  std::string name_;
  std::size_t experts_;
  Router<T> router_;
  std::vector<std::unique_ptr<SwiGlu<T>>> here_;
  std::shared_ptr<ExpertDispatch> dispatch_;
};

}  // namespace ringside
