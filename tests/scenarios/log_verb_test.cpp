// `ringside log`: what it prints, sums and refuses.
#include "scenarios/log_verb.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/traffic_matrix.hpp"
#include "tests/runtime/ring_traffic.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

using nlohmann::json;

// A ring all-reduce of 4 ranks, a broadcast from rank 0 over ib, and a message to itself.
std::vector<RankReport> example() {
  auto ranks = ring_reports(4, 1000);
  for (int dst = 1; dst < 4; ++dst) {
    auto record = message_record(0, dst, Time(100'000), 20'000U + static_cast<unsigned>(dst));
    record.envelope.group_name = "world"sv;
    record.envelope.signature.operation = "broadcast"sv;
    record.envelope.signature.algorithm = "linear"sv;
    record.envelope.link = LinkClass::ib;
    ranks[static_cast<std::size_t>(dst)].records.push_back(record);
  }
  auto self = message_record(2, 2, Time(200'000), 5);
  self.envelope.signature.operation = "send"sv;
  self.envelope.signature.algorithm = ""sv;
  ranks[2].records.push_back(self);
  return ranks;
}

class LogVerb : public testing::Test {
 protected:
  LogVerb() {
    std::filesystem::remove_all(run);
    std::filesystem::create_directories(run);
    write_traffic_log(run + "/traffic.jsonl", example());
  }

  ~LogVerb() override { std::filesystem::remove_all(run); }

  static std::string printed(const LogRequest& request) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(log_verb(request), 0);
    return testing::internal::GetCapturedStdout();
  }

  json document(LogRequest request) {
    request.run = run;
    request.json = true;
    return json::parse(printed(request));
  }

  std::string refusal(LogRequest request) {
    request.run = request.run.empty() ? run : request.run;
    testing::internal::CaptureStdout();
    std::string text;
    try {
      log_verb(request);
    } catch (const BadUse& error) {
      text = error.what();
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    return text;
  }

  TemporaryFolder folder;
  std::string run = (folder / "run").string();
};

TEST_F(LogVerb, FiltersAndSumsByLabel) {
  const auto all = document({});
  ASSERT_EQ(all["labels"].size(), 2U) << all["labels"];
  EXPECT_EQ(all["labels"][0]["label"], "");
  EXPECT_EQ(all["labels"][0]["messages"], 4);
  EXPECT_EQ(all["labels"][0]["bytes"], 20'001 + 20'002 + 20'003 + 5);
  EXPECT_EQ(all["labels"][1]["label"], "grad.bucket.0");
  EXPECT_EQ(all["labels"][1]["messages"], 24);
  for (const auto* label : {"grad.bucket.0", "grad.*", "*"}) {
    EXPECT_EQ(document({.label = label})["messages"], *label == '*' ? 28 : 24) << label;
  }
  EXPECT_EQ(document({.op = "broadcast", .label = "*"})["messages"], 3);
  EXPECT_NE(refusal({.label = "grad.bucket"}).find("grad.bucket.0"), std::string::npos);
  EXPECT_NE(refusal({.label = "x*"}), "");
  const auto text = printed({.run = run, .by_label = true});
  EXPECT_NE(text.find("grad.bucket.0"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nbroadcast (linear)"), std::string::npos) << text;
}

TEST_F(LogVerb, SumsEqualTheMessages) {
  const auto all = document({});
  EXPECT_EQ(all["verb"], "log");
  EXPECT_EQ(all["verdict"], "pass");
  EXPECT_EQ(all["messages"], 24 + 3 + 1);
  EXPECT_EQ(all["bytes"], 24'000 + 60'006 + 5);
  std::int64_t messages = 0, bytes = 0;
  for (const auto& kind : all["by"]) {
    messages += kind["messages"].get<std::int64_t>();
    bytes += kind["bytes"].get<std::int64_t>();
  }
  EXPECT_EQ(all["by"].size(), 3U);
  EXPECT_EQ(all["by"][0]["op"], "all_reduce");
  EXPECT_EQ(all["by"][0]["algorithm"], "ring");
  EXPECT_EQ(all["by"][0]["group"], "dp");
  EXPECT_EQ(all["by"][0]["link"], "nvlink");
  EXPECT_EQ(messages, all["messages"]);
  EXPECT_EQ(bytes, all["bytes"]);
  EXPECT_EQ(all["ranks"][0]["sent"]["bytes"], 6'000 + 60'006);
  EXPECT_EQ(all["ranks"][0]["received"]["messages"], 6);
  EXPECT_EQ(all["ranks"][3]["received"]["bytes"], 6'000 + 20'003);
  EXPECT_FALSE(all.contains("matrix"));
}

TEST_F(LogVerb, FiltersByRankOperationGroupStepAndLink) {
  EXPECT_EQ(document({.rank = 1})["messages"], 6 + 6 + 1);  // sent, received, broadcast
  EXPECT_EQ(document({.rank = 2})["messages"], 6 + 6 + 1 + 1);
  EXPECT_EQ(document({.op = "broadcast"})["bytes"], 60'006);
  EXPECT_EQ(document({.group = "dp"})["messages"], 25);
  EXPECT_EQ(document({.link = "ib"})["messages"], 3);
  EXPECT_EQ(document({.link = "self"})["messages"], 1);
  EXPECT_EQ(document({.step = 5})["messages"], 4);
  EXPECT_EQ(document({.rank = 3, .op = "all_reduce", .step = 2})["messages"], 2);
  const auto none = document({.op = "broadcast", .link = "nvlink"});  // each occurs, not together
  EXPECT_EQ(none["messages"], 0);
  EXPECT_EQ(none["verdict"], "pass");
}

TEST_F(LogVerb, MatrixSumsEqualTheTotals) {
  const auto all = document({.matrix = true});
  const auto& matrix = all["matrix"];
  EXPECT_EQ(matrix["ranks"], json({0, 1, 2, 3}));
  EXPECT_EQ(matrix["bytes"][0], json({0, 26'001, 20'002, 20'003}));
  EXPECT_EQ(matrix["bytes"][2], json({0, 0, 5, 6'000}));
  std::int64_t total = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    std::int64_t sent = 0, received = 0;
    for (std::size_t column = 0; column < 4; ++column) {
      sent += matrix["bytes"][row][column].get<std::int64_t>();
      received += matrix["bytes"][column][row].get<std::int64_t>();
    }
    EXPECT_EQ(matrix["sent"][row], sent);
    EXPECT_EQ(matrix["received"][row], received);
    EXPECT_EQ(all["ranks"][row]["sent"]["bytes"], sent);
    EXPECT_EQ(all["ranks"][row]["received"]["bytes"], received);
    total += sent;
  }
  EXPECT_EQ(all["bytes"], total);
  EXPECT_EQ(document({.rank = 2, .op = "send", .matrix = true})["matrix"]["bytes"], json({{5}}));
}

TEST_F(LogVerb, PrintsTheMatrixAsATable) {
  const auto text = printed({.run = run, .op = "broadcast", .matrix = true});
  EXPECT_NE(text.find("from\\to     0     1     2     3   sum\n"
                      "      0     . 20.0k 20.0k 20.0k 60.0k\n"
                      "      1     .     .     .     .     0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n    sum     0 20.0k 20.0k 20.0k 60.0k\n"), std::string::npos) << text;
}

TEST(ShortBytes, NeverPrintsSomethingAsNothingAndStaysShort) {
  EXPECT_EQ(short_bytes(0), "0");
  EXPECT_EQ(short_bytes(9'999), "9999");
  EXPECT_EQ(short_bytes(10'000), "10.0k");
  EXPECT_EQ(short_bytes(99'950), "100k");
  EXPECT_EQ(short_bytes(999'499), "999k");
  EXPECT_EQ(short_bytes(999'500), "1.00M");
  EXPECT_EQ(short_bytes(3'214'000'000), "3.21G");
  EXPECT_EQ(short_bytes(INT64_MAX), "9.22E");
}

TEST_F(LogVerb, TopGivesTheLargestFirstAndOfEqualsTheFirst) {
  const auto top = document({.top = 5})["top"];
  ASSERT_EQ(top.size(), 5U);
  EXPECT_EQ(top[0]["bytes"], 20'003);
  EXPECT_EQ(top[2]["bytes"], 20'001);
  EXPECT_EQ(top[3]["start_ps"], 0);
  EXPECT_EQ(top[3]["src"], 0);
  EXPECT_EQ(top[4]["src"], 1);
  EXPECT_EQ(document({.op = "broadcast", .top = 99})["top"].size(), 3U);
  EXPECT_NE(refusal({.top = -1}).find("--top -1"), std::string::npos);
}

TEST_F(LogVerb, PrintsALineForEachMessageThenTheSums) {
  const auto text = printed({.run = run + "/traffic.jsonl", .op = "broadcast"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 3 + 1 + 3 + 1 + 1 + 4) << text;
  EXPECT_TRUE(text.starts_with("3 messages, their sums at the end\n")) << text;
  EXPECT_EQ(text.find(" step 0"), std::string::npos) << text;
  EXPECT_NE(text.find("    0    3 20.003 kB  ib "), std::string::npos) << text;
  EXPECT_NE(text.find("broadcast (linear) "), std::string::npos) << text;
  EXPECT_NE(text.find("60006"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(LogVerb, SaysThatTheSumsOfATopAreOfAllMessages) {
  const auto text = printed({.run = run, .top = 2});
  EXPECT_TRUE(text.starts_with("the 2 largest of 28 messages\n")) << text;
  EXPECT_NE(text.find("sums of all 28 messages:\noperation"), std::string::npos) << text;
}

TEST_F(LogVerb, ReadsNothingThatIsNoRegularFile) {
  EXPECT_NE(refusal({.run = "/dev/zero"}).find("neither a folder nor a regular file"),
            std::string::npos);
}

TEST_F(LogVerb, GuessesTheFolderOfRuns) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories("runs/dp-ring-1");
  const auto text = refusal({.run = "dp-ring-1"});
  std::filesystem::current_path(before);
  EXPECT_NE(text.find("did you mean runs/dp-ring-1?"), std::string::npos) << text;
}

TEST_F(LogVerb, SaysWhenARunKeptNotEvenSums) {
  std::filesystem::remove(run + "/traffic.jsonl");
  std::ofstream(run + "/summary.json")
      << R"({"scenario":"dp/ring","log":"none","traffic":[{"rank":0,"sums":[]}]})";
  EXPECT_NE(refusal({}).find("nor their sums (--log none)"), std::string::npos);
}

TEST_F(LogVerb, RefusesNamesThatDoNotOccurWithThoseThatDo) {
  EXPECT_NE(refusal({.op = "allreduce"}).find("it has all_reduce, broadcast, send"),
            std::string::npos);
  EXPECT_NE(refusal({.op = "allreduce"}).find("did you mean all_reduce?"), std::string::npos);
  EXPECT_NE(refusal({.rank = 4}).find("it has 0 to 3"), std::string::npos);
  EXPECT_NE(refusal({.rank = -1}).find("--rank -1"), std::string::npos);
  EXPECT_NE(refusal({.group = "tp"}).find("it has dp, world"), std::string::npos);
  EXPECT_NE(refusal({.link = "pcie"}).find("it has ib, nvlink, self"), std::string::npos);
  EXPECT_NE(refusal({.step = 6}).find("it has 0 to 5"), std::string::npos);
}

TEST_F(LogVerb, SaysWhereThereIsNoLog) {
  EXPECT_NE(refusal({.run = run + "/x"}).find("there is no run"), std::string::npos);
  std::filesystem::remove(run + "/traffic.jsonl");
  EXPECT_NE(refusal({}).find("no run's folder"), std::string::npos);
  for (const auto* text : {"{", "[]", R"({"scenario":"dp/ring"})", R"({"scenario":1,"traffic":[]})",
                           R"({"scenario":"dp/ring","traffic":[{"rank":0,"sums":[{}]}]})"}) {
    std::ofstream(run + "/summary.json") << text;
    const char* why = std::string(text) == "{" ? "is no JSON" : "has no sums of traffic";
    EXPECT_NE(refusal({}).find(why), std::string::npos) << text;
  }
}

TEST_F(LogVerb, SumsARunThatKeptNoMessages) {
  std::filesystem::remove(run + "/traffic.jsonl");
  json summary = {{"verb", "run"}, {"scenario", "dp/ring"}};
  for (int rank = 0; rank < 3; ++rank) {
    summary["traffic"].push_back({{"rank", rank},
                                  {"sums",
                                   {{{"group", "dp"},
                                     {"operation", "all_reduce"},
                                     {"label", "grad.bucket.0"},
                                     {"link", "nvlink"},
                                     {"sent_bytes", 400},
                                     {"sent_messages", 4},
                                     {"received_bytes", 400},
                                     {"received_messages", 4}},
                                    {{"group", "dp"},
                                     {"operation", "broadcast"},
                                     {"label", "weights"},
                                     {"link", "ib"},
                                     {"sent_bytes", rank == 0 ? 14 : 0},
                                     {"sent_messages", rank == 0 ? 2 : 0},
                                     {"received_bytes", rank == 0 ? 0 : 7},
                                     {"received_messages", rank == 0 ? 0 : 1}}}}});
  }
  std::ofstream(run + "/summary.json") << summary;
  testing::internal::CaptureStderr();
  const auto all = document({});
  EXPECT_EQ(all["messages"], 14);
  EXPECT_EQ(all["bytes"], 1'214);
  EXPECT_EQ(all["ranks"][0]["sent"]["bytes"], 414);
  EXPECT_EQ(all["ranks"][2]["received"]["messages"], 5);
  EXPECT_EQ(document({.link = "ib"})["bytes"], 14);
  EXPECT_NE(printed({.run = run}).find("all_reduce"), std::string::npos);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ringside run dp/ring --log full"),
            std::string::npos);
  EXPECT_NE(refusal({.group = "tp"}).find("it has dp"), std::string::npos);
  for (const auto& request : {LogRequest{.rank = 0}, LogRequest{.step = 0}, LogRequest{.top = 1},
                              LogRequest{.matrix = true}}) {
    EXPECT_NE(refusal(request).find("ringside run dp/ring --log full"), std::string::npos);
  }
}

TEST_F(LogVerb, TellsOfALogThatIsCut) {
  std::ofstream(run + "/traffic.jsonl", std::ios::app) << R"({"group":"d)";
  testing::internal::CaptureStderr();
  const auto cut = document({});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("last line is cut"), std::string::npos);
  EXPECT_EQ(cut["cut"], true);
  EXPECT_EQ(cut["messages"], 28);
}

TEST_F(LogVerb, AnEmptyLogHasNoMessages) {
  write_traffic_log(run + "/traffic.jsonl", {});
  EXPECT_EQ(printed({.run = run}), "no messages\n");
  EXPECT_EQ(printed({.run = run, .top = 3, .matrix = true}), "no messages\n");
  EXPECT_EQ(document({.matrix = true})["messages"], 0);
  EXPECT_NE(refusal({.rank = 0}).find("the log is empty"), std::string::npos);
}

TEST_F(LogVerb, RefusesSumsThatPassTheLargestNumber) {
  auto record = message_record(0, 1, Time(0), 1);
  record.envelope.bytes = INT64_MAX;
  RankReport rank;
  rank.records = {record, record};
  write_traffic_log(run + "/traffic.jsonl", {rank});
  LogRequest request{.json = true};
  EXPECT_NE(refusal(request).find("2^63"), std::string::npos);
}

}  // namespace
}  // namespace ringside
