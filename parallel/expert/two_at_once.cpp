#include "parallel/expert/two_at_once.hpp"

#include <array>

#include "models/phased_layer.hpp"

namespace ringside {

namespace {

struct UnderWay {
  Tensor x;  // activations or gradient, when none is under way
  std::vector<Saved> saved;
  PhasedLayer* pending = nullptr;  // the layer whose results travel back
  std::size_t layer = 0;           // its number
};

using Both = std::array<UnderWay, 2>;

void land(UnderWay& batch) {
  if (batch.pending != nullptr) {
    batch.x = batch.pending->finish_forward(batch.saved[batch.layer]);
    batch.pending = nullptr;
  }
}

void forward(Model& model, Both& both, LayerHooks& hooks) {
  for (std::size_t i = 0; i < model.layer_count(); ++i) {
    Layer& layer = model.layer(i);
    auto* phased = dynamic_cast<PhasedLayer*>(&layer);
    hooks.before_forward(i);
    for (UnderWay& batch : both) {
      land(batch);
      if (phased != nullptr) {
        phased->start_forward(batch.x, batch.saved[i]);
        batch.pending = phased;
        batch.layer = i;
      } else {
        batch.x = layer.forward(batch.x, batch.saved[i]);
      }
    }
    if (phased != nullptr) {
      for (UnderWay& batch : both) {
        phased->continue_forward(batch.saved[i]);
      }
    }
    hooks.after_forward(i);
  }
}

// The weight gradient of the layer that it came from is next.
void land_gradient(Model& model, UnderWay& batch) {
  if (batch.pending != nullptr) {
    batch.x = batch.pending->finish_backward(batch.saved[batch.layer]);
    model.layer(batch.layer).backward_weight(batch.saved[batch.layer]);
    batch.pending = nullptr;
  }
}

void backward(Model& model, Both& both, LayerHooks& hooks) {
  for (std::size_t i = model.layer_count(); i-- > 0;) {
    Layer& layer = model.layer(i);
    auto* phased = dynamic_cast<PhasedLayer*>(&layer);
    const bool landing = both[0].pending != nullptr;
    const std::size_t before = both[0].layer;
    hooks.before_backward(i);
    if (landing) {
      hooks.before_weight_gradient(before);
    }
    if (phased == nullptr) {
      hooks.before_weight_gradient(i);
    }
    for (UnderWay& batch : both) {
      land_gradient(model, batch);
      if (phased != nullptr) {
        phased->start_backward(batch.x, batch.saved[i]);
        batch.pending = phased;
        batch.layer = i;
      } else {
        batch.x = layer.backward_input(batch.x, batch.saved[i]);
        layer.backward_weight(batch.saved[i]);
      }
    }
    if (landing) {
      hooks.after_backward(before);
    }
    if (phased != nullptr) {
      for (UnderWay& batch : both) {
        phased->continue_backward(batch.saved[i]);
      }
    } else {
      hooks.after_backward(i);
    }
  }
}

}  // namespace

double forward_backward_together(Model& model, const Batch& a, const Batch& b, LayerHooks& hooks) {
  Both both;
  const std::array<const Batch*, 2> batches{&a, &b};
  for (std::size_t m = 0; m < both.size(); ++m) {
    both[m].x = model.input_of(*batches[m]);
    both[m].saved.assign(model.layer_count(), Saved{.sequences = sequences_of(*batches[m])});
  }
  forward(model, both, hooks);
  double sum = 0;
  for (std::size_t m = 0; m < both.size(); ++m) {
    land(both[m]);
    auto loss = model.loss(both[m].x, *batches[m]);
    sum += loss.loss;
    both[m].x = std::move(loss.grad);
  }
  backward(model, both, hooks);
  return sum;
}

}  // namespace ringside
