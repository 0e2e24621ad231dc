// The chapter's chain of lessons as data: the runs of each, and what each run must show.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace ringside {

struct TourText {
  std::string_view en;
  std::string_view zh;
};

// A figure of a run, as its report prints it. `where`: the name of a check, whose measured value it
// is, or "step.sent" or "step.received" (StepTraffic), in bytes.
struct TourClaim {
  std::string_view where;
  std::string_view expected;  // "7/8 = 0.8750"; "< 1e-12": a number below that
  TourText says;
};

struct TourRun {
  TourText role;
  std::string_view scenario;
  std::vector<std::string_view> set;  // KEY=VALUE, as after --set
  std::vector<TourClaim> claims;
};

struct TourLesson {
  std::string_view name;
  TourText question;
  std::vector<TourRun> runs;  // the plain way first
  TourText leaves;            // what the way out leaves open: the next lesson's reason
};

std::span<const TourLesson> tour_lessons();

}  // namespace ringside
