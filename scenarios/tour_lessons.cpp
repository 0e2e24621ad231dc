#include "scenarios/tour_lessons.hpp"

namespace ringside {

namespace {

constexpr TourText plain_way{"the plain way", "朴素做法"};
constexpr TourText way_out{"the way out", "出路"};
constexpr TourText at_scale{"at true scale", "真实规模"};
constexpr TourText further{"further", "更进一步"};

constexpr std::string_view only_traffic = "checks.run=[\"traffic\"]";

TourLesson data_parallelism() {
  return {.name = "dp",
          .question = {"One card is too slow: how do eight train one model?",
                       "一张卡太慢：八张卡怎么一起训练一个模型？"},
          .runs = {{.role = plain_way,
                    .scenario = "dp/anchor_nvlink",
                    .set = {"collectives.all_reduce=naive", only_traffic},
                    .claims = {{"traffic.received_by_rank_0",
                                "388939991328",
                                {"bytes of gradients that rank 0 receives in a step",
                                 "0 号卡一步收到的梯度字节数"}}}},
                   {.role = way_out,
                    .scenario = "dp/anchor_nvlink",
                    .set = {only_traffic},
                    .claims = {{"step.received",
                                "97.235 GB",
                                {"on a ring, the most that any rank receives",
                                 "换成环以后，任何一张卡最多收到的量"}}}}},
          .leaves = {"Every card still holds the whole model, its gradients and its optimizer.",
                     "可是每张卡仍然要放下整个模型、梯度和优化器状态。"}};
}

TourLesson zero() {
  return {
      .name = "zero",
      .question = {"The model does not fit on any card: what need not be held eight times?",
                   "哪张卡都放不下：哪些东西不必存八份？"},
      .runs = {{.role = plain_way,
                .scenario = "zero/dp_does_not_fit",
                .set = {},
                .claims = {{"expect", "oom", {"how the run ends", "运行的结局"}},
                           {"model_state.by_formula",
                            "444502847232",
                            {"bytes of model state on each card of 80 GB",
                             "每张 80 GB 的卡上的模型状态字节数"}}}},
               {.role = way_out,
                .scenario = "zero/zero3_fits",
                .set = {"checks.run=[\"traffic\", \"model_state\"]"},
                .claims = {{"model_state.of_a_rank",
                            "55562855904",
                            {"bytes of model state on a card under ZeRO-3",
                             "ZeRO-3 下每张卡的模型状态字节数"}},
                           {"traffic.times_data_parallelism",
                            "1.5",
                            {"times the traffic of data parallelism",
                             "是数据并行通信量的多少倍"}}}}},
      .leaves = {"A layer's product is still computed whole on each card, with its activations.",
                 "每一层的矩阵乘法和激活仍然整个落在一张卡上。"}};
}

TourLesson tensor_parallelism() {
  return {.name = "tp",
          .question = {"Can the matrix product of one layer be split?", "一层的矩阵乘法能切开吗？"},
          .runs = {{.role = plain_way,
                    .scenario = "tp/row_first",
                    .set = {},
                    .claims = {{"split.difference",
                                "0.649",
                                {"off, when the first matrix is cut by rows",
                                 "第一个矩阵按行切时的误差"}}}},
                   {.role = way_out,
                    .scenario = "tp/column_row",
                    .set = {},
                    .claims = {{"split.difference",
                                "< 1e-12",
                                {"off, by columns and then by rows", "先按列再按行时的误差"}}}},
                   {.role = at_scale,
                    .scenario = "tp/anchor",
                    .set = {only_traffic},
                    .claims = {{"step.sent",
                                "19.021 GB",
                                {"sent by a card for 4,096 tokens, embedding and head included",
                                 "4,096 个 token 每张卡发送的量，含词嵌入和输出头"}}}}},
          .leaves = {"Every layer waits for its all-reduce, so this stays inside a machine.",
                     "每一层都要等 all-reduce，所以只能放在一台机器里。"}};
}

TourLesson pipeline() {
  return {
      .name = "pp",
      .question = {"Why do cards wait when layers are spread over them?",
                   "把各层分到多张卡上，为什么卡会空等？"},
      .runs = {{.role = plain_way,
                .scenario = "pp/naive",
                .set = {"train.batch=32", "parallel.microbatches=32",
                        "checks.run=[\"gradients\", \"traffic\", \"pipeline\"]"},
                .claims = {{"pipeline.bubble_over_total",
                            "7/8 = 0.8750",
                            {"of the step is waiting", "的时间在等待"}}}},
               {.role = way_out,
                .scenario = "pp/1f1b",
                .set = {"checks.run=[\"gradients\", \"traffic\", \"pipeline\"]"},
                .claims = {{"pipeline.bubble_over_ideal",
                            "7/32 = 0.2188",
                            {"of ideal time, with 32 micro-batches",
                             "（占理想时间），32 个微批次"}},
                           {"pipeline.bubble_over_total",
                            "7/39 = 0.1795",
                            {"of the step", "（占整步）"}}}},
               {.role = further,
                .scenario = "pp/zb_h1",
                .set = {"checks.run=[\"gradients\", \"traffic\", \"pipeline\"]"},
                .claims = {{"pipeline.bubble_over_ideal",
                            "7/96 = 0.0729",
                            {"of ideal time: a third of that, for weight gradients fill the gaps",
                             "（占理想时间）：只剩三分之一，空档由权重梯度填上"}}}}},
      .leaves = {"A long sample's activations are still on one card.",
                 "一条长样本的激活仍然全在一张卡上。"}};
}

TourLesson context_parallelism() {
  return {
      .name = "cp",
      .question = {"Where do the activations of 131,072 tokens go?",
                   "131,072 个 token 的激活放到哪里？"},
      .runs = {{.role = plain_way,
                .scenario = "cp/one_card",
                .set = {"cluster.nodes=1", "train.batch=8"},
                .claims = {{"expect", "oom", {"how the run ends", "运行的结局"}},
                           {"layer_inputs.by_formula",
                            "85899345920",
                            {"bytes of the layers' inputs alone", "光是各层输入的字节数"}}}},
               {.role = way_out,
                .scenario = "cp/contiguous",
                .set = {"checks.run=[\"gradients\", \"traffic\", \"pairs\"]"},
                .claims = {{"pairs.of_16_tokens",
                            "10 : 26 : 42 : 58",
                            {"causal work of four cards, each with a stretch",
                             "四张卡各拿连续一段时的因果计算量"}}}},
               {.role = further,
                .scenario = "cp/zigzag",
                .set = {"checks.run=[\"gradients\", \"traffic\", \"pairs\"]"},
                .claims = {{"pairs.of_16_tokens",
                            "34 : 34 : 34 : 34",
                            {"the same work, dealt out in zig-zag", "改成 zig-zag 之后"}}}}},
      .leaves = {"A model of hundreds of experts does not fit, however its tokens are dealt out.",
                 "几百个专家的模型，无论 token 怎么分都放不下。"}};
}

TourClaim nodes_of_a_token(std::string_view expected) {
  return {
      "routing.nodes_of_a_token",
      expected,
      {"machines at most that a token goes to, of four", "台机器：四台里一个 token 最多去的数目"}};
}

TourClaim copies_across_nodes(std::string_view expected) {
  return {"routing.copies_across_nodes",
          expected,
          {"copies of tokens that leave a machine, one way, all steps and layers",
           "份 token 离开自己的机器（单程，所有步所有层）"}};
}

TourLesson experts() {
  return {.name = "ep",
          .question = {"Hundreds of experts: where, and how do tokens get there?",
                       "几百个专家放在哪里，token 怎么过去？"},
          .runs = {{.role = plain_way,
                    .scenario = "ep/all_experts_everywhere",
                    .set = {},
                    .claims = {{"expect", "oom", {"how the run ends", "运行的结局"}},
                               {"routed_experts.by_formula",
                                "1307817541632",
                                {"bytes of the routed experts' weights in BF16, all on a card",
                                 "一张卡放下全部路由专家时，BF16 权重的字节数"}},
                               {"model_state.by_formula",
                                "10922183557120",
                                {"bytes of the whole model's state, 16 a parameter",
                                 "整个模型的模型状态字节数，每个参数 16 字节"}}}},
                   {.role = way_out,
                    .scenario = "ep/unlimited",
                    .set = {"checks.run=[\"gradients\", \"traffic\", \"routing\"]"},
                    .claims = {{"traffic.tokens_sent",
                                "6513664",
                                {"bytes of tokens sent to experts and back, all ranks and steps",
                                 "token 往返专家的字节数，所有卡所有步"}},
                               {"f32.gradient",
                                "< 1e-06",
                                {"from the gradients of one process", "与单进程梯度之差"}},
                               nodes_of_a_token("4"),
                               copies_across_nodes("3338")}},
                   {.role = further,
                    .scenario = "ep/node_limited",
                    .set = {"checks.run=[\"gradients\", \"traffic\", \"routing\"]"},
                    .claims = {nodes_of_a_token("2"), copies_across_nodes("2253")}}},
          .leaves = {"No single cut is enough: a plan is a product of them.",
                     "没有哪一刀够用：方案是它们的乘积。"}};
}

// The same small model and batch each time.
TourRun product_of(TourText role, std::vector<std::string_view> set) {
  set.push_back("checks.run=[\"gradients\", \"traffic\"]");
  return {
      .role = role,
      .scenario = "mesh/8",
      .set = std::move(set),
      .claims = {
          {"f32.gradient", "< 1e-06", {"from the gradients of one process", "与单进程梯度之差"}}}};
}

TourLesson product() {
  constexpr std::string_view no_tp = "parallel.tp=1";
  constexpr std::string_view no_sp = "parallel.sp=false";
  constexpr std::string_view no_pp = "parallel.pp=1";
  constexpr std::string_view whole = "parallel.microbatches=1";
  constexpr std::string_view zero3 = "parallel.zero=3";
  return {
      .name = "mesh",
      .question = {"Eight cards, one cut more each time: what does a step send, and is it "
                   "still the same step?",
                   "八张卡，每次多切一刀：一步要发多少，结果还一样吗？"},
      .runs = {product_of({"dp 8", "dp 8"}, {no_tp, no_sp, no_pp, whole, "parallel.zero=0"}),
               product_of({"dp 8, ZeRO-3", "dp 8，ZeRO-3"}, {no_tp, no_sp, no_pp, whole, zero3}),
               product_of({"tp 2 x dp 4, ZeRO-3", "tp 2 x dp 4，ZeRO-3"}, {no_pp, whole, zero3}),
               product_of({"tp 2 x pp 2 x dp 2, ZeRO-1", "tp 2 x pp 2 x dp 2，ZeRO-1"}, {}),
               product_of({"tp 2 x cp 2 x pp 2", "tp 2 x cp 2 x pp 2"},
                          {"parallel.cp=2", "parallel.zero=0"})},
      .leaves = {"A plan is a product of cuts; compute it before you run it: ringside mesh, "
                 "ringside figures.",
                 "方案是几刀的乘积，先算再跑：ringside mesh 和 ringside figures。"}};
}

}  // namespace

std::span<const TourLesson> tour_lessons() {
  static const std::vector<TourLesson> lessons{
      data_parallelism(), zero(),   tensor_parallelism(), pipeline(), context_parallelism(),
      experts(),          product()};
  return lessons;
}

}  // namespace ringside
