#include "runtime/traffic_log.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "runtime/errors.hpp"
#include "runtime/files/lines.hpp"
#include "runtime/files/text_file.hpp"
#include "runtime/traffic_line.hpp"

namespace ringside {
namespace {

bool before(const TrafficRecord* a, const TrafficRecord* b) {
  const auto key = [](const Envelope& e) {
    return std::tuple(e.t0, e.source, std::string_view(e.group_name), e.signature.sequence, e.step,
                      e.chunk, e.destination);
  };
  return key(a->envelope) < key(b->envelope);
}

}  // namespace

void write_traffic_log(const std::filesystem::path& path, const std::vector<RankReport>& ranks) {
  std::vector<const TrafficRecord*> order;
  for (const auto& rank : ranks) {
    for (const auto& record : rank.records) {
      order.push_back(&record);
    }
  }
  std::stable_sort(order.begin(), order.end(), before);
  TextFile file(path);
  for (const auto* record : order) {
    file.write(traffic_line(logged(*record)) + '\n');
  }
  file.close();
}

TrafficLogEnd read_traffic_log(const std::filesystem::path& path,
                               const std::function<void(const LoggedMessage&)>& take) {
  constexpr std::size_t longest = std::size_t{1} << 16;  // ours have some hundred bytes
  InputFile file(path, "a traffic.jsonl");
  Lines lines(file, longest);
  TrafficLogEnd end;
  for (std::string_view line; lines.next(line);) {
    LoggedMessage message;
    try {
      message = parse_traffic_line(line);
    } catch (const BadUse& error) {
      if (lines.unfinished()) {
        end.cut = true;
        return end;
      }
      throw BadUse(path.string() + " line " + std::to_string(lines.number()) + ": " + error.what());
    }
    ++end.messages;
    take(message);
  }
  return end;
}

}  // namespace ringside
