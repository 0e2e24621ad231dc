// Who may read what is written, and whose permissions are left alone.
#include "runtime/files/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "runtime/errors.hpp"
#include "tests/support/child.hpp"
#include "tests/support/kill_at_system_call.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

long entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(TextFile, ANewOneIsItsOwnersAlone) {
  const TemporaryFolder folder;
  TextFile file(folder / "new");
  file.write("text");
  file.close();
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms(0600));
}

TEST(TextFile, OneThatWasThereAndADeviceKeepTheirPermissions) {
  const TemporaryFolder folder;
  std::ofstream(folder / "old") << "longer than what follows";
  fs::permissions(folder / "old", fs::perms(0644));
  TextFile file(folder / "old");
  file.write("text");
  file.close();
  EXPECT_EQ(fs::status(folder / "old").permissions(), fs::perms(0644));
  EXPECT_EQ(fs::file_size(folder / "old"), 4U);
  fs::create_symlink("old", folder / "link");
  TextFile through(folder / "link");
  through.write("more");
  through.close();
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "old"), "more");
  const auto device = fs::status("/dev/null").permissions();
  TextFile("/dev/null").close();
  EXPECT_EQ(fs::status("/dev/null").permissions(), device);
}

TEST(TextFile, UntilItIsClosedWhatWasThereStays) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "old";
  {
    TextFile file(folder / "file");
    file.write("new");
  }
  EXPECT_EQ(content(folder / "file"), "old");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(TextFile, OnAFullDiskTheOldTextStaysAndNothingIsLeft) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "old";
  TestChild child([&](int out) {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    std::string said;
    try {
      TextFile file(folder / "file");
      file.write(std::string(100'000, 'x'));
      file.close();
    } catch (const BadUse& refusal) {
      said = refusal.what();
    }
    EXPECT_EQ(write(out, said.data(), said.size()), static_cast<ssize_t>(said.size()));
  });
  EXPECT_EQ(child.hear(1000, std::chrono::seconds(10)),
            "cannot write " + (folder / "file").string() + ": File too large");
  EXPECT_EQ(content(folder / "file"), "old");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(TextFile, KilledAtEveryCallTheOldTextStandsOrTheNew) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "old";
  long at = 1;
  for (bool killed = true; killed; ++at) {
    killed = run_until_call(
                 [&] {
                   TextFile file(folder / "file");
                   file.write("new");
                   file.close();
                 },
                 at)
                 .killed;
    const std::string found = content(folder / "file");
    EXPECT_TRUE(found == "old" || found == "new") << "at call " << at << ": " << found;
    std::ofstream(folder / "file") << "old";
  }
  EXPECT_GT(at, 8);
  EXPECT_EQ(entries(folder.path()), 1) << "the last one removes what the others have left";
}

TEST(TextFile, WhatOthersAreWritingOrHaveNamedSoIsNoLeftover) {
  const TemporaryFolder folder;
  const std::string mine = (folder / "file").string() + ".1.tmp";  // process 1 runs
  std::ofstream(mine) << "x";
  std::ofstream(folder / "file.old.tmp") << "x";
  std::ofstream(folder / "other.999999999.tmp") << "x";
  TextFile(folder / "file").close();
  EXPECT_EQ(entries(folder.path()), 4);
}

}  // namespace
}  // namespace ringside
