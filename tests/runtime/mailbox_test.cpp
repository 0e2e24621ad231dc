// The mailbox: nothing is lost, and each sender's order is kept.
#include "runtime/mailbox.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <new>
#include <thread>
#include <vector>

namespace ringside {
namespace {

void stamp(Message& message, int source, int number) {
  message.envelope.source = source;
  message.envelope.tag = number;
}

// Takes until `total` messages have come; the first thing that is out of order, or "".
std::string drained(Mailbox& mailbox, int senders, int each) {
  std::vector<int> next(static_cast<std::size_t>(senders));
  for (int taken = 0; taken < senders * each;) {
    Message* oldest = mailbox.take_all();
    if (oldest == nullptr) {
      std::this_thread::yield();
    }
    for (Message* message = oldest; message != nullptr; message = message->next, ++taken) {
      const int source = message->envelope.source;
      int& due = next[static_cast<std::size_t>(source)];
      if (message->envelope.tag != due++) {
        return "from " + std::to_string(source) + ": " + std::to_string(message->envelope.tag) +
               " where " + std::to_string(due - 1) + " was due";
      }
    }
  }
  return mailbox.empty() && mailbox.take_all() == nullptr ? "" : "more than was sent";
}

TEST(Mailbox, GivesTheOldestFirst) {
  Mailbox mailbox;
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(mailbox.take_all(), nullptr);
  std::deque<Message> messages(3);
  for (int i = 0; i < 3; ++i) {
    stamp(messages[static_cast<std::size_t>(i)], 0, i);
    mailbox.push(messages[static_cast<std::size_t>(i)]);
  }
  EXPECT_FALSE(mailbox.empty());
  EXPECT_EQ(mailbox.bell.rings(), 3U) << "every push rings";
  EXPECT_EQ(drained(mailbox, 1, 3), "");
}

TEST(Mailbox, KeepsEachSendersOrderBetweenThreads) {
  constexpr int senders = 4;
  constexpr int each = 50'000;
  Mailbox mailbox;
  std::vector<std::deque<Message>> messages(senders);
  std::vector<std::thread> threads;
  for (int s = 0; s < senders; ++s) {
    messages[static_cast<std::size_t>(s)].resize(each);
    threads.emplace_back([&, s] {
      int number = 0;
      for (auto& message : messages[static_cast<std::size_t>(s)]) {
        stamp(message, s, number++);
        mailbox.push(message);
      }
    });
  }
  EXPECT_EQ(drained(mailbox, senders, each), "");
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(Mailbox, KeepsEachSendersOrderBetweenProcesses) {
  constexpr int senders = 3;
  constexpr int each = 20'000;

  struct Shared {
    Mailbox mailbox;
    Message messages[senders][each];
  };

  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* shared = new (memory) Shared;
  std::vector<pid_t> children;
  for (int s = 0; s < senders; ++s) {
    children.push_back(fork());
    if (children.back() == 0) {
      for (int i = 0; i < each; ++i) {
        stamp(shared->messages[s][i], s, i);
        shared->mailbox.push(shared->messages[s][i]);
      }
      _exit(0);
    }
  }
  EXPECT_EQ(drained(shared->mailbox, senders, each), "");
  for (const pid_t child : children) {
    waitpid(child, nullptr, 0);
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace ringside
