// The program `ringside`.

#include <csignal>

#include "scenarios/command_line.hpp"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file past the limit fails with a message, not a signal
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves, such as head, ends no rank
  return ringside::command_line({argv + (argc > 0), argv + argc});
}
