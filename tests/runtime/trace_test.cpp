// trace.json, read back: flows join sends to their receives, and nothing is where a viewer would
// mistake it.
#include "runtime/trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "runtime/trace_lanes.hpp"
#include "tests/runtime/ring_traffic.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

using nlohmann::json;

// A slice, or a mark: what it says of its picoseconds.
struct Slice {
  std::int64_t start, end;
  json event;
};

using Thread = std::pair<int, int>;  // pid, tid

class Trace : public testing::Test {
 protected:
  void write(const std::vector<RankReport>& ranks) {
    const TemporaryFolder folder;
    const auto path = folder / "trace.json";
    write_trace(path, ranks);
    document = json::parse(std::ifstream(path));
    for (const auto& event : document["traceEvents"]) {
      const Thread thread(event["pid"], event["tid"]);
      const auto kept = [&](auto& into) {
        into[thread].push_back({event["args"]["start_ps"], event["args"]["end_ps"], event});
      };
      if (event["ph"] == "X") {
        kept(slices);
      } else if (event["ph"] == "i") {
        kept(marks);
      } else if (event["ph"] == "M") {
        names[{event["name"], event["pid"], event["tid"]}] = event["args"];
      } else {
        flows[event["ph"]].push_back(event);
      }
    }
  }

  // The one slice that begins at the flow's end, on its thread.
  Slice slice_of(const json& flow) {
    std::vector<Slice> found;
    for (const auto& slice : slices[{flow["pid"], flow["tid"]}]) {
      if (slice.event["ts"] == flow["ts"]) {
        found.push_back(slice);
      }
    }
    EXPECT_EQ(found.size(), 1U) << flow;
    return found.at(0);
  }

  std::map<std::int64_t, std::pair<Slice, Slice>> joined() {
    std::map<std::int64_t, std::pair<Slice, Slice>> pairs;
    for (const auto& flow : flows["s"]) {
      EXPECT_FALSE(pairs.contains(flow["id"])) << "two flows with one id";
      pairs[flow["id"]].first = slice_of(flow);
    }
    std::set<std::int64_t> ended;
    for (const auto& flow : flows["f"]) {
      EXPECT_EQ(flow["bp"], "e");
      EXPECT_TRUE(pairs.contains(flow["id"])) << "an end without a start";
      EXPECT_TRUE(ended.insert(flow["id"].get<std::int64_t>()).second);
      pairs[flow["id"]].second = slice_of(flow);
    }
    EXPECT_EQ(ended.size(), pairs.size());
    return pairs;
  }

  json document;
  std::map<Thread, std::vector<Slice>> slices, marks;
  std::map<std::string, std::vector<json>> flows;
  std::map<std::tuple<std::string, int, int>, json> names;
};

