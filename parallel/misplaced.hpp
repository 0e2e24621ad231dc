// Whether a wrong number is a right one in a wrong place, as after a wrong offset.
#pragma once

#include <optional>

#include "parallel/deviation.hpp"

namespace ringside {

// Where the reference has what the run has around `at`: four numbers in a row, not all equal, each
// within 1e-5 of the largest of them. The first such place but `at`; none where there is none.
// `index` is that of the element that stands at `at`.
std::optional<Element> found_elsewhere(const TensorValues& reference, const TensorValues& run,
                                       const Element& at);

}  // namespace ringside
