// Averages of f16 travel and are computed in f32: their sum may overflow f16 where their average
// does not.
#pragma once

#include "runtime/comm.hpp"

namespace ringside {

// Calls fn with `data`, or with a copy in f32 that is rounded back into `data` afterwards.
template <class Fn>
void wide_average(Comm& comm, Buffer data, ReduceOp op, Fn&& fn) {
  if (op != ReduceOp::avg || data.dtype != DType::f16) {
    return fn(data);
  }
  Buffer like = data;
  like.dtype = DType::f32;
  const Tensor wide = comm.scratch(like);
  convert(data, wide.buffer());
  fn(wide.buffer());
  convert(wide.buffer(), data);
}

}  // namespace ringside
