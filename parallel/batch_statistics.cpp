#include "parallel/batch_statistics.hpp"

#include "collectives/all_reduce.hpp"

namespace ringside {

void BatchStatistics::add_up(std::span<double> sums, std::string_view label) {
  all_reduce(group_, buffer_of(sums), ReduceOp::sum,
             {all_reduce_, std::string(label) + ".statistics"});
}

}  // namespace ringside
