// What is read of a file that a user names, and what is refused without being read.
#include "runtime/files/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "runtime/errors.hpp"
#include "runtime/files/lines.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

std::string refusal(const std::filesystem::path& path, std::uintmax_t most = 1000) {
  try {
    read_file(path, "a thing", most);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(InputFile, IsReadWholeUpToItsBound) {
  const TemporaryFolder folder;
  const std::string bytes = std::string("\0\r\n\xff", 4) + std::string(200'000, 'x');
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  EXPECT_EQ(read_file(folder / "file", "a thing", bytes.size()), bytes);
  EXPECT_EQ(
      refusal(folder / "file", bytes.size() - 1),
      (folder / "file").string() + ": 200004 bytes are too many for a thing (at most 200003)");
  std::ofstream(folder / "empty");
  EXPECT_EQ(read_file(folder / "empty", "a thing", 0), "");
  EXPECT_GT(read_file("/proc/self/status", "a thing", 100'000).size(), 100U)
      << "its size is said to be 0";
  EXPECT_NE(refusal("/proc/self/status", 10).find("grown past the 10 bytes"), std::string::npos);
}

TEST(InputFile, ThatIsNoRegularFileIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder / "fifo"),
            (folder / "fifo").string() +
                ": cannot be read: it is a FIFO: give a thing, which is a regular file");
  EXPECT_NE(refusal(folder.path()).find("it is a folder"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("it is a device"), std::string::npos);
  EXPECT_NE(refusal(folder / "none").find("No such file or directory: give a thing that exists"),
            std::string::npos);
}

TEST(InputFile, OfWhichAReadFailsHasNotEnded) {
  EXPECT_EQ(refusal("/proc/self/mem"),  // where nothing is mapped at 0
            "/proc/self/mem: reading failed after 0 bytes: Input/output error: what was read is "
            "not all");
}

std::vector<std::string> lines_of(const std::string& bytes, std::size_t longest, bool& cut) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  InputFile file(folder / "file", "a thing");
  Lines lines(file, longest);
  std::vector<std::string> found;
  cut = false;
  for (std::string_view line; lines.next(line);) {
    found.emplace_back(line);
    EXPECT_EQ(lines.number(), found.size());
    cut = lines.unfinished();
  }
  return found;
}

TEST(InputFile, LinesComeOneByOneAndTheLastMayBeCut) {
  bool cut = false;
  EXPECT_EQ(lines_of("", 10, cut), std::vector<std::string>());
  EXPECT_EQ(lines_of("a\n\nbc", 10, cut), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_TRUE(cut);
  EXPECT_EQ(lines_of("a\n\nbc\n", 10, cut), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_FALSE(cut);
  std::string many;
  for (int i = 0; i < 50'000; ++i) {
    many += std::to_string(i) + "\n";
  }
  EXPECT_EQ(lines_of(many, 10, cut).size(), 50'000U);
  EXPECT_THROW(lines_of("a\n" + std::string(11, 'x') + "\n", 10, cut), BadUse);
  EXPECT_THROW(lines_of(std::string(200'000, 'x'), 10, cut), BadUse);
}

}  // namespace
}  // namespace ringside
