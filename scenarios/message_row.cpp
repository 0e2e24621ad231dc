#include "scenarios/message_row.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "runtime/json_text.hpp"
#include "runtime/units.hpp"

namespace ringside {
namespace {

// Each cell as wide as most need; what is longer pushes its row to the right.
std::string row_of(const std::array<std::string, 12>& c) {
  auto line =
      fmt::format("{:>16} {:>16} {:>4} {:>4} {:>9}  {:<6}  {:<8} {:<20} {:>5}  {:<14} {:>4} {:>5}",
                  c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string number(std::int32_t value) {
  return value < 0 ? "-" : std::to_string(value);
}

}  // namespace

std::string message_heading() {
  return row_of({"start us", "end us", "src", "dst", "size", "link", "group", "operation", "seq",
                 "phase", "step", "chunk"}) +
         "  label";
}

std::string message_row(const LoggedMessage& m) {
  const auto operation = m.algorithm.empty() ? m.op : m.op + " (" + m.algorithm + ")";
  const auto line =
      row_of({microseconds(m.start), microseconds(m.end), std::to_string(m.src),
              std::to_string(m.dst), to_string(Bytes{m.bytes}), std::string(name_of(m.link)),
              json_escaped(m.group), json_escaped(operation), std::to_string(m.seq),
              json_escaped(m.phase), number(m.step), number(m.chunk)});
  return m.label.empty() ? line : line + "  " + json_escaped(m.label);
}

}  // namespace ringside
