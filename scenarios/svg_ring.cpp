#include "scenarios/svg_ring.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include "runtime/files/quoted.hpp"
#include "scenarios/explain_values.hpp"

namespace ringside {

namespace {

constexpr double margin = 34;
constexpr double disc = 15;              // radius of a rank
constexpr std::size_t most_labels = 24;  // more cannot be read

}  // namespace

SvgRing::SvgRing(const Story& story)
    : story_(story), radius_(std::max(78.0, 15.0 * story.asked.ranks)) {}

double SvgRing::size() const {
  return 2 * (radius_ + margin);
}

// Rank 0 on top, then clockwise.
SvgRing::Point SvgRing::place(int rank) const {
  const double angle = 2 * std::numbers::pi * rank / story_.asked.ranks - std::numbers::pi / 2;
  const double middle = radius_ + margin;
  const double radius = story_.asked.ranks == 1 ? 0 : radius_;
  return {middle + radius * std::cos(angle), middle + radius * std::sin(angle)};
}

SvgRing::Point SvgRing::Arrow::at(double t) const {
  const double a = (1 - t) * (1 - t);
  const double b = 2 * t * (1 - t);
  return {a * from.x + b * control.x + t * t * to.x, a * from.y + b * control.y + t * t * to.y};
}

// Bent to one side, so that both directions, and several messages of a pair, are seen.
SvgRing::Arrow SvgRing::arrow(int src, int dst, int nth) const {
  const Point a = place(src);
  const Point b = place(dst);
  const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1.0);
  const Point along{(b.x - a.x) / length, (b.y - a.y) / length};
  const double bend = 0.1 * length + 9 * nth;
  const Point control{(a.x + b.x) / 2 + along.y * bend, (a.y + b.y) / 2 - along.x * bend};
  const auto edge = [&](const Point& centre, double gap) {
    const double far = std::max(std::hypot(control.x - centre.x, control.y - centre.y), 1.0);
    return Point{centre.x + (control.x - centre.x) / far * gap,
                 centre.y + (control.y - centre.y) / far * gap};
  };
  return {edge(a, disc), control, edge(b, disc + 2)};
}

std::string SvgRing::drawn(const ToldMessage& message, const Arrow& arrow) const {
  return fmt::format(
      "<path class=\"message {}\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" "
      "marker-end=\"url(#{})\"><title>{} to {}: {}, {} bytes</title></path>\n",
      name_of(message.link), arrow.from.x, arrow.from.y, arrow.control.x, arrow.control.y,
      arrow.to.x, arrow.to.y, message.link == LinkClass::ib ? "far" : "near", message.src,
      message.dst, xml_escaped(short_name(story_, message)), message.bytes);
}

std::string SvgRing::drawn(const Label& label) const {
  const Point at = label.arrow.at(label.t);
  const double half = 3.4 * static_cast<double>(label.text.size()) + 3;
  return fmt::format(
      "<rect class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\"/>"
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      at.x - half, at.y - 7, 2 * half, at.x, at.y + 4, xml_escaped(label.text));
}

std::string SvgRing::ranks() const {
  std::string svg;
  for (int r = 0; r < story_.asked.ranks; ++r) {
    const Point at = place(r);
    const int node = story_.asked.cluster().node_of(r);
    svg += fmt::format(
        "<circle class=\"node{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>"
        "<text class=\"rank\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        node % 4, at.x, at.y, disc, at.x, at.y + 4.5, r);
  }
  return svg;
}

// Where many leave one rank, labels stand near the receivers, and otherwise near the senders or in
// the middle.
std::string SvgRing::draw(const ToldStep& step) const {
  std::map<std::pair<int, int>, Label> labels;
  std::map<std::pair<int, int>, int> nth;
  std::map<int, int> out;
  std::map<int, int> in;
  std::string arrows;
  for (const ToldMessage& message : step.messages) {
    const std::pair pair(message.src, message.dst);
    const Arrow bent = arrow(message.src, message.dst, nth[pair]++);
    arrows += drawn(message, bent);
    auto& label = labels[pair];
    out[message.src] += label.text.empty() ? 1 : 0;
    in[message.dst] += label.text.empty() ? 1 : 0;
    label.arrow = bent;
    label.text += (label.text.empty() ? "" : ", ") + short_name(story_, message);
  }
  std::string texts;
  for (auto& [pair, label] : labels) {
    const int leave = out[pair.first];
    const int come = in[pair.second];
    const bool both_ways = labels.contains({pair.second, pair.first});
    const int apart = std::abs(pair.first - pair.second);
    const bool neighbours = apart == 1 || apart == story_.asked.ranks - 1;
    label.t = leave > come ? 0.6 : come > 1 || both_ways || !neighbours ? 0.24 : 0.5;
    texts += labels.size() > most_labels ? "" : drawn(label);
  }
  return arrows + texts + ranks();
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : ringside::escaped(text)) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace ringside
