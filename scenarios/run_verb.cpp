#include "scenarios/run_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "runtime/errors.hpp"
#include "runtime/process.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/partial_traffic.hpp"
#include "scenarios/plural.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/run_checkpoints.hpp"
#include "scenarios/run_folder.hpp"
#include "scenarios/run_headline.hpp"
#include "scenarios/run_log_level.hpp"
#include "scenarios/run_progress.hpp"
#include "scenarios/run_report.hpp"
#include "scenarios/split_scenario.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/training_job.hpp"
#include "scenarios/two_streams_scenario.hpp"

namespace ringside {

namespace {

JobOptions options_of(const RunRequest& request, RunProgress& progress) {
  return {.eager_limit = request.eager_limit,
          .limit = request.timeout,
          .log = LogLevel::summary,
          .on_note = [&](int, std::string_view note) { progress.step(note); }};
}

TrainingOutcome main_job(const RunRequest& request, const JobOptions& options,
                         std::string_view text, const Reference& truth,
                         const OnFailedJob& on_failed) {
  JobOptions logged = options;
  logged.log = log_level(request);
  logged.trace = request.trace_limit > 0 && logged.log == LogLevel::full;
  logged.live = request.verbose;
  logged.pace = request.pace;
  return at_true_scale(request.settings)
             ? run_at_true_scale(request.settings, logged, Fault::none, on_failed)
             : run_training({.settings = request.settings,
                             .saves = true,
                             .options = logged,
                             .on_failed = on_failed},
                            text, truth);
}

Checks run_checks(CheckContext context, RunProgress& progress) {
  Checks all;
  const auto& names = context.settings.checks.run;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto which = fmt::format("check {} of {}, {}", i + 1, names.size(), name);
    context.progress = [&](std::string_view what) {
      progress.now(fmt::format("{}, {}", which, what));
    };
    const auto rows = check_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
    progress.now(which);
    Checks checks = row->run(context);
    if (context.changed.empty()) {
      std::ranges::copy(of_which_none_applies(name, checks), std::back_inserter(all));
    }
    leave_lessons_to_their_scenario(checks, context.changed);
    std::ranges::move(checks, std::back_inserter(all));
  }
  return all;
}

// The reference keeps every gradient and parameter of every step, in f64.
void check_reference_fits(const Settings& s) {
  if (at_true_scale(s)) {
    return;
  }
  const auto needed =
      static_cast<double>(shape_of(s).parameters) * s.train.steps * 2 * sizeof(double);
  const auto memory = machine_memory();
  if (memory && needed > static_cast<double>(memory->available)) {
    throw BadUse(
        fmt::format("train.steps = {}: one process must keep {:.1f} GB to compare every step with, "
                    "and {:.1f} GB "
                    "of memory are available; take at most {} steps of this model",
                    s.train.steps, needed / 1e9, static_cast<double>(memory->available) / 1e9,
                    static_cast<std::int64_t>(static_cast<double>(memory->available) / needed *
                                              s.train.steps)));
  }
}

// The definition knows the order of all-reduces once a step.
bool has_definition(const Settings& s) {
  return reductions_of(s) == 1 && !has_experts(s) && s.parallel.zero == 0 && s.parallel.tp == 1 &&
         s.parallel.cp == 1 && s.parallel.pp == 1 && !s.model.batch_norm && !at_true_scale(s) &&
         s.train.resume.empty();
}

RunReport run_bench(const RunRequest& request, const std::filesystem::path& folder,
                    RunProgress& progress) {
  JobOptions options = options_of(request, progress);
  options.log = request.log.value_or(LogLevel::full);
  options.trace = request.trace_limit > 0 && options.log == LogLevel::full;
  RunReport report = request.settings.parallel.streams.empty()
                         ? run_split_scenario(request.settings, options)
                         : run_two_streams_scenario(request.settings, options);
  if (options.log == LogLevel::full) {
    const auto written = write_messages(folder, report.job, request.trace_limit);
    report.no_trace = written.no_trace;
    report.unwritten = written.unwritten;
  }
  report.folder = folder;
  report.changed = request.changed;
  report.log = options.log;
  return report;
}

RunReport run_scenario(const RunRequest& request, const std::filesystem::path& folder,
                       RunProgress& progress, const OnFailedJob& on_failed) {
  const Settings& s = request.settings;
  if (!s.parallel.split.empty() || !s.parallel.streams.empty()) {
    return run_bench(request, folder, progress);
  }
  const std::string_view text = text_of(s);
  progress.now("one process");
  const TrainingPlan plan = at_true_scale(s) ? TrainingPlan{} : plan_of(s, text);
  const Reference truth = at_true_scale(s) ? Reference{} : reference_of(s, plan);
  const JobOptions options = options_of(request, progress);
  progress.now(plural(s.ranks, "rank"));
  const TrainingOutcome main = main_job(request, options, text, truth, on_failed);
  const WrittenMessages written = log_level(request) == LogLevel::full
                                      ? write_messages(folder, main.job, request.trace_limit)
                                      : WrittenMessages{};
  const CheckContext context{.settings = s,
                             .text = text,
                             .truth = truth,
                             .main = main,
                             .options = options,
                             .progress = {},
                             .changed = request.changed};
  RunReport report{.settings = s,
                   .headline = headline(s),
                   .warning = precision_warning(optimizer_of(s), element_type(s)),
                   .first_sample = at_true_scale(s) || plan.start ? "" : std::string(first_sample),
                   .data = data_position(s, plan),
                   .checks = run_checks(context, progress),
                   .traffic = compare_traffic(s, main.job, truth),
                   .job = main.job,
                   .folder = folder,
                   .changed = request.changed,
                   .log = log_level(request),
                   .no_trace = written.no_trace,
                   .unwritten = written.unwritten};
  if (!all_hold(report.checks) && has_definition(s)) {
    progress.now("where it leaves its definition");
    report.divergence = find_divergence({.settings = s, .text = text, .options = options});
  }
  for (const auto& step : main.ranks.front()) {
    if (!at_true_scale(s)) {
      report.losses.push_back(step.loss);
    }
  }
  return report;
}

// A scenario whose lesson is a failure holds when exactly that failure is seen.
RunReport expected_failure(const RunRequest& request, const std::filesystem::path& folder,
                           const Failure& failure) {
  const Settings& s = request.settings;
  RunReport report{.settings = s,
                   .headline = headline(s),
                   .folder = folder,
                   .changed = request.changed,
                   .log = log_level(request)};
  report.checks.push_back(holds("expect", failure.verdict == s.checks.expect,
                                std::string(failure.verdict), s.checks.expect, failure.text));
  if (s.checks.expect == "oom" && s.cluster.capacity) {
    report.checks.push_back(check_does_not_fit(s));
    std::ranges::copy(check_experts_do_not_fit(s), std::back_inserter(report.checks));
    if (at_true_scale(s) && std::ranges::count(s.checks.run, "controls") > 0) {
      report.checks.push_back(check_capacity_lifted(s));
    }
  }
  return report;
}

nlohmann::json failure_json(const RunRequest& request, const std::filesystem::path& folder,
                            std::string_view verdict, const std::string& text,
                            const std::optional<PartialTraffic>& partial = {}) {
  nlohmann::json document{{"verb", "run"},
                          {"scenario", request.settings.name},
                          {"changed", request.changed},
                          {"verdict", verdict},
                          {"error", text},
                          {"run_folder", folder.string()}};
  if (partial) {
    document["traffic_log"] = partial->json();
  }
  return document;
}

int print_failure(const RunRequest& request, const std::filesystem::path& folder,
                  const Failure& failure, const std::optional<PartialTraffic>& partial) {
  std::cerr << "ringside: " << printable(failure.text) << '\n'
            << (partial ? printable(partial->text()) + '\n' : "")
            << printable("run folder: " + folder.string()) << '\n';
  if (request.json && !request.quiet) {
    std::cout << printed_json(
        failure_json(request, folder, failure.verdict, failure.text, partial));
  }
  return failure.exit_code;
}

// What was found is printed before this, and is the run's end in spite of it.
bool summary_kept(const std::filesystem::path& folder, const nlohmann::json& document) {
  try {
    write_summary(folder, document);
    return true;
  } catch (const BadUse& refusal) {
    std::cerr << "ringside: " << printable(refusal.what())
              << "; what stands there is of before, and what is printed holds\n";
    return false;
  }
}

// Stands in the folder until the run ends, however that may be.
constexpr const char* not_ended =
    "the run has not ended: it is going on, or a signal has ended it (exit code 128 + n)";

}  // namespace

