// Text as a JSON string, for documents that are written a line at a time.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

// `text` as it stands between the quotes of a JSON string: quotes, backslashes and control
// characters escaped, bytes that are not UTF-8 replaced by U+FFFD. Never throws for what is in it.
std::string json_escaped(std::string_view text);

// The same with the quotes.
std::string json_quoted(std::string_view text);

}  // namespace ringside
