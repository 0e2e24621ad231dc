// Which of several failures ended the job, and what to say of the ranks that had to stop for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/launch.hpp"

namespace ringside {

// Whether a rank with this ending ends the job.
bool is_failure(Ending ending);

// What its failure is called: "rank 2 was killed by SIGKILL", "rank 1: ... disagrees ...".
std::string failure_text(int rank, const RankOutcome& outcome);

// The rank that ended the job; -1 when all returned. `noticed` says when each failure was noticed,
// in turns of the launcher. A survivor may notice a death before the launcher does, so PeerLost is
// the cause only when there is nothing else; otherwise the earliest failure is, and of one turn a
// death, because it can be what made others throw.
int find_cause(const std::vector<const RankOutcome*>& ranks,
               const std::vector<std::uint64_t>& noticed);

// Whether it is one of silence: a wait over its limit, or a rank of which nothing is heard.
bool is_silence(const RankOutcome& outcome);

// "stopped in recv from rank 3 …: rank 2 was killed by SIGKILL".
std::string stopped_text(const std::optional<WaitRecord>& wait, const std::string& cause);

}  // namespace ringside
