// What a shared machine does to a run: ports that others take, a small /dev/shm, other users,
// folders that may not be written.
#include <arpa/inet.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <set>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/child.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string sockets = " --set cluster.nodes=4 --set cluster.gpus_per_node=2";
const std::string tiny_ring = "run dp/ring --json --ranks 8" + tiny_job;
// Of some seconds, for those who come to disturb it.
const std::string long_ring =
    tiny_ring + " --log summary --pace 1000 --set train.steps=40 --set train.lr=0.001";

void expect_pass(const Ended& ended) {
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.document()["verdict"], "pass") << ended.out;
}

// Takes every port that the system hands out, for a millisecond each, until it is killed.
[[noreturn]] void grab_ports() {
  for (;;) {
    std::vector<Descriptor> held;
    for (int i = 0; i < 500; ++i) {
      Descriptor taken(socket(AF_INET, SOCK_STREAM, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
          listen(taken.get(), 1) == 0) {
        held.push_back(std::move(taken));
      }
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(SystemLimits, CaseD5TwentyRunsAtOnceAmongTakenPorts) {
  TestChild grabber([](int) { grab_ports(); });
  std::vector<std::unique_ptr<RunningProgram>> runs;
  for (int run = 0; run < 20; ++run) {
    runs.push_back(
        std::make_unique<RunningProgram>(tiny_ring + sockets + " --seed " + std::to_string(run)));
  }
  std::set<nlohmann::json> losses;
  for (auto& run : runs) {
    const auto ended = run->wait(minutes(2));
    expect_pass(ended);  // its gradients are those of its own seed: no rank of another run
    losses.insert(ended.document()["losses"]);
  }
  EXPECT_EQ(losses.size(), runs.size());
  EXPECT_FALSE(grabber.process().ended()) << "nobody took any port";
}

TEST(SystemLimits, CaseD6TenRunsKilledWithAllRanksLeaveNoSharedMemory) {
  const auto before = named_segments();
  for (int run = 0; run < 10; ++run) {
    RunningProgram program(long_ring + (run % 2 == 0 ? "" : sockets));
    const auto ranks = program.all_ranks(8);
    ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
    program.signal_all(SIGKILL);
    EXPECT_EQ(program.wait(seconds(2)).exit_code, 128 + SIGKILL);
    EXPECT_TRUE(RunningProgram::nothing_left(seconds(2)));
  }
  expect_pass(run_program(tiny_ring));
  EXPECT_EQ(named_segments(), before);
}

// ---- D7: users ----------------------------------------------------------------------------------

constexpr uid_t nobody = 65534;

// In a child, where the test runs as root: goes on as another user.
void become_nobody() {
  if (geteuid() == 0 &&
      (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0)) {
    _exit(99);
  }
}

// A program and a scenario that everybody may read, wherever the repository is.
class PublicProgram {
 public:
  PublicProgram() {
    fs::copy_file(RINGSIDE_PROGRAM, folder_ / "ringside");
    fs::permissions(folder_ / "ringside", fs::perms(0755));
    fs::copy_file(RINGSIDE_SOURCE_DIR "/scenarios/dp/gradient_equivalence.toml",
                  folder_ / "case.toml");
    fs::permissions(folder_ / "case.toml", fs::perms(0644));
    fs::create_directory(folder_ / "open");
    fs::permissions(folder_ / "open", fs::perms(01777));
    fs::create_directory(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms(0555));
  }

  fs::path operator/(const std::string& name) const { return folder_ / name; }

  // A small run of it, started in one of its folders by this user, or by nobody.
  std::unique_ptr<RunningProgram> run(const std::string& folder, const std::string& flags,
                                      bool by_nobody) const {
    return std::make_unique<RunningProgram>(
        "run " + (folder_ / "case.toml").string() + " --json --ranks 8" + tiny_job + flags,
        "-u HOME TMPDIR=/nonexistent",
        [=, this] {
          if (by_nobody) {
            become_nobody();
          }
          fs::current_path(folder_ / folder);
        },
        (folder_ / "ringside").string());
  }

 private:
  TemporaryFolder folder_;
};

TEST(SystemLimits, CaseD7TwoUsersRunAtTheSameTimeAndOneAfterTheOther) {
  const PublicProgram program;
  const auto killed =
      program.run("open", " --out a --pace 1000 --set train.steps=40 --set train.lr=0.001", false);
  ASSERT_EQ(killed->all_ranks(8).size(), 8U) << killed->wait(seconds(1)).err;
  expect_pass(program.run("open", " --out b", true)->wait(minutes(1)));
  EXPECT_FALSE(killed->over()) << "not at the same time";
  killed->signal_all(SIGKILL);
  killed->wait(seconds(2));
  expect_pass(program.run("open", " --out c", true)->wait(minutes(1)));
  expect_pass(program.run("open", " --out d", false)->wait(minutes(1)));

  struct stat about {};

  ASSERT_EQ(stat((program / "open/b/traffic.jsonl").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, geteuid() == 0 ? nobody : geteuid());
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST(SystemLimits, CaseD7WhatMayNotBeWrittenIsNamedWithItsOwner) {
  const PublicProgram program;
  const auto refused = [&](const char* folder, const std::string& flags, const fs::path& named) {
    const auto ended = program.run(folder, flags, true)->wait(minutes(1));
    EXPECT_EQ(ended.exit_code, exit_bad_use) << ended.err;
    EXPECT_EQ(ended.document()["verdict"], "refused") << ended.out;
    EXPECT_TRUE(has(ended.err, "\"" + named.string() + "\"")) << ended.err;
    EXPECT_TRUE(has(ended.err, "belongs to")) << ended.err;
    EXPECT_TRUE(has(ended.err, "--out")) << ended.err;
  };
  refused("closed", "", program / "closed/runs");
  refused("closed", " --out sub/folder", program / "closed/sub/folder");
  if (geteuid() == 0) {  // the run folder of another user
    expect_pass(program.run("open", " --out same", false)->wait(minutes(1)));
    refused("open", " --out same", program / "open/same");
  }
  const auto elsewhere = " --out " + (program / "open/elsewhere").string();
  expect_pass(program.run("closed", elsewhere, true)->wait(minutes(1)));
}

// ---- D8: /dev/shm -------------------------------------------------------------------------------

// More than 32 MiB a rank.
const std::string large_ring =
    "run dp/ring --json --ranks 8 --log none --set model.hidden=1100 --set model.layers=3"
    " --set model.sequence=1 --set train.batch=8 --set train.steps=1"
    " --set 'checks.run=[\"traffic\"]'";

TEST(SystemLimits, CaseD8NothingOfAJobLiesInDevShm) {
  const auto before = named_segments();
  RunningProgram program(long_ring + sockets);
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
  EXPECT_EQ(named_segments(), before);
  for (const int rank : ranks) {
    const auto maps = content("/proc/" + std::to_string(rank) + "/maps");
    EXPECT_TRUE(has(maps, " rw-s ")) << "no shared memory at all?";
    EXPECT_FALSE(has(maps, "/dev/shm")) << maps;
  }
  program.signal_all(SIGKILL);
}

// In a child: a /dev/shm of its own of 64 MB, full but for 1 MB, and then perhaps read-only.
// Whether the system allows that.
bool mount_small_shm(bool read_only) {
  constexpr const char* size = "size=64m";
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("small", "/dev/shm", "tmpfs", 0, size) != 0) {
    return false;
  }
  std::ofstream("/dev/shm/filler") << std::string(63 << 20, 'x');
  return !read_only || mount("small", "/dev/shm", "tmpfs", MS_REMOUNT | MS_RDONLY, size) == 0;
}

// Tried in a child of its own.
bool may_mount_small_shm(bool read_only) {
  TestChild child([read_only](int out) { write_all(out, mount_small_shm(read_only) ? "y" : "n"); });
  return child.hear(1, seconds(30)) == "y";
}

// Runs the program with such a /dev/shm.
Ended run_in_small_shm(const std::string& arguments, bool read_only) {
  RunningProgram program(arguments, "", [read_only] {
    if (!mount_small_shm(read_only)) {
      _exit(99);
    }
  });
  return program.wait(minutes(1));
}

TEST(SystemLimits, CaseD8AFullDevShmDoesNotMatter) {
  if (!may_mount_small_shm(false)) {
    GTEST_SKIP() << "no /dev/shm may be mounted here";
  }
  const auto ended = run_in_small_shm(large_ring, false);
  expect_pass(ended);
  EXPECT_GT(ended.document()["memory"][0]["peak_bytes"], 32 << 20);
}

TEST(SystemLimits, CaseD8AReadOnlyDevShmDoesNotMatter) {
  if (!may_mount_small_shm(true)) {
    GTEST_SKIP() << "no /dev/shm may be mounted here";
  }
  expect_pass(run_in_small_shm(tiny_ring + sockets, true));
}

}  // namespace
}  // namespace ringside
