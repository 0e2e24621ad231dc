// Reads one past the end: address sanitizer must say so, or its silence elsewhere is worth nothing.
#include <vector>

int main(int arguments, char**) {
  const std::vector<int> numbers(4, 0);
  return numbers.data()[arguments + 3];
}
