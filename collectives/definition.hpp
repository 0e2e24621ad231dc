// Every operation by its definition: what each element must hold afterwards. No algorithm, no
// order.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/dtype.hpp"

namespace ringside {

// A call as all members make it; element i of rank r's buffer is called (r, i).
struct CollectiveCall {
  std::string_view operation;
  std::size_t count = 0;
  ReduceOp op = ReduceOp::none;
  int root = 0;
};

struct Required {
  enum Kind : std::uint8_t {
    anything,   // the operation says nothing of it
    reduction,  // element `index` of every rank, each once
    element     // element `index` of `rank`, as it was
  } kind = anything;

  int rank = 0;
  std::size_t index = 0;
};

// What element i of a rank holds after the call: of `out` for all_to_all, of `data` otherwise.
Required required(const CollectiveCall& call, int ranks, int rank, std::size_t i);

// Which chunk of n elements over p ranks element i lies in.
int chunk_with(std::size_t n, int p, std::size_t i);

}  // namespace ringside
