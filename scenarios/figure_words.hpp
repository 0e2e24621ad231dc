// The chapter displays its figures in Chinese; an English table says the same in English.
#pragma once

#include <string>

namespace ringside {

// "16,384 张" as "16,384 GPUs"; what has no Chinese word in it stays as it is.
std::string in_english(const std::string& shown);

}  // namespace ringside
