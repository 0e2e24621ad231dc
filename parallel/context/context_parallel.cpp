#include "parallel/context/context_parallel.hpp"

#include "models/whole_attention.hpp"
#include "parallel/context/ring_attention.hpp"
#include "parallel/context/ulysses_attention.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::shared_ptr<CausalAttention> whole_attention(Device device, const GptConfig& config) {
  if (config.dtype == DType::f64) {
    return std::make_shared<WholeAttention<double>>(device, config.recompute);
  }
  return std::make_shared<WholeAttention<float>>(device, config.recompute);
}

}  // namespace

ContextForm parse_context_form(std::string_view name) {
  if (name == "ring") {
    return ContextForm::ring;
  }
  if (name == "ulysses") {
    return ContextForm::ulysses;
  }
  throw BadUse("no form of context parallelism is called \"" + std::string(name) +
               "\": choose ring or ulysses");
}

void require_usable(const GptConfig& config, int cut_over, ContextForm form, int ranks) {
  if (ranks < 1) {
    throw BadUse("samples cannot be cut over " + std::to_string(ranks) + " ranks");
  }
  const GptShare share = share_of(config, {.rank = 0, .ranks = cut_over});
  if (form == ContextForm::ulysses) {
    require_divisible_heads({share.heads.count, share.kv_heads.count, config.head_width()}, ranks);
  }
}

ContextParallel::ContextParallel(Comm& group, Device device, const GptConfig& config,
                                 ContextParallelOptions options, int cut_over)
    : group_(group), options_(std::move(options)), blocks_(options_.layout, group.size()) {
  require_usable(config, cut_over, options_.form, group.size());
  attention_ = options_.form == ContextForm::ring
                   ? make_ring_attention(group, device, blocks_, {.fault = options_.fault})
                   : make_ulysses_attention(group, device.memory, blocks_,
                                            {.inside = whole_attention(device, config),
                                             .all_to_all = options_.all_to_all,
                                             .fault = options_.fault});
}

Batch ContextParallel::part_of(const Batch& whole) const {
  return ringside::part_of(whole, blocks_, group_.rank(), options_.fault);
}

}  // namespace ringside
