// What the files hold that a scenario names: read once (inputs.hpp), before anything is written.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace ringside {

struct Checkpoint;
struct PublishedModel;
struct Schedule;
struct Settings;

// The content of a file, by the name that a setting gives it.
template <class T>
struct NamedInput {
  std::string name{};
  std::shared_ptr<const T> content{};

  bool is(const std::string& wanted) const { return content && name == wanted; }

  // Throws std::logic_error for another name than was read: nobody opens a file here.
  const T& of(const std::string& wanted) const {
    if (!is(wanted)) {
      throw std::logic_error("\"" + wanted + "\" has not been read before the run began, but \"" +
                             name + "\"");
    }
    return *content;
  }
};

struct InputFiles {
  NamedInput<PublishedModel> model{};  // of model.config
  NamedInput<Schedule> schedule{};     // of parallel.schedule, where that is a file
  NamedInput<std::string> text{};      // of data.text
  NamedInput<Checkpoint> start{};      // of train.resume
  NamedInput<Settings> peer{};         // of checks.peer

  // Settings have the names, and are compared by these.
  bool operator==(const InputFiles&) const { return true; }
};

}  // namespace ringside
