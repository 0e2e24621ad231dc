// Adds past the largest integer: the undefined-behaviour sanitizer must say so, or its silence
// elsewhere is worth nothing.
#include <limits>

int main(int arguments, char**) {
  volatile int number = std::numeric_limits<int>::max();
  number = number + arguments;
  return number;
}
