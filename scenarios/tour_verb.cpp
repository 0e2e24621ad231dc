#include "scenarios/tour_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "runtime/units.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/run_folder.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/text_table.hpp"
#include "scenarios/tour_walk.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

using Json = nlohmann::ordered_json;

struct WalkedLesson {
  const TourLesson* lesson = nullptr;
  std::vector<JudgedRun> runs{};

  bool holds() const { return std::ranges::all_of(runs, &JudgedRun::holds); }
};

std::string_view said(const TourText& text, Language language) {
  return language == Language::zh ? text.zh : text.en;
}

std::vector<const TourLesson*> chosen(const TourRequest& request) {
  std::vector<const TourLesson*> lessons;
  for (std::size_t i = 0; i < tour_lessons().size(); ++i) {
    if (!request.lesson || *request.lesson == i) {
      lessons.push_back(&tour_lessons()[i]);
    }
  }
  return lessons;
}

std::string indented(std::string_view text, std::size_t indent) {
  return std::string(indent, ' ') + wrapped(text, indent, stdout_columns()) + "\n";
}

std::string heading(const TourLesson& lesson, Language language) {
  const auto number = &lesson - tour_lessons().data() + 1;
  return fmt::format("{} {}: {}\n", number, lesson.name, said(lesson.question, language));
}

std::string text_of(const JudgedRun& run, Language language) {
  std::string text = fmt::format("  {}: {}\n", said(run.run.role, language), command_of(run.run));
  for (const JudgedClaim& claim : run.claims) {
    text += indented(
        fmt::format("{}{}  {}{}", claim.measured, claim.unit.empty() ? "" : " = " + claim.unit,
                    said(claim.claim.says, language),
                    claim.holds ? "" : fmt::format("  FAIL: claimed {}", claim.claim.expected)),
        6);
  }
  if (run.document.value("verdict", "") != "pass") {
    text += indented(
        fmt::format("FAIL: the run's verdict is {}; see {}", run.document.value("verdict", "lost"),
                    run.document.value("run_folder", "")),
        6);
  }
  return text;
}

std::string bytes_text(double bytes) {
  return to_string(Bytes{std::llround(bytes)});
}

std::string groups_text(const StepTraffic& traffic) {
  std::string text;
  for (const auto& [group, sent] : traffic.sent_in) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", group, bytes_text(sent));
  }
  return text;
}

std::string where_it_went(const JudgedRun& run) {
  const bool passed = run.document.value("verdict", "") == "pass";
  return run.traffic.sent > 0 ? groups_text(run.traffic) : passed ? "does not fit" : "failed";
}

std::string closing_table(const std::vector<WalkedLesson>& lessons, Language language) {
  TextTable table({{.title = "lesson", .left = true},
                   {.title = "way", .left = true},
                   {.title = "run", .left = true},
                   {.title = "model", .left = true},
                   {.title = "samples"},
                   {.title = "a rank sends"},
                   {.title = "one receives"},
                   {.title = "sent in groups", .left = true}});
  for (const WalkedLesson& walked : lessons) {
    for (const JudgedRun& run : walked.runs) {
      const bool ran = run.traffic.sent > 0;
      const auto bytes = [&](double count) { return ran ? bytes_text(count) : "-"; };
      table.add({std::string(walked.lesson->name), std::string(said(run.run.role, language)),
                 std::string(run.run.scenario), run.model,
                 run.samples > 0 ? std::to_string(run.samples) : "-", bytes(run.traffic.sent),
                 bytes(run.traffic.received), where_it_went(run)});
    }
  }
  return std::string(language == Language::zh
                         ? "一步的通信量：每张卡平均发送多少，收得最多的一张卡收到多少\n"
                         : "Traffic of one step: what a rank sends on average, and what the "
                           "busiest receives\n") +
         table.text();
}

Json json_of(const JudgedRun& run) {
  Json json{{"role", run.run.role.en},
            {"scenario", run.run.scenario},
            {"command", command_of(run.run)},
            {"verdict", run.holds() ? "pass" : "fail"},
            {"run_verdict", run.document.value("verdict", "lost")},
            {"run_folder", run.document.value("run_folder", "")},
            {"model", run.model},
            {"samples", run.samples},
            {"claims", Json::array()}};
  for (const JudgedClaim& claim : run.claims) {
    json["claims"].push_back({{"where", claim.claim.where},
                              {"measured", claim.measured},
                              {"expected", claim.claim.expected},
                              {"says", {{"en", claim.claim.says.en}, {"zh", claim.claim.says.zh}}},
                              {"verdict", claim.holds ? "pass" : "fail"}});
  }
  json["step_traffic"] = {{"sent_mean_bytes", run.traffic.sent},
                          {"received_most_bytes", run.traffic.received},
                          {"sent_by_group", run.traffic.sent_in}};
  return json;
}

