// What this machine cannot give is refused before any rank starts, with the numbers.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/errors.hpp"
#include "runtime/launch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr uid_t nobody = 65534;

template <class Resource>
void set_limit(Resource resource, rlim_t value) {
  const rlimit limit{value, value};
  if (setrlimit(resource, &limit) != 0) {
    throw std::runtime_error("setrlimit failed");
  }
}

// "ok", or the text of the BadUse.
std::string outcome_of_job(int n, const JobOptions& options) {
  try {
    run_ranks(n, options, [](Rank&) {});
    return "ok";
  } catch (const BadUse& error) {
    return error.what();
  }
}

JobOptions with_region(std::size_t bytes) {
  JobOptions options;
  options.region_bytes = bytes;
  return options;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LaunchLimits, CaseD4TooFewDescriptorsForRanksInManyNodes) {
  for (const int n : {32, 64}) {
    const std::string text = in_child([&] {
      set_limit(RLIMIT_NOFILE, 64);
      JobOptions options = small_job();
      options.cluster.gpus_per_node = 1;
      return outcome_of_job(n, options);
    });
    EXPECT_TRUE(has(text, "a job of " + std::to_string(n) + " ranks")) << text;
    EXPECT_TRUE(has(text, "needs about ")) << text;
    EXPECT_TRUE(has(text, "limit is 64")) << text;
  }
}

TEST(LaunchLimits, CaseD4TooFewDescriptorsInOneNode) {
  const auto job_of = [](int n) {
    return in_child([=] {
      set_limit(RLIMIT_NOFILE, 64);
      return outcome_of_job(n, small_job());
    });
  };
  EXPECT_TRUE(has(job_of(64), "limit is 64"));
  EXPECT_EQ(job_of(32), "ok");
}

TEST(LaunchLimits, CaseD4TooLittleAddressSpace) {
  const auto in_use = address_space_in_use();
  if (!in_use || *in_use > (1UL << 40)) {
    GTEST_SKIP() << "the address space in use cannot be told, or a sanitizer takes all of it";
  }
  const std::string text = in_child([&] {
    set_limit(RLIMIT_AS, *in_use + (256UL << 20));
    return outcome_of_job(8, with_region(64UL << 20));
  });
  EXPECT_TRUE(has(text, "8 ranks")) << text;
  EXPECT_TRUE(
      has(text, "the limit of the address space is " + std::to_string(*in_use + (256UL << 20))))
      << text;
  EXPECT_TRUE(has(text, std::to_string(8 * (64UL << 20)).substr(0, 4))) << text;
  EXPECT_TRUE(has(text, "available")) << text;
}

TEST(LaunchLimits, MoreThanTheMemoryOfTheMachine) {
  const auto memory = machine_memory();
  if (!memory) {
    GTEST_SKIP() << "the memory of this machine cannot be told";
  }
  const std::string text = outcome_of_job(4, with_region(memory->total / 3));
  EXPECT_TRUE(has(text, "the machine has " + std::to_string(memory->total) + " bytes")) << text;
  EXPECT_TRUE(has(outcome_of_job(4, with_region(SIZE_MAX / 4)), "more than an address"));
}

TEST(LaunchLimits, CaseD4TooFewProcesses) {
  if (getuid() != 0) {
    GTEST_SKIP() << "only root can become another user, who runs nothing else";
  }
  const auto job_of = [](int n) {
    return in_child([=]() -> std::string {
      if (setuid(nobody) != 0) {
        return "setuid failed";
      }
      set_limit(RLIMIT_NPROC, 12);
      return outcome_of_job(n, small_job());
    });
  };
  const std::string text = job_of(16);
  EXPECT_TRUE(has(text, "a job of 16 ranks needs 16 processes")) << text;
  EXPECT_TRUE(has(text, "the limit is 12")) << text;
  EXPECT_EQ(job_of(4), "ok");
}

// The count of processes is hidden here, so that the fork itself fails.
TEST(LaunchLimits, CaseD4AFailedForkLeavesNoOrphan) {
  if (getuid() != 0) {
    GTEST_SKIP() << "only root can become another user, who runs nothing else";
  }
  const std::string text = in_child([]() -> std::string {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/proc", "tmpfs", 0, nullptr) != 0 || setuid(nobody) != 0) {
      return "skip";
    }
    set_limit(RLIMIT_NPROC, 6);
    const std::string outcome = outcome_of_job(16, small_job());
    const bool none = waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
    return outcome + (none ? " [no child]" : " [a child is left]");
  });
  if (text == "skip") {
    GTEST_SKIP() << "no mount namespace can be had here";
  }
  EXPECT_TRUE(has(text, " of 16 ranks could be started")) << text;
  EXPECT_FALSE(has(text, "only 0 of 16")) << text;
  EXPECT_TRUE(has(text, "[no child]")) << text;
}

}  // namespace
}  // namespace ringside
