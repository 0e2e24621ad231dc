// Who may read what is written, and whose permissions are left alone.
#include "runtime/text_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

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
  const auto device = fs::status("/dev/null").permissions();
  TextFile("/dev/null").close();
  EXPECT_EQ(fs::status("/dev/null").permissions(), device);
}

}  // namespace
}  // namespace ringside
