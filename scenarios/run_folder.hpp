// The folder that a run leaves: what ran, its traffic, its trace, its summary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/launch.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Makes the folder, readable by its owner alone. Without `out`: a new one,
// runs/<scenario>-<number>. Throws BadUse with the path and the reason; a folder that holds other
// files is refused.
std::filesystem::path make_run_folder(const std::optional<std::filesystem::path>& out,
                                      const std::string& scenario);

// scenario.toml, and, as they were kept, traffic.jsonl and trace.json.
void write_run(const std::filesystem::path& folder, const Settings& settings, const JobResult& job,
               LogLevel log, bool trace);

void write_summary(const std::filesystem::path& folder, const nlohmann::json& summary);

}  // namespace ringside
