#include "models/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/safetensors.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/file_lock.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/leftovers.hpp"
#include "runtime/files/quoted.hpp"
#include "runtime/files/replace_folder.hpp"
#include "runtime/files/text_file.hpp"

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
  // What a killed save has left may be the only one.
  recover_folders(folder, prefix);
  if (step_in(folder.filename().string())) {
    recover_folders(folder.parent_path(), folder.filename().string());
  }
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

constexpr std::int64_t most_steps = 2'000'000'000;

// A whole number in a range. Throws BadUse; Json::exception when it is not there.
std::int64_t whole_in(const Json& object, const std::string& key, const std::string& where) {
  const Json& value = object.at(key);
  if (!value.is_number_integer() || value < 0 || value > most_steps) {
    throw BadUse(where + ": " + key + " is " + quoted_json(value) +
                 ": must be a whole number from 0 to " + std::to_string(most_steps));
  }
  return value.get<std::int64_t>();
}

double loss_scale_in(const Json& object, const std::string& where) {
  const Json& value = object.at("value");
  if (!value.is_number() || !(value.get<double>() > 0)) {
    throw BadUse(where + ": loss_scale.value is " + quoted_json(value) +
                 ": must be a number above 0: the loss is multiplied by it");
  }
  return value.get<double>();
}

void read_trainer(const Path& path, Checkpoint& checkpoint) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  const Json document = read_json(path, "a trainer_state.json", most_bytes);
  const std::string where = path.string();
  try {
    const Json& scale = document.at("loss_scale");
    checkpoint.step = whole_in(document, "step", where);
    checkpoint.training = document.at("training").get<std::map<std::string, std::string>>();
    checkpoint.loss_scale = {.value = loss_scale_in(scale, where),
                             .good_steps = whole_in(scale, "good_steps", where)};
  } catch (const Json::exception& error) {
    throw BadUse(where + ": is damaged (" + escaped(shortened(error.what())) +
                 "): take another checkpoint");
  }
}

NamedTensors read_tensors(const Path& path, std::int64_t step, std::uintmax_t most) {
  SafetensorsFile file = load_safetensors(path, most);
  if (file.metadata["step"] != std::to_string(step)) {
    throw BadUse(path.string() + ": is of step \"" + escaped(shortened(file.metadata["step"])) +
                 "\", but " + trainer_file + " beside it of step " + std::to_string(step) +
                 ": the files are of different saves; take another checkpoint");
  }
  return std::move(file.tensors);
}

template <class T>
std::vector<T> elements(const HostTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
void require_squares(const HostTensor& tensor, const std::string& where) {
  const auto values = elements<T>(tensor);
  const auto below = std::ranges::find_if(values, [](T value) { return value < 0; });
  if (below != values.end()) {
    throw BadUse(where + " averages squares, but element " +
                 std::to_string(below - values.begin()) + " is " + std::to_string(*below) +
                 ": take another checkpoint");
  }
}

// What the optimizer would go on from is what some training can have left.
void require_plausible(const NamedTensors& optimizer, std::int64_t step, const Path& path) {
  for (const auto& [name, tensor] : optimizer) {
    const std::string where = path.string() + ": tensor \"" + escaped(shortened(name)) + "\"";
    if (name.ends_with(".exp_avg_sq")) {
      if (tensor.dtype == DType::f64) {
        require_squares<double>(tensor, where);
      } else if (tensor.dtype == DType::f32) {
        require_squares<float>(tensor, where);
      }
    }
    if (!name.ends_with(".step") || tensor.dtype != DType::i64) {
      continue;
    }
    for (const std::int64_t updates : elements<std::int64_t>(tensor)) {
      if (updates < 0 || updates > step) {
        throw BadUse(where + " says " + std::to_string(updates) + " updates, but " +
                     std::to_string(step) + " steps were taken: take another checkpoint");
      }
    }
  }
}

}  // namespace

Path checkpoint_folder(const Path& folder, std::int64_t step) {
  return folder / (prefix + std::to_string(step));
}

Path save_checkpoint(const Path& folder, const Checkpoint& checkpoint) {
  const Path place = checkpoint_folder(folder, checkpoint.step);
  const Path unfinished = beside(place, ".tmp");
  try {
    recover_folders(folder, prefix);
    remove_leftovers(folder, prefix, ".tmp");
    remove_leftovers(folder, prefix, ".old");
    std::filesystem::create_directories(unfinished);
    const auto lock = FileLock::take(unfinished);  // says that it is no leftover
    write_all(unfinished, checkpoint);
    replace_folder(unfinished, place);
  } catch (const std::exception& failed) {
    std::error_code left;
    std::filesystem::remove_all(unfinished, left);
    throw BadUse("cannot write the checkpoint " + place.string() + ": " + failed.what() +
                 ": choose a folder that you may write into, on a disk that has room");
  }
  return place;
}

Checkpoint load_checkpoint(const Path& folder,
                           const std::function<std::uintmax_t(const Checkpoint&)>& accept) {
  Checkpoint checkpoint{.folder = newest_in(folder)};
  read_trainer(checkpoint.folder / trainer_file, checkpoint);
  const auto most = accept ? accept(checkpoint) : std::numeric_limits<std::uintmax_t>::max();
  const auto read = [&](const char* file) {
    return read_tensors(checkpoint.folder / file, checkpoint.step, most);
  };
  checkpoint.weights = read(weights_file);
  checkpoint.optimizer = read(optimizer_file);
  require_plausible(checkpoint.optimizer, checkpoint.step, checkpoint.folder / optimizer_file);
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
