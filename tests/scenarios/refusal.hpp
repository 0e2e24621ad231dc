// The text of the refusal that an action must end in.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

template <class Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const BadUse& refusal) {
    return refusal.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ringside
