// traffic.jsonl: its order, its lines, and what reading makes of bad ones.
#include "runtime/traffic_log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <locale>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "runtime/traffic_line.hpp"
#include "tests/runtime/ring_traffic.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;

class TrafficLog : public testing::Test {
 protected:
  std::vector<std::string> written(const std::vector<RankReport>& ranks) {
    write_traffic_log(path, ranks);
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  void put(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  std::string refusal() {
    try {
      read_traffic_log(path, [](const LoggedMessage&) {});
    } catch (const BadUse& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder;
  std::filesystem::path path = folder / "traffic.jsonl";
};

TEST_F(TrafficLog, HasExactlyTheKeysInTheirOrder) {
  const auto lines = written(ring_reports(2, 1000));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[2],
            R"({"group":"dp","seq":0,"op":"all_reduce","algorithm":"ring","phase":"all_gather",)"
            R"("step":1,"chunk":0,"label":"grad.bucket.0","src":0,"dst":1,"link":"nvlink",)"
            R"("bytes":1000,"start_ps":2000,"end_ps":4000,"wall_ns":2007})");
}

TEST_F(TrafficLog, IsOrderedByStartSourceGroupSequenceStepChunkDestinationThenProgramOrder) {
  std::vector<RankReport> ranks(4);
  std::vector<TrafficRecord> expected;
  const auto add = [&](int src, int dst, int start, std::string_view group, unsigned seq, int step,
                       int chunk) {
    auto record = message_record(src, dst, Time(start), 1);
    record.envelope.group_name = group;
    record.envelope.signature.sequence = seq;
    record.envelope.step = step;
    record.envelope.chunk = chunk;
    record.wall_ns = static_cast<std::int64_t>(expected.size());
    expected.push_back(record);
  };
  add(3, 0, 0, "z", 9, 9, 9);
  add(0, 3, 5, "z", 9, 9, 9);
  add(1, 3, 5, "a", 9, 9, 9);
  add(1, 3, 5, "b", 2, 9, 9);
  add(1, 3, 5, "b", 10, 1, 9);
  add(1, 3, 5, "b", 10, 2, 7);
  add(1, 2, 5, "b", 10, 2, 8);
  add(1, 3, 5, "b", 10, 2, 8);
  add(1, 3, 5, "b", 10, 2, 8);  // a tie: as its receiver met them
  for (const std::size_t i : {7U, 8U, 4U, 6U, 2U, 0U, 5U, 3U, 1U}) {
    ranks[static_cast<std::size_t>(expected[i].envelope.destination)].records.push_back(
        expected[i]);
  }
  const auto lines = written(ranks);
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(Json::parse(lines[i])["wall_ns"], i) << lines[i];
  }
}

TEST_F(TrafficLog, EqualRunsWriteEqualFilesButForWallTime) {
  auto first = ring_reports(5, 64);
  auto second = first;
  for (auto& rank : second) {
    for (auto& record : rank.records) {
      record.wall_ns = 3 * record.wall_ns + 1;
    }
  }
  auto a = written(first);
  auto b = written(second);
  EXPECT_NE(a, b);
  for (auto* lines : {&a, &b}) {
    for (auto& line : *lines) {
      line.resize(line.find("\"wall_ns\""));
    }
  }
  EXPECT_EQ(a, b);
}

TEST_F(TrafficLog, ReadsWhatItWrote) {
  const auto ranks = ring_reports(4, 1 << 20);
  write_traffic_log(path, ranks);
  std::vector<std::string> lines;
  const auto end = read_traffic_log(
      path, [&](const LoggedMessage& message) { lines.push_back(traffic_line(message)); });
  EXPECT_EQ(end.messages, 4U * 6U);
  EXPECT_FALSE(end.cut);
  EXPECT_EQ(lines, written(ranks));
}

TEST_F(TrafficLog, N2EscapesTextsAndReplacesInvalidUtf8) {
  auto record = message_record(0, 0, Time(0), 1);
  record.envelope.signature.label = "a\"b\\c\n\t\x01 小明"sv;
  record.envelope.group_name = "\xff\xfe dp \xc3"sv;
  const std::string cut_in_a_character(30, 'x');  // the text holds 31 bytes
  record.envelope.signature.operation = "op"sv;
  RankReport rank;
  rank.records = {record};
  record.envelope.signature.label = std::string_view(cut_in_a_character + "小");
  rank.records.push_back(record);
  const auto lines = written({rank});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(Json::parse(lines[0])["label"], "a\"b\\c\n\t\x01 小明");
  EXPECT_EQ(Json::parse(lines[0])["group"], "\uFFFD\uFFFD dp \uFFFD");
  EXPECT_EQ(Json::parse(lines[1])["label"], cut_in_a_character + "\uFFFD");
  EXPECT_EQ(read_traffic_log(path, [](const LoggedMessage&) {}).messages, 2U);
}

// A locale that writes 1.234.567,5, as German ones do, whichever are installed here.
struct Grouped : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }

