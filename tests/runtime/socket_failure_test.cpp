// What the socket wire makes of peers that die, lie, or are no peers at all.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "runtime/crc32c.hpp"
#include "runtime/errors.hpp"
#include "runtime/frame.hpp"
#include "tests/support/child.hpp"
#include "tests/support/raw_socket.hpp"
#include "tests/support/socket_ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

FrameHead frame(FrameType type, std::uint64_t number, int source = 1) {
  FrameHead head;
  head.header = {.type = type, .number = number, .source = source, .destination = 0};
  head.envelope = {.group = 7, .source = source, .destination = 0};
  return head;
}

// Rank 0 has a wire; the test is rank 1, by hand.
struct HalfJob {
  HalfJob() : ranks(2, 0, {1}, 10s) {}

  RawSocket introduced() {
    RawSocket socket(ranks.ports[0]);
    FrameHead hello = frame(FrameType::hello, ranks.job.job().secret);
    seal(hello, {});
    socket.send_all(hello.bytes());
    return socket;
  }

  // What rank 0 says when it waits for rank 1.
  std::string complaint() {
    try {
      ranks.take(0, 1);
    } catch (const PeerLost& lost) {
      return lost.what();
    }
    return "a message";
  }

  SocketRanks ranks;
};

constexpr std::string_view lost_1 =
    "rank 0: the connection to rank 1 broke during recv from rank 1, tag 0, 0 B: ";

