// The program as a user meets it: help, exit codes, refusals, JSON.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "scenarios/exit_codes.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

TEST(CommandLine, HelpIsThereForWhoeverLooksForIt) {
  const auto plain = run_program("");
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_TRUE(has(plain.out, "ringside run dp/gradient_equivalence"));
  EXPECT_TRUE(has(plain.out, "Exit codes: 0"));
  for (const auto* words : {"--help", "-h", "help"}) {
    EXPECT_EQ(run_program(words).out, plain.out);
  }
  const auto run = run_program("run --help");
  EXPECT_EQ(run.exit_code, 0);
  for (const auto* flag : {"--set",        "--ranks",          "--text",        "--seed",
                           "--all-reduce", "--reduce-scatter", "--all-gather",  "--all-to-all",
                           "--broadcast",  "--barrier",        "--eager-limit", "--pace",
                           "--log",        "--trace",          "--out",         "--timeout",
                           "--json",       "--verbose",        "Examples:",     "Exit codes:",
                           "runs/"}) {
    EXPECT_TRUE(has(run.out, flag)) << flag;
  }
  EXPECT_EQ(run_program("help run").out, run.out);
  EXPECT_TRUE(has(run.out, "(collectives.all_reduce): auto, naive, "));
  EXPECT_FALSE(run.out.ends_with("\n\n"));
  EXPECT_TRUE(has(run_program("log --help").out, "--matrix"));
  EXPECT_TRUE(run_program("--version").out.starts_with("ringside "));
}

TEST(CommandLine, ListShowsEveryScenarioWithItsLesson) {
  const auto text = run_program("list");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_TRUE(has(text.out, "dp/gradient_equivalence "));
  EXPECT_TRUE(has(text.out, "  8 ranks  Eight ranks"));
  EXPECT_TRUE(has(run_program("list --zh").out, "八张卡"));
  EXPECT_FALSE(has(run_program("list --zh").out, "Run one with"));
  const auto one = run_program("list pp");
  EXPECT_TRUE(has(one.out, "pp/1f1b") && !has(one.out, "dp/ring")) << one.out;
  EXPECT_LT(one.out.find("pp/naive"), one.out.find("pp/gpipe")) << "the plain way comes first";
  EXPECT_LT(text.out.find("zero/"), text.out.find("cp/")) << "the chapter's order";
  const auto document = nlohmann::json::parse(run_program("list --json").out);
  EXPECT_EQ(document["verb"], "list");
  EXPECT_EQ(document["verdict"], "pass");
  EXPECT_EQ(document["scenarios"].size(), list_scenarios().size());
}

struct Refused {
  const char* arguments;
  const char* message;
};

const Refused refused[] = {
    {"rn", "did you mean run?"},
    {"help rn", "did you mean run?"},
    {"--jsn", "there is no flag before a verb"},
    {"run", "which scenario?"},
    {"log", "which run?"},
    {"run dp/rign", "did you mean dp/ring?"},
    {"run dp/ring again", "one word too many: again"},
    {"run dp/ring --rank 3", "no such flag --rank; did you mean --ranks?"},
    {"run dp/ring --ranks", "--ranks: a value is missing"},
    {"run dp/ring --ranks 0", "--ranks 0: must be an integer from 1 to 65536"},
    {"run dp/ring --ranks -1", "--ranks -1: must be"},
    {"run dp/ring --set train.steps=0", "--set train.steps=0: must be"},
    {"run dp/ring --all-reduce rng", "--all-reduce rng: must be one of"},
    {"run dp/ring --text /no/such", "--text /no/such: there is no such file"},
    {"run dp/ring --text ''", "--text: must be followed by FILE"},
    {"run dp/ring --set parallel.dp=3", "dp/ring: parallel.dp = 3, but 8 ranks leave 8"},
    {"run dp/ring --set=checks.peer=dp/rign", "dp/ring: checks.peer = dp/rign: no scenario"},
    {"run dp/ring --seed -1", "--seed -1: must be an integer from 0"},
    {"run dp/ring --eager-limit -1", "--eager-limit -1: must be bytes"},
    {"run dp/ring --pace nan", "--pace nan: must be a number"},
    {"run dp/ring --pace -1", "--pace -1: must be a number"},
    {"run dp/ring --timeout 0", "--timeout 0: must be a number"},
    {"run dp/ring --log ful", "did you mean full?"},
    // What is proposed is not refused next: a head and a norm are no blocks.
    {"run pp/lm_head_balanced --set parallel.schedule=interleaved --set parallel.chunks=8",
     "16 blocks cannot be dealt out to 32 stages"},
    {"run dp/ring --trace maybe", "must be on, off or"},
    {"run dp/ring --out /dev/null", "--out /dev/null: must be a folder"},
    {"run dp/ring --out --verbose", "--out: a value is missing: --verbose is a flag"},
    {"run dp/ring --text $(printf 't\\377.txt')", "its path is not UTF-8"},
    {"run /no/such.toml", "there is no such file"},
    {"log /no/such/run", "/no/such/run"},
    {"log . --rank x", "--rank x: must be an integer from 0"},
    {"log . --top 0", "--top 0: must be an integer from 1"},
    {"log . --link nvlnk", "did you mean nvlink?"},
    {"list --jason", "did you mean --json?"},
};

