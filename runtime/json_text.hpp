// Text as a JSON string, for documents that are written a line at a time.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

// `text` as it stands between the quotes of a JSON string: quotes, backslashes and control
// characters and marks of direction escaped, bytes that are not UTF-8 replaced by U+FFFD. Never
// throws for what is in it.
std::string json_escaped(std::string_view text);

// The same with the quotes.
std::string json_quoted(std::string_view text);

// JSON that says the same as `dumped` and is safe on a terminal: control characters past ASCII and
// marks of direction, which can only stand in its strings, as \uNNNN.
std::string json_for_terminal(std::string_view dumped);

}  // namespace ringside
