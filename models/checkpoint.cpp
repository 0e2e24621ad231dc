#include "models/checkpoint.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/safetensors.hpp"
#include "runtime/errors.hpp"
#include "runtime/text_file.hpp"

namespace ringside {

namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

constexpr const char* weights_file = "model.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* trainer_file = "trainer_state.json";
const std::string prefix = "step-";

Json trainer_json(const Checkpoint& checkpoint) {
  return {
      {"step", checkpoint.step},
      {"training", checkpoint.training},
      {"loss_scale",
       {{"value", checkpoint.loss_scale.value}, {"good_steps", checkpoint.loss_scale.good_steps}}}};
}

void write_all(const Path& folder, const Checkpoint& checkpoint) {
  const std::map<std::string, std::string> metadata{{"step", std::to_string(checkpoint.step)}};
  std::filesystem::create_directories(folder);
  save_safetensors(folder / weights_file, {metadata, checkpoint.weights});
  save_safetensors(folder / optimizer_file, {metadata, checkpoint.optimizer});
  TextFile trainer(folder / trainer_file);
  trainer.write(trainer_json(checkpoint).dump(2) + "\n");
  trainer.close();
}

// The number in "step-10"; none: it is no such name.
std::optional<std::int64_t> step_in(const std::string& name) {
  const std::string digits = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
  if (digits.empty() || digits.size() > 18 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoll(digits);
}

Path newest_in(const Path& folder) {
  if (std::filesystem::exists(folder / trainer_file)) {
    return folder;
  }
  std::int64_t most = -1;
  Path newest;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const auto step = step_in(entry.path().filename().string());
    if (step && *step > most) {
      most = *step;
      newest = entry.path();
    }
  }
  if (most < 0) {
    throw BadUse(folder.string() + ": there is no checkpoint: neither " + trainer_file +
                 " nor a folder step-<number>; give what a run with --save has written");
  }
  return newest;
}

void read_trainer(const Path& path, Checkpoint& checkpoint) {
  std::ifstream in(path);
  try {
    const Json document = Json::parse(in);
    checkpoint.step = document.at("step").get<std::int64_t>();
    checkpoint.training = document.at("training").get<std::map<std::string, std::string>>();
    checkpoint.loss_scale = {.value = document.at("loss_scale").at("value").get<double>(),
                             .good_steps = document.at("loss_scale").at("good_steps")};
  } catch (const Json::exception& error) {
    throw BadUse(path.string() + ": is missing or damaged (" + error.what() +
                 "): take another checkpoint");
  }
  constexpr std::int64_t most = 2'000'000'000;
  if (checkpoint.step < 0 || checkpoint.step > most) {
    throw BadUse(path.string() + ": step is " + std::to_string(checkpoint.step) +
                 ": must be from 0 to " + std::to_string(most));
  }
}

NamedTensors read_tensors(const Path& path, std::int64_t step) {
  SafetensorsFile file = load_safetensors(path);
  if (file.metadata["step"] != std::to_string(step)) {
    throw BadUse(path.string() + ": is of step \"" + file.metadata["step"] + "\", but " +
                 trainer_file + " beside it of step " + std::to_string(step) +
                 ": the files are of different saves; take another checkpoint");
  }
  return std::move(file.tensors);
}

}  // namespace

Path checkpoint_folder(const Path& folder, std::int64_t step) {
  return folder / (prefix + std::to_string(step));
}

Path save_checkpoint(const Path& folder, const Checkpoint& checkpoint) {
  const Path place = checkpoint_folder(folder, checkpoint.step);
  const auto beside = [&](const char* what) {
    return Path(place.string() + "." + std::to_string(getpid()) + what);
  };
  const Path unfinished = beside(".tmp");
  const Path old = beside(".old");
  try {
    write_all(unfinished, checkpoint);
    if (std::filesystem::exists(place)) {
      std::filesystem::rename(place, old);
    }
    std::filesystem::rename(unfinished, place);
    std::filesystem::remove_all(old);
  } catch (const std::filesystem::filesystem_error& failed) {
    throw BadUse("cannot write the checkpoint " + place.string() + ": " + failed.code().message() +
                 ": choose a folder that you may write into");
  }
  return place;
}

Checkpoint load_checkpoint(const Path& folder) {
  Checkpoint checkpoint{.folder = newest_in(folder)};
  read_trainer(checkpoint.folder / trainer_file, checkpoint);
  checkpoint.weights = read_tensors(checkpoint.folder / weights_file, checkpoint.step);
  checkpoint.optimizer = read_tensors(checkpoint.folder / optimizer_file, checkpoint.step);
  return checkpoint;
}

void load_weights(const Checkpoint& checkpoint, const std::vector<Parameter*>& parameters) {
  load_parts(checkpoint.weights, weight_parts(parameters),
             (checkpoint.folder / weights_file).string());
}

void load_optimizer(const Checkpoint& checkpoint, Optimizer& optimizer) {
  load_parts(checkpoint.optimizer, optimizer_parts(optimizer),
             (checkpoint.folder / optimizer_file).string());
}

void load_whole(const Checkpoint& checkpoint, const std::vector<Parameter*>& parameters,
                Optimizer& optimizer) {
  refuse_unknown_names(checkpoint.weights, weight_parts(parameters),
                       (checkpoint.folder / weights_file).string());
  refuse_unknown_names(checkpoint.optimizer, optimizer_parts(optimizer),
                       (checkpoint.folder / optimizer_file).string());
  load_weights(checkpoint, parameters);
  load_optimizer(checkpoint, optimizer);
}

}  // namespace ringside
