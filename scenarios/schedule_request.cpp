// The flags of `schedule`.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

namespace {

using Given = std::optional<std::string>;

constexpr int most_stages = 4096;
constexpr int most_microbatches = 1'000'000;
constexpr int usual_chunks = 2;
constexpr int compared_chunks = 4;

struct ScheduleWords {
  Given schedule, stages, microbatches, chunks, costs, in_flight, svg, csv;
  bool list = false;
  bool json = false;
};

void declare(Flags& flags, ScheduleWords& words) {
  flags.word("SCHEDULE", words.schedule,
             joined(schedule_names()) + "; a CSV file; or compare: all of them");
  flags.value("--stages", "P", words.stages,
              "4; of interleaved the devices, of dualpipev twice the devices");
  flags.value("--microbatches", "M", words.microbatches, "8");
  flags.value("--chunks", "V", words.chunks,
              "stages of a device, for interleaved, 2; with compare: up to, 4; with a file: stages "
              "that cost F, I and W together, 1");
  flags.value("--costs", "F=1,I=1,W=1", words.costs,
              "of a stage and micro-batch, as 2, 3/2 or 0.75; B = I + W; send=0 for a message");
  flags.value("--in-flight", "N", words.in_flight,
              "refuse when a device would hold more activations");
  flags.value("--svg", "FILE", words.svg, "draw it, too");
  flags.value("--csv", "FILE", words.csv, "write it, too, as torch's pipelining does");
  flags.flag("--list", words.list, "what schedules there are, and what each takes");
  flags.flag("--json", words.json, "one JSON document on stdout");
}

Rational& cost_named(ScheduleCosts& costs, const std::string& name, const std::string& given) {
  if (name == "F") {
    return costs.forward;
  }
  if (name == "I") {
    return costs.input_gradient;
  }
  if (name == "W") {
    return costs.weight_gradient;
  }
  if (name == "send") {
    return costs.send;
  }
  throw BadUse("--costs " + given + ": there is no cost " + name +
               (name == "B" ? ": B is I + W, so give I and W" : " (costs are F, I, W and send)"));
}

ScheduleCosts costs_of(const std::string& given) {
  ScheduleCosts costs;
  std::set<std::string> named;
  std::size_t first = 0;
  while (first <= given.size()) {
    const std::size_t end = std::min(given.find(',', first), given.size());
    const std::string part = given.substr(first, end - first);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw BadUse("--costs " + given + ": \"" + part + "\" is no cost: write F=1,I=1,W=1");
    }
    const std::string name = part.substr(0, equals);
    Rational& cost = cost_named(costs, name, given);
    if (!named.insert(name).second) {
      throw BadUse("--costs " + given + ": " + name + " is there twice: give it once");
    }
    try {
      cost = parse_rational(part.substr(equals + 1));
    } catch (const BadUse& refusal) {
      throw BadUse("--costs " + given + ": " + name + " " + refusal.what());
    }
    first = end + 1;
  }
  return costs;
}

std::string file_of(const std::string& flag, const Given& given) {
  if (given && given->empty()) {
    throw BadUse(flag + ": must name a file");
  }
  return given.value_or("");
}

void name_schedule(ScheduleRequest& request, const ScheduleWords& words) {
  const auto names = schedule_names();
  request.name = *words.schedule;
  request.what = ScheduleRequest::What::one;
  if (std::ranges::find(names, request.name) != names.end()) {
    return;
  }
  if (request.name == "compare") {
    request.what = ScheduleRequest::What::compare;
    return;
  }
  request.file = request.name.find_first_of("./") != std::string::npos;
  if (!request.file) {
    throw BadUse("there is no schedule " + request.name + did_you_mean(request.name, names) +
                 " (schedules are " + joined(names) + "; a file has a '.' or '/' in its name)");
  }
  if (words.stages || words.microbatches) {
    throw BadUse(fmt::format("{}: {} says how many there are: leave it out",
                             words.stages ? "--stages" : "--microbatches", request.name));
  }
}

void refuse_files(const ScheduleWords& words) {
  if (words.svg || words.csv || words.in_flight) {
    throw BadUse(fmt::format("{}: compare shows many schedules; take one for that",
                             words.svg   ? "--svg"
                             : words.csv ? "--csv"
                                         : "--in-flight"));
  }
}

ScheduleRequest request_of(const ScheduleWords& words) {
  ScheduleRequest request{.json = words.json};
  if (words.list) {
    return request;
  }
  if (!words.schedule) {
    throw BadUse("schedule needs a schedule: " + joined(schedule_names()) +
                 ", a CSV file, or compare; --list says more");
  }
  name_schedule(request, words);
  const bool compare = request.what == ScheduleRequest::What::compare;
  if (compare) {
    refuse_files(words);
  }
  if (words.stages) {
    request.shape.stages = integer_of("--stages", *words.stages, 1, most_stages);
  }
  if (words.microbatches) {
    request.shape.microbatches =
        integer_of("--microbatches", *words.microbatches, 1, most_microbatches);
  }
  request.shape.chunks = words.chunks ? integer_of("--chunks", *words.chunks, 1, most_stages)
                         : compare    ? compared_chunks
                         : request.name == "interleaved" ? usual_chunks
                                                         : 1;
  if (words.costs) {
    request.costs = costs_of(*words.costs);
  }
  if (words.in_flight) {
    request.in_flight = integer_of("--in-flight", *words.in_flight, 1, most_microbatches);
  }
  request.svg = file_of("--svg", words.svg);
  request.csv = file_of("--csv", words.csv);
  if (!request.csv.empty() && std::filesystem::path(request.csv).lexically_normal() ==
                                  std::filesystem::path(request.svg).lexically_normal()) {
    throw BadUse("--csv " + request.csv + ": is the file of --svg, too: name two files");
  }
  return request;
}

}  // namespace

Asked<ScheduleRequest> asked_schedule(const std::vector<std::string>& words) {
  ScheduleWords given;
  Flags flags("schedule", "ringside schedule SCHEDULE [flags]", meaning_of("schedule"),
              examples_of("schedule"));
  declare(flags, given);
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  return {request_of(given), {}};
}

}  // namespace ringside
