#include "scenarios/list_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/overrides.hpp"
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

std::vector<Entry> read_all() {
  std::vector<Entry> entries;
  for (const auto& file : list_scenarios()) {
    Entry entry{.name = file.name, .settings = {}, .error = {}};
    try {
      entry.settings = load_scenario(file);
      resolve(entry.settings);
    } catch (const BadUse& refusal) {
      entry.error = refusal.what();
    }
    entries.push_back(std::move(entry));
  }
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

std::string folder_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

void print_text(const std::vector<Entry>& entries, bool chinese) {
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

}  // namespace

int list_verb(const ListRequest& request) {
  const auto entries = read_all();
  const bool broken =
      std::any_of(entries.begin(), entries.end(), [](const auto& e) { return !e.error.empty(); });
  if (request.json) {
    std::cout
        << document(entries, broken).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
        << '\n';
  } else {
    print_text(entries, request.chinese);
  }
  for (const auto& entry : entries) {
    if (!entry.error.empty()) {
      std::cerr << "ringside: " << printable(entry.error) << '\n';
    }
  }
  return broken ? exit_bad_use : exit_ok;
}

}  // namespace ringside
