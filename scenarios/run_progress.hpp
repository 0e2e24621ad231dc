// Which training of a run is under way, and how far it is: "check 3 of 7, adamw: step 1 of 3".
#pragma once

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/terminal.hpp"

namespace ringside {

class RunProgress {
 public:
  void now(std::string what) {
    what_ = std::move(what);
    line_.show(what_);
  }

  void step(std::string_view note) { line_.show(what_ + ": " + std::string(note)); }

  void wipe() { line_.wipe(); }

 private:
  std::string what_{};
  Progress line_{std::cerr, stderr_rewrites_lines()};
};

}  // namespace ringside
