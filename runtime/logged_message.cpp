#include "runtime/logged_message.hpp"

#include <spdlog/fmt/fmt.h>

#include "runtime/json_text.hpp"

namespace ringside {

std::string microseconds(Time time) {
  constexpr std::int64_t per_us = 1'000'000;
  return fmt::format("{}.{:06}", time.count() / per_us, time.count() % per_us);
}

LoggedMessage logged(const TrafficRecord& record) {
  const auto& e = record.envelope;
  return {.group = std::string(std::string_view(e.group_name)),
          .seq = e.signature.sequence,
          .op = std::string(std::string_view(e.signature.operation)),
          .algorithm = std::string(std::string_view(e.signature.algorithm)),
          .phase = std::string(std::string_view(e.phase)),
          .step = e.step,
          .chunk = e.chunk,
          .label = std::string(std::string_view(e.signature.label)),
          .src = e.source,
          .dst = e.destination,
          .link = e.link,
          .bytes = static_cast<std::int64_t>(e.bytes),
          .start = e.t0,
          .end = record.arrival,
          .wall_ns = record.wall_ns};
}

std::string describe(const LoggedMessage& m) {
  auto operation = m.group + " " + m.op;
  if (!m.algorithm.empty()) {
    operation += " (" + m.algorithm + ")";
  }
  operation += fmt::format(" #{}", m.seq);
  auto line = fmt::format("{:>16} -> {:>16} us  {:>3} -> {:<3} {:>9}  {:<6}  {:<26}  {:<14}",
                          microseconds(m.start), microseconds(m.end), m.src, m.dst,
                          to_string(Bytes{m.bytes}), name_of(m.link), json_escaped(operation),
                          json_escaped(m.phase));
  line += m.step < 0 ? fmt::format("{:10}", "") : fmt::format("  step {:<3}", m.step);
  line += m.chunk < 0 ? fmt::format("{:11}", "") : fmt::format("  chunk {:<3}", m.chunk);
  line += m.label.empty() ? "" : "  " + json_escaped(m.label);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace ringside
