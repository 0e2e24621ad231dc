#include "models/gpt.hpp"

#include <algorithm>
#include <cmath>

#include "models/block.hpp"
#include "models/half_layer.hpp"
#include "models/initialise.hpp"
#include "models/mixture.hpp"
#include "models/tensor_elements.hpp"
#include "models/token_embedding.hpp"
#include "models/vocabulary_head.hpp"
#include "models/whole_attention.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

template <class T>
class Maker {
 public:
  Maker(Device device, const GptConfig& config, std::uint64_t seed, GptPart part)
      : device_(device),
        config_(config),
        seed_(seed),
        ranks_(part.cut.ranks),
        share_(share_of(config, part.cut)),
        seam_(std::move(part.seam)),
        wanted_(std::move(part.layers)),
        attention_(part.attention ? std::move(part.attention)
                                  : std::make_shared<WholeAttention<T>>(device, config.recompute)),
        dispatch_(std::move(part.dispatch)) {}

  std::unique_ptr<Model> model() const {
    auto layers = this->layers();
    const VocabularyShard shard{share_.vocab.first, share_.real, config_.vocab};
    return std::make_unique<Model>(
        device_, 1, std::move(layers),
        [device = device_, shard, seam = seam_](const Tensor& logits,
                                                std::span<const std::int32_t> targets) {
          return cross_entropy<T>(device, logits, targets, shard, *seam);
        });
  }

 private:
  std::vector<std::unique_ptr<Layer>> layers() const {
    std::vector<std::unique_ptr<Layer>> layers;
    HalfParameters halves;
    const auto add = [&](std::unique_ptr<Layer> layer) {
      layers.push_back(config_.dtype == DType::bf16
                           ? std::make_unique<HalfLayer>(device_, std::move(layer), halves)
                           : std::move(layer));
    };
    Parameter* table = nullptr;
    if (has(0)) {
      auto embed = std::make_unique<TokenEmbedding<T>>(
          device_, "embed", rows("embed", share_.vocab), config_.tied, seam_);
      table = embed->parameters().front();
      add(std::move(embed));
    }
    for (std::size_t i = 0; i < config_.layers; ++i) {
      if (has(i + 1)) {
        add(block("layers." + std::to_string(i)));
      }
    }
    if (has(config_.layers + 1)) {
      add(std::make_unique<RmsNorm<T>>(norm("final_norm")));
    }
    if (has(config_.layers + 2)) {
      add(head(table));
    }
    return layers;
  }

  bool has(std::size_t layer) const {
    return wanted_.empty() || std::ranges::find(wanted_, layer) != wanted_.end();
  }

  // `table`: of the embedding; null: it is not here.
  std::unique_ptr<Layer> head(Parameter* table) const {
    if (config_.tied && table != nullptr) {
      return std::make_unique<VocabularyHead<T>>(device_, "head", table, seam_);
    }
    Parameter weight = rows(config_.tied ? "embed" : "head", share_.vocab);
    weight.copy = config_.tied;
    return std::make_unique<VocabularyHead<T>>(device_, "head", std::move(weight), seam_);
  }

  std::unique_ptr<Layer> block(const std::string& name) const {
    return std::make_unique<Block<T>>(
        device_, name, norm(name + ".norm1"), attention(name + ".attention"), norm(name + ".norm2"),
        config_.experts > 0 ? mixture(name + ".mlp") : mlp(name + ".mlp"), config_.recompute);
  }

  RmsNorm<T> norm(const std::string& name) const {
    Parameter gain = make_parameter<T>(device_, name + ".weight", {config_.hidden}, 0, seed_,
                                       {.copies = ranks_});
    map_elements(gain.value, [](auto g) { return decltype(g)(1); });
    gain.gain = true;
    return {device_, name, std::move(gain), config_.norm_eps};
  }

  Attention<T> attention(const std::string& name) const {
    const std::size_t dim = config_.head_width();
    const std::size_t q = config_.heads * dim;
    const std::size_t kv = config_.kv_heads * dim;
    const auto columns_of = [&](Share heads) {
      return Share{heads.first * dim, heads.count * dim};
    };
    const Share own = columns_of(share_.heads);
    const Share own_kv = columns_of(share_.kv_heads);
    return {
        device_,
        name,
        {.heads = {share_.heads.count, share_.kv_heads.count, dim}, .rope_base = config_.rope_base},
        {.q = columns(name + ".q", {config_.hidden, q}, own),
         .k = columns(name + ".k", {config_.hidden, kv}, own_kv, share_.kv_copies),
         .v = columns(name + ".v", {config_.hidden, kv}, own_kv, share_.kv_copies),
         .o = rows_of(name + ".o", {q, config_.hidden}, own)},
        seam_,
        attention_};
  }