  char do_thousands_sep() const override { return '.'; }

  std::string do_grouping() const override { return "\3"; }
};

TEST_F(TrafficLog, N2NumbersDoNotFollowTheLocale) {
  const auto plain = written(ring_reports(3, 1'234'567));
  const auto before = std::locale::global(std::locale(std::locale(), new Grouped));
  const auto grouped = written(ring_reports(3, 1'234'567));
  std::size_t messages = 0;
  EXPECT_NO_THROW(messages = read_traffic_log(path, [](const LoggedMessage&) {}).messages);
  std::locale::global(before);
  EXPECT_EQ(plain, grouped);
  EXPECT_EQ(messages, 12U);
}

TEST_F(TrafficLog, LeavesOutALastLineThatIsOnlyBegun) {
  const auto line = traffic_line(logged(message_record(0, 1, Time(5), 9)));
  for (std::size_t length = 1; length < line.size(); ++length) {
    put(line + "\n" + line.substr(0, length));
    std::size_t taken = 0;
    const auto end = read_traffic_log(path, [&](const LoggedMessage&) { ++taken; });
    EXPECT_TRUE(end.cut) << length;
    EXPECT_EQ(end.messages, 1U);
    EXPECT_EQ(taken, 1U);
  }
  put(line + "\n" + line);  // whole, but for the line's end
  EXPECT_FALSE(read_traffic_log(path, [](const LoggedMessage&) {}).cut);
  put("");
  EXPECT_EQ(read_traffic_log(path, [](const LoggedMessage&) {}).messages, 0U);
}

TEST_F(TrafficLog, RefusesNonsenseWithItsLine) {
  const auto line = traffic_line(logged(message_record(0, 1, Time(5), 9)));
  const auto with = [&](const std::string& from, const std::string& to) {
    auto bad = line;
    bad.replace(bad.find(from), from.size(), to);
    put(line + "\n" + bad + "\n" + line + "\n");
    return refusal();
  };
  const std::string at = path.string() + " line 2: ";
  EXPECT_EQ(with(R"("seq":0)", R"("sequence":0)"), at + "no \"seq\"");
  EXPECT_EQ(with(R"("nvlink")", R"("pcie")"), at + "\"link\" is \"pcie\", not nvlink, ib or self");
  EXPECT_EQ(with(R"("bytes":9)", R"("bytes":9.5)"),
            at + "\"bytes\" is not a whole number in its range");
  EXPECT_EQ(with(R"("bytes":9)", R"("bytes":18446744073709551615)"),
            at + "\"bytes\" is not a whole number in its range");
  EXPECT_EQ(with(R"("op":"all_reduce")", R"("op":null)"), at + "\"op\" is not a text");
  EXPECT_EQ(with(R"("src":0)", R"("src":-1)"), at + "\"src\" is -1, not 0 to 65535");
  EXPECT_EQ(with(R"("src":0)", R"("src":[0])"), at + "\"src\" is not a whole number in its range");
  EXPECT_NE(with(R"("end_ps":)", R"("end_ps":1,"x":)").find("line 2: \"end_ps\" is 1, not 5 to"),
            std::string::npos);
  EXPECT_EQ(with(line, "[1,2]"), at + "no JSON object");
  EXPECT_EQ(with(line, ""), at + "no JSON object");
  EXPECT_EQ(with(line, "\xff\xff"), at + "no JSON object");
  EXPECT_EQ(with(line, line + line), at + "no JSON object");
}

TEST_F(TrafficLog, PassesOverKeysItDoesNotKnow) {
  auto line = traffic_line(logged(message_record(0, 1, Time(5), 9)));
  line.back() = ',';
  put(line + R"("later":{"op":1,"list":[{"seq":null}]},"more":[1.5,true]})" + "\n");
  EXPECT_EQ(read_traffic_log(path, [](const LoggedMessage& m) { EXPECT_EQ(m.op, "all_reduce"); })
                .messages,
            1U);
}

TEST_F(TrafficLog, SaysWhatCannotBeReadOrWritten) {
  path = folder / "no such folder/traffic.jsonl";
  EXPECT_EQ(refusal(), path.string() +
                           ": cannot be read: No such file or directory: give a traffic.jsonl that "
                           "exists and that you may read");
  EXPECT_THROW(write_traffic_log(path, {}), BadUse);
  path = folder.path();
  EXPECT_EQ(refusal(), path.string() +
                           ": cannot be read: it is a folder: give a traffic.jsonl, which is a "
                           "regular file");
  path = "/dev/full";
  if (std::filesystem::exists(path)) {
    EXPECT_THROW(write_traffic_log(path, ring_reports(2, 1)), BadUse);
  }
}

}  // namespace
}  // namespace ringside
