/* SPDX-License-Identifier: BSD-3-Clause
 * A test program of named modes: "PROGRAM MODE FILE TOLERANCE" runs one on all ranks and ends with 1 where
 * anything was wrong on any. Values may come back off by the tolerance. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;
static double tolerance;
static const char* path;

/* The first that is wrong is said. */
static void expect(int is_so, const char* what, int line) {
  if (is_so) return;
  if (!wrong) fprintf(stderr, "rank %d: wrong in line %d: %s\n", rank, line, what);
  wrong = 1;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define CHECK(call) EXPECT((call) == MPI_SUCCESS)

typedef struct {
  const char* name;
  void (*run)(void);
} Mode;

/* All that main does. */
static int run_mode(int argc, char** argv, const Mode* modes, size_t count) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  path = argv[2];
  tolerance = atof(argv[3]);
  int known = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(modes[i].name, argv[1]) != 0) continue;
    known = 1;
    modes[i].run();
  }
  if (!known) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong;
}
#define RUN_MODE(modes) run_mode(argc, argv, modes, sizeof(modes) / sizeof(modes)[0])
