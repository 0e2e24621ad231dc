// What a file or a user said, repeated in a message, a table or a drawing: as much as a reader
// needs, and nothing that moves a cursor or turns the direction of the line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

inline constexpr std::size_t most_quoted = 200;  // bytes

// `text` as UTF-8 in which control characters (but for tab and the line's end), marks of direction
// and bytes that are no UTF-8 stand as \xNN or \uNNNN.
std::string escaped(std::string_view text);

// At most about `most` bytes of it, cut between characters, then "… (N bytes in all)".
std::string shortened(std::string_view text, std::size_t most = most_quoted);

// The length of the UTF-8 character that `text` begins with, 0 when it begins with none.
std::size_t character_length(std::string_view text);

// The code point of a character of that length.
char32_t code_point(std::string_view character);

// A control character past ASCII, or a mark that turns the direction of what follows it.
bool is_unseen_mark(char32_t c);

}  // namespace ringside
