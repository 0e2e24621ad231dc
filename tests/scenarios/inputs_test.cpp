// What a run reads, it reads before it writes: later nothing that the scenario names is opened.
#include "scenarios/inputs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "models/checkpoint.hpp"
#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/schedule_csv.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/requests.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::vector<std::string> tiny{"model.kind=gpt",         "model.hidden=8", "model.heads=2",
                                    "model.kv_heads=1",       "model.ffn=8",    "model.layers=2",
                                    "model.sequence=8",       "train.batch=8",  "train.steps=2",
                                    "parallel.dp=2",          "parallel.pp=2",  "dp.bucket=4 KiB",
                                    "parallel.microbatches=2"};

void write(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path) << content;
}

RunRequest asked(const TemporaryFolder& folder, const std::string& out,
                 const std::vector<std::string>& more) {
  std::vector<std::string> words{(folder / "mine.toml").string(), "--ranks", "4", "--out",
                                 (folder / out).string()};
  for (const std::string& set : tiny) {
    words.insert(words.end(), {"--set", set});
  }
  words.insert(words.end(), more.begin(), more.end());
  RunRequest request = asked_run(words).request.value();
  request.quiet = true;
  return request;
}

// A scenario with a text, a schedule and a peer of its own, and a checkpoint of it.
void write_inputs(const TemporaryFolder& folder) {
  std::string text;
  for (int i = 0; i < 99; ++i) {
    text += "line " + std::to_string(i * i) + "\n";
  }
  write(folder / "mine.txt", text);
  write(folder / "mine.csv", csv_of(make_schedule("gpipe", {.stages = 2, .microbatches = 2})));
  write(folder / "peer.toml", "[collectives]\nall_reduce = \"naive\"\n");
  write(folder / "mine.toml",
        "name = \"mine\"\n[data]\ntext = \"mine.txt\"\n[parallel]\nschedule = \"mine.csv\"\n"
        "[checks]\nrun = [\"gradients\", \"traffic\", \"busiest\", \"pipeline\", \"controls\"]\n"
        "peer = \"" +
            (folder / "peer.toml").string() + "\"\n");
}

TEST(Inputs, AreNotOpenedAgainOnceARunHasReadThem) {
  const TemporaryFolder folder;
  write_inputs(folder);
  const std::string c = (folder / "c").string();
  ASSERT_EQ(run_verb(asked(folder, "first", {"--save", c})), exit_ok);
  RunRequest second = asked(folder, "second", {"--resume", c, "--save", c});
  read_inputs(second.settings);
  for (const auto* name : {"mine.txt", "mine.csv", "peer.toml", "mine.toml", "c"}) {
    ASSERT_GT(std::filesystem::remove_all(folder / name), 0U) << name;
  }
  EXPECT_EQ(run_verb(second), exit_ok);
  EXPECT_TRUE(std::filesystem::exists(folder / "c/step-4"));
  EXPECT_NE(content(folder / "second/scenario.toml").find("c/step-2\""), std::string::npos)
      << "what ran is the checkpoint, not the folder";
}

TEST(Inputs, ThatWereNotReadAreNoLongerOpened) {
  Settings s;
  s.data.text = "/etc/hostname";
  EXPECT_THROW(text_of(s), std::logic_error);
  s.train.resume = "/tmp";
  EXPECT_THROW(plan_of(s, ""), std::logic_error);
  s.checks.peer = "dp/ring";
  EXPECT_THROW(peer_of(s), std::logic_error);
}

// Formulas of experts look at what the reference's routers decided, and train nobody again.
TEST(Inputs, OfExpertsFormulasAreTheDecisionsOfTheOneReference) {
  Settings s;
  s.model.kind = "gpt";
  s.model.hidden = 8;
  s.model.layers = 1;
  s.model.heads = 2;
  s.model.kv_heads = 1;
  s.model.ffn = 8;
  s.model.sequence = 8;
  s.model.experts = 4;
  s.train.steps = 1;
  s.train.batch = 4;
  s.parallel.ep = 2;
  s.ranks = s.cluster.gpus_per_node = 2;
  resolve(s);
  Reference truth = reference_of(s, plan_of(s, text_of(s)));
  const auto main = run_training({.settings = s, .options = {}}, text_of(s), truth);
  const auto sent_by_formula = [&] {
    std::int64_t bytes = 0;
    for (const auto& row : compare_traffic(s, main.job, truth)) {
      EXPECT_TRUE(truth.routed.empty() || row.sent == row.sent_formula) << row.label;
      bytes += row.label == "dispatch" ? row.sent_formula : 0;
    }
    return bytes;
  };
  EXPECT_GT(sent_by_formula(), 0);
  truth.routed.clear();
  EXPECT_EQ(sent_by_formula(), 0);
}

// The context of a resumed run whose checkpoint another training has taken the place of.
struct Resumed {
  Resumed() {
    write_inputs(folder);
    const std::string c = (folder / "c").string();
    run_verb(asked(folder, "first", {"--save", c}));
    settings = asked(folder, "second", {"--resume", c}).settings;
    read_inputs(settings);
    Checkpoint other = settings.files.start.of(settings.train.resume);
    other.step = 7;
    std::filesystem::remove_all(c);
    save_checkpoint(c, other);
    truth = reference_of(settings, plan_of(settings, text_of(settings)));
    main = run_training({.settings = settings, .options = {}}, text_of(settings), truth);
  }

  CheckContext context() const {
    return {.settings = settings,
            .text = text_of(settings),
            .truth = truth,
            .main = main,
            .options = {},
            .progress = [](std::string_view) {}};
  }

  TemporaryFolder folder;
  Settings settings;
  Reference truth;
  TrainingOutcome main;
};

TEST(ResumedControls, CatchFaultsAndNothingElse) {
  const Resumed run;
  const CheckContext context = run.context();
  for (const Check& control : check_controls(context)) {
    EXPECT_NE(control.verdict, CheckVerdict::fail) << control.name;
  }
  for (const double divisor : {1.0, 100.0}) {
    const Reference& truth = divisor == 1 ? context.truth : context.scaled(divisor).truth;
    const auto sound = context.run(run.settings, truth, Fault::none, divisor);
    EXPECT_TRUE(all_hold(training_gates("f32", run.settings, sound))) << divisor;
  }
}

TEST(ResumedControls, CatchNothingWhereTheRunIsWrong) {
  Resumed run;
  for (auto& rank : run.main.ranks) {
    for (auto& step : rank) {
      step.gradients.absolute = step.gradients.of_largest = step.gradients.worst_tensor = 1;
      step.parameters.absolute = 1;
      step.loss = 2 * step.reference_loss;
      step.gradient_norm = 2 * step.reference_norm;
    }
  }
  EXPECT_FALSE(all_hold(check_gradients(run.context())));
  for (const Check& control : check_controls(run.context())) {
    EXPECT_TRUE(control.name.ends_with("loss_over_100") || control.verdict != CheckVerdict::pass)
        << control.name;
  }
}

}  // namespace
}  // namespace ringside
