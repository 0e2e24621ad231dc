// The order of a mesh's axes, as it is written.
#include <algorithm>

#include "parallel/mesh.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  bool open = false;
  for (const char c : text) {
    if (c == '-' || c == ',' || c == ' ') {
      open = false;
      continue;
    }
    if (!open) {
      names.emplace_back();
      open = true;
    }
    names.back() += c;
  }
  return names;
}

// Those that are missing stand after the axis that they follow by default.
AxisOrder completed(std::vector<Axis> given) {
  for (std::size_t i = 0; i < all_axes.size(); ++i) {
    if (std::ranges::find(given, all_axes[i]) == given.end()) {
      const auto after =
          i == 0 ? given.begin() : std::ranges::find(given, all_axes[i - 1]) + std::ptrdiff_t{1};
      given.insert(after, all_axes[i]);
    }
  }
  AxisOrder order{};
  std::ranges::copy(given, order.begin());
  return order;
}

}  // namespace

AxisOrder parse_order(std::string_view text) {
  std::vector<Axis> axes;
  std::string wrong;
  for (const std::string& name : names_in(text)) {
    const auto axis = std::ranges::find(all_axes, name, name_of);
    if (axis == all_axes.end()) {
      wrong = name == "ep" ? "ep is no axis, for it divides dp x cp"
                           : "there is no axis \"" + name.substr(0, 32) + "\"";
    } else if (std::ranges::find(axes, *axis) != axes.end()) {
      wrong = name + " stands there twice";
    } else {
      axes.push_back(*axis);
    }
  }
  if (wrong.empty() && axes.size() == all_axes.size()) {
    return completed(axes);
  }
  for (const Axis axis : all_axes) {
    if (wrong.empty() && std::ranges::find(axes, axis) == axes.end()) {
      wrong = std::string(name_of(axis)) + " is missing";
    }
  }
  throw BadUse("an order names tp, cp, pp and dp once each, from inner to outer, but in \"" +
               std::string(text.substr(0, 64)) + "\" " + wrong + ": the nearest is " +
               text_of(completed(axes)));
}

std::string text_of(const AxisOrder& order) {
  std::string text;
  for (const Axis axis : order) {
    text += (text.empty() ? "" : "-") + std::string(name_of(axis));
  }
  return text;
}

}  // namespace ringside
