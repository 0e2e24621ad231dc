// Ranks in a ring, and the messages between them as arrows.
#pragma once

#include <string>

#include "scenarios/explain_story.hpp"

namespace ringside {

class SvgRing {
 public:
  explicit SvgRing(const Story& story);

  // Both sides of the square that it takes.
  double size() const;

  // With its upper left corner at the origin.
  std::string draw(const ToldStep& step) const;

 private:
  struct Point {
    double x = 0;
    double y = 0;
  };

  struct Arrow {
    Point from, control, to;
    Point at(double t) const;
  };

  struct Label {
    Arrow arrow;
    double t = 0.5;
    std::string text;
  };

  Point place(int rank) const;
  Arrow arrow(int src, int dst, int nth) const;
  std::string drawn(const ToldMessage& message, const Arrow& arrow) const;
  std::string drawn(const Label& label) const;
  std::string ranks() const;

  const Story& story_;
  double radius_;
};

// For text and attributes of XML.
std::string xml_escaped(std::string_view text);

}  // namespace ringside
