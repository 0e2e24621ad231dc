// DualPipe (DeepSeek-V3 report 2024, section 3.2.1) and DualPipeV, its fold.
//
// A device has two stages and two streams of micro-batches through them, called near and far: near
// is the one that reaches it first. In dualpipe the streams enter at the two ends of the pipeline,
// and device d holds stages d and p-1-d: the first half of the micro-batches enters at device 0,
// the second at device p-1. In dualpipev one stream goes down the devices (near) and up again
// (far).
#include <spdlog/fmt/fmt.h>

#include <array>
#include <deque>

#include "parallel/pipeline/generators.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// One of a device's two streams: its stage, and the micro-batches that come next.
struct Stream {
  int stage = 0;
  int next_forward = 0;
  int next_backward = 0;
};

// A device's list. The program is that of the DualPipe repository, in eight phases.
class DualList {
 public:
  DualList(Stream first, Stream second) : streams_{first, second} {}

  // `half`: devices from an end to the middle; `depth`: this one's place from the end, from 0;
  // `microbatches`: of a stream; `stages`: p.
  std::vector<Action> build(int half, int depth, int microbatches, int stages) {
    const int inward = half - depth - 1;
    const int filling = depth + 1;
    fill(inward, filling);
    const int steady = microbatches - stages + filling;
    for (int i = 0; i < steady; ++i) {
      if (i == 0 && inward == 0) {  // apart: the far backward's gradient leaves sooner
        forward(near);
        backward(far);
      } else {
        together(near, far);
      }
      together(far, near);
    }
    for (int i = 0; i < inward; ++i) {
      backward(far);
      together(far, near);
    }
    drain(inward, filling);
    return list_;
  }

 private:
  static constexpr std::size_t near = 0;
  static constexpr std::size_t far = 1;

  void fill(int inward, int filling) {
    for (int i = 0; i < 2 * inward; ++i) {
      forward(near);
    }
    for (int i = 0; i < filling; ++i) {
      forward(near);
      forward(far);
    }
    for (int i = 0; i < inward; ++i) {
      input_gradient(far);
      weight_gradient();
      forward(far);
    }
  }

  // From the middle on, W is put off until nothing else can be done.
  void drain(int inward, int filling) {
    const int middle = filling / 2;
    for (int i = 0; i < filling; ++i) {
      const bool far_split = i > middle || (i == middle && filling % 2 == 0);
      far_split ? input_gradient(far) : backward(far);
      i >= middle ? input_gradient(near) : backward(near);
    }
    for (int i = 0; i < inward; ++i) {
      weight_gradient();
      input_gradient(near);
    }
    for (int i = 0; i < filling; ++i) {
      weight_gradient();
    }
  }

  void forward(std::size_t stream) {
    Stream& s = streams_[stream];
    list_.push_back({ActionKind::forward, s.stage, s.next_forward++});
  }

  void backward(std::size_t stream) {
    Stream& s = streams_[stream];
    list_.push_back({ActionKind::backward, s.stage, s.next_backward++});
  }

  void input_gradient(std::size_t stream) {
    Stream& s = streams_[stream];
    list_.push_back({ActionKind::input_gradient, s.stage, s.next_backward++});
    waiting_.push_back({ActionKind::weight_gradient, s.stage, list_.back().microbatch});
  }

  // The one that has waited longest.
  void weight_gradient() {
    list_.push_back(waiting_.front());
    waiting_.pop_front();
  }

  void together(std::size_t forward_stream, std::size_t backward_stream) {
    forward(forward_stream);
    list_.back().with_next = true;
    backward(backward_stream);
  }

  std::array<Stream, 2> streams_;
  std::vector<Action> list_;
  std::deque<Action> waiting_;
};

void require_even_stages(std::string_view name, const PipelineShape& shape) {
  const int p = shape.stages;
  if (p % 2 != 0) {
    throw BadUse(
        fmt::format("{} gives each device two stages, one from each end, and {} stages "
                    "are an odd number: take {}{}",
                    name, p, p > 1 ? fmt::format("{} or ", p - 1) : "", p + 1));
  }
}

void require_dualpipe(const PipelineShape& shape) {
  require_even_stages("dualpipe", shape);
  const int m = shape.microbatches;
  const int least = 2 * shape.stages;
  if (m < least) {
    throw BadUse(
        fmt::format("dualpipe of {} stages needs at least 2p = {} micro-batches, and an "
                    "even number: got {}; take {}",
                    shape.stages, least, m, least));
  }
  if (m % 2 != 0) {
    throw BadUse(
        fmt::format("dualpipe sends half of the micro-batches in at each end, and {} is "
                    "odd: take {}{}",
                    m, m > least ? fmt::format("{} or ", m - 1) : "", m + 1));
  }
}

Schedule dual_schedule(std::string_view name, const PipelineShape& shape) {
  return {.name = std::string(name),
          .stages = shape.stages,
          .microbatches = shape.microbatches,
          .chunks = 1,
          .devices = {}};
}

}  // namespace

Schedule dualpipe(const PipelineShape& shape) {
  require_dualpipe(shape);
  const int p = shape.stages;
  const int each = shape.microbatches / 2;
  Schedule schedule = dual_schedule("dualpipe", shape);
  for (int d = 0; d < p; ++d) {
    const Stream forth{d, 0, 0};
    const Stream back{p - 1 - d, each, each};
    const bool lower = d < p / 2;
    schedule.devices.push_back(DualList(lower ? forth : back, lower ? back : forth)
                                   .build(p / 2, lower ? d : p - 1 - d, each, p));
  }
  return schedule;
}

Schedule dualpipev(const PipelineShape& shape) {
  require_even_stages("dualpipev", shape);
  const int p = shape.stages;
  const int m = shape.microbatches;
  if (m < p) {
    throw BadUse(
        fmt::format("dualpipev of {} stages needs at least as many micro-batches: got {}; "
                    "take {}",
                    p, m, p));
  }
  Schedule schedule = dual_schedule("dualpipev", shape);
  for (int d = 0; d < p / 2; ++d) {
    schedule.devices.push_back(DualList({d, 0, 0}, {p - 1 - d, 0, 0}).build(p / 2, d, m, p));
  }
  return schedule;
}

}  // namespace ringside
