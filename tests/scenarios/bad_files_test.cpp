// What a user hands in by mistake, or to break it: refused shortly, with the file and the numbers.
// (In little memory and time: by the name, in plain builds only.)
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string llama(const std::string& layers) {
  return R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 8, "vocab_size": 8,
             "num_attention_heads": 1, "num_key_value_heads": 1, "tie_word_embeddings": true,
             "num_hidden_layers": )" +
         layers + "}";
}

std::string message(int src, int dst) {
  return R"({"group":"dp","seq":0,"op":"send","algorithm":"","phase":"","step":0,"chunk":0,)"
         R"("label":"","src":)" +
         std::to_string(src) + R"(,"dst":)" + std::to_string(dst) +
         R"(,"link":"ib","bytes":1,"start_ps":0,"end_ps":1,"wall_ns":0})"
         "\n";
}

// Files of which most cannot be what they are taken for.
void fill(const fs::path& folder) {
  put(folder / "deep.json", llama(nested(100'000)));
  put(folder / "many.json", llama("16777216"));
  put(folder / "infinite.json", llama("1e999"));
  put(folder / "large.csv", "10000F10000");
  put(folder / "commas.csv", std::string(30'000'000, ',') + "x");
  put(folder / "rows.csv", std::string(30'000'000, '\n') + "x");
  put(folder / "sparse", "");
  fs::resize_file(folder / "sparse", 20'000'000'000);
  for (const char* ending : {"toml", "csv", "json"}) {
    fs::create_symlink("sparse", folder / (std::string("sparse.") + ending));
    fs::create_directory(folder / (std::string("folder.") + ending));
    ASSERT_EQ(mkfifo((folder / (std::string("fifo.") + ending)).c_str(), 0600), 0);
  }
  std::string ranks;
  for (int i = 0; i < 20'000; ++i) {
    ranks += message(2 * i, 2 * i + 1);
  }
  put(folder / "ranks.jsonl", ranks);
  put(folder / "names.jsonl", message(0, 1) + message(0, 65'536));
}

struct BadFile {
  std::string arguments;
  std::string said;
};

const std::vector<BadFile> bad_files{
    {"mesh --config deep.json", "deep.json: byte"},
    {"mesh --config many.json", "16777216 layers of 0 experts have up to 335544320 tensors"},
    {"mesh --config infinite.json", "infinite.json: is no JSON"},
    {"mesh --config folder.json", "folder.json: cannot be read: it is a folder"},
    {"mesh --config fifo.json", "fifo.json: cannot be read: it is a FIFO"},
    {"mesh --config sparse.json", "sparse.json: 20000000000 bytes are too many for"},
    {"log ranks.jsonl --matrix", "40000 ranks make 1600000000 cells"},
    {"log names.jsonl", "line 2: \"dst\" is 65536, not 0 to 65535"},
    {"log sparse", "sparse: line 1 has more than 65536 bytes"},
    {"log /proc/self/mem", "/proc/self/mem: reading failed after 0 bytes: Input/output error"},
    {"schedule large.csv", "10001 stages of 10001 micro-batches need at least 100020001 cells"},
    {"schedule commas.csv", "row 1, cell 30000001: \"x\": a cell is a stage"},
    {"schedule rows.csv", "has more than 65536 rows"},
    {"schedule /dev/zero", "/dev/zero: cannot be read: it is a device"},
    {"schedule fifo.csv", "fifo.csv: cannot be read: it is a FIFO"},
    {"schedule sparse.csv", "20000000000 bytes are too many for a schedule"},
    {"schedule /proc/self/mem", "reading failed"},
    {"run dp/ring --text sparse", "20000000000 bytes are too many for a text"},
    {"run dp/ring --text fifo.csv", "it is a FIFO"},
    {"run dp/ring --text folder.csv", "it is a folder"},
    {"run dp/ring --text /proc/self/mem", "reading failed"},
    {"run sparse.toml", "20000000000 bytes are too many for a scenario"},
    {"run folder.toml", "folder.toml"},
    {"run fifo.toml", "fifo.toml"},
    {"run pp/1f1b --set parallel.schedule=large.csv", "100020001 cells"},
    {"run pp/1f1b --set parallel.schedule=fifo.csv", "it is a FIFO"},
};

TEST(BadFiles, LargeAndDeepAndEndlessOnesAreRefusedInLittleMemory) {
  const TemporaryFolder folder;
  fill(folder.path());
  for (const auto& [arguments, said] : bad_files) {
    const auto ended = run_program(arguments, "ulimit -v 500000 && timeout 20", folder.path());
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments << ": " << ended.err;
    EXPECT_TRUE(has(ended.err, said)) << arguments << ": " << ended.err;
    EXPECT_LT(ended.err.size(), 1'000U) << arguments;
  }
  EXPECT_EQ(run_program("log ranks.jsonl", {}, folder.path()).exit_code, exit_ok) << "the control";
}

TEST(BadFiles, AWorkingFolderThatIsGoneIsNamed) {
  const std::string gone = "mkdir gone && cd gone && rmdir ../gone &&";
  for (const std::string arguments : {"run dp/ring", "run dp/ring --out x", "run x.toml",
                                      "run dp/ring --text x", "run dp/ring --save x"}) {
    const auto ended = run_program(arguments, gone);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments << ": " << ended.err;
    EXPECT_TRUE(has(ended.err, "working folder, which is gone")) << arguments << ": " << ended.err;
  }
}

// ---- files that cannot be written ---------------------------------------------------------------

const std::string ring = "run dp/ring --ranks 4 --out run" + tiny_job;

// No file can be larger; the shell counts in 512 bytes.
std::string at_most(std::uintmax_t bytes) {
  return "ulimit -f " + std::to_string(bytes / 512) + " &&";
}

TEST(BadFiles, ALogThatCannotBeWrittenIsSaidAndTheRunGoesOn) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(ring, {}, folder.path()).exit_code, exit_ok) << "the control";
  const auto log = fs::file_size(folder / "run/traffic.jsonl");
  const auto summary_size = fs::file_size(folder / "run/summary.json");
  ASSERT_GT(log, summary_size + 4096);
  const auto ended = run_program(ring, at_most((log + summary_size) / 2), folder.path());
  EXPECT_EQ(ended.exit_code, exit_bad_use) << ended.err;
  EXPECT_TRUE(has(ended.out, "verdict: pass")) << ended.out;
  EXPECT_TRUE(has(ended.err, "traffic.jsonl: File too large; the run went on")) << ended.err;
  const auto summary = nlohmann::json::parse(content(folder / "run/summary.json"));
  EXPECT_EQ(summary["verdict"], "pass");
  EXPECT_TRUE(has(summary["unwritten"], "traffic.jsonl"));
  EXPECT_FALSE(fs::exists(folder / "run/traffic.jsonl")) << "half a log";
}

TEST(BadFiles, AReportIsPrintedAlsoWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string none = ring + " --log none --trace off";
  ASSERT_EQ(run_program(none, {}, folder.path()).exit_code, exit_ok) << "the control";
  const auto scenario = fs::file_size(folder / "run/scenario.toml");
  const auto summary = fs::file_size(folder / "run/summary.json");
  ASSERT_GT(summary, scenario + 2048);
  const auto ended = run_program(none, at_most((scenario + summary) / 2), folder.path());
  EXPECT_EQ(ended.exit_code, exit_bad_use) << ended.err;
  EXPECT_TRUE(has(ended.out, "verdict: pass")) << ended.out;
  EXPECT_TRUE(has(ended.err, "summary.json: File too large")) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(content(folder / "run/summary.json"))["verdict"], "lost")
      << "what stood there before, whole";
}

// ---- what a file says ---------------------------------------------------------------------------

TEST(BadFiles, ControlsAndMarksOfDirectionReachNoTerminalAndNoDrawing) {
  const TemporaryFolder folder;
  const std::string name =
      "a\xc2\x9b"
      "31m\xe2\x80\xae"
      "b\x1b[2J.csv";
  put(folder / name, "0F0,0B0\n");
  auto line = message(0, 1);
  line.replace(line.find("dp"), 2,
               "\xc2\x9b"
               "2J\xe2\x80\xae");
  put(folder / "log.jsonl", line);
  const auto clean = [](const std::string& text) {
    EXPECT_FALSE(text.empty());
    return !has(text, "\xc2\x9b") && !has(text, "\xe2\x80\xae") && !has(text, "\x1b");
  };
  for (const std::string json : {"", " --json"}) {
    const auto drawn =
        run_program("schedule './" + name + "' --svg x.svg" + json, {}, folder.path());
    EXPECT_EQ(drawn.exit_code, exit_ok) << drawn.err;
    EXPECT_TRUE(clean(drawn.out)) << drawn.out;
    EXPECT_TRUE(clean(content(folder / "x.svg")));
    EXPECT_TRUE(clean(run_program("log log.jsonl" + json, {}, folder.path()).out));
    EXPECT_TRUE(clean(run_program("log log.jsonl --op x" + json, {}, folder.path()).err));
  }
  put(folder / name, "0F0,0B0,\xc2\x9b\n");
  EXPECT_TRUE(clean(run_program("schedule './" + name + "'", {}, folder.path()).err));
}

TEST(BadFiles, AFullStdoutIsAnErrorOfEveryVerb) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  const TemporaryFolder folder;
  put(folder / "log.jsonl", message(0, 1));
  for (const std::string arguments : {"log log.jsonl",
                                      "log log.jsonl --json",
                                      "log log.jsonl --matrix",
                                      "list",
                                      "list --json",
                                      "--help",
                                      "help run",
                                      "--version",
                                      "mesh",
                                      "mesh --json",
                                      "schedule 1f1b",
                                      "schedule --list",
                                      "schedule compare",
                                      "tour --list",
                                      "prove barrier --ranks 2",
                                      "explain all_reduce",
                                      "collective barrier --ranks 2",
                                      "clean --dry-run",
                                      "figures --formulas",
                                      "run dp/ring --ranks 2 --log none"}) {
    const auto ended = run_program(arguments + (arguments.starts_with("run") ? tiny_job : "") +
                                       " >/dev/full 2>err; echo $? >code; true",
                                   {}, folder.path());
    EXPECT_EQ(content(folder / "code"), "2\n") << arguments << ": " << content(folder / "err");
    EXPECT_TRUE(has(content(folder / "err"), "stdout cannot be written")) << arguments;
  }
}

}  // namespace
}  // namespace ringside
