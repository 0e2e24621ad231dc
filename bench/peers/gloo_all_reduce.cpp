// One cell of bench/against_mpi with Gloo over TCP on loopback, one process a rank.
//   gloo_all_reduce RANKS BYTES MOST_CALLS BUDGET_SECONDS FOLDER
// FOLDER is empty: the ranks find each other in it. Prints one line of JSON, as mpi_all_reduce.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using Floats = std::vector<float>;

struct Ranks {
  std::shared_ptr<gloo::Context> context;
  int rank, size;

  template <class T>
  void reduce(std::vector<T>* in, std::vector<T>& out,
              void (*op)(void*, const void*, const void*, size_t)) {
    gloo::AllreduceOptions options(context);
    if (in != nullptr) {
      options.setInput(in->data(), in->size());
    }
    options.setOutput(out.data(), out.size());
    options.setReduceFunction(op);
    gloo::allreduce(options);
  }

  void call(bool in_place, Floats& in, Floats& out) {
    reduce(in_place ? nullptr : &in, out, &gloo::sum<float>);
  }

  double slowest(double mine) {
    std::vector<double> all{mine};
    reduce<double>(nullptr, all, &gloo::max<double>);
    return all[0];
  }

  double seconds_of(int calls, bool in_place, Floats& in, Floats& out) {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      call(in_place, in, out);
    }
    return slowest(
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) /
           calls;
  }
};

// Whole numbers that repeat every `period` elements, so that their sums are soon known.
constexpr size_t period = 13;

float input(int rank, size_t i) {
  return static_cast<float>((i * 7 + static_cast<size_t>(rank) * 3) % period + 1);
}

double wrong_elements(Ranks& ranks, bool in_place, Floats& in, Floats& out) {
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = out[i] = input(ranks.rank, i);
  }
  ranks.call(in_place, in, out);
  float sums[period] = {};
  for (int r = 0; r < ranks.size; ++r) {
    for (size_t i = 0; i < period; ++i) {
      sums[i] += input(r, i);
    }
  }
  double wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    wrong += out[i] == sums[i % period] ? 0 : 1;
  }
  std::fill(in.begin(), in.end(), 0.0F);
  std::fill(out.begin(), out.end(), 0.0F);
  return ranks.slowest(wrong);
}

int run_rank(int rank, int size, size_t bytes, int most, double budget, const char* folder) {
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  context->connectFullMesh(store, device);
  Ranks ranks{context, rank, size};
  Floats in(bytes / sizeof(float)), out(in.size());
  double us[2], wrong = 0;
  for (const bool in_place : {false, true}) {
    wrong += wrong_elements(ranks, in_place, in, out);
    const double pilot = std::max(ranks.seconds_of(3, in_place, in, out), 1e-9);
    const int calls = static_cast<int>(std::clamp(budget / pilot, 3.0, std::max(3.0, 1.0 * most)));
    us[in_place ? 1 : 0] = 1e6 * ranks.seconds_of(calls, in_place, in, out);
  }
  if (rank == 0) {
    std::printf("{\"out_of_place\": %.3f, \"in_place\": %.3f, \"wrong\": %.0f}\n", us[0], us[1],
                wrong);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    return 2;
  }
  const int size = std::atoi(argv[1]);
  for (int rank = 0; rank < size; ++rank) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(run_rank(rank, size, std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]),
                     std::atof(argv[4]), argv[5]));
    }
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) {
    failed = status != 0 ? 1 : failed;
  }
  return failed;
}
