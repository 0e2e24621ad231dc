#include "scenarios/list_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "runtime/errors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {
namespace {

struct Entry {
  std::string name;
  Settings settings;
  std::string error;  // empty: can be run
};

// The folders in the chapter's order; one that it does not know comes after those.
constexpr std::array<std::string_view, 10> chapter{"dp", "zero", "recompute", "tp",   "pp",
                                                   "cp", "ep",   "mesh",      "time", "pitfalls"};

std::string folder_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

std::size_t place_of(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(chapter, folder_of(name)) - chapter.begin());
}

// By name.
std::vector<ScenarioFile> files_of(const std::string& folder) {
  auto files = list_scenarios();
  std::vector<std::string> folders;
  for (const auto& file : files) {
    folders.push_back(folder_of(file.name));
  }
  if (!folder.empty()) {
    const auto wanted = folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder;
    if (std::ranges::find(folders, wanted) == folders.end()) {
      folders.erase(std::ranges::unique(folders).begin(), folders.end());
      throw BadUse("list " + folder + ": there is no such folder of scenarios" +
                   did_you_mean(wanted, folders) + " (there are " + joined(folders) + ")");
    }
    std::erase_if(files, [&](const auto& file) { return folder_of(file.name) != wanted; });
  }
  return files;
}

std::vector<Entry> read_all(const std::string& folder) {
  std::vector<Entry> entries;
  for (const auto& file : files_of(folder)) {
    Entry entry{.name = file.name, .settings = {}, .error = {}};
    try {
      entry.settings = load_scenario(file);
      resolve(entry.settings);
    } catch (const BadUse& refusal) {
      entry.error = refusal.what();
    }
    entries.push_back(std::move(entry));
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& e) {
    const int place = e.settings.lesson.place;
    return std::tuple(place_of(e.name), place == 0, place);
  });
  return entries;
}

nlohmann::ordered_json document(const std::vector<Entry>& entries, bool broken) {
  nlohmann::ordered_json all{{"verb", "list"},
                             {"verdict", broken ? "refused" : "pass"},
                             {"scenarios", nlohmann::json::array()}};
  for (const auto& [name, settings, error] : entries) {
    nlohmann::ordered_json row{{"name", name}};
    if (error.empty()) {
      row["ranks"] = settings.ranks;
      row["lesson"] = {{"en", settings.lesson.en}, {"zh", settings.lesson.zh}};
    } else {
      row["error"] = error;
    }
    all["scenarios"].push_back(std::move(row));
  }
  return all;
}

void print_text(const std::vector<Entry>& entries, Language language) {
  const bool chinese = language == Language::zh;
  std::size_t width = 0;
  for (const auto& entry : entries) {
    width = std::max(width, entry.name.size());
  }
  const std::size_t columns = stdout_columns();
  std::string folder;
  for (const auto& [name, settings, error] : entries) {
    if (folder_of(name) != folder) {
      std::cout << (folder.empty() ? "" : "\n");
      folder = folder_of(name);
      std::cout << fmt::format("{}/\n", folder);
    }
    if (error.empty()) {
      const auto head = fmt::format("  {:<{}}  {:>3} {}  ", name, width, settings.ranks,
                                    chinese ? "卡" : "ranks");
      std::cout << head
                << wrapped(chinese ? settings.lesson.zh : settings.lesson.en, width_of(head),
                           columns)
                << '\n';
    }
  }
  std::cout << (chinese ? "\n运行其中一个：ringside run 名字\n"
                        : "\nRun one with: ringside run NAME\n");
}

int list_checks(bool json) {
  if (json) {
    nlohmann::ordered_json all{
        {"verb", "list"}, {"verdict", "pass"}, {"checks", nlohmann::json::array()}};
    for (const auto& [name, meaning, run] : check_rows()) {
      all["checks"].push_back({{"name", name}, {"meaning", meaning}});
    }
    std::cout << printed_json(all);
    return exit_ok;
  }
  for (const auto& [name, meaning, run] : check_rows()) {
    const auto head = fmt::format("  {:<17} ", name);
    std::cout << head << wrapped(std::string(meaning), width_of(head), stdout_columns()) << '\n';
  }
  std::cout
      << "\nA scenario names them in checks.run; change it with --set 'checks.run=[\"traffic\"]'\n";
  return exit_ok;
}

}  // namespace

int list_verb(const ListRequest& request) {
  if (request.checks) {
    return list_checks(request.json);
  }
  const auto entries = read_all(request.folder);
  const bool broken =
      std::any_of(entries.begin(), entries.end(), [](const auto& e) { return !e.error.empty(); });
  if (request.json) {
    std::cout << printed_json(document(entries, broken));
  } else {
    print_text(entries, request.language);
  }
  for (const auto& entry : entries) {
    if (!entry.error.empty()) {
      std::cerr << "ringside: " << printable(entry.error) << '\n';
    }
  }
  return broken ? exit_bad_use : exit_ok;
}

}  // namespace ringside
