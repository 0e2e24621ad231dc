// A small plain record that one process writes and others may read at any time.
//
// A sequence lock over relaxed atomic words: the writer never waits, a reader retries while the
// writer is in the middle, and gives up (nullopt) if the writer died there. Who reads a word of a
// new value, by an acquire, also sees the odd version that was stored before it, by a release.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace ringside {

template <class T>
class SharedRecord {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void write(const T& value) {
    std::array<std::uint64_t, words> copy{};
    std::memcpy(copy.data(), &value, sizeof(T));
    const auto version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words; ++i) {
      words_[i].store(copy[i], std::memory_order_release);
    }
    version_.store(version + 2, std::memory_order_release);
  }

  std::optional<T> read() const {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const auto before = version_.load(std::memory_order_acquire);
      std::array<std::uint64_t, words> copy;
      for (std::size_t i = 0; i < words; ++i) {
        copy[i] = words_[i].load(std::memory_order_acquire);
      }
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) {
        T value;
        std::memcpy(static_cast<void*>(&value), copy.data(), sizeof(T));
        return value;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t words = (sizeof(T) + 7) / 8;
  std::atomic<std::uint32_t> version_{0};
  std::array<std::atomic<std::uint64_t>, words> words_{};
};

}  // namespace ringside
