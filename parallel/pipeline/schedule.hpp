// A pipeline schedule as data: for each device the list of what it does, in order.
//
// A model is cut into stages 0, 1, 2…; a batch into micro-batches. Stage s computes, for each
// micro-batch:
//   F  the forward, from the activation that stage s-1 sent
//   B  the whole backward, from the gradient that stage s+1 sent
// or, in place of B, its two halves (Qi and others 2023, Zero Bubble, section 2):
//   I  the gradient of the input, which stage s-1 waits for
//   W  the gradient of the weights, which nobody waits for
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

enum class ActionKind : std::uint8_t { forward, backward, input_gradient, weight_gradient };

struct Action {
  ActionKind kind = ActionKind::forward;
  int stage = 0;
  int microbatch = 0;
  // Of an F: it is computed together with the B or I after it (DualPipe's F&B). What both need is
  // received before, what both produce is sent after.
  bool with_next = false;

  bool operator==(const Action&) const = default;
};

// F, B, I, W
char letter_of(ActionKind kind);
// B and I: their result is sent to the stage before.
bool gives_input_gradient(ActionKind kind);
// B and W
bool gives_weight_gradient(ActionKind kind);
// "2F5": stage, kind, micro-batch
std::string text_of(const Action& action);

struct Schedule {
  std::string name;
  int stages = 1;        // of the model, counted from 0
  int microbatches = 1;  // counted from 0
  // Stages that share one stage's costs: v when interleaved, where a device's stage is cut in v.
  int chunks = 1;
  std::vector<std::vector<Action>> devices;

  bool operator==(const Schedule&) const = default;
};

// Where the stages of a valid schedule live. A stage lives on one device, or on several, each with
// its own copy of the parameters and its own micro-batches (DualPipe: two).
class StagePlacement {
 public:
  explicit StagePlacement(const Schedule& schedule);

  // The device that runs micro-batch `microbatch` through `stage`.
  int device_of(int stage, int microbatch) const;

  // Ascending.
  const std::vector<int>& devices_of(int stage) const;
  const std::vector<int>& stages_on(int device) const;

 private:
  int microbatches_;
  std::vector<int> device_;
  std::vector<std::vector<int>> devices_;
  std::vector<std::vector<int>> stages_;
};

// The micro-batches in the order in which a device adds up their weight gradients of a stage.
std::vector<int> weight_gradient_order(const Schedule& schedule, int device, int stage);

}  // namespace ringside
