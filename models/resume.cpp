#include "models/resume.hpp"

#include "runtime/crc32c.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

using Identity = std::map<std::string, std::string>;

Identity of_model(const MlpConfig& m) {
  return {{"model.kind", "mlp"},
          {"model.context", std::to_string(m.context)},
          {"model.embedding", std::to_string(m.embedding)},
          {"model.hidden", std::to_string(m.hidden)},
          {"model.layers", std::to_string(m.layers)},
          {"model.vocab", std::to_string(m.vocab)},
          {"model.batch_norm", m.batch_norm ? "true" : "false"},
          {"model.dtype", std::string(name_of(m.dtype))}};
}

Identity of_model(const GptConfig& m) {
  return {{"model.kind", "gpt"},
          {"model.hidden", std::to_string(m.hidden)},
          {"model.layers", std::to_string(m.layers)},
          {"model.heads", std::to_string(m.heads)},
          {"model.kv_heads", std::to_string(m.kv_heads)},
          {"model.head_dim", std::to_string(m.head_width())},
          {"model.ffn", std::to_string(m.ffn)},
          {"model.vocab", std::to_string(m.vocab)},
          {"model.tied", m.tied ? "true" : "false"},
          {"model.rope_base", std::to_string(m.rope_base)},
          {"model.experts", std::to_string(m.experts)},
          {"model.top_k", std::to_string(m.experts > 0 ? m.top_k : 0)},
          {"model.dtype", std::string(name_of(m.dtype))}};
}

std::string value_of(const Identity& identity, const std::string& key) {
  const auto found = identity.find(key);
  return found == identity.end() ? "not given" : found->second;
}

}  // namespace

Identity identity_of(const TrainingPlan& plan) {
  Identity identity = std::visit([](const auto& model) { return of_model(model); }, plan.model);
  const std::string_view text = plan.data.text;
  identity["model.sequence"] = std::to_string(plan.data.sequence);
  identity["train.seed"] = std::to_string(plan.data.seed);
  identity["train.batch"] = std::to_string(plan.batch);
  identity["train.optimizer"] = plan.optimizer.kind;
  identity["data.text"] = std::to_string(text.size()) + " bytes, CRC-32C " +
                          std::to_string(crc32c(std::as_bytes(std::span(text))));
  return identity;
}

void require_same_training(const Checkpoint& checkpoint, const TrainingPlan& plan) {
  const Identity here = identity_of(plan);
  const auto require_same = [&](const std::string& key) {
    const std::string mine = value_of(here, key);
    const std::string stored = value_of(checkpoint.training, key);
    if (mine != stored) {
      throw BadUse(checkpoint.folder.string() + ": was saved with " + key + " = " +
                   escaped(shortened(stored)) + ", but here it is " + mine +
                   ": resume the training that was saved, or begin anew without the checkpoint");
    }
  };
  require_same("model.kind");  // models of two kinds have other measures
  for (const Identity& identity : {here, checkpoint.training}) {
    for (const auto& [key, value] : identity) {
      require_same(key);
    }
  }
}

}  // namespace ringside
