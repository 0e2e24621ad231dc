// The flags of `clean`.

#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

Asked<CleanRequest> asked_clean(const std::vector<std::string>& after_verb) {
  constexpr int most = 1'000'000;
  CleanRequest request;
  std::optional<std::string> keep;
  Flags flags("clean", "ringside clean [flags]", meaning_of("clean"), examples_of("clean"));
  flags.flag("--dry-run", request.dry_run, "say what would go, and remove nothing");
  flags.value("--keep", "N", keep, "the last N runs stay; 10");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(after_verb)) {
    return {std::nullopt, flags.help()};
  }
  if (keep) {
    request.keep = integer_of("--keep", *keep, 0, most);
  }
  return {request, {}};
}

}  // namespace ringside
