// A launched operation. Its data is there; its modelled time may lie ahead of the program's.
#pragma once

#include <utility>

#include "runtime/rank.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

class Work {
 public:
  Work() = default;

  Work(Rank& rank, const Stream& stream, Time end)
      : rank_(&rank), stream_(&stream), end_(end), launch_(stream.launches) {}

  // `tensor` may not be touched before wait().
  void holds(Tensor tensor, std::string operation);

  // The program waits for this operation, and not for any launched after it on the stream; for the
  // last one, also until its stream's last transfers end on the ports, by all that is booked.
  void wait();

  Time end() const { return end_; }

 private:
  Rank* rank_ = nullptr;
  const Stream* stream_ = nullptr;
  Time end_{0};
  std::uint64_t launch_ = 0;
  Tensor tensor_;
};

}  // namespace ringside
