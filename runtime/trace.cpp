#include "runtime/trace.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "runtime/files/text_file.hpp"
#include "runtime/json_text.hpp"
#include "runtime/logged_message.hpp"
#include "runtime/trace_lanes.hpp"

namespace ringside {
namespace {

// One end of a message, on a lane of its rank.
struct End {
  const TrafficRecord* record = nullptr;
  Time start{0};
  Time end{0};
  std::optional<TraceSlice> slice{};  // none: it takes no time
  std::size_t tid = 0;
};

// The ends of all messages by rank: what each sent, or received.
using Ends = std::map<int, std::vector<End>>;

struct Sides {
  Ends sent;
  Ends received;
};

Sides sides_of(const std::vector<RankReport>& ranks) {
  Sides sides;
  for (const auto& rank : ranks) {
    for (const auto& record : rank.records) {
      const auto& e = record.envelope;
      const auto start = std::max(record.arrival - (e.t1 - e.t0), e.t0);
      sides.sent[e.source].push_back({&record, e.t0, e.t1});
      sides.received[e.destination].push_back({&record, start, record.arrival});
    }
  }
  return sides;
}

// Microseconds of a whole nanosecond. A quarter of one is added, so that a viewer finds this
// nanosecond again whether it cuts or rounds the product of a thousand and a binary fraction.
std::string begins(std::int64_t nanosecond) {
  return fmt::format("{}.{:03}25", nanosecond / 1000, nanosecond % 1000);
}

std::string lasts(const TraceSlice& slice) {
  const auto nanoseconds = slice.end - slice.start;
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

class TraceWriter {
 public:
  TraceWriter(const std::filesystem::path& path, const std::vector<RankReport>& ranks)
      : file_(path), ranks_(ranks) {
    std::size_t streams = 0;
    for (const auto& rank : ranks) {
      streams = std::max(streams, rank.streams.size());
    }
    // Equal on all ranks, and easy to tell from streams.
    send_tid_ = (streams / 1000 + 1) * 1000;
    receive_tid_ = send_tid_ + 1000;
  }

  void write() {
    file_.write("{\"displayTimeUnit\":\"ns\",\n");
    file_.write(fmt::format("\"distributedInfo\":{{\"backend\":\"ringside\",\"world_size\":{}}},\n",
                            ranks_.size()));
    file_.write(
        "\"otherData\":{\"time\":\"modelled time of the simulated cluster, not wall time\"},\n"
        "\"traceEvents\":[\n");
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      write_streams(static_cast<int>(rank), ranks_[rank]);
    }
    write_messages();
    file_.write("\n]}\n");
    file_.close();
  }

 private:
  void event(std::string_view fields) {
    file_.write(first_ ? "{" : ",\n{");
    file_.write(fields);
    file_.write("}");
    first_ = false;
  }

  void name_thread(int rank, std::size_t tid, std::string_view name) {
    event(fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})",
                      rank, tid, json_quoted(name)));
    event(fmt::format(
        R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})", rank,
        tid, tid));
  }

  void write_streams(int rank, const RankReport& report) {
    event(fmt::format(
        R"("ph":"M","name":"process_name","pid":{0},"tid":1,"args":{{"name":"rank {0}"}})", rank));
    event(fmt::format(
        R"("ph":"M","name":"process_sort_index","pid":{0},"tid":1,"args":{{"sort_index":{0}}})",
        rank));
    for (std::size_t i = 0; i < report.streams.size(); ++i) {
      name_thread(rank, 1 + i, report.streams[i]);
    }
    std::vector<TraceThread> threads(report.streams.size());
    for (const auto& span : report.spans) {
      if (const auto slice = threads.at(span.stream).place(span.start, span.end)) {
        event(fmt::format(R"("ph":"X","cat":"stream","name":{},"pid":{},"tid":{},"ts":{},"dur":{},)"
                          R"("args":{{"start_ps":{},"end_ps":{}}})",
                          json_quoted(span.name), rank, 1 + span.stream, begins(slice->start),
                          lasts(*slice), span.start.count(), span.end.count()));
      }
    }
  }

  // Puts the ends on lanes, in the order of their starts, and writes their slices.
  void write_ends(Ends& ends, std::string_view side, std::size_t tid) {
    for (auto& [rank, of_rank] : ends) {
      std::stable_sort(of_rank.begin(), of_rank.end(), [](const End& a, const End& b) {
        return std::pair(a.start, a.end) < std::pair(b.start, b.end);
      });
      TraceLanes lanes;
      for (auto& end : of_rank) {
        end.slice = trace_slice(end.start, end.end);
        end.tid = tid + (end.slice ? lanes.place(*end.slice) : 0);
        write_slice(rank, end, side);
      }
      for (std::size_t lane = 0; lane < std::max<std::size_t>(lanes.count(), 1); ++lane) {
        name_thread(rank, tid + lane,
                    lane == 0 ? std::string(side) : fmt::format("{} {}", side, lane + 1));
      }
    }
  }

  void write_slice(int rank, const End& end, std::string_view side) {
    const auto m = logged(*end.record);
    const auto kind = end.slice ? fmt::format(R"("ph":"X","ts":{},"dur":{})",
                                              begins(end.slice->start), lasts(*end.slice))
                                : fmt::format(R"("ph":"i","s":"t","ts":{})", microseconds(end.end));
    event(fmt::format(
        R"({},"cat":"{}","name":{},"pid":{},"tid":{},"args":{{"bytes":{},"step":{},"chunk":{},)"
        R"("label":{},"peer":{},"group":{},"seq":{},"algorithm":{},"phase":{},"link":"{}",)"
        R"("start_ps":{},"end_ps":{}}})",
        kind, side, json_quoted(m.op), rank, end.tid, m.bytes, m.step, m.chunk,
        json_quoted(m.label), rank == m.src ? m.dst : m.src, json_quoted(m.group), m.seq,
        json_quoted(m.algorithm), json_quoted(m.phase), name_of(m.link), end.start.count(),
        end.end.count()));
  }

  // A flow end binds to the slice that is open at its time. At the receiver that time is the
  // slice's start, not the arrival at its end, where the next slice may begin.
  void write_flow(int rank, const End& end, std::string_view kind, std::size_t id) {
    event(
        fmt::format(R"("ph":{},"cat":"message","name":"message","id":{},"pid":{},"tid":{},"ts":{})",
                    kind, id, rank, end.tid, begins(end.slice->start)));
  }

  void write_messages() {
    auto sides = sides_of(ranks_);
    write_ends(sides.sent, "send", send_tid_);
    write_ends(sides.received, "receive", receive_tid_);
    std::map<const TrafficRecord*, std::size_t> ids;
    for (const auto& [rank, ends] : sides.sent) {
      for (const auto& end : ends) {
        if (end.slice) {
          const auto id = ids.emplace(end.record, ids.size() + 1).first->second;
          write_flow(rank, end, R"("s")", id);
        }
      }
    }
    for (const auto& [rank, ends] : sides.received) {
      for (const auto& end : ends) {
        if (end.slice) {
          write_flow(rank, end, R"("f","bp":"e")", ids.at(end.record));
        }
      }
    }
  }

  TextFile file_;
  const std::vector<RankReport>& ranks_;
  std::size_t send_tid_ = 0;
  std::size_t receive_tid_ = 0;
  bool first_ = true;
};

}  // namespace

void write_trace(const std::filesystem::path& path, const std::vector<RankReport>& ranks) {
  TraceWriter(path, ranks).write();
}

std::int64_t trace_size(const std::vector<RankReport>& ranks) {
  constexpr std::int64_t of_message = 860;  // two slices with their texts, and a flow
  constexpr std::int64_t of_span = 145;
  std::int64_t bytes = 0;
  for (const auto& rank : ranks) {
    bytes += of_message * static_cast<std::int64_t>(rank.records.size()) +
             of_span * static_cast<std::int64_t>(rank.spans.size());
  }
  return bytes;
}

}  // namespace ringside
