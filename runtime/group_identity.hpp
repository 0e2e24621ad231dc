// What the members of a group must agree on: who they are, and which operation they are in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/message.hpp"

namespace ringside {

// Of a group's name and members: the same on every rank without a word exchanged.
std::uint64_t identity(const std::string& name, const std::vector<int>& members);

// Throws BadUse when a member is named twice, or is no rank of a job of `world` ranks.
void check_members(const std::string& name, const std::vector<int>& members, int world);

// Whether two members are in the same operation; labels may differ.
bool same_operation(const Signature& a, const Signature& b);

// "all_reduce (ring, sum) #3 of 1000 f32".
std::string text_of(const Signature& signature);

}  // namespace ringside
