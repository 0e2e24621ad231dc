// The program `ringside`.

#include "scenarios/command_line.hpp"

int main(int argc, char** argv) {
  return ringside::command_line({argv + (argc > 0), argv + argc});
}
