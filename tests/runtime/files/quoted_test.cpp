// What is repeated of a file is short, and says itself in letters.
#include "runtime/files/quoted.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/json_text.hpp"

namespace ringside {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "x");
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(Quoted, ControlsAndMarksOfDirectionAreEscaped) {
  EXPECT_EQ(escaped("a\x1b[2J\xc2\x9b"
                    "2J\xe2\x80\xae"
                    "b\x7f\n\t小明"),
            "a\\x1b[2J\\u009b2J\\u202eb\\x7f\n\t小明");
  EXPECT_EQ(escaped("\x9b\xff\xe2\x80"), "\\x9b\\xff\\xe2\\x80") << "no UTF-8";
  EXPECT_EQ(json_escaped("\xc2\x9b\xe2\x80\xae小\x7f\n"), "\\u009b\\u202e小\\u007f\\n");
}

TEST(Quoted, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(shortened("小明小明", 7), "小明… (12 bytes in all)");
  EXPECT_EQ(shortened("小明", 6), "小明");
  EXPECT_LT(quoted_json(std::string(1'000'000, 'x')).size(), 250U);
}

TEST(Quoted, JsonIsBoundedInDepthAndValues) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(refusal(nested(64)), "");
  EXPECT_EQ(refusal(nested(65)),
            "x: byte 64 is more than 64 levels deep, which no such document is");
  EXPECT_NE(refusal(nested(1'000'000)), "");
  EXPECT_EQ(refusal("\"" + nested(100) + "\\\"[\""), "") << "in a text it is no depth";
  std::string many = "[0";
  for (int i = 0; i < 4'000'000; ++i) {
    many += ",0";
  }
  EXPECT_NE(refusal(many + "]").find("past the first 4000000 values"), std::string::npos);
  EXPECT_NE(refusal("[1e999]").find("is no JSON"), std::string::npos);
  EXPECT_LT(refusal("[tru" + std::string(100'000, '\x1b')).size(), 1'000U);
}

}  // namespace
}  // namespace ringside
