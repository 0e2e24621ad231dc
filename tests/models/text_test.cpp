// The built-in text, and files read as text.
#include "models/text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "models/data.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

class TextFolder : public testing::Test {
 protected:
  TextFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-text-XXXXXX").string();
    folder = mkdtemp(name.data());
    std::filesystem::permissions(folder, std::filesystem::perms::all);
  }

  ~TextFolder() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& bytes) const {
    const auto path = folder / "text";
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  // What the refusal says; "" when there was none.
  static std::string refusal(const std::string& path) {
    try {
      read_text(path);
    } catch (const BadUse& error) {
      return error.what();
    }
    return "";
  }

  void expect_refused(const std::string& path, const std::string& reason) const {
    const std::string said = refusal(path);
    EXPECT_NE(said.find(path + ": "), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }

  std::filesystem::path folder;
};

// Bytes of the character that begins here; 0 where none does.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5U == 6 ? 2 : lead >> 4U == 14 ? 3 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  return length;
}

TEST(BuiltinText, BeginsWithTheSentenceAndIsUtf8) {
  const std::string& text = builtin_text();
  EXPECT_EQ(text.rfind(first_sample, 0), 0U);
  EXPECT_GE(text.size(), 3'000U);
  EXPECT_LE(text.size(), 6'144U);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = character_length(rest);
    ASSERT_GT(length, 0U) << "at byte " << text.size() - rest.size();
    rest.remove_prefix(length);
  }
}

TEST_F(TextFolder, BytesComeAsTheyAre) {
  const std::string bytes("\xff\0\r\n\xe5", 5);
  EXPECT_EQ(read_text(write(bytes)), bytes);
}

TEST_F(TextFolder, ALargeFileComesWhole) {
  std::string bytes((8U << 20) + 3, 'x');
  bytes.back() = 'y';
  EXPECT_EQ(read_text(write(bytes)), bytes);
}

TEST_F(TextFolder, RefusesAPipeWithoutWaitingForIt) {
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, "it is a FIFO");
}

TEST_F(TextFolder, RefusesWhatHasNoBytes) {
  expect_refused((folder / "missing").string(), "No such file");
  expect_refused(folder.string(), "it is a folder");
  expect_refused(write(""), "it is empty");
  expect_refused(write("x") + "/below", "Not a directory");
  expect_refused("/dev/zero", "it is a device");
}

TEST_F(TextFolder, RefusesWhatMayNotBeRead) {
  const std::string path = write("secret");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const uid_t me = geteuid();
  const bool changed = me == 0 && seteuid(65534) == 0;  // root may read everything
  const std::string said = refusal(path);
  if (changed) {
    ASSERT_EQ(seteuid(me), 0);
  }
  EXPECT_NE(said.find("Permission denied"), std::string::npos) << said;
}

}  // namespace
}  // namespace ringside
