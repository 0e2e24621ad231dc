#include "scenarios/model_settings.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "models/chapter_account.hpp"
#include "models/gpt_cut.hpp"
#include "models/published_cut.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// Every rank holds weights, gradients and optimizer state for real.
constexpr std::size_t most_parameters = 1'000'000'000;

std::size_t size(int value) {
  return static_cast<std::size_t>(value);
}

bool is_gpt(const Settings& settings) {
  return settings.model.kind == "gpt";
}

RouterConfig router_of(const ModelSettings& m) {
  return {.score = m.router == "sigmoid" ? RouterScore::sigmoid : RouterScore::softmax,
          .groups = size(m.router_groups),
          .top_groups = size(m.router_top_groups),
          .capacity = m.capacity,
          .balance = m.balance,
          .bias_rate = m.bias_rate,
          .hot = size(m.hot)};
}

std::string measures(const Settings& settings) {
  const ModelSettings& m = settings.model;
  const std::string own = is_gpt(settings) ? fmt::format("model.ffn = {}", m.ffn)
                                           : fmt::format("model.context = {}, model.embedding = {}",
                                                         m.context, m.embedding);
  return fmt::format("model.hidden = {}, model.layers = {}, {}", m.hidden, m.layers, own);
}

// Of what the first of `ranks` has: the parts of all are of one size. With full recompute a block
// is one layer.
std::vector<std::vector<std::size_t>> counts_of_published(const Settings& settings, int ranks) {
  const bool blocks = recompute_of(settings) == Recompute::full;
  std::vector<std::vector<std::size_t>> counts;
  for (const PublishedLayer& layer : counted_model_of(settings).layers) {
    if (!blocks || !continues_block(layer)) {
      counts.emplace_back();
    }
    for (const PublishedTensor& tensor : layer.tensors) {
      if (tensor.trained) {
        const auto shape = share_of(tensor, {.rank = 0, .ranks = ranks}, layer.kind).shape;
        counts.back().push_back(
            std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
      }
    }
  }
  return counts;
}

// What can be checked without data.
void check_true_scale(const Settings& settings) {
  published_model_of(settings);
  part_counts_of(settings);
  constexpr std::array without_data{"traffic", "model_state", "exposed", "recompute", "controls"};
  for (const std::string& name : settings.checks.run) {
    if (std::ranges::find(without_data, name) == without_data.end()) {
      throw BadUse(
          fmt::format("checks.run has {}, but model.config = {} runs without data: only {} can be "
                      "checked",
                      name, settings.model.config, fmt::join(without_data, ", ")));
    }
    if (name == "exposed" && settings.parallel.tp > 1) {
      throw BadUse(fmt::format(
          "checks.run has exposed, whose formula knows data parallelism alone: leave it "
          "out, or set parallel.tp = 1 in place of {}",
          settings.parallel.tp));
    }
  }
}

}  // namespace

bool at_true_scale(const Settings& settings) {
  return !settings.model.config.empty();
}

bool has_experts(const Settings& settings) {
  return settings.model.experts > 0;
}

const PublishedModel& counted_model_of(const Settings& settings) {
  return settings.files.model.of(settings.model.config);
}

PublishedModel published_model_of(const Settings& settings) {
  const PublishedModel& model = counted_model_of(settings);
  return settings.costs.account == "chapter" ? by_chapter_account(model) : model;
}

std::optional<Settings> by_other_account(Settings settings) {
  std::string& account = settings.costs.account;
  account = account == "chapter" ? "counted" : "chapter";
  return account == "chapter" && counted_model_of(settings).config.experts
             ? std::nullopt
             : std::optional(std::move(settings));
}

Recompute recompute_of(const Settings& settings) {
  const std::string& name = settings.parallel.recompute;
  return name == "full"        ? Recompute::full
         : name == "selective" ? Recompute::selective
                               : Recompute::none;
}

DType element_type(const Settings& settings) {
  return at_true_scale(settings) ? DType::bf16 : parse_dtype(settings.model.dtype);
}

