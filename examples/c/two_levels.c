/* SPDX-License-Identifier: BSD-3-Clause
 * A two-level hierarchy written from all ranks: mpirun -n 2 ./two_levels_c two_levels.h5 */
#include <math.h>
#include <neve/plotfile.h>
#include <stdio.h>
#include <stdlib.h>

static double* compute(const int* lo, const int* hi, double dx) {
  double* values = malloc(sizeof *values * (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1));
  double* next = values;
  for (int z = lo[2]; z <= hi[2]; ++z)
    for (int y = lo[1]; y <= hi[1]; ++y)
      for (int x = lo[0]; x <= hi[0]; ++x)
        *next++ = sin(6 * (x + .5) * dx) * cos(4 * (y + .5) * dx) + (z + .5) * dx;
  return values;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* names[] = {"density"};
  const int domain_hi[2][3] = {{31, 31, 31}, {63, 63, 63}}, origin[3] = {0, 0, 0};
  const int lo[3][3] = {{0, 0, 0}, {0, 0, 16}, {16, 16, 16}},
            hi[3][3] = {{31, 31, 15}, {31, 31, 31}, {47, 47, 47}};
  double* values[3] = {NULL, NULL, NULL};
  neve_hierarchy* h = neve_hierarchy_create(3, sizeof(double), 1, names);
  neve_hierarchy_set_time(h, 0.5);
  for (int box = 0; box < 3; ++box) {
    const int level = box == 2;
    if (box != 1) neve_hierarchy_add_level(h, origin, domain_hi[level], 2);
    if (box % ranks == rank) values[box] = compute(lo[box], hi[box], 1. / (32 << level));
    neve_hierarchy_add_box(h, lo[box], hi[box], values[box], 0);
  }
  const int error = neve_write_plotfile(MPI_COMM_WORLD, argc > 1 ? argv[1] : "two_levels.h5", h, "abs=1e-4");
  if (error && rank == 0) fprintf(stderr, "%s\n", neve_mpi_last_error());
  neve_hierarchy_free(h);
  for (int box = 0; box < 3; ++box) free(values[box]);
  MPI_Finalize();
  return error;
}
