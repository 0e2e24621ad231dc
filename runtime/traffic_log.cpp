#include "runtime/traffic_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <tuple>

#include "runtime/errors.hpp"
#include "runtime/text_file.hpp"
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
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw BadUse("cannot read " + path.string() + ": " + std::strerror(file ? EISDIR : errno));
  }
  TrafficLogEnd end;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    LoggedMessage message;
    try {
      message = parse_traffic_line(line);
    } catch (const BadUse& error) {
      if (file.eof()) {  // no end of line follows it
        end.cut = true;
        return end;
      }
      throw BadUse(path.string() + " line " + std::to_string(number) + ": " + error.what());
    }
    ++end.messages;
    take(message);
  }
  return end;
}

}  // namespace ringside
