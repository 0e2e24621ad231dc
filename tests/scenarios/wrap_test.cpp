#include "scenarios/wrap.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Wrap, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three four five six", 4, 24), "one two three four\n    five six");
  EXPECT_EQ(wrapped("a_word_that_is_longer_than_its_line and more", 2, 24),
            "a_word_that_is_longer_than_its_line\n  and more");
}

TEST(Wrap, ChineseTakesTwoColumnsAndBreaksAnywhereButBeforeItsMarks) {
  EXPECT_EQ(width_of("8 卡"), 4U);
  EXPECT_EQ(wrapped("环不关心卡在哪里跨两台机器", 2, 24), "环不关心卡在哪里跨两\n  台机器");
  EXPECT_EQ(wrapped("环不关心卡在哪里跨两，台机器", 2, 24), "环不关心卡在哪里跨\n  两，台机器");
}

TEST(Wrap, LeavesTextAloneWhereThereIsNoTerminalOrNoRoom) {
  const std::string text = "one two three four five six seven eight nine ten";
  EXPECT_EQ(wrapped(text, 10, 0), text);
  EXPECT_EQ(wrapped(text, 30, 40), text);
  EXPECT_EQ(wrapped("", 2, 80), "");
}

}  // namespace
}  // namespace ringside
