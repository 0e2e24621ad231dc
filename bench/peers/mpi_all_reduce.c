/* One cell of bench/against_mpi: an all-reduce of `bytes` of float, out of place and in place.
 *   mpirun -n RANKS mpi_all_reduce BYTES MOST_CALLS BUDGET_SECONDS
 * Rank 0 prints one line of JSON: microseconds a call (the mean of the slowest rank), wrong
 * elements.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers that repeat every PERIOD elements, so that their sums are soon known. */
enum { PERIOD = 13 };

static float input(int rank, size_t i) {
  return (float)((i * 7 + (size_t)rank * 3) % PERIOD + 1);
}

static void call(int in_place, float* in, float* out, int n) {
  MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static long wrong_elements(int in_place, float* in, float* out, size_t n) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < n; ++i) in[i] = out[i] = input(rank, i);
  call(in_place, in, out, (int)n);
  float sums[PERIOD] = {0};
  for (int r = 0; r < ranks; ++r)
    for (size_t i = 0; i < PERIOD; ++i) sums[i] += input(r, i);
  long wrong = 0, all = 0;
  for (size_t i = 0; i < n; ++i) wrong += out[i] != sums[i % PERIOD];
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  memset(in, 0, n * sizeof(float)); /* zeros stay zeros, however often they are added in place */
  memset(out, 0, n * sizeof(float));
  return all;
}

static double seconds_of(int calls, int in_place, float* in, float* out, size_t n) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call(in_place, in, out, (int)n);
  double mine = MPI_Wtime() - start, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / calls;
}

/* As many calls as the budget allows, judged by three of them; the same number on every rank. */
static double microseconds(int most, double budget, int in_place, float* in, float* out, size_t n) {
  const double pilot = seconds_of(3, in_place, in, out, n);
  double wanted = budget / (pilot > 1e-9 ? pilot : 1e-9);
  if (wanted > most) wanted = most;
  return 1e6 * seconds_of(wanted < 3 ? 3 : (int)wanted, in_place, in, out, n);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t n = strtoull(argv[1], NULL, 10) / sizeof(float);
  const int most = atoi(argv[2]);
  const double budget = atof(argv[3]);
  float* in = calloc(n + 1, sizeof(float));
  float* out = calloc(n + 1, sizeof(float));
  double us[2];
  long wrong = 0;
  for (int in_place = 0; in_place < 2; ++in_place) {
    wrong += wrong_elements(in_place, in, out, n);
    us[in_place] = microseconds(most, budget, in_place, in, out, n);
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("{\"out_of_place\": %.3f, \"in_place\": %.3f, \"wrong\": %ld}\n", us[0], us[1], wrong);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