  std::unique_ptr<Layer> mlp(const std::string& name) const {
    const std::vector<std::size_t> in{config_.hidden, config_.ffn};
    return std::make_unique<SwiGlu<T>>(
        device_, name,
        typename SwiGlu<T>::Weights{
            .gate = columns(name + ".gate", in, share_.ffn),
            .up = columns(name + ".up", in, share_.ffn),
            .down = rows_of(name + ".down", {config_.ffn, config_.hidden}, share_.ffn)},
        seam_);
  }

  // Every tensor-parallel rank has it whole.
  std::unique_ptr<Layer> mixture(const std::string& name) const {
    const std::size_t in = config_.hidden;
    const auto whole = [&](const std::string& of, std::vector<std::size_t> shape) {
      const double scale = bound(shape.front());
      return make_parameter<T>(device_, of + ".weight", std::move(shape), scale, seed_,
                               {.copies = ranks_});
    };
    typename Mixture<T>::Weights weights{.router = whole(name + ".router", {in, config_.experts})};
    if (config_.router.bias_rate > 0) {
      weights.bias = make_parameter<T>(device_, name + ".router.bias", {config_.experts}, 0, seed_,
                                       {.copies = ranks_});
      freeze(*weights.bias);
    }
    for (const std::size_t e : dispatch_->experts_here(config_.experts)) {
      const std::string expert = name + ".experts." + std::to_string(e);
      auto& own = weights.experts.emplace_back(
          typename SwiGlu<T>::Weights{.gate = whole(expert + ".gate", {in, config_.ffn}),
                                      .up = whole(expert + ".up", {in, config_.ffn}),
                                      .down = whole(expert + ".down", {config_.ffn, in})});
      own.gate.expert = own.up.expert = own.down.expert = true;
    }
    return std::make_unique<Mixture<T>>(
        device_, name, typename Router<T>::Options{config_.experts, config_.top_k, config_.router},
        std::move(weights), dispatch_);
  }

  // A table with a row for each token.
  Parameter rows(const std::string& name, Share share) const {
    return make_parameter<T>(device_, name + ".weight", {share.count, config_.hidden},
                             bound(config_.hidden), seed_,
                             layout({config_.vocab, config_.hidden}, 0, share));
  }

  Parameter rows_of(const std::string& name, std::vector<std::size_t> whole, Share share) const {
    return make_parameter<T>(device_, name + ".weight", {share.count, whole[1]}, bound(whole[0]),
                             seed_, layout(whole, 0, share));
  }

  Parameter columns(const std::string& name, std::vector<std::size_t> whole, Share share,
                    int copies = 1) const {
    Layout cut = layout(whole, 1, share);
    cut.copies = copies;
    cut.partial_gradient = copies > 1;
    return make_parameter<T>(device_, name + ".weight", {whole[0], share.count}, bound(whole[0]),
                             seed_, cut);
  }

  Layout layout(std::vector<std::size_t> whole, int dimension, Share share) const {
    return ranks_ == 1
               ? Layout{.whole = std::move(whole)}
               : Layout{.whole = std::move(whole), .dimension = dimension, .first = share.first};
  }

  static double bound(std::size_t in) { return 1 / std::sqrt(static_cast<double>(in)); }

  Device device_;
  GptConfig config_;
  std::uint64_t seed_;
  int ranks_;
  GptShare share_;
  std::shared_ptr<Seam> seam_;
  std::vector<std::size_t> wanted_;  // none: all
  std::shared_ptr<CausalAttention> attention_;
  std::shared_ptr<ExpertDispatch> dispatch_;
};

void require_there(const std::vector<std::size_t>& wanted, std::size_t layers) {
  for (const std::size_t layer : wanted) {
    if (layer >= layers) {
      throw BadUse("there is no layer " + std::to_string(layer) + " in a GPT of " +
                   std::to_string(layers) + ", which are 0 to " + std::to_string(layers - 1));
    }
  }
}

}  // namespace

std::unique_ptr<Model> make_gpt(Device device, const GptConfig& config, std::uint64_t seed,
                                GptPart part) {
  require_usable(config, part.cut.ranks);
  require_there(part.layers, layer_count(config));
  return config.dtype == DType::f64 ? Maker<double>(device, config, seed, std::move(part)).model()
                                    : Maker<float>(device, config, seed, std::move(part)).model();
}

}  // namespace ringside
