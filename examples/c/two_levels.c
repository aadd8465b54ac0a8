/* SPDX-License-Identifier: BSD-3-Clause */
/* A two-level hierarchy written from all ranks: mpirun -n 2 ./two_levels_c two_levels.h5 */
#include <math.h>
#include <neve/neve_mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The field on a box of a level whose cells are dx wide, x fastest. */
static double* field(const int* lo, const int* hi, double dx) {
  double *values = malloc(sizeof(double) * (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1)),
         *at = values;
  for (int z = lo[2]; z <= hi[2]; ++z)
    for (int y = lo[1]; y <= hi[1]; ++y)
      for (int x = lo[0]; x <= hi[0]; ++x)
        *at++ = sin(6 * (x + .5) * dx) * cos(4 * (y + .5) * dx) + (z + .5) * dx;
  return values;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int domain[2][2][3] = {{{0, 0, 0}, {31, 31, 31}}, {{0, 0, 0}, {63, 63, 63}}};
  const int boxes[3][2][3] = {
      {{0, 0, 0}, {31, 31, 15}}, {{0, 0, 16}, {31, 31, 31}}, {{16, 16, 16}, {47, 47, 47}}};
  const int level_of[3] = {0, 0, 1};
  const char* names[] = {"density"};
  double* owned[3] = {NULL, NULL, NULL};

  neve_hierarchy* h = neve_hierarchy_create(3, sizeof(double), 1, names);
  neve_hierarchy_set_time(h, 0.5);
  for (int b = 0; b < 3; ++b) {
    const int level = level_of[b];
    if (b == 0 || level != level_of[b - 1])
      neve_hierarchy_add_level(h, domain[level][0], domain[level][1], 2);
    if (b % ranks == rank) owned[b] = field(boxes[b][0], boxes[b][1], 1.0 / (32 << level));
    neve_hierarchy_add_box(h, boxes[b][0], boxes[b][1], owned[b], 0);
  }
  const int code = neve_write_plotfile(MPI_COMM_WORLD, argc > 1 ? argv[1] : "two_levels.h5", h, "abs=1e-4");
  if (code != 0 && rank == 0) fprintf(stderr, "%s\n", neve_mpi_last_error());
  neve_hierarchy_free(h);
  for (int b = 0; b < 3; ++b) free(owned[b]);
  MPI_Finalize();
  return code;
}
