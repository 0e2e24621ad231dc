// Two threads write one number: thread sanitizer must say so, or its silence elsewhere is worth
// nothing.
#include <thread>

int main() {
  int number = 0;
  const auto write = [&] {
    for (int i = 0; i < 1000; ++i) {
      ++number;
    }
  };
  std::thread other(write);
  write();
  other.join();
  return number == 0 ? 1 : 0;
}
