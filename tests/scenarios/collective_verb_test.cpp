// `ringside collective` as a user meets it: columns, JSON, refusals, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "scenarios/exit_codes.hpp"
#include "scenarios/operation_convention.hpp"
#include "scenarios/text_table.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::size_t words_of(const std::string& line) {
  std::istringstream in(line);
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()));
}

// The line of titles and the rows after it.
std::vector<std::string> table_of(const std::string& text) {
  auto lines = lines_of(text);
  const auto head = std::find_if(lines.begin(), lines.end(),
                                 [](const auto& line) { return has(line, "size(B)"); });
  return {head, std::find(head, lines.end(), "")};
}

TEST(CollectiveVerb, PrintsARowPerSizeUnderNcclTestsColumns) {
  const auto ended = run_program("collective all_reduce -b 4 -e 1K -f 16 -n 2 --ranks 4");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.err, "");
  const auto table = table_of(ended.out);
  ASSERT_EQ(table.size(), 1U + 3);
  EXPECT_TRUE(has(ended.out, "all_reduce: 4 ranks on 1 node"));
  EXPECT_TRUE(has(ended.out, "S, the bytes of the whole buffer = count x element\n"));
  EXPECT_TRUE(has(ended.out, "busbw = algbw x 2(n-1)/n, here x 1.5"));
  for (const auto* title : {"count(elements)", "type", "redop", "root", "algorithm", "steps",
                            "one rank", "all", "time(us)", "algbw", "busbw", "#wrong"}) {
    EXPECT_TRUE(has(table[0], title)) << title;
  }
  for (const auto& row : table) {
    EXPECT_EQ(row.size(), table[0].size()) << "aligned";
  }
  EXPECT_EQ(words_of(table[1]), 9U + 3 + 4);
  EXPECT_TRUE(has(ended.out, "out of bounds values: 0 OK\n"));
  EXPECT_TRUE(has(ended.out, "average bus bandwidth (GB/s): modelled"));
  EXPECT_TRUE(has(ended.out, "verdict: pass\n"));
}

TEST(CollectiveVerb, ShowsNoColumnTwiceAndBothPlacementsWhereThereAreTwo) {
  const auto head = [](const std::string& arguments) {
    return run_program("collective " + arguments + " -n 1 --ranks 2").out;
  };
  const std::string small = " -b 1K -e 1K";
  const auto gather = head("all_gather" + small);
  EXPECT_TRUE(has(gather, "wall, out of place"));
  EXPECT_TRUE(has(gather, "wall, in place"));
  EXPECT_TRUE(has(gather, "count x element x ranks"));
  EXPECT_FALSE(has(head("all_reduce" + small), "out of place"));
  EXPECT_FALSE(has(head("all_to_all" + small), "in place"));
  EXPECT_EQ(words_of(table_of(head("broadcast" + small))[1]), 9U + 2 + 3);
  EXPECT_EQ(words_of(table_of(head("barrier"))[1]), 9U + 1 + 2);
}

TEST(CollectiveVerb, JsonIsOneDocumentWithEveryKey) {
  const auto ended = run_program(
      "collective reduce_scatter -b 64 -e 1K -f 16 -n 2 -w 0 -o all -d int32 --ranks 4 "
      "--algorithm all --json");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  const auto all = ended.document();
  EXPECT_EQ(all["verb"], "collective");
  EXPECT_EQ(all["verdict"], "pass");
  EXPECT_EQ(all["operation"], "reduce_scatter");
  EXPECT_EQ(all["ranks"], 4);
  EXPECT_EQ(all["nodes"], 1);
  EXPECT_EQ(all["iterations"], 2);
  EXPECT_EQ(all["warmup"], 0);
  EXPECT_EQ(all["busbw_factor"], 0.75);
  EXPECT_EQ(all["count_is_per_rank"], true);
  EXPECT_EQ(all["rows"].size(), 2 * 5 * algorithms_of("reduce_scatter").size());
  const auto& row = all["rows"][1];
  EXPECT_EQ(row["size_bytes"], 1024);
  EXPECT_EQ(row["count"], 64);
  EXPECT_EQ(row["type"], "i32");
  EXPECT_EQ(row["redop"], "sum");
  EXPECT_EQ(row["root"], -1);
  EXPECT_EQ(row["wire_bytes"]["all"], 3 * 1024);
  EXPECT_EQ(row["wire_bytes"]["rank_most"], row["claim"]["rank_most_bytes"]);
  EXPECT_FALSE(row["claim"].contains("time_us")) << "no row's time follows from steps and bytes";
  EXPECT_EQ(row["modelled"]["time_ps"].get<double>() / 1e6, row["modelled"]["time_us"]);
  for (const auto* placement : {"in_place", "out_of_place"}) {
    const auto& wall = row["wall"][placement];
    EXPECT_EQ(wall["wrong"], 0);
    EXPECT_GT(wall["time_us"], 0);
    EXPECT_NEAR(wall["busbw_gb_per_s"], wall["algbw_gb_per_s"].get<double>() * 0.75, 1e-9);
  }
  EXPECT_TRUE(all["average_busbw_gb_per_s"].contains("modelled"));
  EXPECT_EQ(all["checks"][0]["name"], "wrong");
  EXPECT_EQ(all["checks"][0]["measured"], 0);
}

// A check of p² n additions takes minutes here, and its ranks count as silent after 6 s.
TEST(CollectiveVerb, TheLargeCheckOfManyRanksIsNoSilence) {
  const auto ended =
      run_program("collective all_reduce -b 1M -e 1M -n 1 -w 0 --ranks 128 --nodes 16 --timeout 3");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_TRUE(has(ended.out, "out of bounds values: 0 OK\n"));
}