TEST(SocketFailure, AFrameByHandIsAMessage) {
  HalfJob half;
  RawSocket peer = half.introduced();
  const std::vector<std::byte> payload(100'000, std::byte{42});
  FrameHead head = frame(FrameType::message, 1);
  seal(head, payload);
  for (const std::byte& byte : head.bytes()) {
    peer.send_all({&byte, 1});
  }
  for (std::size_t sent = 0; sent < payload.size(); sent += 10'000) {
    peer.send_all(std::span(payload).subspan(sent, 10'000));
  }
  Message& message = half.ranks.take(0, 1);
  EXPECT_EQ(std::memcmp(message.payload, payload.data(), payload.size()), 0);
}

TEST(SocketFailure, ADamagedPayloadIsNamed) {
  HalfJob half;
  half.ranks.job.rank(0).in_socket = 1;  // as the sender would count it
  RawSocket peer = half.introduced();
  std::vector<std::byte> payload(100'000, std::byte{42});
  FrameHead head = frame(FrameType::message, 1);
  seal(head, payload);
  const std::uint32_t expected = head.header.body_crc;
  payload[77'777] ^= std::byte{8};
  const std::uint32_t found = crc32c(payload, envelope_crc(head.envelope));
  peer.send_all(head.bytes());
  peer.send_all(payload);
  char text[64];
  std::snprintf(text, sizeof text, "a frame: CRC-32C 0x%08x, expected 0x%08x", found, expected);
  EXPECT_EQ(half.complaint(), std::string(lost_1) + text);
  EXPECT_EQ(half.ranks.in_sockets(), 0U);
  EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST(SocketFailure, NonsenseFromAPeerIsNamed) {
  const auto complaint = [](FrameHead head, std::uint64_t length = 0) {
    HalfJob half;
    RawSocket peer = half.introduced();
    seal(head, {});
    head.header.length = length;
    head.header.header_crc =
        crc32c(std::as_bytes(std::span(&head.header, 1)).first(offsetof(FrameHeader, header_crc)));
    peer.send_all(head.bytes());
    return half.complaint();
  };
  const std::string lost(lost_1);
  EXPECT_EQ(complaint(frame(FrameType::message, 1), 1UL << 60),
            lost + "a frame of 1152921504606846976 bytes, of at most 83886080");
  EXPECT_EQ(complaint(frame(FrameType::acknowledgement, 5)),
            lost + "an acknowledgement of message 5, which is not under way");
  EXPECT_EQ(complaint(frame(FrameType::hello, 5)), lost + "a frame out of turn");
  FrameHead stray = frame(FrameType::message, 1);
  stray.header.destination = 1;
  EXPECT_EQ(complaint(stray), lost + "a frame for rank 1");
}

TEST(SocketFailure, APeerThatClosesIsLost) {
  HalfJob half;
  { const RawSocket peer = half.introduced(); }
  EXPECT_EQ(half.complaint(), std::string(lost_1) + "it closed the connection");
}

// What such a peer owes is an acknowledgement, and on this connection nothing is ever read.
TEST(SocketFailure, APeerThatClosesWhereWeOnlySendIsLost) {
  HalfJob half;
  Message* sent = half.ranks.post(0, 1, half.ranks.noise(0, 100));
  ASSERT_NE(sent, nullptr);
  { RawSocket::accept_from(half.ranks.listeners[1]).read_exactly(2 * sizeof(FrameHeader)); }
  EXPECT_THROW(half.ranks.endpoint(0).wait_taken(*sent, {}), PeerLost);
}

TEST(SocketFailure, StrangersDisturbNobody) {
  SocketRanks ranks(2, 1024);
  std::vector<RawSocket> strangers;
  const auto stranger = [&](std::span<const std::byte> bytes) {
    strangers.emplace_back(ranks.ports[1]).send_all(bytes);
  };
  stranger({});
  const std::string_view request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nand some more text";
  stranger(std::as_bytes(std::span(request)));
  FrameHead hello = frame(FrameType::hello, ranks.job.job().secret, 0);
  hello.header.destination = 1;
  seal(hello, {});
  stranger(hello.bytes().first(20));  // half a hello
  hello.header.number ^= 1;           // another job's
  seal(hello, {});
  stranger(hello.bytes());
  for (int i = 0; i < 100; ++i) {  // and more than are kept
    stranger({});
  }
  for (int i = 0; i < 10; ++i) {
    ranks.deliver(0, 1);
    ranks.deliver(1, 0);
  }
  EXPECT_TRUE(strangers[1].is_closed_by_peer());
  EXPECT_TRUE(strangers[3].is_closed_by_peer());
  EXPECT_EQ(ranks.waiter(0).lost_peer, -1);
  EXPECT_EQ(ranks.waiter(1).lost_peer, -1);
}

// They come before the wires, and are more than there are descriptors.
TEST(SocketFailure, StrangersDoNotTakeTheDescriptorsOfPeers) {
  const std::string text = in_child([]() -> std::string {
    SocketRanks ranks(2, 1024, {0, 1});
    const TestChild crowd([&](int) {
      std::vector<RawSocket> strangers;
      for (int i = 0; i < 60; ++i) {
        strangers.emplace_back(ranks.ports[0]);
        strangers.emplace_back(ranks.ports[1]);
      }
      std::this_thread::sleep_for(10s);
    });
    std::this_thread::sleep_for(200ms);  // until they are all in the backlogs
    const rlimit few{open_descriptors() + 30, open_descriptors() + 30};
    setrlimit(RLIMIT_NOFILE, &few);
    ranks.start_wire(0);
    ranks.start_wire(1);
    std::this_thread::sleep_for(200ms);  // the strangers are let in
    try {
      for (int i = 0; i < 10; ++i) {
        ranks.deliver(0, 1);
        ranks.deliver(1, 0);
      }
    } catch (const PeerLost& lost) {
      return lost.what();
    }
    return "ok";
  });
  EXPECT_EQ(text, "ok");
}

TEST(SocketFailure, NobodySaysHelloTwice) {
  HalfJob half;
  RawSocket first = half.introduced();
  RawSocket second = half.introduced();
  EXPECT_NE(first.is_closed_by_peer(), second.is_closed_by_peer());
  EXPECT_EQ(half.ranks.waiter(0).lost_peer, -1);
}

// Rank 1 is a process that ends between the header and the payload of 16 MiB.
TEST(SocketFailure, CaseD3APeerThatExitsInTheMiddleOfAMessage) {
  ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
  SocketRanks ranks(2, 0, {0, 1}, 10s);
  TestChild rank_1([&](int) {
    RawSocket connection = RawSocket::accept_from(ranks.listeners[1]);
    connection.read_exactly(sizeof(FrameHeader) + sizeof(FrameHead) + 1000);
    leave_process(7);
  });
  ranks.start_wire(0);
  Descriptor(ranks.listeners[1]).close();
  std::vector<Message*> sent;
  for (int i = 0; i < 4; ++i) {  // rank 0 goes on writing
    sent.push_back(ranks.post(0, 1, ranks.noise(0, 16UL << 20)));
  }
  try {
    ranks.endpoint(0).wait_taken(*sent[0], {.kind = std::string_view("send"), .peer = 1});
    FAIL() << "rank 1 cannot have taken it";
  } catch (const PeerLost& lost) {
    const std::string text = lost.what();
    EXPECT_TRUE(text.starts_with("rank 0: the connection to rank 1 broke during send to rank 1"))
        << text;
  }
  EXPECT_TRUE(rank_1.all_gone(5s));
  EXPECT_EQ(ranks.in_sockets(), 0U);  // what will never arrive is not counted
  ranks.post(0, 1, ranks.noise(0, 1000));
  EXPECT_EQ(ranks.in_sockets(), 0U);
}

TEST(SocketFailure, APeerThatIsGoneBeforeTheFirstUseIsLost) {
  SocketRanks ranks(2, 0, {1}, 10s);
  Descriptor(ranks.listeners[1]).close();
  Message* sent = ranks.post(0, 1, ranks.noise(0, 8));
  try {
    ranks.endpoint(0).wait_taken(*sent, {.kind = std::string_view("send"), .peer = 1});
    FAIL();
  } catch (const PeerLost& lost) {
    EXPECT_NE(std::string(lost.what()).find("cannot connect: Connection refused"),
              std::string::npos)
        << lost.what();
  }
}

}  // namespace
}  // namespace ringside
