// The program `ringside`.

#include "runtime/process_start.hpp"
#include "scenarios/command_line.hpp"

int main(int argc, char** argv) {
  ringside::open_standard_descriptors();
  ringside::set_signals();
  return ringside::command_line({argv + (argc > 0), argv + argc});
}
