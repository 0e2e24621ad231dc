// The built program, run to its end as a user runs it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ringside {

inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A new folder that others may look into, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ringside_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::filesystem::filesystem_error("mkdtemp", name,
                                              std::error_code(errno, std::generic_category()));
    }
    path_ = name;
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  ~TemporaryFolder() {
    std::error_code left;
    std::filesystem::remove_all(path_, left);
  }

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int exit_code = -1;  // 128 + N after signal N
  std::string out, err;

  // What was printed with --json.
  nlohmann::json document() const { return nlohmann::json::parse(out, nullptr, false); }
};

inline int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// `arguments` as for a shell; `environment` stands before the program ("LC_ALL=C"). Runs in a
// folder of its own, which is removed, or in `folder`.
inline Ended run_program(const std::string& arguments, const std::string& environment = {},
                         const std::filesystem::path& folder = {}) {
  const TemporaryFolder own;
  const auto command = "cd " + (folder.empty() ? own.path() : folder).string() + " && " +
                       environment + " " RINGSIDE_PROGRAM " " + arguments + " >" +
                       (own / "out").string() + " 2>" + (own / "err").string();
  const int status = std::system(command.c_str());
  return {exit_code_of(status), content(own / "out"), content(own / "err")};
}

// Flags of a job that is over in no time: 8 ranks, 2 buckets, 2 steps.
inline const std::string tiny_job =
    " --set model.hidden=8 --set model.layers=1 --set model.embedding=2 --set model.context=2"
    " --set model.sequence=4 --set train.batch=16 --set train.steps=2 --set dp.bucket='4 KiB'";

}  // namespace ringside
