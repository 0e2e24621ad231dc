// What the members of a group must agree on: who they are, and which operation they are in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/message.hpp"

namespace ringside {

// Of a group's name and members: the same on every rank without a word exchanged.
std::uint64_t identity(const std::string& name, const std::vector<int>& members);

// Throws BadUse when a member is named twice, or is no rank of a job of `world` ranks.
void check_members(const std::string& name, const std::vector<int>& members, int world);

// Whether two members are in the same operation, on the same data by its label and shape.
bool same_operation(const Signature& a, const Signature& b);

// "all_reduce (ring, sum) #3 of 1000 f32".
std::string text_of(const Signature& signature);

// The same, and what the data is, as far as it travels: "all_reduce (ring, sum) #3 of 1 i64,
// \"tokens\"".
std::string labelled(const Signature& signature);

// Of the whole label, and of the shape: zero when there is none.
std::uint64_t label_hash(std::string_view label);
std::uint64_t shape_hash(std::span<const std::size_t> shape);

// "(2, 8)".
std::string shape_text(std::span<const std::size_t> shape);

}  // namespace ringside