TEST_F(Trace, N3FlowsJoinEachSendToItsReceiveOnly) {
  const auto ranks = ring_reports(4, 1'000'003);
  write(ranks);
  const auto pairs = joined();
  ASSERT_EQ(pairs.size(), 4U * 6U);
  std::multiset<std::tuple<int, int, std::int64_t, std::int64_t, int>> seen, expected;
  for (const auto& [id, pair] : pairs) {
    const auto& [send, receive] = pair;
    const auto& args = receive.event["args"];
    EXPECT_EQ(send.event["cat"], "send");
    EXPECT_EQ(receive.event["cat"], "receive");
    EXPECT_EQ(send.event["args"]["peer"], receive.event["pid"]);
    EXPECT_EQ(args["peer"], send.event["pid"]);
    for (const auto* key : {"bytes", "step", "chunk", "label"}) {
      EXPECT_EQ(send.event["args"][key], args[key]);
    }
    EXPECT_GE(receive.start, send.start);
    EXPECT_GE(receive.end, send.end) << "a receive ends before its send";
    seen.emplace(send.event["pid"], receive.event["pid"], send.start, receive.end, args["step"]);
  }
  for (const auto& rank : ranks) {
    for (const auto& [e, arrival, wall] : rank.records) {
      expected.emplace(e.source, e.destination, e.t0.count(), arrival.count(), e.step);
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(Trace, ManyToOneAndOneToManyKeepTheirFlowsApart) {
  std::vector<RankReport> ranks(5);
  for (int src = 1; src < 5; ++src) {  // all leave at once and queue at rank 0, back to back
    auto gathered = message_record(src, 0, Time(0), 1000);
    gathered.arrival = Time(1000 + 1000 * src);
    ranks[0].records.push_back(gathered);
    ranks[static_cast<std::size_t>(src)].records.push_back(
        message_record(0, src, Time(9000), 0));  // nothing, four times at once
  }
  ranks[3].records.push_back(message_record(3, 3, Time(7), 10));
  write(ranks);
  EXPECT_EQ(joined().size(), 5U);
  EXPECT_EQ((slices[{0, 1000}].size()), 0U);
  EXPECT_EQ((marks[{0, 1000}].size()), 4U) << "what takes no time is no slice";
  EXPECT_EQ((slices[{0, 2000}].size()), 4U);
  EXPECT_EQ((names[{"thread_name", 0, 1000}]["name"]), "send");
}

// What viewers make of a time in microseconds: whole nanoseconds, cut or rounded.
using Nanoseconds = std::int64_t (*)(double);
constexpr Nanoseconds cut = [](double us) { return static_cast<std::int64_t>(us * 1000.0); };
constexpr Nanoseconds rounded = [](double us) {
  return static_cast<std::int64_t>(std::llround(us * 1000.0));
};

TEST_F(Trace, InWholeNanosecondsNoSliceOverlapsAndNoneIsEmpty) {
  std::vector<RankReport> ranks(2);
  ranks[0].streams = {"compute"sv};
  Time now{0};
  for (int i = 0; i < 4000; ++i) {  // lengths about a nanosecond, some of nothing
    const Time end = now + Time((i * 7919) % 2501 * (i % 5 == 0 ? 0 : 1));
    ranks[0].spans.push_back({0, "forward"sv, now, end});
    auto record = message_record(1, 0, now, static_cast<std::uint64_t>((end - now).count()));
    ranks[0].records.push_back(record);
    now = end;
  }
  write(ranks);
  for (const auto nanoseconds : {cut, rounded}) {
    for (const auto& [thread, all] : slices) {
      std::int64_t free = 0;
      for (const auto& slice : all) {
        const auto start = nanoseconds(slice.event["ts"].get<double>());
        const auto length = nanoseconds(slice.event["dur"].get<double>());
        EXPECT_GE(start, free) << slice.event;
        EXPECT_GE(slice.event["dur"].get<double>(), 0.001) << slice.event;
        EXPECT_GE(start, slice.start / 1000) << slice.event;
        EXPECT_LE(start, slice.start / 1000 + 1) << slice.event;
        free = start + length;
      }
    }
  }
  EXPECT_GT((slices[{0, 1}].size()), 1500U);
  EXPECT_LE((slices[{0, 1}].size()), 3200U);
}

TEST_F(Trace, ItsSizeIsKnownBeforeItIsWritten) {
  const TemporaryFolder folder;
  for (const int p : {3, 8, 40}) {
    const auto ranks = ring_reports(p, 1'000'003);
    write_trace(folder / "trace.json", ranks);
    const auto size = static_cast<double>(std::filesystem::file_size(folder / "trace.json"));
    EXPECT_NEAR(static_cast<double>(trace_size(ranks)) / size, 1, 0.2) << p;
  }
}

TEST_F(Trace, NoTwoSlicesOfAThreadOverlap) {
  std::vector<RankReport> ranks(2);
  for (int i = 0; i < 10; ++i) {  // two streams that share the port: departures overlap
    auto record = message_record(0, 1, Time(700 * i), 1000);
    record.envelope.t1 = record.envelope.t0 + Time(1000 + 300 * (i % 3));
    record.arrival = record.envelope.t1 + Time(50);
    ranks[1].records.push_back(record);
  }
  write(ranks);
  for (auto& [thread, all] : slices) {
    std::int64_t end = 0;
    for (const auto& slice : all) {
      EXPECT_GE(slice.start, end) << thread.first << " " << thread.second << " " << slice.event;
      end = slice.end;
    }
  }
}

TEST_F(Trace, NamesRanksStreamsAndLanesAndSaysWhoseTimeItIs) {
  write(ring_reports(3, 1'234'567));
  EXPECT_EQ(document["displayTimeUnit"], "ns");
  EXPECT_EQ(document["distributedInfo"]["world_size"], 3);
  EXPECT_NE(document["otherData"]["time"].get<std::string>().find("modelled"), std::string::npos);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ((names[{"process_name", rank, 1}]["name"]), "rank " + std::to_string(rank));
    EXPECT_EQ((names[{"process_sort_index", rank, 1}]["sort_index"]), rank);
    EXPECT_EQ((names[{"thread_name", rank, 1}]["name"]), "compute");
    EXPECT_EQ((names[{"thread_name", rank, 2}]["name"]), "dp");
    EXPECT_EQ((names[{"thread_name", rank, 1000}]["name"]), "send");
    EXPECT_EQ((names[{"thread_name", rank, 2000}]["name"]), "receive");
    const auto& spans = slices[{rank, 2}];
    ASSERT_EQ(spans.size(), 4U);
    EXPECT_EQ(spans[3].event["name"], "all_reduce");
    EXPECT_EQ(spans[3].start, 3 * 1'235'567);
    EXPECT_EQ(spans[3].end, 4 * 1'235'567);
  }
}

TEST_F(Trace, N2EscapesTexts) {
  std::vector<RankReport> ranks(1);
  ranks[0].streams = {"quo\"te \xff"sv};
  ranks[0].spans = {{0, "a\\b\n"sv, Time(1), Time(2)}};
  write(ranks);
  EXPECT_EQ((names[{"thread_name", 0, 1}]["name"]), "quo\"te \uFFFD");
  EXPECT_EQ((slices[{0, 1}].at(0).event["name"]), "a\\b\n");
}

TEST_F(Trace, IsWholeWithoutAnyRank) {
  write({});
  EXPECT_TRUE(document["traceEvents"].empty());
}

TEST(TraceLanes, AreSharedByWhatDoesNotOverlap) {
  TraceLanes lanes;
  EXPECT_EQ(lanes.place({0, 5}), 0U);
  EXPECT_EQ(lanes.place({4, 9}), 1U);
  EXPECT_EQ(lanes.place({5, 6}), 0U);
  EXPECT_EQ(lanes.place({5, 6}), 2U);
  EXPECT_EQ(lanes.place({6, 7}), 0U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LT(lanes.place({7, 8}), TraceLanes::most);
  }
  EXPECT_EQ(lanes.count(), TraceLanes::most);
}

}  // namespace
}  // namespace ringside
