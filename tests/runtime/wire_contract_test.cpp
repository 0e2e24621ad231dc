// What every wire must do, on each: shared memory only, sockets only, and a mixture; ranks as
// processes and as threads; with and without eager sends.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <vector>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "runtime/tensor.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr int n = 8;
const std::size_t at_default = JobOptions{}.eager_limit;

struct Wiring {
  const char* name;
  int gpus_per_node;
};

void PrintTo(const Wiring& wiring, std::ostream* out) {
  *out << wiring.name;
}

constexpr Wiring wirings[] = {{"SharedMemory", 0}, {"Sockets", 1}, {"Mixture", 3}};

using Setting = std::tuple<Wiring, Ranks, std::size_t>;

JobOptions options_of(const Setting& setting) {
  JobOptions options;
  options.cluster.gpus_per_node = std::get<0>(setting).gpus_per_node;
  options.as = std::get<1>(setting);
  options.eager_limit = std::get<2>(setting);
  options.region_bytes = 48UL << 20;
  return options;
}

std::string name_of_setting(const testing::TestParamInfo<Setting>& setting) {
  const auto& [wiring, as, eager_limit] = setting.param;
  return std::string(wiring.name) + (as == Ranks::threads ? "_threads" : "_processes") +
         (eager_limit == 0 ? "_eager_0" : "_eager_default");
}

class WireContract : public testing::TestWithParam<Setting> {
 protected:
  JobOptions options() const { return options_of(GetParam()); }

  // Every wire with a body that expects; a failed rank fails the test.
  template <class Body>
  void on_all_ranks(Body&& body) {
    const auto result = run_job_tested(n, options(), body);
    EXPECT_TRUE(result.ok()) << result.describe();
  }
};

INSTANTIATE_TEST_SUITE_P(Wires, WireContract,
                         testing::Combine(testing::ValuesIn(wirings),
                                          testing::Values(Ranks::processes, Ranks::threads),
                                          testing::Values(std::size_t{0}, at_default)),
                         name_of_setting);

Tensor ramp(Rank& rank, std::size_t count, std::int32_t first) {
  Tensor tensor(rank.memory(), DType::i32, {count}, Category::buffers, "ramp");
  const auto values = tensor.as<std::int32_t>();
  std::iota(values.begin(), values.end(), first);
  return tensor;
}

bool is_ramp(const Tensor& tensor, std::int32_t first) {
  for (const std::int32_t value : tensor.as<std::int32_t>()) {
    if (value != first++) {
      return false;
    }
  }
  return true;
}

TEST_P(WireContract, SendsOfEverySizeArriveFromEveryRank) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    for (const std::size_t count : {0UL, 1UL, 256UL, 257UL, 20'000UL, 300'000UL}) {
      for (int step = 1; step < n; ++step) {
        const int to = (rank.id() + step) % n;
        const int from = (rank.id() + n - step) % n;
        const Tensor out = ramp(rank, count, 1000 * rank.id() + to);
        const Tensor in(rank.memory(), DType::i32, {count}, Category::buffers, "in");
        world.send_recv(to, out.buffer(), from, in.buffer());
        EXPECT_TRUE(is_ramp(in, 1000 * from + rank.id())) << count << " from " << from;
      }
    }
  });
}

TEST_P(WireContract, ABlockingSendMeetsABlockingReceive) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    std::vector<std::int32_t> token{0};  // in memory that peers cannot read
    for (int lap = 0; lap < 3; ++lap) {
      if (rank.id() > 0 || lap > 0) {
        world.recv(world.prev(), buffer_of(std::span(token)));
      }
      ++token[0];
      world.send(world.next(), buffer_of(std::span(token)));
    }
    if (rank.id() == 0) {
      world.recv(world.prev(), buffer_of(std::span(token)));
      EXPECT_EQ(token[0], 3 * n);
    }
  });
}

TEST_P(WireContract, TagsAreReceivedInAnyOrder) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    constexpr int tags = 20;
    std::vector<Tensor> sent;
    std::vector<Request> sending;
    for (int tag = 0; tag < tags; ++tag) {
      sent.push_back(ramp(rank, static_cast<std::size_t>(100 * tag), tag));
      sending.push_back(world.isend(world.next(), sent.back().buffer(), tag));
    }
    for (int tag = tags - 1; tag >= 0; --tag) {
      const Tensor in = ramp(rank, static_cast<std::size_t>(100 * tag), -1);
      world.recv(world.prev(), in.buffer(), tag);
      EXPECT_TRUE(is_ramp(in, tag)) << tag;
    }
    for (Request& request : sending) {
      request.wait();
    }
  });
}

TEST_P(WireContract, ManySendsAreInFlightBothWaysAndKeepTheirOrder) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    constexpr int count = 500;
    std::vector<std::int32_t> out(count);
    std::vector<std::int32_t> in(2 * count);
    std::iota(out.begin(), out.end(), 0);
    std::vector<Request> requests;
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = [i](std::vector<std::int32_t>& v, std::size_t at) {
        return buffer_of(std::span(v)).slice(at + i, 1);
      };
      requests.push_back(world.isend(world.next(), one(out, 0), 1));
      requests.push_back(world.isend(world.prev(), one(out, 0), 2));
      requests.push_back(world.irecv(world.prev(), one(in, 0), 1));
      requests.push_back(world.irecv(world.next(), one(in, count), 2));
    }
    // Receives first: with no eager sends, a send is over when its receiver has taken it.
    for (const std::size_t first : {2UL, 3UL, 0UL, 1UL}) {
      for (std::size_t i = first; i < requests.size(); i += 4) {
        requests[i].wait();
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(in[i], static_cast<std::int32_t>(i));
      EXPECT_EQ(in[count + i], static_cast<std::int32_t>(i));
    }
  });
}

