// The rows of the table of settings that say how work is cut, and what it costs.

#include "scenarios/setting_rows.hpp"

namespace ringside {

Rows parallel_rows() {
  return {
      key("parallel.tp",
          "tensor-parallel degree: ranks, side by side, over which every layer of a "
          "gpt is cut",
          integer(1, most_ranks), &Settings::parallel, &ParallelSettings::tp),
      key("parallel.sp",
          "sequence parallelism: between its products each of parallel.tp ranks has a "
          "part of the tokens",
          boolean(), &Settings::parallel, &ParallelSettings::sp),
      key("parallel.cp", "context-parallel degree: ranks over which every sample of a gpt is cut",
          integer(1, most_ranks), &Settings::parallel, &ParallelSettings::cp),
      key("parallel.cp_form",
          "with parallel.cp, how attention looks across: keys and values round a ring, or "
          "all-to-alls that exchange tokens for heads",
          one_of({"ring", "ulysses"}), &Settings::parallel, &ParallelSettings::cp_form),
      key("parallel.cp_layout",
          "with parallel.cp, tokens of a rank: one block of the sample, or one from each end",
          one_of({"zigzag", "contiguous"}), &Settings::parallel, &ParallelSettings::cp_layout),
      key("parallel.split",
          "no training, but one MLP of 5 tokens cut in this way; empty: a training",
          one_of({"", "column_row", "row_first", "column_only"}), &Settings::parallel,
          &ParallelSettings::split),
      key("parallel.streams",
          "no training, but two groups of 3 ranks that share a port; empty: a training",
          one_of({"", "two"}), &Settings::parallel, &ParallelSettings::streams),
      key("parallel.pp",
          "pipeline-parallel degree: devices over which the blocks of a gpt are dealt out in "
          "stages",
          integer(1, most_ranks), &Settings::parallel, &ParallelSettings::pp),
      key("parallel.schedule",
          "of parallel.pp: a schedule that `ringside schedule` lists, or a CSV file", text(),
          &Settings::parallel, &ParallelSettings::schedule),
      key("parallel.chunks", "of interleaved: stages of a device", integer(1, 1024),
          &Settings::parallel, &ParallelSettings::chunks),
      key("parallel.stages",
          "how layers are dealt out: number: as many blocks to each stage, the first ones one "
          "more; "
          "cost: so that the most expensive stage multiplies as little as can be, the head counted",
          one_of({"number", "cost"}), &Settings::parallel, &ParallelSettings::stages),
      key("parallel.dp", "data-parallel degree; 0: what the other degrees leave",
          integer(0, most_ranks), &Settings::parallel, &ParallelSettings::dp),
      key("parallel.order",
          "the axes tp, cp, pp and dp from inner to outer: neighbours on the first share a machine "
          "(DeepSeek-V3: tp-cp-dp-pp)",
          text(), &Settings::parallel, &ParallelSettings::order),
      key("parallel.microbatches",
          "parts of a rank's batch, computed in turn before one optimizer step",
          integer(1, most_ranks), &Settings::parallel, &ParallelSettings::microbatches),
      key("parallel.zero",
          "stage of ZeRO: what is cut over the ranks; 0: nothing, 1: optimizer state, 2: gradients "
          "too, 3: parameters too",
          integer(0, 3), &Settings::parallel, &ParallelSettings::zero),
      key("parallel.prefetch",
          "of parallel.zero = 3: gather a layer's parameters while the layer "
          "before it computes",
          boolean(), &Settings::parallel, &ParallelSettings::prefetch),
      key("parallel.recompute",
          "of gpt, and of model.config none or full: what a block forgets and computes again in "
          "backward; selective: the weights of attention, full: all but its input",
          one_of({"none", "selective", "full"}), &Settings::parallel, &ParallelSettings::recompute),
      key("parallel.ep",
          "expert-parallel degree: ranks of parallel.dp, side by side, over which the experts are "
          "spread",
          integer(1, most_ranks), &Settings::parallel, &ParallelSettings::ep),
      key("parallel.dispatch",
          "how tokens get to experts: a copy for each expert, or by_node: one for each node, "
          "forwarded inside it",
          one_of({"straight", "by_node"}), &Settings::parallel, &ParallelSettings::dispatch),
      key("parallel.placement", "which experts share a rank: neighbours, or any (from train.seed)",
          one_of({"neighbours", "random"}), &Settings::parallel, &ParallelSettings::placement),
      key("parallel.ep_overlap",
          "two micro-batches side by side: one computes while the tokens of the other travel",
          boolean(), &Settings::parallel, &ParallelSettings::ep_overlap),
      key("dp.bucket",
          "a bucket closes before it would pass this; a larger tensor is a bucket alone",
          bytes(Bytes{1}, tebibyte), &Settings::dp, &DpSettings::bucket),
      key("dp.bucket_by",
          "layer: a bucket holds tensors of one layer; size: it spans layers, as DDP's do; empty: "
          "size, and with parallel.zero = 3, which gathers a layer's buckets together, layer",
          one_of({"", "size", "layer"}), &Settings::dp, &DpSettings::bucket_by),
      key("dp.alignment", "elements: a bucket is padded to a multiple of this and of the ranks",
          integer(1, 1 << 20), &Settings::dp, &DpSettings::alignment),
      key("dp.overlap", "reduce buckets while backward goes on", boolean(), &Settings::dp,
          &DpSettings::overlap),
      key("dp.sync_every_microbatch", "reduce after every microbatch, not once a step", boolean(),
          &Settings::dp, &DpSettings::sync_every_microbatch),
      key("dp.sync_batch_norm",
          "of model.batch_norm: statistics of all ranks' tokens, by all-reduces, not of this "
          "rank's",
          boolean(), &Settings::dp, &DpSettings::sync_batch_norm),
  };
}

Rows cost_rows() {
  const auto duration = time(std::chrono::seconds(1));
  return {
      key("costs.account",
          "what computing takes. counted: the matrix products that the layers charge; chapter: of "
          "model.config, 2 N' operations a token forward and 4 N' backward, N' the parameters of "
          "the text's layers, final norm and head",
          one_of({"counted", "chapter"}), &Settings::costs, &CostsSettings::account),
      key("costs.F",
          "of parallel.pp: a fixed time of the forward of a stage (when interleaved, of all its "
          "chunks) and micro-batch; with F, I and W 0 layers charge their products",
          duration, &Settings::costs, &CostsSettings::forward),
      key("costs.I", "the same of the gradient of its input", duration, &Settings::costs,
          &CostsSettings::input_gradient),
      key("costs.W", "the same of the gradient of its weights", duration, &Settings::costs,
          &CostsSettings::weight_gradient),
  };
}

}  // namespace ringside
