// The flags of each verb, read into its request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/clean_verb.hpp"
#include "scenarios/collective_case.hpp"
#include "scenarios/explain_verb.hpp"
#include "scenarios/figures_verb.hpp"
#include "scenarios/list_verb.hpp"
#include "scenarios/log_verb.hpp"
#include "scenarios/mesh_verb.hpp"
#include "scenarios/parity_verb.hpp"
#include "scenarios/prove_verb.hpp"
#include "scenarios/run_verb.hpp"
#include "scenarios/schedule_verb.hpp"
#include "scenarios/tour_verb.hpp"

namespace ringside {

// What was asked for, or the help text that was asked for instead.
template <class Request>
struct Asked {
  std::optional<Request> request;
  std::string help;
};

// `words`: what follows the verb. They throw BadUse that names the flag, what was given and what
// would be right. asked_run also loads the scenario and resolves its settings.
Asked<ListRequest> asked_list(const std::vector<std::string>& words);
Asked<RunRequest> asked_run(const std::vector<std::string>& words);
Asked<LogRequest> asked_log(const std::vector<std::string>& words);
Asked<ProveRequest> asked_prove(const std::vector<std::string>& words);
Asked<MeshRequest> asked_mesh(const std::vector<std::string>& words);
Asked<ParityRequest> asked_parity(const std::vector<std::string>& words);
Asked<ExplainRequest> asked_explain(const std::vector<std::string>& words);
Asked<ScheduleRequest> asked_schedule(const std::vector<std::string>& words);
Asked<FiguresRequest> asked_figures(const std::vector<std::string>& words);
Asked<TourRequest> asked_tour(const std::vector<std::string>& words);
Asked<CleanRequest> asked_clean(const std::vector<std::string>& words);
Asked<CollectiveRequest> asked_collective(const std::vector<std::string>& words);

}  // namespace ringside
