// The flags of `list`.

#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

Asked<ListRequest> asked_list(const std::vector<std::string>& after_verb) {
  ListRequest request;
  std::optional<std::string> folder, lang;
  bool zh = false;
  Flags flags("list", "ringside list [FOLDER] [flags]", meaning_of("list"), examples_of("list"));
  flags.word("FOLDER", folder, "only the scenarios of this folder, such as dp");
  flags.flag("--checks", request.checks, "the checks that a scenario may run, and what each says");
  flags.value("--lang", "en|zh", lang, "language of the lessons; else that of LANG");
  flags.flag("--zh", zh, "the same as --lang zh");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(after_verb)) {
    return {std::nullopt, flags.help()};
  }
  request.folder = folder.value_or("");
  request.language = language_of(lang, zh);
  return {request, {}};
}

}  // namespace ringside
