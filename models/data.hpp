// Training data by (seed, step, sample): every process can make any sample without a word
// exchanged.
//
// A sample is a window of the text that begins on a UTF-8 character (in bytes that are no UTF-8,
// anywhere), or all of a text that is no longer than the window. Each byte of it is a counted
// token, predicted from the bytes before it in the sample (0 where there is none). Sample 0 of step
// 0 is always the 27 bytes of 小明把苹果给了小王, so samples differ in their tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/sequences.hpp"

namespace ringside {

inline constexpr std::string_view first_sample = "小明把苹果给了小王";

// The target of a token that counts nowhere, as in PyTorch (ignore_index): no loss, no gradient.
inline constexpr std::int32_t uncounted = -100;

struct Batch {
  std::size_t context = 0;               // tokens that predict one
  std::vector<std::int32_t> contexts{};  // [rows, context]
  std::vector<std::int32_t> targets{};   // [rows]
  std::vector<std::size_t> lengths{};    // rows of each sample, one after the other
  // Of a rank's part of each sample, as in Sequences; empty: the rows are whole samples.
  std::vector<std::int32_t> positions{};
  std::vector<std::size_t> whole{};

  // The counted ones.
  std::int64_t tokens() const;
};

std::shared_ptr<const Sequences> sequences_of(const Batch& batch);

struct DataSource {
  std::string_view text;  // outlives the source
  std::uint64_t seed = 1;
  std::size_t sequence = 32;  // bytes of a sample
  std::size_t context = 8;
};

// Chosen by a hash of (seed, step, index) and nothing else.
std::string_view sample(const DataSource& source, std::uint64_t step, std::uint64_t index);

// Samples [first, first + count) of a step; none is an ordinary case.
Batch make_batch(const DataSource& source, std::uint64_t step, std::uint64_t first,
                 std::uint64_t count);

}  // namespace ringside
