// What an element that is an expression shows: the number that it gives on small whole inputs, or
// the sum itself.
#pragma once

#include <string>
#include <vector>

#include "scenarios/explain_story.hpp"

namespace ringside {

enum class ValueStyle : std::uint8_t { integers, symbols };

class ShownValues {
 public:
  ShownValues(const Story& story, ValueStyle style) : story_(story), style_(style) {}

  // What the element `index` that holds the symbol shows: "3003", or "r2+r3"; "." for memory that
  // nobody has written.
  std::string text(Symbol symbol, std::size_t index) const;

  // The same for what a message carries: elements that show the same are shown once, and at most
  // `most` are.
  std::string carried(const ToldMessage& message, std::size_t most) const;

  double number(Symbol symbol) const;

  ValueStyle style() const { return style_; }

  // What element i of rank r holds at the start, in words.
  std::string inputs() const;

 private:
  double input(int rank, std::size_t index) const;
  std::string symbols(Symbol symbol, std::size_t index) const;
  std::string leaf(Symbol symbol, std::size_t index) const;

  const Story& story_;
  ValueStyle style_;
};

// The elements that a message carries, as its sender called them at the start: "0-3, 7", "all";
// "none" when there are none.
std::string elements_of(const Story& story, const ToldMessage& message);

// As few letters as tell what it is: "c3" for chunk 3, or the elements.
std::string short_name(const Story& story, const ToldMessage& message);

}  // namespace ringside
