// Text laid out for a terminal of some width; a Chinese character takes two columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

// The columns that UTF-8 text takes.
std::size_t width_of(std::string_view text);

// `text`, which begins in column `indent`, in lines that end before column `columns`; those after
// the first are indented alike. Broken at spaces and beside wide characters, but not before their
// punctuation. As it is when columns is 0, or leaves less than 20 for the text.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace ringside
