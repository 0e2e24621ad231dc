// A part of a test that needs a process of its own: limits, another user, a launcher to be killed.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/process.hpp"

namespace ringside {

class TestChild {
 public:
  // `body` gets a descriptor to write to; whatever the child forks holds it open too.
  explicit TestChild(const std::function<void(int out)>& body) {
    Pipe pipe = make_pipe();
    process_ = std::make_unique<ChildProcess>([&] {
      pipe.read.close();
      body(pipe.write.get());
    });
    out_ = std::move(pipe.read);
  }

  ChildProcess& process() { return *process_; }

  // What comes until `enough` bytes are there, or everybody has closed the pipe, or time is up.
  std::string hear(std::size_t enough, std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    std::array<char, 4096> scratch{};
    std::string text;
    while (text.size() < enough && !closed_ && std::chrono::steady_clock::now() < until) {
      std::string_view got;
      switch (read_available(out_, scratch, got)) {
        case Reading::some:
          text += got;
          break;
        case Reading::closed:
          closed_ = true;
          break;
        case Reading::nothing_there:
          wait_readable(std::array{out_.get()}, std::chrono::milliseconds(10));
      }
    }
    return text;
  }

  // Whether the child and all that it forked are gone within `limit`.
  bool all_gone(std::chrono::milliseconds limit) {
    hear(std::string::npos, limit);
    return closed_;
  }

 private:
  Descriptor out_;
  std::unique_ptr<ChildProcess> process_;
  bool closed_ = false;
};

// What `body` returned in a process of its own; an exception as "type: text".
inline std::string in_child(const std::function<std::string()>& body) {
  TestChild child([&](int out) {
    try {
      write_all(out, body());
    } catch (const std::exception& error) {
      write_all(out, std::string("exception: ") + error.what());
    }
  });
  return child.hear(std::string::npos, std::chrono::seconds(60));
}

}  // namespace ringside
