// The language of lessons: --lang, --zh, and the environment.
#include <gtest/gtest.h>

#include "tests/support/program.hpp"

namespace ringside {
namespace {

bool chinese(const std::string& flags, const std::string& environment) {
  const auto ended = run_program("list tp" + flags, environment);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.out.find("卡") != std::string::npos;
}

TEST(Language, IsWhatIsAskedForElseThatOfTheEnvironment) {
  const std::string bare = "env -u LC_ALL -u LC_MESSAGES LANG=C";
  EXPECT_FALSE(chinese("", bare));
  EXPECT_TRUE(chinese("", bare + " LANG=zh_CN.UTF-8"));
  EXPECT_FALSE(chinese("", bare + " LANG=zh_CN.UTF-8 LC_ALL=C"));
  EXPECT_TRUE(chinese(" --lang zh", bare));
  EXPECT_TRUE(chinese(" --zh", bare));
  EXPECT_FALSE(chinese(" --lang en", bare + " LANG=zh_CN.UTF-8"));
}

TEST(Language, IsThatOfTheLessonInEveryVerbThatShowsOne) {
  for (const auto* arguments : {"run tp/column_row --lang zh", "tour --list --lang zh"}) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_NE(ended.out.find("的"), std::string::npos) << ended.out;
  }
}

TEST(Language, AnotherWordIsRefused) {
  for (const auto* arguments : {"list --lang fr", "list --lang en --zh"}) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_NE(ended.err.find("--lang"), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace ringside
