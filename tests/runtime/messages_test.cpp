// Messages between ranks: tags, requests, several in flight, messages to oneself.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "runtime/comm.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::int32_t>;

Buffer buffer(Numbers& numbers) {
  return buffer_of(std::span(numbers));
}

class CaseB3 : public ShapedTest {};

TEST_P(CaseB3, TagsAreMatchedInAnyOrder) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    Numbers ones{1, 1, 1};
    Numbers zeros{0, 0, 0};
    if (rank.id() == 0) {
      Request first = world.isend(1, buffer(ones), 1);
      Request second = world.isend(1, buffer(zeros), 2);
      first.wait();
      second.wait();
    } else {
      Numbers two{9, 9, 9};
      Numbers one{9, 9, 9};
      world.recv(0, buffer(two), 2);
      world.recv(0, buffer(one), 1);
      EXPECT_EQ(one, ones);
      EXPECT_EQ(two, zeros);
    }
  });
}

class CaseB4 : public ShapedTest {};

TEST_P(CaseB4, BothSidesSendFirst) {
  constexpr std::size_t count = (64UL << 20) / sizeof(std::int64_t);
  JobOptions options = GetParam().options();
  options.region_bytes = 256UL << 20;
  run_ranks_tested(2, options, [](Rank& rank) {
    Comm& world = rank.world();
    const Tensor out(rank.memory(), DType::i64, {count}, Category::buffers, "out");
    const Tensor in(rank.memory(), DType::i64, {count}, Category::buffers, "in");
    const auto sent = out.as<std::int64_t>();
    for (std::size_t i = 0; i < count; ++i) {
      sent[i] = static_cast<std::int64_t>(2 * i) + rank.id();
    }
    Request sending = world.isend(1 - rank.id(), out.buffer());
    Request receiving = world.irecv(1 - rank.id(), in.buffer());
    receiving.wait();
    sending.wait();
    std::size_t wrong = 0;
    const auto got = in.as<std::int64_t>();
    for (std::size_t i = 0; i < count; ++i) {
      wrong += got[i] == static_cast<std::int64_t>(2 * i) + 1 - rank.id() ? 0U : 1U;
    }
    EXPECT_EQ(wrong, 0U);
  });
}

