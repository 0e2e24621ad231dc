#include "models/data.hpp"

#include <algorithm>

#include "models/random.hpp"

namespace ringside {

namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

std::int32_t token_of(char byte) {
  return static_cast<unsigned char>(byte);
}

}  // namespace

std::int64_t Batch::tokens() const {
  return std::ranges::count_if(targets, [](std::int32_t target) { return target != uncounted; });
}

std::shared_ptr<const Sequences> sequences_of(const Batch& batch) {
  if (batch.positions.empty()) {
    return make_sequences(batch.lengths);
  }
  return std::make_shared<const Sequences>(Sequences{batch.lengths, batch.positions, batch.whole});
}

std::string_view sample(const DataSource& source, std::uint64_t step, std::uint64_t index) {
  if (step == 0 && index == 0) {
    return first_sample;
  }
  const std::string_view text = source.text;
  if (text.size() <= source.sequence) {
    return text;
  }
  const std::uint64_t places = text.size() - source.sequence + 1;
  auto first = static_cast<std::size_t>(mix(mix(mix(source.seed) ^ step) ^ index) % places);
  for (int back = 0; back < 3 && first > 0 && continues_character(text[first]); ++back) {
    --first;
  }
  return text.substr(first, source.sequence);
}

Batch make_batch(const DataSource& source, std::uint64_t step, std::uint64_t first,
                 std::uint64_t count) {
  Batch batch{.context = source.context};
  for (std::uint64_t i = first; i < first + count; ++i) {
    const std::string_view bytes = sample(source, step, i);
    batch.lengths.push_back(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (std::size_t k = source.context; k > 0; --k) {
        batch.contexts.push_back(at >= k ? token_of(bytes[at - k]) : 0);
      }
      batch.targets.push_back(token_of(bytes[at]));
    }
  }
  return batch;
}

}  // namespace ringside
