#include "runtime/work.hpp"

#include <algorithm>

namespace ringside {

void Work::holds(Tensor tensor, std::string operation) {
  tensor.mark_in_flight(std::move(operation));
  tensor_ = std::move(tensor);
}

void Work::wait() {
  if (rank_ == nullptr) {
    return;
  }
  Time until = end_;
  if (stream_->launches == launch_) {
    for (const auto link : {LinkClass::nvlink, LinkClass::ib}) {
      until = std::max({until, rank_->send_port(link).end(stream_->index),
                        rank_->receive_port(link).end(stream_->index)});
    }
  }
  rank_->advance_to(until);
  if (tensor_) {
    tensor_.mark_in_flight("");
  }
  *this = Work();
}

}  // namespace ringside