TEST_P(CaseB4, ARingWhereAllSendFirst) {
  run_ranks_tested(5, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    Numbers out(300'000, rank.id());
    Numbers in(300'000, -1);
    Request sending = world.isend(world.next(), buffer(out));
    world.recv(world.prev(), buffer(in));
    sending.wait();
    EXPECT_EQ(in, Numbers(300'000, world.prev()));
  });
}

class CaseB5 : public ShapedTest {};

// 1000 repetitions of 10 rounds, in each of which both send twice before they receive.
TEST_P(CaseB5, SeveralInFlightEachWay) {
  run_ranks_tested(2, GetParam().options(), [&](Rank& rank) {
    Comm& world = rank.world();
    const int peer = 1 - rank.id();
    std::array<std::int32_t, 2> out{10 * rank.id() + 1, 10 * rank.id() + 2};
    std::array<std::int32_t, 2> in{};
    const auto one = [](std::int32_t& number) { return buffer_of(std::span(&number, 1)); };
    for (int round = 0; round < 1000 * 10; ++round) {
      in = {-1, -1};
      Request first = world.isend(peer, one(out[0]), 1);
      Request second = world.isend(peer, one(out[1]), 2);
      world.recv(peer, one(in[0]), 1);
      world.recv(peer, one(in[1]), 2);
      first.wait();
      second.wait();
      ASSERT_EQ(in[0], 10 * peer + 1) << "round " << round;
      ASSERT_EQ(in[1], 10 * peer + 2) << "round " << round;
    }
  });
}

class Messages : public ShapedTest {};

TEST_P(Messages, ToOneselfArriveInOrder) {
  run_ranks_tested(1, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    Numbers a{1};
    Numbers b{2};
    Numbers in{0};
    Request first = world.isend(0, buffer(a));
    Request second = world.isend(0, buffer(b));
    world.recv(0, buffer(in));
    EXPECT_EQ(in[0], 1);
    world.recv_reduce(0, buffer(in), ReduceOp::sum);
    EXPECT_EQ(in[0], 3);
    world.send_recv(0, buffer(b), 0, buffer(in));
    EXPECT_EQ(in[0], 2);
    EXPECT_EQ(rank.now(), Time(0)) << "no link, no time";
  });
}

// Every rank to every rank, many sizes around the eager limit, received in another order.
TEST_P(Messages, OfAllSizesBetweenAllRanks) {
  const std::vector<std::size_t> sizes{0, 1, 15, 16, 17, 255, 256, 257, 5000};
  run_ranks_tested(8, GetParam().options(), [&](Rank& rank) {
    Comm& world = rank.world();
    std::vector<Numbers> out;
    for (const auto size : sizes) {
      out.emplace_back(size, 100 * rank.id() + static_cast<int>(size % 100));
    }
    std::vector<Request> sending;
    for (int r = 0; r < world.size(); ++r) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        sending.push_back(world.isend(r, buffer(out[i]), static_cast<std::int64_t>(i)));
      }
    }
    for (int r = world.size() - 1; r >= 0; --r) {
      for (std::size_t i = sizes.size(); i-- > 0;) {
        Numbers in(sizes[i], -1);
        world.recv(r, buffer(in), static_cast<std::int64_t>(i));
        EXPECT_EQ(in, Numbers(sizes[i], 100 * r + static_cast<int>(sizes[i] % 100)));
      }
    }
    for (auto& request : sending) {
      request.wait();
    }
    EXPECT_TRUE(rank.endpoint().unreceived().empty());
  });
}

TEST_P(Messages, RequestsWaitOnceAndAtTheLatestWhenTheyGo) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    Numbers out{rank.id(), 7};
    Numbers in{-1, -1};
    {
      Request sending = world.isend(1 - rank.id(), buffer(out));
      Request receiving = world.irecv(1 - rank.id(), buffer(in));
      Request moved = std::move(receiving);
      EXPECT_EQ(in[0], -1);
    }
    EXPECT_EQ(in, (Numbers{1 - rank.id(), 7}));
    Request sending = world.isend(1 - rank.id(), buffer(out));
    Request receiving = world.irecv(1 - rank.id(), buffer(in));
    receiving.wait();
    receiving.wait();
    sending.wait();
    sending.wait();
    EXPECT_TRUE(rank.endpoint().unreceived().empty());
  });
}

// What is sent is what was there before anything came in, even where the two spans overlap.
TEST_P(Messages, AnExchangeMayOverlap) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    const Tensor tensor(rank.memory(), DType::i32, {1001}, Category::buffers, "t");
    const auto values = tensor.as<std::int32_t>();
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 10'000 * rank.id() + static_cast<int>(i);
      }
      const int peer = 1 - rank.id();
      rank.world().send_recv(peer, tensor.buffer().slice(0, 1000), peer,
                             tensor.buffer().slice(1, 1000));
      EXPECT_EQ(values[0], 10'000 * rank.id());
      for (std::size_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(values[i + 1], 10'000 * peer + static_cast<int>(i));
      }
    }
  });
}

TEST_P(Messages, AnExchangeReducesOntoWhatIsThere) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    const Tensor tensor(rank.memory(), DType::i32, {2000}, Category::buffers, "t");
    const auto values = tensor.as<std::int32_t>();
    std::fill(values.begin(), values.end(), rank.id() == 0 ? 5 : 6);
    const int peer = 1 - rank.id();
    rank.world().send_recv_reduce(peer, tensor.buffer(), peer, tensor.buffer(), ReduceOp::prod);
    EXPECT_EQ(Numbers(values.begin(), values.end()), Numbers(2000, 30));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseB3, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseB4, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseB5, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Messages, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
