// `ringside explain` as a user meets it: steps, contents, bytes, verdict, JSON, drawing, refusals.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "collectives/all_gather.hpp"
#include "scenarios/barrier_order.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/explain_story.hpp"
#include "scenarios/explain_text.hpp"
#include "scenarios/operation_convention.hpp"
#include "scenarios/step_order.hpp"
#include "scenarios/wrap.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

std::string name_of(const OperationRow& row) {
  return std::string(row.operation) + " --algorithm " + std::string(row.algorithm);
}

// By hand: rank r starts with (1 2 3 4) x 10^r. In step 0 rank r sends chunk r-1, in step 1 what it
// has just added to, chunk r-2; so rank 0 adds rank 3's 2200 to its own 2.
TEST(ExplainVerb, RingStepByStepIsWhatIsCountedByHand) {
  const auto ended = run_program("explain all_reduce --algorithm ring --ranks 4 --count 4");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(has(ended.out, R"(
step 1, reduce_scatter: 4 messages, 16 B
  from  to  chunk  elements  bytes  link    carries
     0   1      2  2             4  nvlink  3003
     1   2      3  3             4  nvlink  44
     2   3      0  0             4  nvlink  110
     3   0      1  1             4  nvlink  2200
          bytes so far                       elements
  rank  sent  received      0       1       2      3
     0     8         8      1   [2202]   3003      4
     1     8         8     10      20   [3033]    44
     2     8         8    110     200     300   [444]
     3     8         8  [1110]   2200    3000   4000
  all ranks: 32 B sent so far
)")) << ended.out;
  EXPECT_TRUE(has(ended.out, R"(
     0    24        24   1111   [2222]   3333    4444
     1    24        24   1111    2222   [3333]   4444
     2    24        24   1111    2222    3333   [4444]
     3    24        24  [1111]   2222    3333    4444
  all ranks: 96 B sent so far

definition: every element of every rank is the sum of that element over all ranks, each once, and equal on all ranks
  holds for every input: 16 of 16 elements
verdict: pass
)")) << ended.out;
}

TEST(ExplainVerb, OneStepWithSymbolsShowsOnlyThat) {
  const auto ended = run_program("explain all_reduce --ranks 4 --values symbols --step 1");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_TRUE(has(ended.out, "\nstep 1, reduce_scatter"));
  EXPECT_FALSE(has(ended.out, "\nstep 0"));
  EXPECT_FALSE(has(ended.out, "at the start\n  "));
  EXPECT_TRUE(has(ended.out, "     0   1      2  2             4  nvlink  r3+r0\n")) << ended.out;
  EXPECT_TRUE(has(ended.out, "[r2+r3+r0]")) << ended.out;
}

// The ring's own rule, replayed: rank r sends chunk r-k-1 in step k, then chunk r-k.
TEST(ExplainVerb, EveryStepOfRingIsTheRuleReplayed) {
  constexpr int p = 5;
  const auto all = run_program("explain all_reduce --algorithm ring --ranks 5 --json").document();
  auto holds = all["start"].get<std::vector<std::vector<double>>>();
  ASSERT_EQ(all["steps"].size(), 2U * (p - 1));
  for (int step = 0; step < 2 * (p - 1); ++step) {
    auto next = holds;
    for (int r = 0; r < p; ++r) {
      const auto from = static_cast<std::size_t>((r + p - 1) % p);
      const bool adds = step < p - 1;
      const int k = adds ? step : step - (p - 1);
      const auto c = static_cast<std::size_t>((r + 2 * p - k - (adds ? 2 : 1)) % p);
      const double heard = holds[from][c];
      next[static_cast<std::size_t>(r)][c] =
          adds ? heard + holds[static_cast<std::size_t>(r)][c] : heard;
    }
    holds = next;
    EXPECT_EQ(all["steps"][static_cast<std::size_t>(step)]["holds"].get<decltype(holds)>(), holds)
        << "step " << step;
  }
}

TEST(ExplainVerb, EveryAlgorithmIsToldOnAnyNumberOfRanks) {
  for (const OperationRow& row : operation_rows()) {
    for (const int ranks : {1, 3, 4, 5}) {
      ExplainedCall call{.row = row, .ranks = ranks};
      call.count = row.operation == "barrier" ? 0 : static_cast<std::size_t>(2 * ranks);
      call.op = row.reduces ? ReduceOp::sum : ReduceOp::none;
      call.root = row.rooted ? ranks - 1 : 0;
      call.gpus_per_node = ranks == 5 ? 3 : 0;
      const Story story = tell_story(call);
      EXPECT_EQ(story.fault, "") << name_of(row) << ", " << ranks;
      EXPECT_EQ(story.wrong, 0U) << name_of(row);
      for (const auto style : {ValueStyle::integers, ValueStyle::symbols}) {
        const auto text = text_of(story, ShownValues(story, style), std::nullopt);
        EXPECT_TRUE(has(text, "verdict: pass")) << text;
      }
    }
  }
}

TEST(ExplainVerb, LongBuffersAndManyRanksFitThePage) {
  for (const auto* arguments : {"explain all_reduce --ranks 16 --values symbols",
                                "explain all_reduce --algorithm direct --ranks 16 --count 1000",
                                "explain all_gather --algorithm bruck --ranks 16 --count 1000"}) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
    std::istringstream in(ended.out);
    for (std::string line; std::getline(in, line);) {
      EXPECT_TRUE(width_of(line) <= 130 || line.starts_with("definition")) << line;
    }
  }
}

// The lender's memory is overwritten at any moment; what it holds must not depend on that.
TEST(ExplainVerb, WhatWasLentChangesWhenItComesBack) {
  const auto all = run_program("explain all_reduce --algorithm direct --ranks 6 --json").document();
  for (std::size_t r = 0; r < 6; ++r) {
    EXPECT_EQ(all["steps"][0]["changed"][r], nlohmann::json::array({r}));
    EXPECT_EQ(all["steps"][1]["changed"][r].size(), 5U);
  }
}

TEST(ExplainVerb, JsonHasMessagesAndBytesOfEveryStep) {
  const auto ended = run_program("explain broadcast --algorithm linear --ranks 3 --root 1 --json");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  const auto all = ended.document();
  EXPECT_EQ(all["verb"], "explain");
  EXPECT_EQ(all["verdict"], "pass");
  EXPECT_EQ(all["root"], 1);
  ASSERT_EQ(all["steps"].size(), 1U);
  const auto& step = all["steps"][0];
  EXPECT_EQ(step["sent_bytes"], nlohmann::json::array({0, 24, 0}));
  EXPECT_EQ(step["received_bytes"], nlohmann::json::array({12, 0, 12}));
  EXPECT_EQ(step["all_sent_bytes"], 24);
  const auto& message = step["messages"][0];
  EXPECT_EQ(message["src"], 1);
  EXPECT_EQ(message["dst"], 2);
  EXPECT_EQ(message["elements"], nlohmann::json::array({0, 1, 2}));
  EXPECT_EQ(message["carries"], nlohmann::json::array({10, 20, 30}));
  EXPECT_EQ(message["link"], "nvlink");
  EXPECT_EQ(all["judged"], 9);
}

// Tags that open are closed in reverse order, attributes are quoted, and & begins an entity.
std::string xml_fault(const std::string& xml) {
  static const std::regex tag(R"(<(/?)([A-Za-z]+)((?:\s+[A-Za-z-]+="[^"<]*")*)\s*(/?)>)");
  static const std::regex entity("&(?!(?:amp|lt|gt|quot);)");
  std::vector<std::string> open;
  std::size_t end = 0;
  for (std::sregex_iterator at(xml.begin(), xml.end(), tag), last; at != last; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    const auto between = xml.substr(end, begin - end);
    if (has(between, "<") || std::regex_search(between, entity)) {
      return "no markup: " + between;
    }
    end = begin + static_cast<std::size_t>(at->length());
    if ((*at)[1] == "/") {
      if (open.empty() || open.back() != (*at)[2]) {
        return "closes what is not open: " + at->str();
      }
      open.pop_back();
    } else if ((*at)[4] != "/") {
      open.push_back((*at)[2]);
    }
  }
  return open.empty() && xml.find_first_not_of(" \n", end) == std::string::npos ? "" : "unclosed";
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(ExplainVerb, TheDrawingHasAnArrowForEachMessageOfEachStep) {
  EXPECT_NE(xml_fault("<a><b></a></b>"), "");
  EXPECT_NE(xml_fault("<a>x & y</a>"), "");
  for (const auto* arguments :
       {"all_reduce --ranks 4", "all_reduce --algorithm hierarchical --ranks 5 --gpus-per-node 3",
        "all_to_all --algorithm direct --ranks 7 --values symbols", "barrier --ranks 5",
        "reduce --ranks 1"}) {
    const TemporaryFolder folder;
    const auto ended = run_program("explain " + std::string(arguments) + " --svg it.svg --json", "",
                                   folder.path());
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
    const auto svg = content(folder / "it.svg");
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_EQ(xml_fault(svg), "") << arguments;
    auto panel = svg.find("<g class=\"panel\"");
    const auto document = ended.document();
    for (const auto& step : document["steps"]) {
      ASSERT_NE(panel, std::string::npos) << arguments;
      const auto next = svg.find("<g class=\"panel\"", panel + 1);
      EXPECT_EQ(times(svg.substr(panel, next - panel), "<path class=\"message "),
                step["messages"].size())
          << arguments;
      panel = next;
    }
    EXPECT_EQ(panel, std::string::npos);
  }
}

TEST(ExplainVerb, BadFlagsAreRefused) {
  const std::map<std::string, std::string> refusals{
      {"", "explain needs an operation: one of all_reduce"},
      {"all_redcue", "there is no operation all_redcue; did you mean all_reduce"},
      {"all_reduce --algorithm rign", "--algorithm rign"},
      {"all_reduce --ranks 0", "--ranks 0"},
      {"all_reduce --ranks 33", "--ranks 33"},
      {"all_reduce --count -1", "--count -1"},
      {"all_to_all --ranks 4 --count 6", "take a multiple of 4"},
      {"barrier --count 4", "barrier moves no data"},
      {"broadcast --op sum", "broadcast reduces nothing"},
      {"all_reduce --op xor", "--op xor"},
      {"all_reduce --root 1", "all_reduce has no root"},
      {"broadcast --ranks 4 --root 4", "--root 4"},
      {"all_reduce --values hex", "--values hex"},
      {"all_reduce --ranks 4 --step 6", "on 4 ranks has steps 0 to 5"},
      {"all_reduce --ranks 1 --step 0", "on 1 rank has no steps"},
      {"all_reduce --svg no/such/folder/a.svg", "cannot write no/such/folder/a.svg"},
      {"all_reduce --colour", "--colour"}};
  for (const auto& [arguments, refusal] : refusals) {
    const auto ended = run_program("explain " + arguments);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_TRUE(has(ended.err, refusal)) << arguments << ": " << ended.err;
  }
}

// An all_gather adds nothing: no all_reduce.
TEST(ExplainText, AFaultIsToldInTheEnd) {
  ExplainedCall call{.row = operation_row("all_reduce", "ring")};
  call.op = ReduceOp::sum;
  call.run = [](Comm& comm, const CollectiveCall&, Buffer data, Buffer) {
    all_gather(comm, data, {"ring"});
  };
  const Story story = tell_story(call);
  ASSERT_TRUE(story.diagnosis);
  const auto text = text_of(story, ShownValues(story, ValueStyle::integers), 0);
  EXPECT_TRUE(
      has(text, "  16 of 16 elements wrong: rank 0, element 0 (chunk 0) holds r0 instead of "))
      << text;
  EXPECT_TRUE(has(text, "missing: ranks 1, 2, 3")) << text;
  EXPECT_TRUE(has(text, "verdict: FAIL\n"));
}

TEST(StepOrder, RanksWithFewerStepsJoinWhereTheirPhaseIs) {
  const Time soon{1};
  const Time late{2};
  const auto steps = joined_steps({{{"fold", soon}, {"unfold"}},
                                   {{"fold"}, {"exchange", late}, {"unfold", Time{3}}},
                                   {{"fold"}, {"exchange", late}, {"unfold"}}});
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].phase, "exchange");
  EXPECT_EQ(steps[1].own, (std::map<int, int>{{1, 1}, {2, 1}}));
  EXPECT_EQ(steps[2].own, (std::map<int, int>{{0, 1}, {1, 2}, {2, 2}}));
}

TEST(StepOrder, RanksThatDisagreeOnTheOrderKeepTheirOwn) {
  const auto steps = joined_steps({{{"a", Time{1}}, {"b", Time{2}}}, {{"b"}, {"a"}}});
  std::map<int, std::vector<int>> own;
  for (const auto& step : steps) {
    for (const auto& [rank, number] : step.own) {
      own[rank].push_back(number);
    }
  }
  EXPECT_EQ(own, (std::map<int, std::vector<int>>{{0, {0, 1}}, {1, {0, 1}}}));
}

TEST(BarrierOrder, WhoHasNotHeardOfAllIsSeen) {
  const auto message = [](int from, int to, int t) {
    Envelope e;
    e.source = from;
    e.destination = to;
    e.t0 = e.t1 = Time{t};
    return e;
  };
  using Unheard = std::vector<std::vector<int>>;
  EXPECT_EQ(unheard_ranks(3, {message(1, 0, 0), message(2, 0, 0), message(0, 1, 5)}),
            (Unheard{{}, {}, {0, 1}}));
  EXPECT_EQ(unheard_ranks(2, {message(0, 1, 0), message(1, 0, 0)}), (Unheard{{}, {}}));
}

}  // namespace
}  // namespace ringside
