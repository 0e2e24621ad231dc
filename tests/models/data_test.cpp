// Samples and batches: determined by (seed, step, index), on the boundaries of characters.
#include "models/data.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "models/text.hpp"

namespace ringside {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

TEST(Sample, FirstOfTheFirstStepIsTheSentenceWhateverTheText) {
  EXPECT_EQ(first_sample.size(), 27U);
  for (const std::string_view text : {std::string_view(builtin_text()), std::string_view("ab")}) {
    for (const std::uint64_t seed : {0U, 1U, 77U}) {
      EXPECT_EQ(sample({.text = text, .seed = seed}, 0, 0), "小明把苹果给了小王");
    }
  }
  const DataSource source{.text = builtin_text()};
  EXPECT_NE(sample(source, 1, 0), first_sample);
  EXPECT_NE(sample(source, 0, 1), first_sample);
}

TEST(Sample, IsAWindowThatBeginsOnACharacter) {
  const DataSource source{.text = builtin_text()};
  const char* const end = source.text.data() + source.text.size();
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const std::string_view window = sample(source, 3, i);
    ASSERT_EQ(window.size(), 32U);
    ASSERT_GE(window.data(), source.text.data());
    ASSERT_LE(window.data() + window.size(), end);
    ASSERT_FALSE(continues_character(window.front())) << i;
  }
}

TEST(Sample, ReachesBothEndsOfTheText) {
  const DataSource source{.text = "abcdefgh", .sequence = 5};
  std::set<std::string_view> seen;
  for (std::uint64_t i = 0; i < 200; ++i) {
    seen.insert(sample(source, 1, i));
  }
  EXPECT_EQ(seen, (std::set<std::string_view>{"abcde", "bcdef", "cdefg", "defgh"}));
}

TEST(Sample, DependsOnSeedStepAndIndex) {
  const DataSource source{.text = builtin_text(), .seed = 5};
  const auto differing = [&](const DataSource& other, std::uint64_t step, std::uint64_t shift) {
    int count = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      count += sample(source, 2, i).data() != sample(other, step, i + shift).data() ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(differing(source, 2, 0), 0);
  EXPECT_GT(differing({.text = source.text, .seed = 6}, 2, 0), 90);
  EXPECT_GT(differing(source, 3, 0), 90);
  EXPECT_GT(differing(source, 2, 1), 90);
}

TEST(Sample, OfAShortTextIsAllOfIt) {
  EXPECT_EQ(sample({.text = "just short"}, 1, 4), "just short");
  EXPECT_EQ(sample({.text = "exactly", .sequence = 7}, 1, 4), "exactly");
}

TEST(Sample, OfBytesThatAreNoUtf8StaysInside) {
  const std::string text(64, '\x80');
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(sample({.text = text}, 1, i).size(), 32U);
  }
}

TEST(MakeBatch, PredictsEachByteFromThoseBeforeItInTheSample) {
  const Batch batch = make_batch({.text = "abc", .context = 2}, 1, 5, 2);
  EXPECT_EQ(batch.context, 2U);
  EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(batch.tokens(), 6);
  EXPECT_EQ(batch.targets, (std::vector<std::int32_t>{'a', 'b', 'c', 'a', 'b', 'c'}));
  EXPECT_EQ(batch.contexts, (std::vector<std::int32_t>{0, 0, 0, 'a', 'a', 'b',  //
                                                       0, 0, 0, 'a', 'a', 'b'}));
}

TEST(MakeBatch, CountsTheTokensOfSamplesOfUnequalLength) {
  const Batch batch = make_batch({.text = builtin_text()}, 0, 0, 2);
  EXPECT_EQ(batch.tokens(), 27 + 32);
  EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{27, 32}));
  EXPECT_EQ(make_batch({.text = builtin_text()}, 1, 0, 2).tokens(), 32 + 32);
}

TEST(MakeBatch, OfNoSamplesIsEmpty) {
  const Batch batch = make_batch({.text = builtin_text()}, 0, 0, 0);
  EXPECT_EQ(batch.tokens(), 0);
  EXPECT_TRUE(batch.lengths.empty());
  EXPECT_TRUE(batch.contexts.empty());
}

// Ranks cut a step's samples at will.
RC_GTEST_PROP(MakeBatch, IsTheSameInParts, ()) {
  const auto count = *rc::gen::inRange<std::uint64_t>(0, 12);
  const auto cut = *rc::gen::inRange<std::uint64_t>(0, count + 1);
  const auto step = *rc::gen::inRange<std::uint64_t>(0, 3);
  const DataSource source{.text = builtin_text(), .seed = *rc::gen::arbitrary<std::uint64_t>()};
  const Batch whole = make_batch(source, step, 0, count);
  Batch parts = make_batch(source, step, 0, cut);
  const Batch rest = make_batch(source, step, cut, count - cut);
  parts.targets.insert(parts.targets.end(), rest.targets.begin(), rest.targets.end());
  parts.contexts.insert(parts.contexts.end(), rest.contexts.begin(), rest.contexts.end());
  parts.lengths.insert(parts.lengths.end(), rest.lengths.begin(), rest.lengths.end());
  RC_ASSERT(parts.lengths == whole.lengths);
  RC_ASSERT(parts.targets == whole.targets);
  RC_ASSERT(parts.contexts == whole.contexts);
}

}  // namespace
}  // namespace ringside
