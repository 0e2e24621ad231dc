// C3: whenever a save is killed, one whole checkpoint has the name, and the next save leaves no
// trace of it.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <set>

#include "models/checkpoint.hpp"
#include "tests/support/kill_at_system_call.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

Checkpoint filled(double scale) {
  const auto value = static_cast<float>(scale);
  HostTensor tensor{.dtype = DType::f32, .shape = {1000}, .bytes = {}};
  for (int i = 0; i < 1000; ++i) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    tensor.bytes.insert(tensor.bytes.end(), bytes.begin(), bytes.end());
  }
  return {.step = 2,
          .training = {{"value", std::to_string(scale)}},
          .loss_scale = {.value = scale},
          .weights = {{"w", tensor}},
          .optimizer = {{"w.exp_avg", tensor}}};
}

void expect_whole(const Checkpoint& found, long at) {
  const bool old = found.loss_scale.value == 1;
  const Checkpoint expected = filled(old ? 1 : 2);
  EXPECT_EQ(found.training, expected.training) << "killed at call " << at;
  EXPECT_EQ(found.weights, expected.weights) << "killed at call " << at;
  EXPECT_EQ(found.optimizer, expected.optimizer) << "killed at call " << at;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

// `missing`: a call that the system does not have.
void kill_at_every_call(long missing) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), filled(1));
  bool saw_old = false;
  bool saw_new = false;
  long at = 1;
  for (bool killed = true; killed; ++at) {
    const double value = at % 2 == 0 ? 1 : 2;
    killed =
        run_until_call([&] { save_checkpoint(folder.path(), filled(value)); }, at, missing).killed;
    const Checkpoint found = load_checkpoint(folder / "step-2");
    expect_whole(found, at);
    (found.loss_scale.value == value ? saw_new : saw_old) = true;
  }
  EXPECT_GT(at, 20) << "too few calls for a save";
  EXPECT_TRUE(saw_old && saw_new);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"step-2"})
      << "the last save, which was not killed, removes what the others have left";
}

TEST(CheckpointKills, LeaveOneWholeCheckpointAtEveryCall) {
  kill_at_every_call(-1);
}

#ifdef __x86_64__
TEST(CheckpointKills, LeaveOneWholeCheckpointWhereNamesCannotBeExchanged) {
  kill_at_every_call(SYS_renameat2);
}
#endif

}  // namespace
}  // namespace ringside
