// What a run prints, where it goes (N1), and what locales and odd bytes do to it (N2).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

const std::string ring = "run dp/ring --ranks 8 --set 'checks.run=[\"traffic\"]'" + tiny_job;

// A terminal that the program can write to, and that this test reads.
class Terminal {
 public:
  Terminal() : mine_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    EXPECT_EQ(grantpt(mine_.get()), 0);
    EXPECT_EQ(unlockpt(mine_.get()), 0);
    theirs_ = Descriptor(open(ptsname(mine_.get()), O_RDWR | O_NOCTTY));
  }

  // In the child: what goes to stderr goes here.
  void be_stderr() const { dup2(theirs_.get(), STDERR_FILENO); }

  // What has been written so far.
  std::string text() const {
    std::array<char, 4096> scratch{};
    std::string all;
    std::string_view got;
    while (read_available(mine_, scratch, got) == Reading::some) {
      all += got;
    }
    return all;
  }

 private:
  Descriptor mine_, theirs_;
};

bool has_controls(const std::string& text) {
  return text.find_first_of("\r\033\b") != std::string::npos;
}

TEST(Output, CaseN1FilesAndPipesSeeResultsOnlyAndNoControls) {
  for (const auto* environment :
       {"", "TERM=dumb", "NO_COLOR=1", "TERM=xterm-256color", "-u TERM"}) {
    for (const auto* rest : {"", " | cat", " --json"}) {
      const auto ended = run_program(ring + rest, std::string("env ") + environment);
      EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
      EXPECT_TRUE(has(ended.out, "verdict")) << ended.out;
      EXPECT_FALSE(has_controls(ended.out)) << environment << rest;
      EXPECT_EQ(ended.err, "") << environment << rest;
    }
  }
}

TEST(Output, CaseN1ALineAMessageHasNoControlsEither) {
  const auto ended = run_program(ring + " -v --set train.steps=1");
  EXPECT_EQ(ended.exit_code, exit_ok);
  EXPECT_TRUE(has(ended.err, "all_reduce"));
  EXPECT_FALSE(has_controls(ended.err)) << ended.err;
  EXPECT_FALSE(has(ended.out, "reduce_scatter  step")) << "messages on stdout";
}

// In a session without a terminal, as under nohup; a tenth of a second is a line of progress
// elsewhere.
TEST(Output, CaseN1TenThousandStepsAreAsQuiet) {
  RunningProgram program("run dp/ring --ranks 1 --log none --set 'checks.run=[\"traffic\"]'" +
                         tiny_job +
                         " --set train.steps=10000 --set train.lr=0.0001 --set model.embedding=1"
                         " --set model.hidden=1 --set model.sequence=1 --set train.batch=1");
  const auto ended = program.wait(minutes(2));
  EXPECT_EQ(ended.exit_code, exit_ok);
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(has_controls(ended.out));
  EXPECT_TRUE(has(ended.out, "verdict: pass"));
}

TEST(Output, CaseN1ATerminalSeesProgressUnlessItIsDumb) {
  for (const std::string kind : {"xterm", "dumb"}) {
    const Terminal terminal;
    RunningProgram program(ring + " --pace 500", "TERM=" + kind, [&] { terminal.be_stderr(); });
    const auto ended = program.wait(minutes(1));
    EXPECT_EQ(ended.exit_code, exit_ok);
    EXPECT_FALSE(has_controls(ended.out));
    EXPECT_TRUE(has(ended.out, "verdict: pass"));
    const auto shown = terminal.text();
    EXPECT_EQ(has(shown, "one process"), kind == "xterm") << shown;
    EXPECT_EQ(has_controls(shown), kind == "xterm") << shown;
  }
}

// `| head -1`: the pipe's end is closed long before the report comes. PIPESTATUS is the program's.
TEST(Output, AReaderThatLeavesIsNoError) {
  const TemporaryFolder folder;
  const auto of = [&](const std::string& reader) {
    const std::string command = "cd " + folder.path().string() +
                                " && bash -c '" RINGSIDE_PROGRAM " list " + reader + "' >out 2>err";
    return exit_code_of(std::system(command.c_str()));
  };
  EXPECT_EQ(of("| (exec 0<&-; sleep 1); exit ${PIPESTATUS[0]}"), exit_ok);
  EXPECT_EQ(content(folder / "err"), "");
  EXPECT_EQ(of(">/dev/full"), exit_bad_use) << "the control: what is full is an error";
  EXPECT_TRUE(has(content(folder / "err"), "stdout cannot be written"));
}

TEST(Output, CaseN2NoLocaleChangesAFigure) {
  const auto figures = [](const std::string& locale) {
    const auto ended = run_program(ring + " --json", locale);
    EXPECT_EQ(ended.exit_code, exit_ok) << locale << ended.err;
    auto document = ended.document();
    EXPECT_FALSE(document.is_discarded()) << locale << ended.out;
    document.erase("time");
    document.erase("run_folder");
    return document;
  };
  const auto expected = figures("");
  EXPECT_EQ(expected["first_sample"], "小明把苹果给了小王");
  EXPECT_GT(expected["losses"][0].get<double>(), 1.0);
  for (const auto* locale :
       {"LC_ALL=C", "LC_ALL=POSIX", "LC_ALL=xx_YY.nothing", "LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8",
        "LC_NUMERIC=de_DE.UTF-8 LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8"}) {
    EXPECT_EQ(figures(locale), expected) << locale;
  }
}

TEST(Output, CaseN2PathsAndTextsOfAnyBytesAreEscaped) {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.txt") << "a text, 小明, \xff\xfe";
  const auto ended = run_program(ring +
                                     " --json --text t.txt"
                                     " --out $(printf 'run\\377\\033[2J')"
                                     " --set lesson.en=$(printf 'say\\377')",
                                 "LC_ALL=C", folder.path());
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  const auto document = ended.document();
  ASSERT_FALSE(document.is_discarded()) << ended.out;
  EXPECT_EQ(document["lesson"]["en"], "say\ufffd");
  EXPECT_TRUE(has(document["run_folder"], "run\ufffd\x1b[2J"));
  EXPECT_FALSE(has_controls(ended.out));
  EXPECT_TRUE(std::filesystem::exists(folder / "run\xff\x1b[2J/traffic.jsonl"));

  const auto text = run_program(ring + " --out $(printf 'b\\377\\033[2J')", "", folder.path());
  EXPECT_EQ(text.exit_code, exit_ok) << text.err;
  EXPECT_FALSE(has_controls(text.out)) << "the path's control characters reach the terminal";
}

}  // namespace
}  // namespace ringside
