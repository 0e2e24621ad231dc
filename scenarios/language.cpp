#include "scenarios/language.hpp"

#include <cstdlib>
#include <string_view>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"

namespace ringside {
namespace {

Language environment() {
  for (const auto* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
    }
  }
  return Language::en;
}

}  // namespace

Language language_of(const std::optional<std::string>& lang, bool zh) {
  if (!lang) {
    return zh ? Language::zh : environment();
  }
  const auto given = choice_of("--lang", *lang, {"en", "zh"}) == "zh" ? Language::zh : Language::en;
  if (zh && given == Language::en) {
    throw BadUse("--lang en and --zh: choose one of them");
  }
  return given;
}

}  // namespace ringside
