/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers a field from all ranks as frames, and says what moved.
 *
 *   mpicc gather.c $(pkg-config --cflags --libs neve_mpi) -lm
 *   mpirun -n 4 ./a.out
 */
#include <math.h>
#include <neve/transfer.h>
#include <stdio.h>
#include <stdlib.h>

enum { layers = 32, rows = 64, columns = 64, count = layers * rows * columns };

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  float* mine = malloc(count * sizeof *mine);
  float* all = rank == 0 ? malloc(count * sizeof *all * (size_t)ranks) : NULL;
  if (mine == NULL || (rank == 0 && all == NULL)) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < count; ++i) {
    mine[i] = (float)(sin(0.1 * (i % columns)) * cos(0.05 * (i / columns % rows)) + rank);
  }

  /* Layers of rows x columns: what is known of the shape makes for better prediction. */
  const uint64_t layer_shape[] = {rows, columns};
  neve_mpi_report report;
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.layer_ndim = 2;
  options.layer_shape = layer_shape;
  options.report = &report;
  const int code = neve_mpi_gather(mine, count, MPI_FLOAT, all, 0, MPI_COMM_WORLD, "abs=1e-3", &options);
  if (code != NEVE_OK) fprintf(stderr, "rank %d: %s\n", rank, neve_last_error());

  int wrong = code != NEVE_OK;
  if (rank == 0 && code == NEVE_OK) {
    for (size_t i = 0; i < (size_t)count * (size_t)ranks; ++i) {
      const float wanted = mine[i % count] + (float)(i / count);
      if (!(fabs((double)all[i] - (double)wanted) <= 1e-3 + 1e-6 * ranks)) wrong = 1;
    }
    printf("%llu bytes of values came as %llu bytes in %llu blocks\n", (unsigned long long)report.value_bytes,
           (unsigned long long)report.moved_bytes, (unsigned long long)report.blocks);
  }
  free(all);
  free(mine);
  MPI_Finalize();
  return wrong;
}
