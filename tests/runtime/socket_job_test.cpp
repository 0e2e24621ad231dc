// Whole jobs over sockets: ranks that leave at bad moments, and ports that others want.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "runtime/comm.hpp"
#include "runtime/process.hpp"
#include "tests/support/child.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

JobOptions a_node_each() {
  JobOptions options;
  options.cluster.gpus_per_node = 1;
  options.region_bytes = 40UL << 20;
  return options;
}

// The ring alone, so that most connections are still to be made.
void barrier(Comm& world) {
  std::int32_t token = 0;
  const Buffer data = buffer_of(std::span(&token, 1));
  for (int round = 0; round < 2; ++round) {
    if (world.rank() == 0) {
      world.send(world.next(), data);
      world.recv(world.prev(), data);
    } else {
      world.recv(world.prev(), data);
      world.send(world.next(), data);
    }
  }
}

std::int64_t sum_of_all(Comm& world, std::int64_t mine) {
  std::int64_t sum = mine;
  for (int step = 1; step < world.size(); ++step) {
    const int to = (world.rank() + step) % world.size();
    const int from = (world.rank() + world.size() - step) % world.size();
    std::int64_t other = 0;
    world.send_recv(to, buffer_of(std::span(&mine, 1)), from, buffer_of(std::span(&other, 1)));
    sum += other;
  }
  return sum;
}

class CaseD1 : public testing::TestWithParam<std::tuple<int, bool>> {};

INSTANTIATE_TEST_SUITE_P(RankAndConnections, CaseD1,
                         testing::Combine(testing::Values(0, 3), testing::Bool()),
                         [](const auto& of) {
                           return "Rank" + std::to_string(std::get<0>(of.param)) +
                                  (std::get<1>(of.param) ? "AllConnected" : "RingConnected");
                         });

TEST_P(CaseD1, ARankThatExitsAfterTheBarrierIsNamed) {
  const auto [leaver, connected] = GetParam();
  JobOptions options = a_node_each();
  options.limit = 2s;
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(4, options, [&](Rank& rank) -> std::string {
    if (connected) {
      sum_of_all(rank.world(), 1);
    }
    barrier(rank.world());
    if (rank.id() == leaver) {
      _exit(86);
    }
    sum_of_all(rank.world(), 1);
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
  ASSERT_EQ(result.cause, leaver) << result.describe();
  const std::string text = result.describe();
  EXPECT_NE(text.find("rank " + std::to_string(leaver)), std::string::npos) << text;
  EXPECT_NE(text.find("exited with code 86"), std::string::npos) << text;
  for (int r = 0; r < 4; ++r) {
    EXPECT_NE(result.ranks[static_cast<std::size_t>(r)].ending, Ending::returned) << text;
  }
}

TEST(SocketJob, CaseD3ARankThatExitsWhileItIsWrittenTo) {
  const auto result = run_job(2, a_node_each(), [](Rank& rank) -> std::string {
    std::vector<std::uint8_t> data(16UL << 20);
    const Buffer buffer = buffer_of(std::span(data));
    for (int i = 0; i < 100; ++i) {
      if (rank.id() == 0) {
        rank.world().send(1, buffer);
      } else if (i == 2) {
        std::this_thread::sleep_for(3ms);
        _exit(7);
      } else {
        rank.world().recv(0, buffer);
      }
    }
    return {};
  });
  ASSERT_EQ(result.cause, 1) << result.describe();
  EXPECT_EQ(result.ranks[1].code, 7) << result.describe();
  EXPECT_TRUE(result.ranks[0].ending == Ending::stopped ||
              (result.ranks[0].type == "PeerLost" &&
               result.ranks[0].text.find("the connection to rank 1 broke") != std::string::npos))
      << result.describe();
}

// Takes ports for a millisecond, again and again: as many as the system gives out quickly, nearly
// every other one; each of the rest costs it a search through the whole range.
void grab_ports(int out) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 10'000);
  setrlimit(RLIMIT_NOFILE, &limit);
  for (;;) {
    std::vector<Descriptor> sockets;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    do {
      sockets.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    } while (bind(sockets.back().get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 0);
    write_all(out, ".");
    std::this_thread::sleep_for(1ms);
  }
}

TEST(SocketJob, CaseD5ManyJobsWhileSomebodyGrabsPorts) {
  TestChild grabber(grab_ports);
  EXPECT_EQ(grabber.hear(1, 10s).substr(0, 1), ".");
  std::vector<std::unique_ptr<TestChild>> jobs;
  for (int j = 0; j < 20; ++j) {
    jobs.push_back(std::make_unique<TestChild>([j](int out) {
      std::string text = "ok";
      try {
        for (const auto sum : run_ranks(
                 8, a_node_each(), [&](Rank& rank) { return sum_of_all(rank.world(), j + 1); })) {
          text = sum == 8 * (j + 1) ? text : "another job's numbers";
        }
      } catch (const std::exception& error) {
        text = error.what();
      }
      write_all(out, text);
    }));
  }
  for (const auto& job : jobs) {
    EXPECT_EQ(job->hear(std::string::npos, 60s), "ok");
  }
  EXPECT_FALSE(grabber.process().ended());
}

TEST(SocketJob, LeavesNoDescriptorBehind) {
  for (const Ranks as : {Ranks::processes, Ranks::threads}) {
    const auto before = open_descriptors();
    JobOptions options = a_node_each();
    options.as = as;
    run_ranks(4, options, [](Rank& rank) { sum_of_all(rank.world(), 1); });
    EXPECT_EQ(open_descriptors(), before);
    const auto failed = run_job(4, options, [](Rank& rank) -> std::string {
      barrier(rank.world());
      if (rank.id() == 2) {
        throw std::runtime_error("on purpose");
      }
      sum_of_all(rank.world(), 1);
      return {};
    });
    EXPECT_EQ(failed.cause, 2) << failed.describe();
    EXPECT_EQ(open_descriptors(), before);
  }
}

}  // namespace
}  // namespace ringside
