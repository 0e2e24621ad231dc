// Random numbers by counter: the same on every machine and rank, in whatever order they are asked.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringside {

// Steele, Lea and Flood 2014 (SplitMix64): the finalizer of its generator.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

constexpr std::uint64_t mix(std::uint64_t seed, std::string_view name) {
  for (const char c : name) {
    seed = mix(seed ^ static_cast<unsigned char>(c));
  }
  return seed;
}

// In [-1, 1), a multiple of 2^-23: exact in f32, so that f32 and f64 models start equal.
constexpr double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 40U) / static_cast<double>(1U << 23U) - 1.0;
}

}  // namespace ringside