int run_verb(const RunRequest& asked) {
  RunRequest request = asked;
  read_inputs(request.settings);
  check_reference_fits(request.settings);
  require_place_for_checkpoints(request.settings);
  const RunFolder locked = make_run_folder(request.out, request.settings.name);
  const std::filesystem::path& folder = locked.path;
  const auto began = std::chrono::steady_clock::now();
  RunProgress progress;
  RunReport report;
  std::optional<PartialTraffic> partial;
  const OnFailedJob keep_traffic = [&](const JobResult& job) {
    if (log_level(request) == LogLevel::full) {
      partial = write_partial_traffic(folder, job, request.trace_limit);
    }
  };
  try {
    write_scenario(folder, request.settings);
    write_summary(folder, failure_json(request, folder, "lost", not_ended));
    report = run_scenario(request, folder, progress, keep_traffic);
    if (const auto& expect = request.settings.checks.expect; !expect.empty() && expect != "fail") {
      report.checks.push_back(holds("expect", false, "pass", expect));
    }
  } catch (...) {
    progress.wipe();
    const Failure failure = failure_of(std::current_exception());
    const auto document = failure_json(request, folder, failure.verdict, failure.text, partial);
    if (request.settings.checks.expect.empty()) {
      const int code = print_failure(request, folder, failure, partial);
      summary_kept(folder, document);
      return code;
    }
    report = expected_failure(request, folder, failure);
  }
  progress.wipe();
  report.language = request.language;
  report.command_wall = std::chrono::steady_clock::now() - began;
  const auto document = report_json(report);
  if (!request.quiet) {
    std::cout << (request.json ? printed_json(document) : printable(report_text(report)))
              << std::flush;
  }
  const bool kept = summary_kept(folder, document) && report.unwritten.empty();
  if (!report.unwritten.empty()) {
    std::cerr << "ringside: " << printable(report.unwritten) << "; the run went on without it\n";
  }
  return !all_hold(report.checks) ? exit_check_failed : kept ? exit_ok : exit_bad_use;
}

}  // namespace ringside
