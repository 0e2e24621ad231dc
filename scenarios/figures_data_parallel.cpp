// Section DP: what plain data parallelism holds and sends.
#include "collectives/chunk.hpp"
#include "scenarios/figure_experiments.hpp"
#include "scenarios/figure_sections.hpp"
#include "scenarios/operation_convention.hpp"

namespace ringside {

namespace {

constexpr double course_parameters = 3'688'704;  // of the course's own small model

const std::vector<int> ring_sizes{2, 3, 8, 64};

// N-1 steps in each half of the ring, by what its row claims.
bool half_of_a_ring_is_n_minus_1() {
  const OperationRow& ring = operation_row("all_reduce", "ring");
  bool holds = true;
  for (const int n : ring_sizes) {
    holds = holds && ring.steps({.p = n}) == 2 * (n - 1);
  }
  return holds;
}

// Every rank sends 2(N-1) chunks of K/N.
bool ring_sends_2_n_minus_1_nth() {
  const OperationRow& ring = operation_row("all_reduce", "ring");
  bool holds = true;
  for (const int n : ring_sizes) {
    const auto ranks = static_cast<std::size_t>(n);
    for (int rank = 0; rank < n; ++rank) {
      const auto sent = ring.sent({.p = n, .n = 1000 * ranks, .rank = rank});
      holds = holds && sent == 2 * (ranks - 1) * 1000;
    }
  }
  return holds;
}

bool each_rank_has_an_nth() {
  bool holds = true;
  for (const int n : ring_sizes) {
    for (int rank = 0; rank < n; ++rank) {
      const auto ranks = static_cast<std::size_t>(n);
      const Chunk mine = chunk_of(64 * ranks, n, rank);
      holds = holds && mine.count == 64 && mine.first == 64 * static_cast<std::size_t>(rank);
    }
  }
  return holds;
}

std::vector<Figure> state_figures(const FigureInputs& in) {
  const double parameters = in.parameters();
  const double state = state_bytes * parameters;
  return {number("DP01", "sum of the elements of all tensors of qwen3.8-27b", parameters, "params",
                 grouped(parameters)),
          number("DP02", "2 + 2 + 4 + 4 + 4: ZeRO, section 3.1", state_bytes, "B/param",
                 grouped(state_bytes)),
          number("DP03", "16 params", state, "B", gigabytes(state)),
          number("DP04", "16 params / card", state / in.card_bytes, "cards",
                 fixed(state / in.card_bytes, 1) + " 倍"),
          given("DP05", "assumed: memory of a card", in.card_bytes, "B"),
          number("DP06", "2 params", in.gradient_bytes(), "B", gigabytes(in.gradient_bytes())),
          number("DP16", "16 params", state_bytes * course_parameters, "B",
                 fixed(state_bytes * course_parameters / (1 << 20), 1) + " MiB"),
          quoted("DP17", "the course's count of its small model"),
          quoted("DP18", "the course's measurement"),
          number("DP19", "a copy on each rank", in.ranks, "copies", grouped(in.ranks) + " 份")};
}

std::vector<Figure> traffic_figures(const FigureInputs& in) {
  const double grad = in.gradient_bytes();
  const double ring = 2 * ring_pass(grad, in.ranks);
  const double far_ring = 2 * ring_pass(grad, in.many_ranks);
  const double factor = 2 * ring_pass(1, in.ranks);
  return {
      number("DP07", "2 (N-1)/N grad: Patarasuk and Yuan 2009", ring, "B", gigabytes(ring)),
      number("DP08", "2 (N-1)/N grad", far_ring, "B", gigabytes(far_ring)),
      number("DP09", "(N-1) grad", (in.ranks - 1) * grad, "B", gigabytes((in.ranks - 1) * grad)),
      number("DP10", "(N-1) grad", (in.many_ranks - 1) * grad, "B",
             gigabytes((in.many_ranks - 1) * grad, 0)),
      number("DP11", "2 (N-1)/N", factor, "x", "约 " + fixed(factor, 0) + " 倍"),
      number("DP12", "2 (N-1)/N grad / InfiniBand", ring / in.ib(), "s",
             fixed(ring / in.ib(), 2) + " s"),
      given("DP15", "25 MiB: PyTorch DDP's bucket_cap_mb", 25.0 * (1 << 20), "B"),
      number("DP21", "2 (N-1): ring's own claim of steps", 2 * (in.ranks - 1), "steps",
             half_of_a_ring_is_n_minus_1() ? "N−1" : "does not hold"),
      statement("DP22", "Baidu 2017: 2 (N-1) K/N",
                "ring claims 2 (N-1) chunks of K/N on every rank, N = 2, 3, 8, 64",
                ring_sends_2_n_minus_1_nth(), "2(N−1)K/N")};
}

}  // namespace

std::vector<Figure> data_parallel_figures(const FigureInputs& in) {
  const double backward = 4 * (in.body() + in.head()) * in.tokens / in.flops();
  const double difference = shard_mean_difference(0);
  const double years = 2'664'000.0 / (24 * 365);
  std::vector<Figure> figures = state_figures(in);
  const auto traffic = traffic_figures(in);
  figures.insert(figures.end(), traffic.begin(), traffic.end());
  const std::vector<Figure> rest{
      number("DP13", "4 N' tokens / flops, N' = text layers, final norm and head", backward, "s",
             fixed(backward, 2) + " s"),
      given("DP14", "assumed: effective compute of a card", in.flops(), "FLOP/s"),
      statement("DP20", "by definition",
                "of 64 N samples the runner gives each rank 64, N = 2, 3, 8, 64",
                each_rank_has_an_nth(), "1/N"),
      number("DP23", "GPU hours / (24 365)", years, "years", fixed(years, 0) + " 年"),
      number("DP24", "cards / 8", static_cast<double>(in.many_ranks) / in.ranks, "machines",
             fixed(static_cast<double>(in.many_ranks) / in.ranks, 0) + " 台机"),
      given("DP25", "chosen: cards of the exercises", in.ranks, "cards"),
      statement("DP26", "mean of 8 shard gradients - gradient of the whole batch, f32",
                "largest difference " + fixed(difference * 1e9, 1) + "e-9 < 1e-6, on 16 weights",
                difference < 1e-6 && difference > 0, "< 10⁻⁶")};
  figures.insert(figures.end(), rest.begin(), rest.end());
  return figures;
}

}  // namespace ringside
