#include "scenarios/help_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace ringside {
namespace {

struct VerbText {
  const char* verb;
  const char* meaning;
  const char* examples;
};

constexpr const char* exit_codes =
    "Exit codes: 0 all checks hold, 1 a check failed, 2 bad use or configuration,\n"
    "3 a rank was lost or silent past the limit, 4 deadlock, or members that disagree\n"
    "about an operation or a message, 5 out of device memory.\n";

constexpr std::array<VerbText, 12> verbs{{
    {"list", "show the scenarios, each with its lesson",
     "Examples:\n"
     "  ringside list\n"
     "  ringside list dp --lang zh\n"
     "  ringside list --checks\n"},
    {"run", "run a scenario, check it against one process, and keep its log",
     "Examples:\n"
     "  ringside run dp/gradient_equivalence\n"
     "  ringside run dp/ring --ranks 5 --all-reduce naive\n"
     "  ringside run dp/ring --ranks 8 --set cluster.gpus_per_node=3     nodes of 3, 3 and 2 GPUs\n"
     "  ringside run dp/overlap --set train.batch=8 --set dp.bucket=\"1 MiB\"\n"
     "  ringside run my.toml --text README.md --out runs/mine --json\n"
     "\n"
     "A run leaves a folder under runs/ (or --out): traffic.jsonl, trace.json for\n"
     "https://ui.perfetto.dev, summary.json, and scenario.toml, which `ringside run` takes again.\n"
     "docs/formats.md has all keys. The report goes to stdout, everything else to stderr.\n"
     "\n"
     "In its table a gate is the limit that what was measured must keep for the row to pass. A "
     "ULP\n"
     "is the distance from a number to the next one of its type (docs/exactness.md).\n"},
    {"log", "read the messages of a run: who sent what to whom, when",
     "Examples:\n"
     "  ringside log RUN --rank 0 --op all_reduce --step 3\n"
     "  ringside log RUN --link ib --top 10\n"
     "  ringside log latest --label 'grad.bucket.*'\n"
     "  ringside log latest --by label\n"
     "  ringside log RUN --matrix\n"},
    {"prove", "prove every algorithm on symbols: for every input, not for sample numbers",
     "Examples:\n"
     "  ringside prove\n"
     "  ringside prove all_reduce --algorithm mine\n"
     "  ringside prove all_reduce --algorithm hierarchical --ranks 8 --gpus-per-node 3\n"
     "\n"
     "The algorithm runs, unchanged, on expressions in place of numbers. A failure says which "
     "rank\n"
     "and element is wrong, whose part is missing, doubled or foreign, and in which step.\n"},
    {"explain", "show a collective step by step: who sends what to whom, and what all then hold",
     "Examples:\n"
     "  ringside explain all_reduce --algorithm ring --ranks 4 --count 4\n"
     "  ringside explain all_reduce --algorithm mine --values symbols --step 2\n"
     "  ringside explain all_gather --algorithm bruck --ranks 5 --svg bruck.svg\n"
     "\n"
     "Exit code 1 when the end is not what the definition requires, with the reason.\n"},
    {"collective", "check and time one operation over sizes, with nccl-tests' flags and columns",
     "Examples:\n"
     "  ringside collective all_reduce -b 4 -e 64M -f 4\n"
     "  ringside collective all_reduce -b 1M -e 1M --algorithm all --ranks 8 --nodes 2\n"
     "  ringside collective broadcast -b 1K -e 1M -f 32 -r 3 -d i64 --json\n"
     "\n"
     "S is the size of the whole buffer; algbw = S/time; busbw = algbw x what the operation asks "
     "of\n"
     "a link. docs/formats.md has all columns. An element that is wrong ends with exit code 1.\n"},
    {"schedule",
     "time and draw a pipeline schedule, the field's or your own: who waits, and how long",
     "Examples:\n"
     "  ringside schedule 1f1b --stages 8 --microbatches 32\n"
     "  ringside schedule interleaved --stages 4 --microbatches 8 --chunks 2 --svg gantt.svg\n"
     "  ringside schedule zb_h1 --costs F=1,I=3/2,W=1 --csv mine.csv\n"
     "  ringside schedule mine.csv --in-flight 4\n"
     "  ringside schedule compare --stages 8 --microbatches 16\n"
     "\n"
     "A file is refused, with the reason, when it cannot run: what is missing or there twice, or "
     "the\n"
     "cycle of actions that wait for each other. docs/parallel/pipeline.md says more.\n"},
    {"mesh", "lay a parallel plan out as a grid: a rank's groups, links and bytes of a step",
     "Examples:\n"
     "  ringside mesh --tp 8\n"
     "  ringside mesh --tp 8 --pp 4 --dp 2 --microbatches 8 --rank 9\n"
     "  ringside mesh --dp 128 --pp 16 --ep 64 --microbatches 16 --config deepseek-v3 --zero 1\n"
     "      --order tp-cp-dp-pp     as published: experts on 8 machines\n"
     "\n"
     "Bytes are by formula, for bf16; times at the link's bandwidth, without latency or overlap.\n"
     "A plan that cannot run is refused, with the numbers and the nearest choices.\n"},
    {"parity", "set products of parallel dimensions beside one process, in one table",
     "Examples:\n"
     "  ringside parity\n"
     "  ringside parity --ranks 4 --json\n"
     "  ringside parity --ranks 16 --full\n"
     "\n"
     "Each mesh [tp, cp, pp, dp] trains a small GPT, and mixtures of experts, under the gates of\n"
     "docs/exactness.md. A plan that cannot run says why; deliberate faults must be caught. A row\n"
     "that says FAIL or MISSED ends with exit code 1.\n"},
    {"figures", "compute the chapter's figures, run those that can be run, and compare",
     "Examples:\n"
     "  ringside figures\n"
     "  ringside figures ZeRO --formulas\n"
     "  ringside figures --json\n"
     "\n"
     "formula: computed here; executed: counted on a job with meta tensors at true scale;\n"
     "estimate: rests on an assumed rate; published: quoted. docs/figures.md says more. A figure\n"
     "that differs from the chapter's ends with exit code 1.\n"},
    {"tour", "walk the chapter's lessons: the plain way, the figure at which it fails, the way out",
     "Examples:\n"
     "  ringside tour\n"
     "  ringside tour --lesson pp\n"
     "  ringside tour --list --lang zh\n"
     "\n"
     "Each lesson is two or three runs of scenarios; the figures are read from what they leave. A\n"
     "run that does not show what its lesson claims ends with exit code 1.\n"},
    {"clean", "remove the run folders under ./runs, but for the last ten",
     "Examples:\n"
     "  ringside clean --dry-run\n"
     "  ringside clean --keep 3\n"
     "\n"
     "Only what a run left goes. A run that is going on, a checkpoint, a link and a folder with\n"
     "anything else in it stay.\n"},
}};

const VerbText& text_of(const std::string& verb) {
  return *std::find_if(verbs.begin(), verbs.end() - 1,
                       [&](const auto& row) { return row.verb == verb; });
}

}  // namespace

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  std::transform(verbs.begin(), verbs.end(), std::back_inserter(names),
                 [](const auto& row) { return row.verb; });
  return names;
}

std::string meaning_of(const std::string& verb) {
  return fmt::format("ringside {}: {}\n", verb, text_of(verb).meaning);
}

std::string examples_of(const std::string& verb) {
  const std::string tail = verb == "run" ? fmt::format("\n{}", exit_codes) : std::string();
  return text_of(verb).examples + tail;
}

std::string help_text() {
  std::string help =
      "ringside: processes in the place of GPUs, real collectives, real training, every result\n"
      "checked against one process\n\n"
      "Use: ringside VERB [flags]\n\nVerbs:\n";
  for (const auto& [verb, meaning, examples] : verbs) {
    help += fmt::format("  {:<12}{}\n", verb, meaning);
  }
  help +=
      "\nStart with:\n"
      "  ringside list\n"
      "  ringside run dp/gradient_equivalence\n"
      "\n`ringside VERB --help` shows the flags of a verb; --version the version.\n"
      "With --json every verb prints one JSON document on stdout; messages go to stderr.\n\n";
  return help + exit_codes;
}

std::string version_text() {
  return "ringside 0.1.0\n";
}

}  // namespace ringside
