#include "parallel/context/context_attention.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

void require_cut(const AttentionCall& call, const TokenBlocks& blocks) {
  const Sequences& sequences = call.sequences;
  const std::string who = std::string(call.layer) + ", context parallelism: ";
  if (sequences.whole.size() != sequences.lengths.size()) {
    throw BadUse(who + "a micro-batch of " + std::to_string(sequences.lengths.size()) +
                 " samples that are not cut over the ranks: cut it with part_of");
  }
  for (std::size_t s = 0; s < sequences.whole.size(); ++s) {
    const std::size_t rows = blocks.rows(sequences.whole[s]);
    if (sequences.lengths[s] != rows) {
      throw BadUse(who + "sample " + std::to_string(s) + " of " +
                   std::to_string(sequences.whole[s]) + " tokens has " +
                   std::to_string(sequences.lengths[s]) + " rows here, but over " +
                   std::to_string(blocks.ranks()) + " ranks it has " + std::to_string(rows));
    }
  }
}

}  // namespace ringside
