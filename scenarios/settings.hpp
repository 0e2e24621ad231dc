// What a scenario says, as plain data with defaults. setting_keys.hpp has the names of all keys,
// how they are read and printed, and their bounds; nothing else reads or writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/topology.hpp"
#include "runtime/units.hpp"
#include "scenarios/input_files.hpp"

namespace ringside {

// What the scenario teaches, in one sentence.
struct LessonText {
  std::string en;
  std::string zh;
  int place = 0;  // in the list of its folder, from 1; 0: after those, by name
  bool operator==(const LessonText&) const = default;
};

struct ClusterSettings {
  int nodes = 1;
  int gpus_per_node = 8;          // of every node; the last may hold fewer
  std::optional<Bytes> capacity;  // modelled memory of a GPU; none: unlimited
  Rate flops{400'000'000'000'000};
  bool operator==(const ClusterSettings&) const = default;
};

struct LinkSettings {
  Rate bandwidth;
  Time latency{0};
  bool operator==(const LinkSettings&) const = default;
};

struct LinksSettings {
  LinkSettings nvlink{Rate{160'000'000'000}, std::chrono::microseconds(1)};
  LinkSettings ib{Rate{50'000'000'000}, std::chrono::microseconds(5)};
  bool operator==(const LinksSettings&) const = default;
};

// A byte-level MLP: the last `context` bytes are embedded, then `layers` hidden layers, then a
// softmax over `vocab`. Or a GPT of `layers` blocks.
struct ModelSettings {
  std::string kind = "mlp";
  std::string config;  // a published model, on meta memory, instead of all but `sequence`
  int context = 8;     // of the MLP
  int embedding = 16;  // of the MLP
  int hidden = 128;
  int layers = 2;
  int heads = 4;  // this and the following three: of the GPT
  int kv_heads = 2;
  int ffn = 344;
  bool tied = false;
  bool batch_norm = false;  // of the MLP
  int vocab = 256;
  int sequence = 32;  // predicted bytes of one sample
  std::string dtype = "f32";
  int experts = 0;  // of the GPT, in the place of each MLP; 0: none. The following: of these
  int top_k = 2;
  std::string router = "softmax";
  int router_groups = 1;
  int router_top_groups = 0;  // 0: no limit
  double capacity = 0;        // 0: none
  double balance = 0;
  double bias_rate = 0;
  int hot = 0;
  bool operator==(const ModelSettings&) const = default;
};

struct ParallelSettings {
  int tp = 1;
  bool sp = false;  // with tp
  int cp = 1;
  std::string cp_form = "ring";  // this and the next: with cp
  std::string cp_layout = "zigzag";
  std::string split;    // of the bench of tensor parallelism; empty: a training
  std::string streams;  // of the bench of modelled time; empty: a training
  int pp = 1;
  std::string schedule = "1f1b";      // this and the following two: of pp
  int chunks = 1;                     // of interleaved
  std::string stages = "number";      // how layers are dealt out: by number or by cost
  int dp = 0;                         // 0: what the other degrees leave; resolve() fills it in
  std::string order = "tp-cp-pp-dp";  // of the mesh's axes, from inner to outer
  int microbatches = 1;
  int zero = 0;                    // stage; 0: plain data parallelism
  bool prefetch = true;            // of stage 3
  std::string recompute = "none";  // what a block computes again in backward
  int ep = 1;                      // divides dp
  std::string dispatch = "straight";
  std::string placement = "neighbours";
  bool ep_overlap = false;
  bool operator==(const ParallelSettings&) const = default;
};

struct DpSettings {
  Bytes bucket{25 << 20};
  std::string bucket_by;  // size or layer; empty: resolve() fills it in
  int alignment = 1;      // elements
  bool overlap = true;
  bool sync_every_microbatch = false;
  bool sync_batch_norm = false;  // of model.batch_norm
  bool operator==(const DpSettings&) const = default;
};

// What computing takes.
struct CostsSettings {
  std::string account = "counted";  // or the chapter's, of model.config
  // Of one stage and micro-batch, in place of what layers charge; all 0: what layers charge.
  Time forward{0};
  Time input_gradient{0};
  Time weight_gradient{0};

  bool fixed() const { return forward + input_gradient + weight_gradient > Time{0}; }

  bool operator==(const CostsSettings&) const = default;
};

// Names of algorithms.
struct CollectivesSettings {
  std::string all_reduce = "ring";
  std::string reduce_scatter = "ring";
  std::string all_gather = "ring";
  std::string all_to_all = "pairwise";
  std::string broadcast = "linear";
  std::string reduce = "linear";
  std::string gather = "linear";
  std::string scatter = "linear";
  std::string barrier = "dissemination";
  bool operator==(const CollectivesSettings&) const = default;
};

struct TrainSettings {
  int steps = 3;
  std::int64_t seed = 1;
  std::string optimizer = "sgd";
  double lr = 0.1;
  int lr_batch = 0;       // batch that lr is meant for; 0: lr as it is
  double momentum = 0.9;  // of sgd
  double beta1 = 0.9;     // this and the following: of adamw
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  int batch = 64;                   // samples of one step, over all ranks and microbatches
  double clip = 0;                  // the global norm is clipped to it; 0: it is not
  std::string loss_scale = "none";  // or "dynamic", or a number
  bool masters = true;              // of bf16 weights
  std::string save{};    // folder of checkpoints, an absolute path; empty: none are written
  int save_every = 0;    // steps; 0: only after the last
  std::string resume{};  // a checkpoint, or a folder of some; empty: from the seed
  bool operator==(const TrainSettings&) const = default;
};

struct DataSettings {
  std::string text;  // an absolute path; empty: the built-in text
  bool operator==(const DataSettings&) const = default;
};

struct ChecksSettings {
  std::vector<std::string> run;  // names out of check_names()
  std::string peer;              // a scenario to compare with
  std::string expect;            // "oom": the lesson is this failure; empty: none
  bool operator==(const ChecksSettings&) const = default;
};

struct Settings {
  std::string name;  // "dp/ring"
  LessonText lesson;
  int ranks = 0;  // world size; 0: all GPUs of the cluster; resolve() fills it in
  ClusterSettings cluster;
  LinksSettings links;
  ModelSettings model;
  ParallelSettings parallel;
  DpSettings dp;
  CostsSettings costs;
  CollectivesSettings collectives;
  TrainSettings train;
  DataSettings data;
  ChecksSettings checks;
  InputFiles files{};  // what is in those that are named above
  bool operator==(const Settings&) const = default;
};

// The runtime's view of the cluster and its links.
inline Cluster cluster_of(const Settings& settings) {
  return {.gpus_per_node = settings.cluster.gpus_per_node,
          .nvlink = {settings.links.nvlink.bandwidth, settings.links.nvlink.latency},
          .ib = {settings.links.ib.bandwidth, settings.links.ib.latency},
          .flops = settings.costs.fixed() ? Rate{} : settings.cluster.flops,
          .capacity = settings.cluster.capacity};
}

}  // namespace ringside
