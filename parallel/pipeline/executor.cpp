#include "parallel/pipeline/executor.hpp"

#include <algorithm>

#include "parallel/pipeline/events.hpp"
#include "runtime/errors.hpp"

namespace ringside {

PipelineStep::PipelineStep(Comm& group, const Schedule& schedule, GradientReduction& reduction,
                           Model& model, Microbatches batches, PipelineOptions options)
    : group_(group),
      schedule_(schedule),
      reduction_(reduction),
      model_(model),
      batches_(std::move(batches)),
      options_(std::move(options)),
      placement_(schedule) {
  std::size_t first = 0;
  for (const int s : placement_.stages_on(group.rank())) {
    const std::size_t count = options_.layers.at(static_cast<std::size_t>(s));
    stages_.emplace(s, Stage(model, first, count));
    weight_order_[s] = weight_gradient_order(schedule, group.rank(), s);
    first += count;
  }
  if (first != model.layer_count()) {
    throw BadUse("device " + std::to_string(group.rank()) + " of the pipeline has a model of " +
                 std::to_string(model.layer_count()) + " layers, but its stages have " +
                 std::to_string(first));
  }
}

StepSum PipelineStep::operator()(int step) {
  Rank& rank = group_.owner();
  times_.start = rank.now();
  reduction_.begin_step();
  loss_ = 0;
  StepSum sum;
  batches_now_.clear();
  sequences_.clear();
  for (int m = 0; m < schedule_.microbatches; ++m) {
    batches_now_.push_back(batches_(step, m));
    sequences_.push_back(sequences_of(batches_now_.back()));
    sum.tokens += batches_now_.back().tokens();
  }
  std::span<const Action> left = schedule_.devices[static_cast<std::size_t>(group_.rank())];
  while (!left.empty()) {
    const auto unit = first_unit(left);
    run(unit);
    left = left.subspan(unit.size());
  }
  times_.backward_end = rank.now();
  for (auto& [key, sent] : gradients_sent_) {
    sent.request.wait();
  }
  gradients_sent_.clear();
  reduction_.end_microbatch();
  reduction_.end_step();
  times_.gradients_ready = rank.now();
  sum.loss = reduction_.sum(loss_, "loss");
  const std::int64_t tokens = reduction_.sum(sum.tokens, "tokens");
  if (reduction_.fault() != Fault::sum_not_mean) {
    sum.tokens = tokens;
  }
  return sum;
}

// What is computed together receives all before and sends all after.
void PipelineStep::run(std::span<const Action> unit) {
  std::vector<Tensor> tensors;
  for (const Action& action : unit) {
    tensors.push_back(receive(action));
  }
  for (std::size_t i = 0; i < unit.size(); ++i) {
    tensors[i] = compute(unit[i], std::move(tensors[i]));
    charge(unit[i]);
    note_in_flight();
  }
  for (std::size_t i = 0; i < unit.size(); ++i) {
    give(unit[i], std::move(tensors[i]));
  }
  for (const Action& action : unit) {
    if (on_action) {
      on_action(action);
    }
  }
}

void PipelineStep::note_in_flight() {
  int in_flight = 0;
  for (const auto& [number, stage] : stages_) {
    in_flight += stage.in_flight();
  }
  peak_in_flight_ = std::max(peak_in_flight_, in_flight);
}

Tensor PipelineStep::receive(const Action& action) {
  const auto& [kind, s, mb, with_next] = action;
  if (kind == ActionKind::forward) {
    return s == 0 ? model_.input_of(batch(mb)) : receive_from(s - 1, ActionKind::forward, action);
  }
  if (!gives_input_gradient(kind)) {
    return {};
  }
  wait_for(activations_sent_, {s, mb});
  return last(s) ? std::move(handed_back_.extract({s, mb}).mapped())
                 : receive_from(s + 1, ActionKind::input_gradient, action);
}

Tensor PipelineStep::receive_from(int from, ActionKind what, const Action& to) {
  const Key key{to.stage, to.microbatch};
  const int device = placement_.device_of(from, to.microbatch);
  if (device == group_.rank()) {
    auto& waiting = what == ActionKind::forward ? handed_over_ : handed_back_;
    return std::move(waiting.extract(key).mapped());
  }
  Tensor in(group_.owner().memory(), options_.dtype, {rows_of(to.microbatch), options_.width},
            Category::activations, text_of(to) + ".in");
  group_.recv(device, in.buffer(), tag_of(what, to.stage, to.microbatch));
  return in;
}

Tensor PipelineStep::compute(const Action& action, Tensor in) {
  LayerHooks& hooks = hooks_for(action);
  Stage& stage = stages_.at(action.stage);
  switch (action.kind) {
    case ActionKind::forward:
      return forward(action, std::move(in), hooks);
    case ActionKind::backward:
      if (loses(action)) {
        in = stage.input_gradient(action.microbatch, std::move(in), hooks);
        stage.forget(action.microbatch, hooks);
        return in;
      }
      return stage.backward(action.microbatch, std::move(in), hooks);
    case ActionKind::input_gradient:
      return stage.input_gradient(action.microbatch, std::move(in), hooks);
    case ActionKind::weight_gradient:
      loses(action) ? stage.forget(action.microbatch, hooks)
                    : stage.weight_gradient(action.microbatch, hooks);
      return {};
  }
  return {};
}

bool PipelineStep::loses(const Action& action) const {
  return options_.fault == Fault::weight_gradient_lost && last(action.stage) &&
         action.microbatch + 1 == schedule_.microbatches;
}

// Of the last stage, what is returned is the gradient of the loss.
Tensor PipelineStep::forward(const Action& action, Tensor in, LayerHooks& hooks) {
  const int mb = action.microbatch;
  Tensor out = stages_.at(action.stage)
                   .forward(mb, std::move(in), sequences_[static_cast<std::size_t>(mb)], hooks);
  if (!last(action.stage)) {
    return out;
  }
  auto [loss, grad] = model_.loss(out, batch(mb));
  loss_ += loss;
  return grad;
}

// A gradient of the weights is complete after the last of the micro-batches that this device adds.
LayerHooks& PipelineStep::hooks_for(const Action& action) {
  const auto& order = weight_order_.at(action.stage);
  const auto at = std::ranges::find(order, action.microbatch) - order.begin();
  return reduction_.begin_microbatch(static_cast<int>(at), static_cast<int>(order.size()));
}

void PipelineStep::give(const Action& action, Tensor out) {
  const auto& [kind, s, mb, with_next] = action;
  if (kind == ActionKind::forward && last(s)) {
    handed_back_.insert_or_assign(Key{s, mb}, std::move(out));
    return;
  }
  const bool forward = kind == ActionKind::forward;
  if (!forward && (!gives_input_gradient(kind) || s == 0)) {
    return;
  }
  const int to = forward ? s + 1 : s - 1;
  const int device = placement_.device_of(to, mb);
  if (device == group_.rank()) {
    (forward ? handed_over_ : handed_back_).insert_or_assign(Key{to, mb}, std::move(out));
    return;
  }
  send_on(device, action, std::move(out));
}

void PipelineStep::send_on(int device, const Action& action, Tensor out) {
  const auto& [kind, s, mb, with_next] = action;
  const bool forward = kind == ActionKind::forward;
  if (!forward) {
    wait_for(gradients_sent_, {device, s});
  }
  const std::int64_t tag =
      forward ? tag_of(kind, s + 1, mb) : tag_of(ActionKind::input_gradient, s - 1, mb);
  Request request = group_.isend(device, out.buffer(), tag);
  if (options_.fault == Fault::blocking_sends) {
    request.wait();
  }
  (forward ? activations_sent_ : gradients_sent_)
      .emplace(forward ? Key{s, mb} : Key{device, s}, Sent{std::move(out), std::move(request)});
}

void PipelineStep::wait_for(std::map<Key, Sent>& sends, Key key) {
  if (const auto sent = sends.extract(key)) {
    sent.mapped().request.wait();
  }
}

void PipelineStep::charge(const Action& action) const {
  if (!options_.costs) {
    return;
  }
  const StageCosts& costs = *options_.costs;
  Time cost{0};
  if (action.kind == ActionKind::forward) {
    cost = costs.forward;
  }
  if (gives_input_gradient(action.kind)) {
    cost += costs.input_gradient;
  }
  if (gives_weight_gradient(action.kind)) {
    cost += costs.weight_gradient;
  }
  group_.owner().clock().charge(cost / schedule_.chunks, text_of(action));
}

// Of what stage `stage` is to receive for a micro-batch.
std::int64_t PipelineStep::tag_of(ActionKind what, int stage, int microbatch) const {
  const std::int64_t kind = what == ActionKind::forward ? 0 : 1;
  return (kind * schedule_.stages + stage) * schedule_.microbatches + microbatch;
}

std::size_t PipelineStep::rows_of(int microbatch) const {
  const std::size_t tokens = batch(microbatch).targets.size();
  return (tokens + options_.sequence_ranks - 1) / options_.sequence_ranks;
}

}  // namespace ringside