TEST_P(WireContract, ARankTalksToItself) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    for (const std::size_t count : {0UL, 10UL, 10'000UL}) {
      const Tensor out = ramp(rank, count, rank.id());
      const Tensor in = ramp(rank, count, -7);
      Request sending = world.isend(rank.id(), out.buffer());
      world.recv(rank.id(), in.buffer());
      sending.wait();
      EXPECT_TRUE(is_ramp(in, rank.id()));
    }
    EXPECT_EQ(rank.now(), Time(0));
  });
}

TEST_P(WireContract, AReductionReadsWhatThePeerSent) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    for (const std::size_t count : {1UL, 5'000UL}) {
      const Tensor sum = ramp(rank, count, rank.id());
      const Tensor mine = ramp(rank, count, rank.id());
      world.send_recv_reduce(world.next(), mine.buffer(), world.prev(), sum.buffer(),
                             ReduceOp::sum);
      const auto values = sum.as<std::int32_t>();
      EXPECT_EQ(values[count - 1],
                rank.id() + world.prev() + 2 * (static_cast<std::int32_t>(count) - 1));
    }
  });
}

// What is sent is what it was at the send, though the same memory receives.
TEST_P(WireContract, ASpanMayBeSentAndReceivedIntoAtOnce) {
  on_all_ranks([](Rank& rank) {
    Comm& world = rank.world();
    const Tensor both = ramp(rank, 10'000, rank.id());
    for (int step = 1; step <= n; ++step) {
      world.send_recv(world.next(), both.buffer(), world.prev(), both.buffer());
      EXPECT_TRUE(is_ramp(both, (rank.id() + n - step) % n)) << step;
    }
  });
}

TEST_P(WireContract, CountsThatDifferAreNamed) {
  const auto result = run_job(n, options(), [](Rank& rank) -> std::string {
    const Tensor data = ramp(rank, 1000, 0);
    if (rank.id() == 0) {
      Request sending = rank.world().isend(n - 1, data.buffer());
      sending.wait();
    } else if (rank.id() == n - 1) {
      rank.world().recv(0, data.buffer().slice(0, 999));
    }
    return {};
  });
  ASSERT_EQ(result.cause, n - 1) << result.describe();
  const auto& outcome = result.ranks[n - 1];
  EXPECT_EQ(outcome.type, "Desync");
  EXPECT_EQ(outcome.text,
            "group world: rank 7 expects 999 elements of i32 from rank 0, which sent 1000 of i32 "
            "in send #0 step 0")
      << outcome.text;
}

// ---- modelled time -----------------------------------------------------------------------------

// A program whose ports are contended: a reduction around the ring, a gather, sends that cross.
std::int64_t end_of_program(Rank& rank) {
  Comm& world = rank.world();
  const Tensor sum = ramp(rank, 3'000, rank.id());
  const Tensor mine = ramp(rank, 3'000, rank.id());
  for (int step = 0; step < 2 * n; ++step) {
    world.send_recv_reduce(world.next(), mine.buffer(), world.prev(), sum.buffer(), ReduceOp::max);
  }
  if (rank.id() == 0) {
    for (int r = n - 1; r > 0; --r) {
      world.recv(r, sum.buffer());
    }
  } else {
    world.send(0, sum.buffer());
  }
  std::vector<std::int32_t> few(10);
  for (int step = 1; step < n; ++step) {
    Request sending = world.isend((rank.id() + step) % n, mine.buffer(), step);
    Request small = world.isend((rank.id() + n - step) % n, buffer_of(std::span(few)), 100 + step);
    world.recv((rank.id() + step) % n, buffer_of(std::span(few)), 100 + step);
    world.recv((rank.id() + n - step) % n, sum.buffer(), step);
    small.wait();
    sending.wait();
  }
  return rank.now().count();
}

TEST_P(WireContract, ModelledTimesDependOnTheTopologyAlone) {
  static std::map<std::string, std::vector<std::int64_t>> seen;  // in this process, by wiring
  const auto times = run_ranks(n, options(), end_of_program);
  EXPECT_GT(times[0], 0);
  const auto [first, is_first] = seen.emplace(std::get<0>(GetParam()).name, times);
  EXPECT_EQ(times, first->second);
  JobOptions disturbed = options();
  for (disturbed.disturb = 1; disturbed.disturb <= 3; ++disturbed.disturb) {
    EXPECT_EQ(run_ranks(n, disturbed, end_of_program), times) << disturbed.disturb;
  }
}

TEST(WireContractAcrossWires, EqualLinksGiveEqualTimesOnEveryWire) {
  std::vector<std::vector<std::int64_t>> times;
  for (const Wiring& wiring : {wirings[0], wirings[1]}) {
    for (const std::size_t eager_limit : {std::size_t{0}, at_default}) {
      JobOptions options = options_of({wiring, Ranks::processes, eager_limit});
      options.cluster.nvlink = options.cluster.ib;
      times.push_back(run_ranks(n, options, end_of_program));
      EXPECT_EQ(times.back(), times.front()) << wiring.name << " " << eager_limit;
    }
  }
}

}  // namespace
}  // namespace ringside