TEST(CollectiveVerb, WithoutTheCheckNothingIsCalledRight) {
  const auto arguments = "collective all_reduce -b 64 -e 64 -n 1 -c 0 --ranks 2";
  EXPECT_TRUE(has(run_program(arguments).out, "out of bounds values: not checked"));
  const auto all = run_program(std::string(arguments) + " --json").document();
  EXPECT_TRUE(all["rows"][0]["wall"]["in_place"]["wrong"].is_null());
  EXPECT_EQ(all["checks"].size(), 1U);
}

TEST(CollectiveVerb, NodesLinksAndTheEagerLimitAreTheUsers) {
  const auto time_of = [](const std::string& more) {
    const auto all = run_program(
        "collective all_reduce -b 8K -e 8K -n 1 --ranks 4 --algorithm ring --json" + more);
    EXPECT_EQ(all.exit_code, exit_ok) << all.err;
    return all.document()["rows"][0]["modelled"]["time_ps"].get<std::int64_t>();
  };
  const auto usual = time_of("");
  EXPECT_EQ(time_of(" --eager-limit 0"), usual);
  EXPECT_EQ(time_of(" --set links.nvlink.latency='2 us'"), usual + 6 * 1'000'000);
  EXPECT_GT(time_of(" --nodes 2"), usual);
  EXPECT_EQ(time_of(" --nodes 2"), time_of(" --set cluster.gpus_per_node=2"));
}

TEST(CollectiveVerb, ALostDeviceIsOutOfMemory) {
  const auto ended = run_program(
      "collective all_reduce -b 1M -e 1M -n 1 --ranks 2 --set cluster.capacity='1 kB' --json");
  EXPECT_EQ(ended.exit_code, exit_out_of_memory);
  EXPECT_EQ(ended.document()["verdict"], "oom");
}

struct Refused {
  const char* arguments;
  const char* message;
};

const Refused refused[] = {
    {"", "which operation? One of all_reduce"},
    {"all_reduc", "did you mean all_reduce?"},
    {"all_reduce --algorithm rng", "--algorithm rng: must be one of"},
    {"all_reduce -b 8 -e 4", "-b 8 is above -e 4"},
    {"all_reduce -b four", "-b four: must be bytes"},
    {"all_reduce -f 1", "-f 1: must be an integer from 2"},
    {"all_reduce -i 0", "-i 0: must be at least 1 byte"},
    {"all_reduce -b 0 -e 1G -i 1", "more than 10000 sizes"},
    {"all_reduce -n 0", "-n 0: must be an integer from 1"},
    {"all_reduce -w x", "-w x: must be an integer from 0"},
    {"all_reduce -c x", "-c x: must be"},
    {"all_reduce -d symbol", "-d symbol: a symbol is an expression"},
    {"all_reduce -d f23", "-d f23: no element type"},
    {"all_reduce -o plus", "-o plus: must be one of sum, prod, min, max, avg, all"},
    {"all_gather -o sum", "-o sum: all_gather reduces nothing"},
    {"all_reduce -r 0", "-r 0: all_reduce has no root"},
    {"broadcast -r 8", "-r 8: must be an integer from 0 to 7"},
    {"barrier -b 4", "barrier moves no data"},
    {"all_reduce --ranks 0", "--ranks 0: must be"},
    {"all_reduce --ranks 4 --nodes 5", "cluster.nodes = 5"},
    {"all_reduce --set train.lr=1", "--set train.lr=1: collective takes keys of cluster"},
    {"all_reduce --set links.nvlnk.latency=1", "did you mean"},
    {"all_reduce --pace -1", "--pace -1: must be a number"},
    {"all_reduce --timeout 0", "--timeout 0: must be a number"},
    {"all_reduce --eager-limit x", "--eager-limit x: must be bytes"},
    {"all_reduce -b 1T -e 1T", "are available: give a smaller -e or fewer ranks"},
    {"all_reduce --jsn", "did you mean --json?"},
};

TEST(CollectiveVerb, BadUseExitsWithTwoAndSaysWhatIsRight) {
  for (const auto& [arguments, message] : refused) {
    const auto ended = run_program(std::string("collective ") + arguments);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_TRUE(has(ended.err, message)) << arguments << ": " << ended.err;
  }
}

TEST(CollectiveVerb, HelpNamesEveryFlagAndOperation) {
  const auto help = run_program("collective --help");
  EXPECT_EQ(help.exit_code, exit_ok);
  for (const auto* flag :
       {"-b", "-e", "-i", "-f", "-n", "-w", "-c", "-d", "-o", "-r", "--algorithm", "--ranks",
        "--nodes", "--set", "--eager-limit", "--pace", "--timeout", "--json"}) {
    EXPECT_TRUE(has(help.out, flag)) << flag;
  }
  for (const auto& operation : measured_operations()) {
    EXPECT_TRUE(has(help.out, operation)) << operation;
  }
}

TEST(TextTable, IsAlignedAndWidensWhereItMust) {
  TextTable table({{"a"}, {"b", "a long heading"}, {"c", "a long heading"}, {"d", "", true}});
  table.add({"1000", "2", "3", "x"});
  EXPECT_EQ(table.text(),
            "        a long heading\n"
            "     a            b  c  d\n"
            "  1000            2  3  x\n");
}

TEST(TextTable, FiguresKeepFourDigitsAndNeverBecomeZero) {
  EXPECT_EQ(four_digits(0), "0");
  EXPECT_EQ(four_digits(107.3741824), "107.4");
  EXPECT_EQ(four_digits(267900.4), "267900");
  EXPECT_EQ(four_digits(0.0002857), "0.0002857");
  EXPECT_EQ(four_digits(6.282e-7), "6.282e-07");
}

}  // namespace
}  // namespace ringside
