// The CSV of the field: read as others write it, written as others read it.
#include "parallel/pipeline/schedule_csv.hpp"

#include <gtest/gtest.h>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/validate.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_schedule_csv(text, "my.csv");
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(ScheduleCsv, Golden) {
  EXPECT_EQ(csv_of(make_schedule("1f1b", {3, 4, 1})),
            "0F0,0F1,0F2,,,0B0,0F3,0B1,,0B2,,0B3\n"
            ",1F0,1F1,,1B0,1F2,1B1,1F3,1B2,,1B3\n"
            ",,2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3\n");
  EXPECT_EQ(csv_of(make_schedule("zb_h1", {2, 2, 1})),
            "0F0,0F1,,0I0,0W0,0I1,0W1\n"
            ",1F0,1I0,1F1,1I1,1W0,1W1\n");
  EXPECT_EQ(csv_of(make_schedule("dualpipe", {2, 4, 1})),
            "0F0,1F2,0F1,1B2,(1F3;0B0)OVERLAP_F_B,1B3,0I1,0W1\n"
            "0F2,1F0,0F3,1B0,(1F1;0B2)OVERLAP_F_B,1B1,0I3,0W3\n");
}

TEST(ScheduleCsv, RoundTrip) {
  for (const auto& row : schedule_table()) {
    Schedule schedule = make_schedule(row.name, {4, 8, row.name == "interleaved" ? 2 : 1});
    const std::string text = csv_of(schedule);
    const Schedule again = parse_schedule_csv(text, row.name);
    schedule.chunks = 1;  // a file does not say
    EXPECT_EQ(again, schedule) << row.name;
    EXPECT_EQ(csv_of(again), text) << row.name;
    EXPECT_NO_THROW(require_valid(again)) << row.name;
  }
}

TEST(ScheduleCsv, IsReadLiberally) {
  const Schedule plain = parse_schedule_csv("0F0,,0B0\n,1F0,1B0\n", "s");
  EXPECT_EQ(parse_schedule_csv("\xEF\xBB\xBF 0F0 ,, \"0B0\",,\r\n,1F0\t,1B0\r\n\r\n\n", "s"),
            plain);
  EXPECT_EQ(parse_schedule_csv("0F0,0B0\n1F0,1B0", "s"), plain);
}

// The beginning of PyTorch's artifacts/zb1p_2rank_2stagep_compute.csv, where B beside W is I.
TEST(ScheduleCsv, ABWithAWOfItsOwnIsAnI) {
  const Schedule schedule =
      parse_schedule_csv("0F0,0F1,,0B0,0W0,0B1,0W1\n,1F0,1B0,1F1,1B1,1W0,1W1\n", "zb1p");
  EXPECT_EQ(schedule.devices[0][2].kind, ActionKind::input_gradient);
  EXPECT_NO_THROW(require_valid(schedule));
  const Schedule half = parse_schedule_csv("0F0,0B0,0W0,0F1,0B1\n", "half");
  EXPECT_EQ(half.devices[0][1].kind, ActionKind::input_gradient);
  EXPECT_EQ(half.devices[0][4].kind, ActionKind::backward);
}

TEST(ScheduleCsv, RefusesWithRowAndCell) {
  const std::string wrong =
      ": a cell is a stage, one of F, B, I, W, and a micro-batch, as 2F5, both 0 to 999999; or "
      "nothing";
  EXPECT_EQ(refusal("0F0,0B0\n1F0,1X0\n"), "schedule my.csv, row 2, cell 2: \"1X0\"" + wrong);
  for (const auto* word : {"F0", "0F", "0", "0F-1", "0F1x", "-1F0", "0f0", "0F1000000", "F"}) {
    EXPECT_EQ(refusal(word),
              "schedule my.csv, row 1, cell 1: \"" + std::string(word) + "\"" + wrong);
  }
  for (const auto* word : {"0SEND_F0", "1RECV_B3", "0UNSHARD", "2REDUCE_GRAD"}) {
    EXPECT_TRUE(
        refusal(word).find("communication follows from the actions: leave such cells out") !=
        std::string::npos)
        << word;
  }
  for (const auto* word :
       {"(0F0;1B0)", "(0F0)OVERLAP_F_B", "(0F0;1B0;2F0)OVERLAP_F_B", "(0F0;1B0"}) {
    EXPECT_TRUE(refusal(word).find("are written (2F5;1B3)OVERLAP_F_B") != std::string::npos)
        << word;
  }
}

}  // namespace
}  // namespace ringside
