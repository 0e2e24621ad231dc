#include "scenarios/nccl_flags.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <utility>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"

namespace ringside {
namespace {

constexpr int most_ranks = 65536;
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> programs{
    {{"all_reduce_perf", "all_reduce"},
     {"reduce_scatter_perf", "reduce_scatter"},
     {"all_gather_perf", "all_gather"},
     {"alltoall_perf", "all_to_all"},
     {"broadcast_perf", "broadcast"},
     {"reduce_perf", "reduce"},
     {"gather_perf", "gather"},
     {"scatter_perf", "scatter"},
     {"sendrecv_perf", "sendrecv"},
     {"hypercube_perf", "hypercube"}}};

// One that must have this value, which is what happens here anyway.
void require(const char* flag, const std::optional<std::string>& given, const char* value,
             const char* instead) {
  if (given && *given != value) {
    throw BadUse(fmt::format("{} {}: only {} here: {}", flag, *given, value, instead));
  }
}

}  // namespace

void declare(Flags& flags, NcclWords& words) {
  flags.value("-g,--ngpus", "N", words.gpus, "ranks; with -t: of each thread");
  flags.value("-t,--nthreads", "N", words.threads, "T threads of -g GPUs are T x g ranks; 1");
  flags.value("-m,--agg_iters", "1", words.aggregated, "nccl-tests' grouped calls: 1 only");
  flags.value("-N,--run_cycles", "1", words.cycles, "nccl-tests' repeated sweeps: 1 only");
  flags.value("-p,--parallel_init", "0|1", words.parallel_init, "taken; ranks always start so");
  flags.value("-z,--blocking", "0|1", words.blocking, "taken; each call is complete when it ends");
  flags.value("-a,--average", "0-3", words.average, "taken; a call lasts as on its slowest rank");
  flags.value("-y,--stream_null", "0|1", words.stream_null, "taken; there is one stream a group");
  flags.value("-G,--cudagraph", "0", words.graph, "nccl-tests' CUDA graphs: 0 only");
  flags.value("-C,--report_cputime", "0", words.cpu_time, "0 only: both times are in the table");
  flags.value("-R,--local_register", "0-2", words.registered, "taken; all memory is shared");
  flags.value("-S,--report_timestamps", "0", words.timestamps, "0 only");
  flags.value("-M,--memory_report", "0", words.memory_report, "0 only");
  flags.value("-u,--unalign", "0", words.unaligned, "0 only");
  flags.value("-J,--output_file", "FILE", words.file, "give --json > FILE");
}

void check(const NcclWords& words) {
  require("-m", words.aggregated, "1", "every call stands for itself; more of them: -n");
  require("-N", words.cycles, "1", "modelled times are the same in every cycle; more calls: -n");
  require("-G", words.graph, "0", "there are no CUDA graphs; more calls: -n");
  require("-C", words.cpu_time, "0", "wall time stands beside modelled time in every row");
  require("-S", words.timestamps, "0", "leave it out");
  require("-M", words.memory_report, "0", "leave it out; what does not fit is refused");
  require("-u", words.unaligned, "0", "buffers are aligned");
  if (words.file) {
    throw BadUse("-J " + *words.file + ": the document goes to stdout: --json > " + *words.file);
  }
  for (const auto& [flag, given] : {std::pair{"-p", &words.parallel_init},
                                    {"-z", &words.blocking},
                                    {"-y", &words.stream_null}}) {
    if (*given) {
      choice_of(flag, **given, {"0", "1"});
    }
  }
  if (words.average) {
    integer_of("-a", *words.average, 0, 3);
  }
  if (words.registered) {
    integer_of("-R", *words.registered, 0, 2);
  }
}

std::optional<std::string> ranks_of(const NcclWords& words,
                                    const std::optional<std::string>& ranks) {
  if (!words.gpus && !words.threads) {
    return ranks;
  }
  const int gpus = integer_of("-g", words.gpus.value_or("1"), 1, most_ranks);
  const int threads = integer_of("-t", words.threads.value_or("1"), 1, most_ranks / gpus);
  const std::string product = std::to_string(gpus * threads);
  if (ranks && *ranks != product) {
    throw BadUse(fmt::format("--ranks {} beside -t {} -g {}, which are {} ranks: give one of them",
                             *ranks, threads, gpus, product));
  }
  return product;
}

std::string operation_named(std::string_view word) {
  for (const auto& [program, operation] : programs) {
    if (word == program) {
      return std::string(operation);
    }
  }
  return std::string(word);
}

}  // namespace ringside
