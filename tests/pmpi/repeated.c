/* SPDX-License-Identifier: BSD-3-Clause */
/* The same gather, or the same write of a new file, over and over:
     pmpi_repeated gather CALLS BYTES TOLERANCE
     pmpi_repeated mixed CALLS BYTES TOLERANCE       integers in every other gather
     pmpi_repeated counts CALLS BYTES TOLERANCE      by MPI_Gatherv; small ones, then large ones
     pmpi_repeated file CALLS BYTES FOLDER
   Rank 0 checks all values, and says how many calls brought them bit for bit. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static float value(int of, int call, int i) {
  return sinf(0.003f * (float)i + (float)of) + 0.1f * (float)call;
}

static void fill(float* values, int count, int of, int call) {
  for (int i = 0; i < count; ++i) values[i] = value(of, call, i);
}

/* Whether all are the very bits. */
static int compare(const float* all, int count, int call, double tolerance) {
  int exact = 1;
  for (int r = 0; r < ranks; ++r) {
    for (int i = 0; i < count; ++i) {
      const float wanted = value(r, call, i), got = all[(size_t)r * (size_t)count + (size_t)i];
      if (fabs((double)got - (double)wanted) > tolerance) fail("a value beyond its bound");
      if (memcmp(&got, &wanted, sizeof got) != 0) exact = 0;
    }
  }
  return exact;
}

static int gather_values(const float* mine, float* all, int count, int of_counts) {
  int counts[64], displs[64];
  if (!of_counts) return MPI_Gather(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count;
    displs[r] = r * count;
  }
  return MPI_Gatherv(mine, count, MPI_FLOAT, all, counts, displs, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static int gather(const char* mode, int calls, int count, double tolerance) {
  float* const mine = malloc((size_t)count * sizeof *mine);
  float* const all = malloc((size_t)count * (size_t)ranks * sizeof *all);
  int exact = 0;
  for (int call = 0; call < calls; ++call) {
    const int of_counts = strcmp(mode, "counts") == 0;
    const int now = of_counts && call < calls / 2 ? 16 : count;
    fill(mine, now, rank, call);
    if (strcmp(mode, "mixed") == 0 && call % 2 == 0) {
      MPI_Gather(mine, now, MPI_INT, all, now, MPI_INT, 0, MPI_COMM_WORLD);
      if (rank == 0 && !compare(all, now, call, 0)) fail("an integer is another one");
      continue;
    }
    if (gather_values(mine, all, now, of_counts) != MPI_SUCCESS) fail("the gather");
    if (rank == 0) exact += compare(all, now, call, tolerance);
  }
  free(mine);
  free(all);
  return exact;
}

static void write_files(int calls, int count, const char* folder) {
  float* const mine = malloc((size_t)count * sizeof *mine);
  for (int call = 0; call < calls; ++call) {
    char path[512];
    MPI_File file;
    MPI_Status status;
    snprintf(path, sizeof path, "%s/%d", folder, call);
    fill(mine, count, rank, call);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS)
      fail("open");
    const MPI_Offset at = (MPI_Offset)rank * count * (MPI_Offset)sizeof *mine;
    if (MPI_File_write_at_all(file, at, mine, count, MPI_FLOAT, &status) != MPI_SUCCESS) fail("write");
    if (MPI_File_close(&file) != MPI_SUCCESS) fail("close");
  }
  free(mine);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5 || ranks > 64) fail("usage: see the source");
  const int calls = atoi(argv[2]), count = atoi(argv[3]) / (int)sizeof(float);
  if (strcmp(argv[1], "file") == 0) {
    write_files(calls, count, argv[4]);
  } else {
    const int exact = gather(argv[1], calls, count, atof(argv[4]));
    if (rank == 0) printf("%d exact\n", exact);
  }
  MPI_Finalize();
  return 0;
}