std::vector<std::vector<std::size_t>> tensor_counts_of(const Settings& settings) {
  return at_true_scale(settings) ? counts_of_published(settings, 1)
                                 : tensor_counts(model_of(settings));
}

std::vector<std::vector<std::size_t>> part_counts_of(const Settings& settings) {
  const int tp = settings.parallel.tp;
  if (tp == 1) {
    return tensor_counts_of(settings);
  }
  return at_true_scale(settings) ? counts_of_published(settings, tp)
                                 : tensor_counts(std::get<GptConfig>(model_of(settings)), tp);
}

ModelConfig model_of(const Settings& settings) {
  if (at_true_scale(settings)) {
    throw BadUse("model.config = " + settings.model.config +
                 " runs on meta memory, and nothing of it can be computed");
  }
  const ModelSettings& m = settings.model;
  if (is_gpt(settings)) {
    return GptConfig{.layers = size(m.layers),
                     .hidden = size(m.hidden),
                     .heads = size(m.heads),
                     .kv_heads = size(m.kv_heads),
                     .ffn = size(m.ffn),
                     .vocab = size(m.vocab),
                     .tied = m.tied,
                     .dtype = parse_dtype(m.dtype),
                     .recompute = recompute_of(settings),
                     .experts = size(m.experts),
                     .top_k = size(m.top_k),
                     .router = router_of(m)};
  }
  return MlpConfig{.context = size(m.context),
                   .embedding = size(m.embedding),
                   .hidden = size(m.hidden),
                   .layers = size(m.layers),
                   .vocab = size(m.vocab),
                   .batch_norm = m.batch_norm,
                   .dtype = parse_dtype(m.dtype)};
}

std::size_t context_of(const Settings& settings) {
  return is_gpt(settings) ? 1 : size(settings.model.context);
}

namespace {

void check_batch_norm(const Settings& settings) {
  const ModelSettings& m = settings.model;
  if (m.batch_norm && (is_gpt(settings) || at_true_scale(settings))) {
    throw BadUse(
        "model.batch_norm normalises the hidden layers of model.kind = mlp: leave it off, or train "
        "an mlp without model.config");
  }
  if (m.batch_norm && settings.parallel.microbatches > 1) {
    throw BadUse(
        fmt::format("model.batch_norm takes its statistics of what is computed at once, and "
                    "parallel.microbatches = {} is less than the batch of one process: set it to 1",
                    settings.parallel.microbatches));
  }
  if (settings.dp.sync_batch_norm && !m.batch_norm) {
    throw BadUse(
        "dp.sync_batch_norm sums the statistics of model.batch_norm, which is off: set "
        "model.batch_norm = true, or leave it out");
  }
}

}  // namespace

void check_model(const Settings& settings) {
  check_batch_norm(settings);
  if (at_true_scale(settings)) {
    check_true_scale(settings);
    return;
  }
  if (settings.costs.account == "chapter") {
    throw BadUse(
        "costs.account = chapter counts the parameters of a published model: set model.config, or "
        "take costs.account = counted");
  }
  const ModelConfig model = model_of(settings);
  if (const auto* gpt = std::get_if<GptConfig>(&model)) {
    require_usable(*gpt, settings.parallel.tp);
  }
  std::size_t parameters = 0;
  for (const auto& layer : tensor_counts(model)) {
    for (const std::size_t count : layer) {
      parameters += count;
    }
  }
  if (parameters > most_parameters) {
    throw BadUse(
        fmt::format("a model of {} parameters ({}) is too large to be trained here: at most {}; "
                    "reduce one of them",
                    parameters, measures(settings), most_parameters));
  }
}

std::string kind_name(const Settings& settings) {
  if (at_true_scale(settings)) {
    return counted_model_of(settings).config.name;
  }
  if (has_experts(settings)) {
    return fmt::format("GPT with {} experts", settings.model.experts);
  }
  return is_gpt(settings) ? "GPT" : "MLP";
}

}  // namespace ringside
