#include "scenarios/model_settings.hpp"

#include <spdlog/fmt/fmt.h>

#include "models/gpt_cut.hpp"
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

std::string measures(const Settings& settings) {
  const ModelSettings& m = settings.model;
  const std::string own = is_gpt(settings) ? fmt::format("model.ffn = {}", m.ffn)
                                           : fmt::format("model.context = {}, model.embedding = {}",
                                                         m.context, m.embedding);
  return fmt::format("model.hidden = {}, model.layers = {}, {}", m.hidden, m.layers, own);
}

}  // namespace

ModelConfig model_of(const Settings& settings) {
  const ModelSettings& m = settings.model;
  if (is_gpt(settings)) {
    return GptConfig{.layers = size(m.layers),
                     .hidden = size(m.hidden),
                     .heads = size(m.heads),
                     .kv_heads = size(m.kv_heads),
                     .ffn = size(m.ffn),
                     .vocab = size(m.vocab),
                     .tied = m.tied,
                     .dtype = parse_dtype(m.dtype)};
  }
  return MlpConfig{.context = size(m.context),
                   .embedding = size(m.embedding),
                   .hidden = size(m.hidden),
                   .layers = size(m.layers),
                   .vocab = size(m.vocab),
                   .dtype = parse_dtype(m.dtype)};
}

std::size_t context_of(const Settings& settings) {
  return is_gpt(settings) ? 1 : size(settings.model.context);
}

void check_model(const Settings& settings) {
  const ModelConfig model = model_of(settings);
  if (const auto* gpt = std::get_if<GptConfig>(&model)) {
    require_usable(*gpt);
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
  return is_gpt(settings) ? "GPT" : "MLP";
}

}  // namespace ringside
