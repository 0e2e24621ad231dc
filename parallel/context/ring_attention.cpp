#include "parallel/context/ring_attention.hpp"

#include <algorithm>
#include <limits>

#include "runtime/work.hpp"

namespace ringside {

namespace {

// Keys and values of a rank, or their gradients, as they travel: [2 * rows, kv * dim].
struct KeysAndValues {
  Tensor both;

  Tensor keys() const { return half(0); }

  Tensor values() const { return half(1); }

 private:
  Tensor half(std::size_t which) const {
    const std::size_t rows = both.shape().front() / 2;
    const std::size_t width = both.shape().back();
    return both.view(which * rows * width, {rows, width}, both.name());
  }
};

// Computes with T, or with none of meta tensors.
template <class Float, class Double>
void by_type(const Tensor& like, Float with_float, Double with_double) {
  if (like.meta()) {
    return;
  }
  if (like.dtype() == DType::f64) {
    with_double();
  } else {
    with_float();
  }
}

class RingAttention : public ContextAttention {
 public:
  RingAttention(Comm& group, Device device, const TokenBlocks& blocks, RingOptions options)
      : group_(group), device_(device), blocks_(blocks), options_(options) {}

  Tensor forward(const AttentionCall& call, const Tensor& q, const Tensor& k, const Tensor& v,
                 std::vector<Tensor>& kept) override;
  AttentionGradients backward(const AttentionCall& call, const Tensor& out, const Tensor& grad_out,
                              const std::vector<Tensor>& kept) override;

 private:
  int ranks() const { return group_.size(); }

  // Whose keys and values are here in a step.
  int owner(int step) const { return (group_.rank() + ranks() - step) % ranks(); }

  std::vector<Tile> tiles_of(const AttentionCall& call, int step) const {
    return tiles(blocks_, call.sequences.whole, group_.rank(), owner(step), options_.mask);
  }

  Tensor make(const AttentionCall& call, DType dtype, std::vector<std::size_t> shape,
              Category category, const char* what) const {
    return {device_.memory, dtype, std::move(shape), category, std::string(call.layer) + what};
  }

  KeysAndValues together(const AttentionCall& call, const Tensor& k, const Tensor& v) const;
  Work pass_on(const AttentionCall& call, const Tensor& out, const Tensor& in) const;
  Work pass_on_keys(const AttentionCall& call, int step, KeysAndValues here,
                    KeysAndValues& next) const;
  void charge(const AttentionCall& call, std::int64_t products, std::int64_t pairs,
              const char* what) const;
  std::int64_t compute(const AttentionCall& call, int step, const Tensor& q,
                       const KeysAndValues& here, const AttentionSoFar& so_far) const;
  AttentionBackward begin_backward(const AttentionCall& call, const Tensor& out,
                                   const Tensor& grad_out, const Tensor& q,
                                   const Tensor& logarithms) const;
  void add_arrived(const KeysAndValues& arrived, const KeysAndValues& own, int step) const;
  void compute_gradients(const AttentionCall& call, int step, const AttentionBackward& of,
                         const KeysAndValues& here, const AttentionGradients& into) const;