TEST(CommandLine, BadUseExitsWithTwoAndSaysWhatIsRight) {
  for (const auto& [arguments, message] : refused) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_TRUE(has(ended.err, message)) << arguments << ": " << ended.err;
  }
}

TEST(CommandLine, WithJsonARefusalIsOneDocument) {
  for (const auto& [arguments, message] : refused) {
    const auto ended = run_program(std::string(arguments) + " --json");
    if (has(arguments, "--ranks") && !has(arguments, "--ranks ")) {
      continue;  // here --json would be the value
    }
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    const auto document = nlohmann::json::parse(ended.out);
    EXPECT_EQ(document["verdict"], "refused") << arguments;
    EXPECT_TRUE(document.contains("verb")) << arguments;
    EXPECT_TRUE(has(document["error"], message)) << arguments << ": " << ended.out;
  }
}

TEST(CommandLine, N2NoLocaleChangesNumbersOrNames) {
  const auto expected = run_program("list --json");
  const auto refusal = run_program("run dp/ring --json --set train.lr=0,5");
  for (const auto* locale :
       {"LC_ALL=C", "LC_ALL=POSIX", "LC_ALL=xx_YY.nothing", "LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8",
        "LC_NUMERIC=de_DE.UTF-8 LANG=de_DE.UTF-8"}) {
    EXPECT_EQ(run_program("list --json", locale).out, expected.out) << locale;
    EXPECT_EQ(run_program("run dp/ring --json --set train.lr=0,5", locale).out, refusal.out);
  }
}

TEST(CommandLine, N2BytesThatAreNoUtf8CrashNothing) {
  for (const auto* arguments :
       {"run $(printf '\\377\\376') --json", "run dp/ring --text $(printf '/\\377\\033[2J') --json",
        "run dp/ring --set lesson.en$(printf '\\377')=3 --json", "$(printf '\\377') --json"}) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    EXPECT_EQ(nlohmann::json::parse(ended.out)["verdict"], "refused") << arguments;
    EXPECT_EQ(ended.err.find('\033'), std::string::npos);
  }
}

TEST(CommandLine, N1FilesSeeNoControlCharacters) {
  for (const auto* environment : {"", "TERM=dumb", "NO_COLOR=1", "TERM=xterm-256color"}) {
    for (const auto* arguments : {"list", "run --help", "run dp/rign"}) {
      const auto ended = run_program(arguments, environment);
      EXPECT_EQ((ended.out + ended.err).find_first_of("\r\033\b"), std::string::npos);
    }
  }
}

TEST(CommandLine, AFullDiskIsNoSuccess) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  EXPECT_NE(std::system(RINGSIDE_PROGRAM " list >/dev/full 2>/dev/null"), 0);
}

template <class Error>
Failure failure(const char* text) {
  return failure_of(std::make_exception_ptr(Error(text)));
}

TEST(ExitCodes, EveryErrorHasItsCodeAndVerdict) {
  const auto is = [](const Failure& f, int code, const char* verdict) {
    EXPECT_EQ(f.exit_code, code);
    EXPECT_EQ(f.verdict, verdict);
    EXPECT_EQ(f.text, "why");
  };
  is(failure<BadUse>("why"), 2, "refused");
  is(failure<PeerLost>("why"), 3, "lost");
  is(failure<Deadlock>("why"), 4, "deadlock");
  is(failure<Desync>("why"), 4, "mismatch");
  is(failure<OutOfDeviceMemory>("why"), 5, "oom");
  is(failure<std::logic_error>("why"), 3, "lost");
  EXPECT_EQ(failure_of(std::make_exception_ptr(7)).exit_code, 3);
  const Failure no_memory = failure_of(std::make_exception_ptr(std::bad_alloc()));
  EXPECT_EQ(no_memory.exit_code, 2);
  EXPECT_EQ(no_memory.verdict, "refused");
}

}  // namespace
}  // namespace ringside
