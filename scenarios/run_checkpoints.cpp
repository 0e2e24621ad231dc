#include "scenarios/run_checkpoints.hpp"

#include <unistd.h>

#include <filesystem>

#include "models/checkpoint.hpp"
#include "runtime/errors.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

DataPosition data_position(const Settings& s, const TrainingPlan& plan) {
  const std::int64_t first = plan.first_step();
  const std::int64_t steps = s.train.steps;
  DataPosition position{.first_step = first,
                        .first_sample = first * s.train.batch,
                        .samples = steps * s.train.batch,
                        .resumed = plan.start ? plan.start->folder.string() : "",
                        .saved = {}};
  if (!s.train.save.empty()) {
    position.saved = checkpoint_folder(s.train.save, first + steps).string();
  }
  return position;
}

void require_place_for_checkpoints(const Settings& s) {
  if (!s.train.save.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(s.train.save, failed);
    if (failed || access(s.train.save.c_str(), W_OK) != 0) {
      throw BadUse("train.save = " + s.train.save +
                   ": must be a folder that you may write into, or a name for a new one");
    }
  }
}

}  // namespace ringside