  Comm& group_;
  Device device_;
  TokenBlocks blocks_;
  RingOptions options_;
};

KeysAndValues RingAttention::together(const AttentionCall& call, const Tensor& k,
                                      const Tensor& v) const {
  const KeysAndValues made{
      make(call, k.dtype(), {2 * k.shape().front(), k.shape().back()}, Category::buffers, ".kv")};
  group_.copy(k.buffer(), made.keys().buffer());
  group_.copy(v.buffer(), made.values().buffer());
  return made;
}

// A hop: `out` goes to the next rank, `in` comes from the one before. In flight until it is waited
// for.
Work RingAttention::pass_on(const AttentionCall& call, const Tensor& out, const Tensor& in) const {
  Work work =
      group_.launch({.count = out.count(),
                     .operation = std::string_view("ring_hop"),
                     .algorithm = std::string_view("ring"),
                     .label = call.layer,
                     .dtype = out.dtype()},
                    [&] {
                      group_.next_step("hop");
                      group_.send_recv(group_.next(), out.buffer(), group_.prev(), in.buffer());
                    });
  work.holds(in, "ring_hop on group " + group_.name());
  return work;
}

// Towards the next step, if there is one.
Work RingAttention::pass_on_keys(const AttentionCall& call, int step, KeysAndValues here,
                                 KeysAndValues& next) const {
  next = here;
  if (step + 1 == ranks() || (step == 0 && options_.fault == Fault::kv_hop_skipped)) {
    return {};
  }
  next.both = make(call, here.both.dtype(), here.both.shape(), Category::buffers, ".kv");
  return pass_on(call, here.both, next.both);
}

void RingAttention::charge(const AttentionCall& call, std::int64_t products, std::int64_t pairs,
                           const char* what) const {
  if (pairs > 0) {
    const auto width = static_cast<std::int64_t>(call.heads.queries * call.heads.dim);
    device_.clock.charge_flops(products * 2 * width * pairs, std::string(call.layer) + what);
  }
}

std::int64_t RingAttention::compute(const AttentionCall& call, int step, const Tensor& q,
                                    const KeysAndValues& here, const AttentionSoFar& so_far) const {
  std::int64_t pairs = 0;
  for (const Tile& tile : tiles_of(call, step)) {
    pairs += tile.pairs();
    by_type(
        q, [&] { add_tile<float>(tile, call.heads, q, here.keys(), here.values(), so_far); },
        [&] { add_tile<double>(tile, call.heads, q, here.keys(), here.values(), so_far); });
  }
  const bool again = call.pass == Pass::recompute;
  charge(call, 1, pairs, again ? ".scores recompute" : ".scores forward");
  charge(call, 1, pairs, again ? ".values recompute" : ".values forward");
  return pairs;
}

Tensor RingAttention::forward(const AttentionCall& call, const Tensor& q, const Tensor& k,
                              const Tensor& v, std::vector<Tensor>& kept) {
  require_cut(call, blocks_);
  const std::vector<std::size_t> per_row{q.shape().front(), call.heads.queries};
  const AttentionSoFar so_far{make(call, q.dtype(), q.shape(), Category::activations, ".mixed"),
                              make(call, DType::f64, per_row, Category::activations, ".logarithms"),
                              make(call, DType::f64, per_row, Category::buffers, ".sums")};
  if (!so_far.maxima.meta()) {
    std::ranges::fill(so_far.maxima.as<double>(), -std::numeric_limits<double>::infinity());
  }
  KeysAndValues here = together(call, k, v);
  for (int step = 0; step < ranks(); ++step) {
    KeysAndValues next;
    Work hop = pass_on_keys(call, step, here, next);
    const std::int64_t pairs = compute(call, step, q, here, so_far);
    if (call.pass == Pass::forward) {
      count(pairs * static_cast<std::int64_t>(call.heads.queries));
    }
    hop.wait();
    here = next;
  }
  by_type(
      q, [&] { finish<float>(so_far, call.heads); }, [&] { finish<double>(so_far, call.heads); });
  kept = {q, k, v, so_far.maxima};
  return so_far.values;
}

void RingAttention::compute_gradients(const AttentionCall& call, int step,
                                      const AttentionBackward& of, const KeysAndValues& here,
                                      const AttentionGradients& into) const {
  std::int64_t pairs = 0;
  for (const Tile& tile : tiles_of(call, step)) {
    pairs += tile.pairs();
    by_type(
        of.q,
        [&] { add_tile_gradients<float>(tile, call.heads, of, here.keys(), here.values(), into); },
        [&] {
          add_tile_gradients<double>(tile, call.heads, of, here.keys(), here.values(), into);
        });
  }
  charge(call, 1, pairs, ".scores recompute");
  charge(call, 4, pairs, ".core input gradient");
}

AttentionBackward RingAttention::begin_backward(const AttentionCall& call, const Tensor& out,
                                                const Tensor& grad_out, const Tensor& q,
                                                const Tensor& logarithms) const {
  Tensor along = make(call, DType::f64, logarithms.shape(), Category::buffers, ".along");
  by_type(
      q, [&] { products_along<float>(out, grad_out, call.heads, along); },
      [&] { products_along<double>(out, grad_out, call.heads, along); });
  return {q, grad_out, logarithms, along};
}

// What the ranks before have added stands left of this rank's own.
void RingAttention::add_arrived(const KeysAndValues& arrived, const KeysAndValues& own,
                                int step) const {
  if (step == 1 && group_.rank() + 1 == ranks() && options_.fault == Fault::kv_gradient_lost) {
    group_.copy(arrived.both.buffer(), own.both.buffer());
  } else {
    group_.reduce(arrived.both.buffer(), own.both.buffer(), ReduceOp::sum);
  }
}

AttentionGradients RingAttention::backward(const AttentionCall& call, const Tensor& out,
                                           const Tensor& grad_out,
                                           const std::vector<Tensor>& kept) {
  const Tensor& q = kept.at(0);
  const AttentionBackward of = begin_backward(call, out, grad_out, q, kept.at(3));
  const Tensor grad_q = make(call, q.dtype(), q.shape(), Category::activations, ".grad_q");
  KeysAndValues here = together(call, kept.at(1), kept.at(2));
  KeysAndValues gradients;  // of what is here, by those that have had it
  Work gradients_hop;
  for (int step = 0; step < ranks(); ++step) {
    KeysAndValues next;
    Work hop = pass_on_keys(call, step, here, next);
    const KeysAndValues sum{
        make(call, here.both.dtype(), here.both.shape(), Category::buffers, ".grad_kv")};
    compute_gradients(call, step, of, here, {grad_q, sum.keys(), sum.values()});
    gradients_hop.wait();
    if (step > 0) {
      add_arrived(gradients, sum, step);
    }
    gradients = sum;
    if (ranks() > 1) {
      gradients.both =
          make(call, sum.both.dtype(), sum.both.shape(), Category::buffers, ".grad_kv");
      gradients_hop = pass_on(call, sum.both, gradients.both);
    }
    hop.wait();
    here = next;
  }
  gradients_hop.wait();
  return {grad_q, gradients.keys(), gradients.values()};
}

}  // namespace

std::shared_ptr<ContextAttention> make_ring_attention(Comm& group, Device device,
                                                      const TokenBlocks& blocks,
                                                      RingOptions options) {
  return std::make_shared<RingAttention>(group, device, blocks, options);
}

}  // namespace ringside
