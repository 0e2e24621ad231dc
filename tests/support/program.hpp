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

#include "tests/support/temporary_folder.hpp"

namespace ringside {

inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

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
