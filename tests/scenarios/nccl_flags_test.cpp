// Lines of nccl-tests as they are published, given to `ringside collective`.
#include "scenarios/nccl_flags.hpp"

#include <gtest/gtest.h>

#include "scenarios/requests.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

using Words = std::vector<std::string>;

CollectiveRequest asked(const Words& words) {
  return asked_collective(words).request.value();
}

TEST(NcclFlags, GpusAndThreadsAreRanks) {
  EXPECT_EQ(
      asked({"all_reduce_perf", "-b", "8", "-e", "128M", "-f", "2", "-g", "8"}).settings.ranks, 8);
  EXPECT_EQ(asked({"all_reduce", "-g", "3"}).settings.ranks, 3);
  EXPECT_EQ(asked({"all_reduce", "-t", "4", "-g", "2"}).settings.ranks, 8);
  EXPECT_EQ(asked({"all_reduce", "-t", "4"}).settings.ranks, 4);
  EXPECT_EQ(asked({"all_reduce", "-g", "16", "--nodes", "2"}).settings.ranks, 16);
  EXPECT_EQ(asked({"all_reduce", "-g", "8", "--ranks", "8"}).settings.ranks, 8);
  EXPECT_TRUE(has(refusal_of([] {
                    asked({"all_reduce", "-g", "8", "--ranks", "4"});
                  }),
                  "--ranks 4 beside -t 1 -g 8, which are 8 ranks"));
}

TEST(NcclFlags, ProgramsAreOperations) {
  EXPECT_EQ(asked({"all_reduce_perf"}).operation, "all_reduce");
  EXPECT_EQ(asked({"alltoall_perf"}).operation, "all_to_all");
  EXPECT_EQ(asked({"reduce_scatter_perf"}).operation, "reduce_scatter");
}

TEST(NcclFlags, WhatOnlySaysHowIsTaken) {
  const Words all{"all_reduce", "-c", "5",   "-p", "1",   "-z", "0",     "-a", "1",
                  "-m",         "1",  "-N",  "1",  "-y",  "1",  "-R",    "1",  "-w",
                  "5",          "-n", "100", "-o", "sum", "-d", "float", "-T", "60"};
  const auto request = asked(all);
  EXPECT_TRUE(request.check);
  EXPECT_EQ(request.timeout, std::chrono::seconds(60));
  EXPECT_FALSE(asked({"all_reduce", "-c", "0"}).check);
}

TEST(NcclFlags, WhatWouldChangeTheMeasurementIsRefusedWithAHint) {
  const auto refused = [](const Words& words) { return refusal_of([&] { asked(words); }); };
  EXPECT_TRUE(has(refused({"all_reduce", "-m", "4"}), "-m 4: only 1 here"));
  EXPECT_TRUE(has(refused({"all_reduce", "-m", "4"}), "-n"));
  EXPECT_TRUE(has(refused({"all_reduce", "-G", "10"}), "no CUDA graphs"));
  EXPECT_TRUE(has(refused({"all_reduce", "-J", "out.json"}), "--json > out.json"));
  EXPECT_TRUE(has(refused({"all_reduce", "-z", "2"}), "-z 2"));
}

}  // namespace
}  // namespace ringside
