#include <algorithm>
#include <memory>

#include "runtime/comm.hpp"

namespace ringside {

// Everybody tells rank 0, which tells everybody: (colour, key) of each rank.
std::unique_ptr<Comm> Comm::split(int colour, int key) {
  std::vector<std::int64_t> table(2 * static_cast<std::size_t>(size()));
  const auto row = [&](int r) {
    return buffer_of(std::span(table)).slice(2 * static_cast<std::size_t>(r), 2);
  };
  row(me_).as<std::int64_t>()[0] = colour;
  row(me_).as<std::int64_t>()[1] = key;
  launch({.count = table.size(), .operation = std::string_view("split"), .dtype = DType::i64}, [&] {
    next_step("gather");
    for (int r = 1; r < size() && me_ == 0; ++r) {
      recv(r, row(r));
    }
    if (me_ != 0) {
      send(0, row(me_));
    }
    next_step("broadcast");
    for (int r = 1; r < size() && me_ == 0; ++r) {
      send(r, buffer_of(std::span(table)));
    }
    if (me_ != 0) {
      recv(0, buffer_of(std::span(table)));
    }
  }).wait();
  std::vector<std::pair<std::int64_t, int>> mine;  // (key, group rank)
  for (int r = 0; r < size(); ++r) {
    const auto pair = row(r).as<std::int64_t>();
    if (pair[0] == colour) {
      mine.emplace_back(pair[1], r);
    }
  }
  std::sort(mine.begin(), mine.end());
  std::vector<int> members;
  for (const auto& [k, r] : mine) {
    members.push_back(world_rank(r));
  }
  return std::make_unique<Comm>(owner_, name_ + "/" + std::to_string(colour), std::move(members));
}

}  // namespace ringside
