// The flags of `parity`.
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

Asked<ParityRequest> asked_parity(const std::vector<std::string>& words) {
  constexpr int most_ranks = 64;
  std::optional<std::string> ranks, timeout;
  ParityRequest request;
  Flags flags("parity", "ringside parity [flags]", meaning_of("parity"), examples_of("parity"));
  flags.value("--ranks", "N", ranks, "processes of each plan, 2 to 64; 8");
  flags.flag("--full", request.full, "every stage of ZeRO, schedule and form of cp on every mesh");
  flags.value("--timeout", "S", timeout, "longest wait of a rank in seconds; 30");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  if (ranks) {
    request.ranks = integer_of("--ranks", *ranks, 2, most_ranks);
  }
  request.timeout = timeout ? timeout_of(*timeout) : request.timeout;
  return {request, {}};
}

}  // namespace ringside
