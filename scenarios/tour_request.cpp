// The flags of `tour`.
#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/tour_lessons.hpp"

namespace ringside {

namespace {

std::size_t lesson_of(const std::string& given) {
  std::vector<std::string> names;
  for (const TourLesson& lesson : tour_lessons()) {
    names.emplace_back(lesson.name);
  }
  const auto named = std::ranges::find(names, given);
  if (named != names.end()) {
    return static_cast<std::size_t>(named - names.begin());
  }
  if (given.empty() || given.find_first_not_of("0123456789") != std::string::npos) {
    throw BadUse("--lesson " + given + ": there is no such lesson" + did_you_mean(given, names) +
                 " (lessons are " + joined(names) + ", or their numbers)");
  }
  return static_cast<std::size_t>(integer_of("--lesson", given, 1, static_cast<int>(names.size())) -
                                  1);
}

}  // namespace

Asked<TourRequest> asked_tour(const std::vector<std::string>& words) {
  std::optional<std::string> lesson;
  std::optional<std::string> out, lang;
  bool zh = false;
  TourRequest request;
  Flags flags("tour", "ringside tour [flags]", meaning_of("tour"), examples_of("tour"));
  flags.value("--lesson", "N", lesson, "only this one: its number or name");
  flags.flag("--list", request.list, "what lessons there are, with the commands of their runs");
  flags.value("--out", "DIR", out, "for the run folders; else a new one under runs/");
  flags.value("--lang", "en|zh", lang, "language of the lessons; else that of LANG");
  flags.flag("--zh", zh, "the same as --lang zh");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  request.language = language_of(lang, zh);
  if (lesson) {
    request.lesson = lesson_of(*lesson);
  }
  if (out) {
    request.out = folder_of("--out", *out);
  }
  return {request, {}};
}

}  // namespace ringside
