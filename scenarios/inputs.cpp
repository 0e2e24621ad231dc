#include "scenarios/inputs.hpp"

#include "models/published_model.hpp"
#include "models/resume.hpp"
#include "models/text.hpp"
#include "parallel/pipeline/schedule_csv.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/published_choice.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

template <class T>
NamedInput<T> input(const std::string& name, T content) {
  return {name, std::make_shared<const T>(std::move(content))};
}

// Of a file of a checkpoint: masters and two moments, none larger than f64, and a header.
std::uintmax_t most_state_bytes(const Settings& s) {
  constexpr std::uintmax_t of_a_parameter = 3 * sizeof(double);
  constexpr std::uintmax_t of_a_tensor = 4096;
  std::uintmax_t bytes = std::uintmax_t{1} << 20;
  for (const auto& layer : tensor_counts_of(s)) {
    for (const std::size_t parameters : layer) {
      bytes += parameters * of_a_parameter + of_a_tensor;
    }
  }
  return bytes;
}

// The checkpoint of train.resume, when it is one of this training.
Checkpoint read_start(const Settings& s) {
  Settings from_seed = s;
  from_seed.train.resume.clear();
  const TrainingPlan plan = plan_of(from_seed, text_of(s));
  return load_checkpoint(s.train.resume, [&](const Checkpoint& checkpoint) {
    require_same_training(checkpoint, plan);
    return most_state_bytes(s);
  });
}

void read_text_and_start(Settings& s) {
  if (!s.data.text.empty() && !s.files.text.is(s.data.text)) {
    s.files.text = input(s.data.text, read_text(s.data.text));
  }
  if (!s.train.resume.empty() && !s.files.start.is(s.train.resume)) {
    Checkpoint start = read_start(s);
    s.train.resume = start.folder.string();
    s.files.start = input(s.train.resume, std::move(start));
  }
}

}  // namespace

void read_plan_files(Settings& s) {
  if (at_true_scale(s) && !s.files.model.is(s.model.config)) {
    const std::string where = "model.config = " + s.model.config;
    s.files.model = input(s.model.config, published_model(chosen_config(where, s.model.config)));
  }
  const std::string& schedule = s.parallel.schedule;
  if (s.parallel.pp > 1 && schedule.ends_with(".csv") && !s.files.schedule.is(schedule)) {
    s.files.schedule = input(schedule, read_schedule(schedule));
  }
}

void read_inputs(Settings& s) {
  read_plan_files(s);
  read_text_and_start(s);
  const std::string& name = s.checks.peer;
  if (!name.empty() && !s.files.peer.is(name)) {
    Settings peer = load_scenario(find_scenario(name));
    read_plan_files(peer);
    read_text_and_start(peer);
    s.files.peer = input(name, std::move(peer));
  }
}

std::string_view text_of(const Settings& s) {
  return s.data.text.empty() ? std::string_view(builtin_text()) : s.files.text.of(s.data.text);
}

const Settings& peer_of(const Settings& s) {
  return s.files.peer.of(s.checks.peer);
}

}  // namespace ringside
