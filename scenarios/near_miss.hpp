// What somebody may have meant by a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringside {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; ASCII letters
// are compared without case, whatever the locale.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `name`, or its last part after '/' or '.', when it is near enough to be
// a slip (a third of the letters); empty otherwise.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

// "; did you mean dp/ring?", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// "ring, naive".
std::string joined(std::span<const std::string> names, std::string_view separator = ", ");

}  // namespace ringside
