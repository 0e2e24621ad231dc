// A stored training, from which another can go on: DIR/step-<steps taken>/ with model.safetensors
// (the weights by their names), optimizer.safetensors (moments, masters, numbers of updates) and
// trainer_state.json (all else). All tensors are whole, however they were cut over ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "models/loss_scale.hpp"
#include "models/named_tensors.hpp"
#include "models/state_part.hpp"

namespace ringside {

struct Checkpoint {
  std::int64_t step = 0;  // steps taken, which is the number of the next one
  // What must be the same in a training that goes on, as texts by the keys of scenario files:
  // "model.hidden" "128".
  std::map<std::string, std::string> training{};
  LossScaleState loss_scale{};
  NamedTensors weights{};
  NamedTensors optimizer{};
  std::filesystem::path folder{};  // where it was read
};

// "DIR/step-10".
std::filesystem::path checkpoint_folder(const std::filesystem::path& folder, std::int64_t step);

// Writes step-<steps> in `folder`, beside it first and put there once all of it is on disk; of an
// earlier one of the same name and this one, one is there whole at any time. Removes what killed
// saves of the name have left. Returns its path. Throws BadUse when that cannot be done.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder,
                                      const Checkpoint& checkpoint);

// `folder`: such a folder, or one that has some, of which the one with most steps is taken. Throws
// BadUse with file and reason for what is missing, damaged, out of range or of different saves.
// `accept` sees all but the tensors before these are read, may throw, and says how many bytes a
// file of them can have.
Checkpoint load_checkpoint(const std::filesystem::path& folder,
                           const std::function<std::uintmax_t(const Checkpoint&)>& accept = {});

// Into a process that has all. Throws BadUse, with file, tensor and numbers, for a tensor that is
// missing, has another type or shape, has no place here, or holds what no training can have there:
// a number of updates outside 0 to the steps taken, an average of squares below 0.
void load_whole(const Checkpoint& checkpoint, const std::vector<Parameter*>& parameters,
                Optimizer& optimizer);

// Into a rank that has a part of what load_whole has accepted.
void load_weights(const Checkpoint& checkpoint, const std::vector<Parameter*>& parameters);
void load_optimizer(const Checkpoint& checkpoint, Optimizer& optimizer);

}  // namespace ringside