Json document_of(const std::vector<WalkedLesson>& lessons, bool holds) {
  Json document{{"verb", "tour"}, {"verdict", holds ? "pass" : "fail"}, {"lessons", Json::array()}};
  for (const WalkedLesson& walked : lessons) {
    const TourLesson& lesson = *walked.lesson;
    Json json{{"name", lesson.name},
              {"question", {{"en", lesson.question.en}, {"zh", lesson.question.zh}}},
              {"leaves", {{"en", lesson.leaves.en}, {"zh", lesson.leaves.zh}}},
              {"verdict", walked.holds() ? "pass" : "fail"},
              {"runs", Json::array()}};
    for (const JudgedRun& run : walked.runs) {
      json["runs"].push_back(json_of(run));
    }
    document["lessons"].push_back(json);
  }
  return document;
}

int list_lessons(const TourRequest& request) {
  if (request.json) {
    Json document{{"verb", "tour"}, {"verdict", "pass"}, {"lessons", Json::array()}};
    for (const TourLesson* lesson : chosen(request)) {
      Json commands = Json::array();
      std::ranges::transform(lesson->runs, std::back_inserter(commands), command_of);
      document["lessons"].push_back(
          {{"name", lesson->name},
           {"question", {{"en", lesson->question.en}, {"zh", lesson->question.zh}}},
           {"commands", commands}});
    }
    std::cout << printed_json(document);
    return exit_ok;
  }
  for (const TourLesson* lesson : chosen(request)) {
    std::cout << heading(*lesson, request.language);
    for (const TourRun& run : lesson->runs) {
      std::cout << fmt::format("  {}: {}\n", said(run.role, request.language), command_of(run));
    }
  }
  return exit_ok;
}

std::string folder_name(const TourLesson& lesson, std::size_t number, const TourRun& run) {
  std::string scenario(run.scenario);
  std::ranges::replace(scenario, '/', '-');
  return fmt::format("{}-{}-{}", lesson.name, number, scenario);
}

WalkedLesson walk_lesson(const TourLesson& lesson, const std::vector<RunRequest>& runs,
                         const TourRequest& request, const std::filesystem::path& folder) {
  WalkedLesson walked{.lesson = &lesson};
  if (!request.json) {
    std::cout << heading(lesson, request.language) << std::flush;
  }
  Progress progress(std::cerr, stderr_rewrites_lines());
  for (const TourRun& run : lesson.runs) {
    const std::size_t number = walked.runs.size() + 1;
    progress.show(
        fmt::format("{}, {} of {}: {}", lesson.name, number, lesson.runs.size(), run.scenario));
    walked.runs.push_back(walk(run, runs[number - 1], folder / folder_name(lesson, number, run)));
    progress.wipe();
    if (!request.json) {
      std::cout << printable(text_of(walked.runs.back(), request.language)) << std::flush;
    }
  }
  if (!request.json) {
    std::cout << indented(said(lesson.leaves, request.language), 2) << "\n";
  }
  return walked;
}

// A run that lost a rank, or that deadlocked, says more than that a figure is missing.
int exit_code_of(const std::vector<WalkedLesson>& lessons) {
  int code = exit_ok;
  for (const WalkedLesson& lesson : lessons) {
    for (const JudgedRun& run : lesson.runs) {
      code = std::max(code, run.exit_code);
    }
  }
  const bool holds = std::ranges::all_of(lessons, &WalkedLesson::holds);
  return code > exit_check_failed ? code : holds ? exit_ok : exit_check_failed;
}

}  // namespace

int tour_verb(const TourRequest& request) {
  if (request.list) {
    return list_lessons(request);
  }
  std::vector<std::vector<RunRequest>> runs;  // by lesson; all is read before anything is written
  for (const TourLesson* lesson : chosen(request)) {
    auto& of_lesson = runs.emplace_back();
    std::ranges::transform(lesson->runs, std::back_inserter(of_lesson), prepared);
  }
  const auto folder = request.out ? *request.out : make_run_folder({}, "tour").path;
  std::vector<WalkedLesson> lessons;
  for (const TourLesson* lesson : chosen(request)) {
    lessons.push_back(walk_lesson(*lesson, runs[lessons.size()], request, folder));
  }
  const bool holds = std::ranges::all_of(lessons, &WalkedLesson::holds);
  if (request.json) {
    std::cout << printed_json(document_of(lessons, holds));
  } else {
    std::cout << printable(closing_table(lessons, request.language))
              << fmt::format("\n  run folders: {}\n  verdict: {}\n", printable(folder.string()),
                             holds ? "pass" : "FAIL");
  }
  return exit_code_of(lessons);
}

}  // namespace ringside
