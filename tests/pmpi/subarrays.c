/* SPDX-License-Identifier: BSD-3-Clause */
/* A field of floats that ranks in a grid of three directions hold a box each of: read from a file of its
   values, and written to another in one collective call, through a view of a subarray. pz * py * px ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "subarrays: %s fails\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 9) {
    fprintf(stderr, "usage: subarrays VALUES OUT nz ny nx pz py px\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int sizes[3], parts[3], starts[3], rank = 0, count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int d = 2; d >= 0; --d) {
    const int of_grid = atoi(argv[6 + d]), place = rank % of_grid;
    rank /= of_grid;
    sizes[d] = atoi(argv[3 + d]);
    starts[d] = sizes[d] * place / of_grid;
    parts[d] = sizes[d] * (place + 1) / of_grid - starts[d];
    count *= parts[d];
  }
  MPI_Datatype box;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &box);
  MPI_Type_commit(&box);
  float* const values = malloc((size_t)count * sizeof(float));
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file), argv[1]);
  check(MPI_File_set_view(file, 0, MPI_FLOAT, box, "native", MPI_INFO_NULL), "a view to read");
  check(MPI_File_read_all(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE), "the read");
  MPI_File_close(&file);
  check(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
        argv[2]);
  check(MPI_File_set_view(file, 0, MPI_FLOAT, box, "native", MPI_INFO_NULL), "a view to write");
  check(MPI_File_write_all(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE), "the write");
  check(MPI_File_close(&file), "the close");
  free(values);
  MPI_Type_free(&box);
  MPI_Finalize();
  return 0;
}
