#include "parallel/zero.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/all_reduce.hpp"
#include "models/gradient_norm.hpp"
#include "parallel/broadcast_weights.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

int checked(int stage) {
  if (stage < 1 || stage > 3) {
    throw BadUse("there is no stage " + std::to_string(stage) +
                 " of ZeRO: choose 1 (optimizer state), 2 (and gradients) or 3 (and parameters)");
  }
  return stage;
}

BucketRules rules_of(const ZeroOptions& options) {
  BucketRules rules = options.buckets;
  rules.by = options.stage == 3 ? BucketBy::layer : rules.by;
  return rules;
}

bool holds(const Bucket& bucket, const std::vector<std::vector<Parameter*>>& layers,
           const Parameter* wanted) {
  return std::ranges::any_of(bucket.tensors, [&](const TensorInBucket& in) {
    return layers[in.layer][in.tensor] == wanted;
  });
}

// Each parameter as the rank has it before it is sharded.
std::vector<std::vector<PieceOf>> wholes_of(const std::vector<std::vector<Parameter*>>& layers) {
  std::vector<std::vector<PieceOf>> wholes;
  for (const auto& layer : layers) {
    auto& here = wholes.emplace_back();
    for (const Parameter* parameter : layer) {
      here.push_back({.shape = parameter->value.shape(), .layout = parameter->layout});
    }
  }
  return wholes;
}

}  // namespace

Zero::Zero(Comm& group, DeviceMemory& memory, Model& model, ZeroOptions options)
    : group_(group),
      options_(std::move(options)),
      layers_(model.layers()),
      buckets_(cut_buckets(counts_of(layers_, options_.meant), rules_of(options_),
                           element_size(layers_, options_.meant), group.size())),
      filled_(buckets_) {
  const int stage = checked(options_.stage);
  if (options_.fault != Fault::weights_not_broadcast) {
    broadcast_weights(group_, layers_, options_.meant, options_.broadcast);
  }
  find_needs(model);
  const auto wholes = wholes_of(layers_);
  gradients_.emplace(group_, memory, layers_, buckets_,
                     ShardedGradients::Options{.keep_whole = stage == 1,
                                               .reduce_scatter = options_.reduce_scatter,
                                               .fault = options_.fault});
  values_.emplace(
      group_, memory, layers_, buckets_,
      ShardedParameters::Options{
          .keep_whole = stage < 3, .all_gather = options_.all_gather, .fault = options_.fault});
  make_pieces(wholes);
}

void Zero::find_needs(Model& model) {
  needs_.resize(layers_.size());
  const auto need = [this](std::size_t layer, const Parameter* parameter) {
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      if (holds(buckets_[b], layers_, parameter) && std::ranges::count(needs_[layer], b) == 0) {
        needs_[layer].push_back(b);
      }
    }
  };
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    for (const Parameter* own : layers_[layer]) {
      need(layer, own);
    }
    for (const Parameter* borrowed : model.layer(layer).borrowed()) {
      need(layer, borrowed);
    }
  }
}

void Zero::make_pieces(const std::vector<std::vector<PieceOf>>& wholes) {
  pieces_ = pieces_of(buckets_, group_.size(), group_.rank());
  for (const ShardPiece& piece : pieces_) {
    Parameter part = *layers_[piece.layer][piece.tensor];
    part.layout = {};
    part.piece = wholes[piece.layer][piece.tensor];
    part.piece->first = piece.first;
    part.value = values_->shard(piece.bucket).view(piece.at, {piece.count}, part.name);
    part.grad = gradients_->shard(piece.bucket).view(piece.at, {piece.count}, part.name + ".grad");
    parameters_.push_back(std::move(part));
  }
}

std::vector<Parameter*> Zero::parameters() {
  std::vector<Parameter*> all;
  all.reserve(parameters_.size());
  for (Parameter& parameter : parameters_) {
    all.push_back(&parameter);
  }
  return all;
}

double Zero::sum_of_squares(const ParameterFilter& counts) {
  double squares = 0;
  for (Parameter& piece : parameters_) {
    squares += !counts || counts(piece) ? ringside::sum_of_squares({&piece}) : 0;
  }
  if (options_.fault == Fault::padding_in_norm) {
    for (const Bucket& bucket : buckets_) {
      squares += static_cast<double>(shard_size(bucket, group_.size()) -
                                     real_elements(bucket, group_.size(), group_.rank()));
    }
  }
  return squares;
}

double Zero::gradient_norm() {
  double squares = sum_of_squares(options_.counts);
  if (options_.fault != Fault::norm_of_rank) {
    squares = sum(squares, "norm");
  }
  const double root = std::sqrt(options_.add_parts ? options_.add_parts(squares) : squares);
  return gradients_->shard(0).dtype() == DType::f64 ? root
                                                    : static_cast<double>(static_cast<float>(root));
}

void Zero::begin_step() {
  filled_.begin();
  gradients_->begin_step();
}

LayerHooks& Zero::begin_microbatch(int microbatch, int microbatches) {
  reducing_ = options_.stage > 1 || microbatch + 1 == microbatches;
  ahead_ = false;
  return *this;
}

void Zero::end_microbatch() {
  for (std::size_t b = 0; b < buckets_.size() && reducing_; ++b) {
    if (options_.stage == 1 && !options_.overlap) {
      gradients_->reduce(b);
    }
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    gradients_->settle(b);
  }
}

void Zero::acquire(std::size_t layer) {
  for (const std::size_t b : needs_[layer]) {
    values_->acquire(b);
  }
}

void Zero::enter(std::size_t layer, std::optional<std::size_t> next) {
  if (!ahead_) {
    acquire(layer);
  }
  for (const std::size_t b : needs_[layer]) {
    values_->wait(b);
  }
  ahead_ = options_.prefetch && next;
  if (ahead_) {
    acquire(*next);
  }
}

void Zero::leave(std::size_t layer) {
  for (const std::size_t b : needs_[layer]) {
    values_->release(b);
  }
}

void Zero::before_forward(std::size_t layer) {
  enter(layer, layer + 1 < layers_.size() ? std::optional(layer + 1) : std::nullopt);
}

void Zero::after_forward(std::size_t layer) {
  leave(layer);
  if (options_.prefetch && layer + 1 == layers_.size()) {
    acquire(layer);  // for its backward
    ahead_ = true;
  }
}

void Zero::before_backward(std::size_t layer) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    if (buckets_[b].last_layer() > layer + 1) {
      gradients_->settle(b);
    }
  }
  enter(layer, layer > 0 ? std::optional(layer - 1) : std::nullopt);
}

void Zero::before_weight_gradient(std::size_t layer) {
  for (const std::size_t b : needs_[layer]) {
    gradients_->settle(b);
    gradients_->open(b);
  }
}

void Zero::after_backward(std::size_t layer) {
  leave(layer);
  if (reducing_ && options_.complete) {
    options_.complete(layer);
  }
  if (!reducing_ || (options_.stage == 1 && !options_.overlap)) {
    return;
  }
  for (const std::size_t b : filled_.layer_done(layer)) {
    gradients_->reduce(b);
    if (!options_.overlap) {
      gradients_->settle(b);
    }
  }
}

std::int64_t Zero::sum(std::int64_t value, std::string_view label) {
  all_reduce(group_, buffer_of(std::span(&value, 1)), ReduceOp::sum, {options_.all_reduce, label});
  return value;
}

double Zero::sum(double value, std::string_view label) {
  all_reduce(group_, buffer_of(std::span(&value, 1)), ReduceOp::sum, {options_.all_reduce, label});
  return value;
}

}  // namespace ringside
