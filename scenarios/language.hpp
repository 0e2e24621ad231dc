// The language of what a person reads.
#pragma once

#include <optional>
#include <string>

namespace ringside {

enum class Language { en, zh };

// What --lang says, or --zh; else the environment's (the first of LC_ALL, LC_MESSAGES and LANG that
// is set). Throws BadUse for another word than en and zh.
Language language_of(const std::optional<std::string>& lang, bool zh);

}  // namespace ringside
