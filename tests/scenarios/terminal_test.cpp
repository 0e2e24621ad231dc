// N1: nothing but a terminal ever sees a line that is rewritten.
#include "scenarios/terminal.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace ringside {
namespace {

TEST(Terminal, N1ProgressWritesNothingWhereLinesCannotBeRewritten) {
  std::ostringstream out;
  {
    Progress progress(out, false);
    for (int step = 0; step < 10'000; ++step) {
      progress.show("step " + std::to_string(step) + " of 10000");
    }
  }
  EXPECT_EQ(out.str(), "");
}

TEST(Terminal, ProgressIsOneLineAndWipedInTheEnd) {
  std::ostringstream out;
  {
    Progress progress(out, true);
    for (int step = 0; step < 10'000; ++step) {
      progress.show("step " + std::to_string(step) + " of 10000");
    }
  }
  EXPECT_EQ(out.str().find('\n'), std::string::npos);
  EXPECT_TRUE(out.str().starts_with("\rstep 0 of 10000"));
  EXPECT_TRUE(out.str().ends_with(" \r"));
}

TEST(Terminal, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(printable("a\x1b[2Jb\rc\x7f\n"), "a\\x1b[2Jb\\x0dc\\x7f\n");
  EXPECT_EQ(printable("小明\xff\xc2\x9b"), "小明\\xff\\u009b");
}

}  // namespace
}  // namespace ringside
