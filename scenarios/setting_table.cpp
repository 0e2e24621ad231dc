// The rows of the table of settings.

#include <limits>
#include <utility>

#include "collectives/collectives.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/setting_keys.hpp"
#include "scenarios/setting_rows.hpp"

namespace ringside {
namespace {

// Any row of the operation's table; the type's text names the table, which grows by itself.
SettingType<std::string> algorithm_of(const std::string& operation) {
  std::vector<std::string> names{"auto"};
  for (const auto& row : operation_rows()) {
    if (row.operation == operation) {
      names.emplace_back(row.algorithm);
    }
  }
  auto type = one_of(std::move(names));
  type.text = "auto, or an algorithm of collectives/" + operation + ".cpp";
  return type;
}

std::vector<std::string> all_checks() {
  const auto names = check_names();
  return {names.begin(), names.end()};
}

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

Rows machine() {
  const auto latency = time(std::chrono::seconds(1));
  return {
      key("cluster.nodes", "machines", integer(1, most_ranks), &Settings::cluster,
          &ClusterSettings::nodes),
      key("cluster.gpus_per_node", "GPUs of a machine; the last machine may hold fewer",
          integer(1, most_ranks), &Settings::cluster, &ClusterSettings::gpus_per_node),
      key("cluster.ranks", "ranks, one per GPU; 0: all GPUs", integer(0, most_ranks),
          &Settings::ranks),
      key("cluster.capacity", "modelled memory of a GPU", bytes_or_none(Bytes{1}, tebibyte),
          &Settings::cluster, &ClusterSettings::capacity),
      key("cluster.flops", "effective speed of a GPU", flops(), &Settings::cluster,
          &ClusterSettings::flops),
      key("links.nvlink.bandwidth", "inside a machine, per GPU and direction", bandwidth(),
          &Settings::links, &LinksSettings::nvlink, &LinkSettings::bandwidth),
      key("links.nvlink.latency", "of one message inside a machine", latency, &Settings::links,
          &LinksSettings::nvlink, &LinkSettings::latency),
      key("links.ib.bandwidth", "between machines, per GPU and direction", bandwidth(),
          &Settings::links, &LinksSettings::ib, &LinkSettings::bandwidth),
      key("links.ib.latency", "of one message between machines", latency, &Settings::links,
          &LinksSettings::ib, &LinkSettings::latency),
  };
}

Rows model() {
  return {
      key("model.kind", "a byte-level MLP, or a decoder-only transformer", one_of({"mlp", "gpt"}),
          &Settings::model, &ModelSettings::kind),
      key("model.config",
          "a published model of models/configs, or the path of a config.json, at its true size, in "
          "bf16 on meta memory: sizes, traffic and times, without data; empty: the model is made "
          "of the other keys",
          text(), &Settings::model, &ModelSettings::config),
      key("model.context", "of mlp: bytes that a prediction sees", integer(1, 1024),
          &Settings::model, &ModelSettings::context),
      key("model.embedding", "of mlp: numbers per embedded byte", integer(1, 65536),
          &Settings::model, &ModelSettings::embedding),
      key("model.hidden", "width of a hidden layer, or of the residual stream", integer(1, 65536),
          &Settings::model, &ModelSettings::hidden),
      key("model.batch_norm",
          "of mlp: what each hidden layer returns is normalised over the tokens of a micro-batch",
          boolean(), &Settings::model, &ModelSettings::batch_norm),
      key("model.layers", "hidden layers, or blocks", integer(1, 1024), &Settings::model,
          &ModelSettings::layers),
      key("model.heads", "of gpt: heads of an attention", integer(1, 65536), &Settings::model,
          &ModelSettings::heads),
      key("model.kv_heads", "of gpt: key and value heads, which divide the heads",
          integer(1, 65536), &Settings::model, &ModelSettings::kv_heads),
      key("model.ffn", "of gpt: width inside a SwiGLU", integer(1, 1048576), &Settings::model,
          &ModelSettings::ffn),
      key("model.tied", "of gpt: the head computes with the embedding's table", boolean(),
          &Settings::model, &ModelSettings::tied),
      key("model.vocab", "a token is a byte: those past 255 are never seen", integer(256, 1 << 20),
          &Settings::model, &ModelSettings::vocab),
      key("model.sequence", "predicted bytes of a sample", integer(1, 1 << 20), &Settings::model,
          &ModelSettings::sequence),
      key("model.experts",
          "of gpt: experts in the place of each MLP, each of width model.ffn; 0: none",
          integer(0, 65536), &Settings::model, &ModelSettings::experts),
      key("model.top_k", "experts that a token goes to", integer(1, 65536), &Settings::model,
          &ModelSettings::top_k),
      key("model.router", "scores of experts: softmax over all, or a sigmoid of each",
          one_of({"softmax", "sigmoid"}), &Settings::model, &ModelSettings::router),
      key("model.router_groups", "groups of neighbouring experts, for node-limited routing",
          integer(1, 65536), &Settings::model, &ModelSettings::router_groups),
      key("model.router_top_groups", "groups whose experts a token may go to; 0: all",
          integer(0, 65536), &Settings::model, &ModelSettings::router_top_groups),
      key("model.capacity",
          "an expert takes ceil(tokens * top_k * capacity / experts) choices of a micro-batch, "
          "the first tokens'; 0: all",
          number({.low = 0, .high = 65536}), &Settings::model, &ModelSettings::capacity),
      key("model.balance", "coefficient of the auxiliary loss that balances the experts",
          number({.low = 0, .high = 1000}), &Settings::model, &ModelSettings::balance),
      key("model.bias_rate",
          "by which the bias of an expert's score moves after a step, against its load; 0: no bias",
          number({.low = 0, .high = 1000}), &Settings::model, &ModelSettings::bias_rate),
      key("model.hot", "so many experts, from the first, that every token prefers",
          integer(0, 65536), &Settings::model, &ModelSettings::hot),
      key("model.dtype", "type of weights and gradients", one_of({"f32", "f64"}), &Settings::model,
          &ModelSettings::dtype),
  };
}

Rows collectives() {
  return {
      key("collectives.all_reduce", "algorithm of all-reduce", algorithm_of("all_reduce"),
          &Settings::collectives, &CollectivesSettings::all_reduce),
      key("collectives.reduce_scatter", "algorithm of reduce-scatter",
          algorithm_of("reduce_scatter"), &Settings::collectives,
          &CollectivesSettings::reduce_scatter),
      key("collectives.all_gather", "algorithm of all-gather", algorithm_of("all_gather"),
          &Settings::collectives, &CollectivesSettings::all_gather),
      key("collectives.all_to_all", "algorithm of all-to-all", algorithm_of("all_to_all"),
          &Settings::collectives, &CollectivesSettings::all_to_all),
      key("collectives.broadcast", "algorithm of broadcast", algorithm_of("broadcast"),
          &Settings::collectives, &CollectivesSettings::broadcast),
      key("collectives.reduce", "algorithm of reduce", algorithm_of("reduce"),
          &Settings::collectives, &CollectivesSettings::reduce),
      key("collectives.gather", "algorithm of gather", algorithm_of("gather"),
          &Settings::collectives, &CollectivesSettings::gather),
      key("collectives.scatter", "algorithm of scatter", algorithm_of("scatter"),
          &Settings::collectives, &CollectivesSettings::scatter),
      key("collectives.barrier", "algorithm of barrier", algorithm_of("barrier"),
          &Settings::collectives, &CollectivesSettings::barrier),
  };
}

Rows training() {
  const auto decay = number({.low = 0, .high = 1, .high_open = true});
  return {
      key("train.steps", "optimizer steps of this run", integer(1, 1'000'000), &Settings::train,
          &TrainSettings::steps),
      key("train.seed", "of weights and data", integer64(0, largest), &Settings::train,
          &TrainSettings::seed),
      key("train.optimizer", "sgd with momentum, or AdamW", one_of({"sgd", "adamw"}),
          &Settings::train, &TrainSettings::optimizer),
      key("train.lr", "learning rate", number({.low = 0, .high = 1000, .low_open = true}),
          &Settings::train, &TrainSettings::lr),
      key("train.lr_batch",
          "batch that train.lr is meant for: with another the rate grows as the batch (linear "
          "scaling, Goyal et al. 2017); 0: train.lr as it is",
          integer(0, 1'000'000), &Settings::train, &TrainSettings::lr_batch),
      key("train.momentum", "of sgd", decay, &Settings::train, &TrainSettings::momentum),
      key("train.beta1", "of adamw: decay of the first moment", decay, &Settings::train,
          &TrainSettings::beta1),
      key("train.beta2", "of adamw: decay of the second moment", decay, &Settings::train,
          &TrainSettings::beta2),
      key("train.eps", "of adamw: added to the root of the second moment",
          number({.low = 0, .high = 1, .low_open = true}), &Settings::train, &TrainSettings::eps),
      key("train.weight_decay", "of adamw, decoupled from the gradient",
          number({.low = 0, .high = 1}), &Settings::train, &TrainSettings::weight_decay),
      key("train.batch", "samples of one step, over all ranks and microbatches",
          integer(1, 1'000'000), &Settings::train, &TrainSettings::batch),
      key("train.clip", "the gradient's global norm is clipped to it; 0: it is not",
          number({.low = 0, .high = 1e9}), &Settings::train, &TrainSettings::clip),
      key("train.loss_scale",
          "losses are multiplied by it before backward, and a step whose gradient overflows is "
          "skipped; dynamic: 65536, halved at an overflow and doubled after 2,000 steps without",
          one_of_or({"none", "dynamic"}, {.low = 0, .high = 3e38, .low_open = true}),
          &Settings::train, &TrainSettings::loss_scale),
      key("train.masters", "of bf16 weights: keep them in f32 too", boolean(), &Settings::train,
          &TrainSettings::masters),
      key("train.save",
          "folder for checkpoints, each a folder step-<steps taken> in it; empty: none are kept",
          text(), &Settings::train, &TrainSettings::save),
      key("train.save_every", "steps from one checkpoint to the next; 0: one after the last step",
          integer(0, 1'000'000), &Settings::train, &TrainSettings::save_every),
      key("train.resume",
          "checkpoint to go on from, or a folder that has some: the latest; empty: begin anew",
          text(), &Settings::train, &TrainSettings::resume),
      key("data.text", "file to learn, from the scenario's folder; empty: the built-in text",
          text(), &Settings::data, &DataSettings::text),
  };
}

Rows words() {
  return {
      key("name", "the scenario's name; empty: that of its file", text(), &Settings::name),
      key("lesson.en", "what the scenario teaches, in one sentence", text(), &Settings::lesson,
          &LessonText::en),
      key("lesson.zh", "the same in Chinese", text(), &Settings::lesson, &LessonText::zh),
      key("lesson.place", "place in `ringside list` of its folder; 0: last, by name",
          integer(0, 1000), &Settings::lesson, &LessonText::place),
  };
}

Rows checks() {
  return {
      key("checks.run", "checks, in this order", list_of(all_checks()), &Settings::checks,
          &ChecksSettings::run),
      key("checks.peer", "scenario that the report sets beside this one; empty: none", text(),
          &Settings::checks, &ChecksSettings::peer),
      key("checks.expect", "failure that the scenario is about; empty: none",
          one_of({"", "fail", "lost", "deadlock", "mismatch", "oom"}), &Settings::checks,
          &ChecksSettings::expect),
  };
}

Rows all_rows() {
  Rows all;
  for (const auto& part : {words(), machine(), model(), parallel_rows(), cost_rows(), collectives(),
                           training(), checks()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::span<const SettingKey> setting_keys() {
  static const Rows rows = all_rows();
  return rows;
}

}  // namespace ringside
