// The ways to run a job that its answer must not depend on: processes and threads, with and without
// buffering, one node, a node per rank, and a mixture. Use as the parameter of a test suite.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "runtime/job_options.hpp"

namespace ringside {

struct JobShape {
  std::string name;
  Ranks as = Ranks::processes;
  std::size_t eager_limit = JobOptions{}.eager_limit;
  int gpus_per_node = 0;

  JobOptions options() const {
    JobOptions options;
    options.as = as;
    options.eager_limit = eager_limit;
    options.cluster.gpus_per_node = gpus_per_node;
    return options;
  }

  bool one_node() const { return gpus_per_node == 0; }
};

inline void PrintTo(const JobShape& shape, std::ostream* out) {
  *out << shape.name;
}

inline std::vector<JobShape> one_node_shapes() {
  return {{.name = "Processes"},
          {.name = "ProcessesEager0", .eager_limit = 0},
          {.name = "Threads", .as = Ranks::threads},
          {.name = "ThreadsEager0", .as = Ranks::threads, .eager_limit = 0}};
}

// 8 ranks are 3 + 3 + 2 in nodes of 3.
inline std::vector<JobShape> job_shapes() {
  auto shapes = one_node_shapes();
  shapes.push_back({.name = "NodesOf1", .gpus_per_node = 1});
  shapes.push_back({.name = "NodesOf1Eager0", .eager_limit = 0, .gpus_per_node = 1});
  shapes.push_back({.name = "NodesOf3", .gpus_per_node = 3});
  shapes.push_back({.name = "NodesOf3Eager0", .eager_limit = 0, .gpus_per_node = 3});
  shapes.push_back({.name = "NodesOf3Threads", .as = Ranks::threads, .gpus_per_node = 3});
  return shapes;
}

inline std::string shape_name(const testing::TestParamInfo<JobShape>& info) {
  return info.param.name;
}

using ShapedTest = testing::TestWithParam<JobShape>;

}  // namespace ringside
