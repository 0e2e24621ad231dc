// Text for a reader who may not read: nothing waits for him, and nothing is lost.
#include "runtime/patient_output.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <thread>

#include "runtime/process.hpp"

namespace ringside {
namespace {

std::string numbered(int line) {
  return "line " + std::to_string(line) + std::string(100, '.') + '\n';
}

// What is in the pipe now.
std::string drained(const Pipe& pipe) {
  std::array<char, 65536> scratch{};
  std::string text;
  std::string_view got;
  while (read_available(pipe.read, scratch, got) == Reading::some) {
    text += got;
  }
  return text;
}

TEST(PatientOutput, AFullPipeStopsNobodyAndEveryLineComesInOrder) {
  const Pipe pipe = make_pipe();
  PatientOutput output(pipe.write.get());
  std::string all;
  for (int line = 0; line < 5000; ++line) {  // ten pipes full
    output.write(numbered(line));
    all += numbered(line);
  }
  EXPECT_FALSE(output.is_empty());
  std::string text = drained(pipe);
  while (!output.is_empty()) {
    output.pump();
    text += drained(pipe);
  }
  EXPECT_EQ(text, all);
}

TEST(PatientOutput, InTheEndItWaitsForTheReader) {
  const Pipe pipe = make_pipe();
  PatientOutput output(pipe.write.get());
  std::string all;
  for (int line = 0; line < 2000; ++line) {
    output.write(numbered(line));
    all += numbered(line);
  }
  std::string text;
  std::jthread reader([&] {
    while (text.size() < all.size()) {
      text += drained(pipe);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  output.finish();
  reader.join();
  EXPECT_EQ(text, all);
}

TEST(PatientOutput, WhatIsTooMuchIsLeftOutAndSaid) {
  const Pipe pipe = make_pipe();
  PatientOutput output(pipe.write.get(), 1000);
  for (int line = 0; line < 1000; ++line) {  // 64 KiB fit into the pipe
    output.write(numbered(line));
  }
  std::string text = drained(pipe);
  output.finish();
  text += drained(pipe);
  EXPECT_NE(text.find(" lines were left out: nobody read them in time\n"), std::string::npos);
  EXPECT_NE(text.find(numbered(0)), std::string::npos);
}

TEST(PatientOutput, AReaderWhoHasLeftEndsNothing) {
  Pipe pipe = make_pipe();
  PatientOutput output(pipe.write.get());
  pipe.read.close();
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // as in the program
  output.write("nobody\n");
  output.finish();
  std::signal(SIGPIPE, before);
  EXPECT_TRUE(output.is_empty());
}

}  // namespace
}  // namespace ringside
