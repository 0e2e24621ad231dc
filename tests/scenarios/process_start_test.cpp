// What the program's parent left it: descriptors that are closed, and the place of process 1.
#include <gtest/gtest.h>
#include <unistd.h>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string sockets = " --set cluster.nodes=4 --set cluster.gpus_per_node=2";
const std::string tiny_ring = "run dp/ring --ranks 8 --set 'checks.run=[\"traffic\"]'" + tiny_job;

Ended without_descriptors(const std::string& arguments, std::initializer_list<int> closed) {
  RunningProgram program(arguments, {}, [&] {
    for (const int fd : closed) {
      close(fd);
    }
  });
  return program.wait(minutes(1));
}

// Text for stderr must not go into a socket or a pipe of the job.
TEST(ProcessStart, ClosedDescriptorsAreNotTakenByTheJob) {
  for (const auto* wire : {"", sockets.c_str()}) {
    const auto ended = without_descriptors(tiny_ring + " -v --json" + wire, {0, 2});
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.out;
    EXPECT_EQ(ended.document()["verdict"], "pass") << ended.out;
  }
}

TEST(ProcessStart, AReportThatCannotBePrintedIsAnError) {
  for (const int other : {0, 2}) {
    EXPECT_EQ(without_descriptors(tiny_ring + " -v", {1, other}).exit_code, exit_bad_use) << other;
  }
}

const std::string long_job =
    "run dp/ring --ranks 8 --log summary --pace 1000" + tiny_job + " --set train.steps=40";

// "unshare -pf", or with a user namespace, where one of them is allowed; else empty.
std::string new_namespace() {
  for (const auto* command : {"unshare -pf", "unshare -Urpf"}) {
    if (std::system((std::string(command) + " true >/dev/null 2>&1").c_str()) == 0) {
      return command;
    }
  }
  return "";
}

// In a container nobody else would end it.
TEST(ProcessStart, SignalsEndTheJobOfProcessOneToo) {
  const std::string space = new_namespace();
  if (space.empty()) {
    std::cout << "no namespace of processes can be had here: tried as an ordinary process\n";
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    RunningProgram program(long_job, {}, {}, space + " " + RINGSIDE_PROGRAM);
    const auto launcher = [&] {
      const auto children = program.ranks();
      return space.empty() ? program.pid() : children.empty() ? 0 : children.front();
    };
    ASSERT_TRUE(comes_true(seconds(60), [&] {
      const auto id = std::to_string(launcher());
      return !content("/proc/" + id + "/task/" + id + "/children").empty();
    })) << program.wait(seconds(1)).err;
    kill(launcher(), signal);
    EXPECT_EQ(program.wait(seconds(10)).exit_code, 128 + signal);
    EXPECT_TRUE(RunningProgram::nothing_left(seconds(5)));
  }
}

}  // namespace
}  // namespace ringside
