#include "scenarios/tour_walk.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/files/json_file.hpp"
#include "runtime/units.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/traffic_summary.hpp"

namespace ringside {

namespace {

using Json = nlohmann::json;

std::string bytes_text(double bytes) {
  return to_string(Bytes{std::llround(bytes)});
}

// The check of this name; none: the run did not make it.
const Json* check_named(const Json& document, std::string_view name) {
  const auto checks = document.find("checks");
  if (checks == document.end()) {
    return nullptr;
  }
  const auto row =
      std::ranges::find_if(*checks, [&](const Json& check) { return check["name"] == name; });
  return row == checks->end() ? nullptr : &*row;
}

std::string shown(const Json& measured) {
  if (measured.is_number_float()) {
    return fmt::format("{:.3g}", measured.get<double>());
  }
  return measured.is_string() ? measured.get<std::string>() : measured.dump();
}

// 0 where it is none.
std::int64_t whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

bool below(const Json& measured, std::string_view limit_text) {
  double limit = 0;
  std::from_chars(limit_text.data(), limit_text.data() + limit_text.size(), limit);
  return measured.is_number() && measured.get<double>() < limit;
}

JudgedClaim judged(const TourClaim& claim, const Json& document, const StepTraffic& traffic) {
  constexpr std::string_view less = "< ";
  constexpr std::int64_t many = 1'000'000;
  JudgedClaim result{.claim = claim, .measured = {}};
  if (claim.where == "step.sent" || claim.where == "step.received") {
    result.measured = bytes_text(claim.where == "step.sent" ? traffic.sent : traffic.received);
    result.holds = result.measured == claim.expected;
    return result;
  }
  const Json* check = check_named(document, claim.where);
  if (check == nullptr) {
    result.measured = fmt::format("the run has no check {}", claim.where);
    return result;
  }
  const Json& measured = (*check)["measured"];
  result.measured = shown(measured);
  if (const auto count = whole_number(result.measured); count >= many) {
    result.unit = to_string(Bytes{count});
  }
  result.holds = claim.expected.starts_with(less)
                     ? below(measured, claim.expected.substr(less.size()))
                     : result.measured == claim.expected;
  return result;
}

// "tp.kv" is of tp, "pp0" of pp.
std::string axis_of(const std::string& group) {
  return group.substr(0, group.find_first_of(".0123456789"));
}

}  // namespace

StepTraffic step_traffic(const Json& document, int steps) {
  StepTraffic traffic;
  const auto ranks = document.find("traffic");
  if (ranks == document.end() || ranks->empty()) {
    return traffic;
  }
  const double share = 1.0 / steps / static_cast<double>(ranks->size());
  for (const Json& rank : *ranks) {
    double received = 0;
    for (const Json& sum : rank["sums"]) {
      if (sum["operation"] != "broadcast") {
        const double sent = sum["sent_bytes"].get<double>() * share;
        traffic.sent += sent;
        traffic.sent_in[axis_of(sum["group"])] += sent;
        received += sum["received_bytes"].get<double>() / steps;
      }
    }
    traffic.received = std::max(traffic.received, received);
  }
  return traffic;
}

bool JudgedRun::holds() const {
  return document.value("verdict", "") == "pass" &&
         std::ranges::all_of(claims, &JudgedClaim::holds);
}

JudgedRun judged(const TourRun& run, const Json& document, int steps) {
  JudgedRun result{.run = run, .document = document};
  result.traffic = step_traffic(document, steps);
  for (const TourClaim& claim : run.claims) {
    result.claims.push_back(judged(claim, document, result.traffic));
  }
  return result;
}

RunRequest prepared(const TourRun& run) {
  std::vector<std::string> words{std::string(run.scenario)};
  for (const std::string_view set : run.set) {
    words.insert(words.end(), {"--set", std::string(set)});
  }
  RunRequest request = asked_run(words).request.value();
  read_inputs(request.settings);
  request.quiet = true;
  return request;
}

JudgedRun walk(const TourRun& run, RunRequest request, const std::filesystem::path& folder) {
  request.out = folder;
  const int code = run_verb(request);
  const Json summary = read_json(folder / "summary.json", "a summary.json", most_summary_bytes);
  const bool bench = !request.settings.parallel.split.empty();  // which computes once
  JudgedRun result = judged(run, summary, bench ? 1 : request.settings.train.steps);
  result.model = kind_name(request.settings);
  result.exit_code = code;
  result.samples = bench ? 0 : request.settings.train.batch;
  return result;
}

std::string command_of(const TourRun& run) {
  std::string command = fmt::format("ringside run {}", run.scenario);
  for (const std::string_view set : run.set) {
    command += fmt::format(" --set '{}'", set);
  }
  return command;
}

}  // namespace ringside
