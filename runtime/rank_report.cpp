// The report as bytes: a mark, then each vector as its length and its records, then the plain
// fields. Launcher and ranks are one program, so a record is copied as it lies in memory.
#include "runtime/rank_report.hpp"

#include <cstring>
#include <type_traits>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::uint64_t mark = 0x7265706f72743031;  // "report01"

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
void put(std::string& out, const std::vector<T>& records) {
  static_assert(std::is_trivially_copyable_v<T>);
  put(out, std::uint64_t{records.size()});
  out.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(T));
}

[[noreturn]] void nonsense(const std::string& why) {
  throw PeerLost("the report of a rank makes no sense: " + why);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  void get(T& value) {
    std::memcpy(static_cast<void*>(&value), take(1, sizeof(T)), sizeof(T));
  }

  template <class T>
  void get(std::vector<T>& records) {
    std::uint64_t count = 0;
    get(count);
    const char* from = take(count, sizeof(T));
    records.resize(count);
    if (count > 0) {
      std::memcpy(static_cast<void*>(records.data()), from, count * sizeof(T));
    }
  }

  std::size_t left() const { return left_.size(); }

 private:
  const char* take(std::uint64_t count, std::size_t size) {
    if (count > left_.size() / size) {
      nonsense(std::to_string(count) + " records of " + std::to_string(size) +
               " bytes are announced, " + std::to_string(left_.size()) + " bytes are left");
    }
    const char* from = left_.data();
    left_.remove_prefix(count * size);
    return from;
  }

  std::string_view left_;
};

// The fields in their order, for both directions.
template <class Report, class Visit>
void each_field(Report& report, Visit&& visit) {
  visit(report.sums);
  visit(report.records);
  visit(report.spans);
  visit(report.streams);
  visit(report.memory);
  visit(report.modelled);
  visit(report.wall_ns);
  visit(report.behind_ns);
}

}  // namespace

std::string RankReport::encode() const {
  std::string out;
  out.reserve(sums.size() * sizeof(TrafficSum) + records.size() * sizeof(TrafficRecord) +
              spans.size() * sizeof(Span) + 1024);
  put(out, mark);
  each_field(*this, [&](const auto& field) { put(out, field); });
  return out;
}

RankReport RankReport::decode(std::string_view bytes) {
  Reader reader(bytes);
  std::uint64_t found = 0;
  reader.get(found);
  if (found != mark) {
    nonsense("it does not begin with its mark");
  }
  RankReport report;
  each_field(report, [&](auto& field) { reader.get(field); });
  if (reader.left() > 0) {
    nonsense(std::to_string(reader.left()) + " bytes follow its end");
  }
  return report;
}

}  // namespace ringside
