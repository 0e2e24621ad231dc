// `ringside tour`: the chapter's lessons one after the other, each by running it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scenarios/language.hpp"

namespace ringside {

struct TourRequest {
  std::optional<std::size_t> lesson;  // from 0; none: all
  bool list = false;
  bool json = false;
  Language language = Language::en;
  std::optional<std::filesystem::path> out;  // holds a run folder for each run; none: one in runs/
};

// Prints each lesson when it has run, then a step's traffic of all. Exit code 0 when every run
// passes and shows what its lesson claims, otherwise 1. Throws BadUse for a folder that cannot be
// used.
int tour_verb(const TourRequest& request);

}  // namespace ringside
