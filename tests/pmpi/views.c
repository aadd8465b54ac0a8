/* SPDX-License-Identifier: BSD-3-Clause
 * views MODE FILE TOLERANCE: MPI-IO as simulations use it, each mode another kind of view, type, pointer or
 * call. Every mode fills the same array, a header before it where there is one, and reads it back; ends with
 * 1 where a value is off by more than the tolerance. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { nx = 40, ny = 24, nz = 32, cells = nx * ny * nz };

/* Of the whole array, by the place of a value in it. */
static float value_of(long i) {
  const double x = (double)(i % nx), y = (double)(i / nx % ny), z = (double)(i / nx / ny);
  return (float)(2 * sin(0.11 * x + 0.07 * y) * cos(0.05 * z) + 0.5 * cos(0.2 * z));
}
static int is_value(double got, long i) { return fabs(got - value_of(i)) <= tolerance; }

static MPI_File open_new(void) {
  MPI_File file = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  if (file == MPI_FILE_NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  return file;
}
static void settle(MPI_File file) {
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_sync(file));
}
static void set_view(MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype type) {
  CHECK(MPI_File_set_view(file, at, element, type, "native", MPI_INFO_NULL));
}

/* All of it, by every rank, by another view than it was written by. */
static void expect_array(MPI_File file, MPI_Offset at) {
  float* got = calloc(cells, sizeof(float));
  set_view(file, at, MPI_FLOAT, MPI_FLOAT);
  CHECK(MPI_File_read_at_all(file, 0, got, cells, MPI_FLOAT, MPI_STATUS_IGNORE));
  for (long i = 0; i < cells; ++i) EXPECT(is_value(got[i], i));
  free(got);
}
static void finish(MPI_File file, MPI_Offset at) {
  settle(file);
  expect_array(file, at);
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  expect_array(file, at);
  CHECK(MPI_File_close(&file));
}

/* The places of a type's floats in the array, and their values: MPI packs both. */
static float* values_in(MPI_Datatype type, int* count) {
  int bytes = 0, position = 0;
  MPI_Type_size(type, &bytes);
  float* all = malloc(cells * sizeof(float));
  float* own = malloc((size_t)bytes + 1);
  for (long i = 0; i < cells; ++i) all[i] = value_of(i);
  MPI_Pack(all, 1, type, own, bytes, &position, MPI_COMM_SELF);
  *count = bytes / 4;
  free(all);
  return own;
}

/* This rank's box of the array, the ranks in a grid. */
static MPI_Datatype box(int order) {
  int grid[3] = {0, 0, 0}, sizes[3] = {nz, ny, nx}, parts[3], starts[3], r = rank;
  MPI_Dims_create(ranks, 3, grid);
  if (order == MPI_ORDER_FORTRAN) sizes[0] = nx, sizes[2] = nz;
  for (int d = 2; d >= 0; --d) {
    const int c = r % grid[d];
    r /= grid[d];
    starts[d] = sizes[d] * c / grid[d];
    parts[d] = sizes[d] * (c + 1) / grid[d] - starts[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, parts, starts, order, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  return type;
}

enum How { blocking, nonblocking, split, nonblocking_alone };

static void write_own(MPI_File file, const float* own, int count, MPI_Datatype type, enum How how) {
  MPI_Request request;
  MPI_Status status;
  int bytes = 0, size = 0;
  MPI_Type_size(type, &size);
  switch (how) {
    case blocking:
      CHECK(MPI_File_write_all(file, own, count, type, &status));
      break;
    case nonblocking:
      CHECK(MPI_File_iwrite_at_all(file, 0, own, count, type, &request));
      CHECK(MPI_Wait(&request, &status));
      break;
    case nonblocking_alone:
      CHECK(MPI_File_iwrite_at(file, 0, own, count, type, &request));
      CHECK(MPI_Wait(&request, &status));
      break;
    case split:
      CHECK(MPI_File_write_at_all_begin(file, 0, own, count, type));
      CHECK(MPI_File_write_at_all_end(file, own, &status));
      break;
  }
  MPI_Get_elements(&status, MPI_BYTE, &bytes);
  EXPECT(bytes == count * size);
}

static void by_view(MPI_Datatype type, MPI_Offset at, enum How how) {
  int count = 0;
  float* own = values_in(type, &count);
  MPI_File file = open_new();
  const int header[2] = {cells, ranks};
  if (at > 0 && rank == 0) CHECK(MPI_File_write_at(file, 0, header, 2, MPI_INT, MPI_STATUS_IGNORE));
  set_view(file, at, MPI_FLOAT, type);
  write_own(file, own, count, MPI_FLOAT, how);
  finish(file, at);
  free(own);
  MPI_Type_free(&type);
}

static void boxes(void) { by_view(box(MPI_ORDER_C), 0, blocking); }
static void boxes_of_fortran(void) { by_view(box(MPI_ORDER_FORTRAN), 0, blocking); }
static void boxes_behind_a_header(void) { by_view(box(MPI_ORDER_C), 8, blocking); }
static void boxes_split(void) { by_view(box(MPI_ORDER_C), 8, split); }
static void boxes_nonblocking(void) { by_view(box(MPI_ORDER_C), 0, nonblocking); }
static void boxes_alone(void) { by_view(box(MPI_ORDER_C), 0, nonblocking_alone); }

static void distributed(void) {
  int grid[3] = {0, 0, 0}, sizes[3] = {nz, ny, nx}, arguments[3] = {4, MPI_DISTRIBUTE_DFLT_DARG, 5};
  int kinds[3] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  MPI_Datatype type;
  MPI_Dims_create(ranks, 3, grid);
  MPI_Type_create_darray(ranks, rank, 3, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  by_view(type, 0, blocking);
}

/* Rows by their numbers, in turns. */
static MPI_Datatype rows(void) {
  static int places[ny * nz];
  int n = 0;
  for (int row = rank; row < ny * nz; row += ranks) places[n++] = row * nx;
  MPI_Datatype type;
  MPI_Type_create_indexed_block(n, nx, places, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  return type;
}
static void listed_rows(void) { by_view(rows(), 0, blocking); }

/* The own box with a layer of other cells around it in memory, each rank's box behind the others'. */
static void memory_with_ghosts(void) {
  const int own = nz / ranks + (rank < nz % ranks ? 1 : 0);
  int before = 0, sizes[3] = {own + 2, ny + 2, nx + 2}, parts[3] = {own, ny, nx}, starts[3] = {1, 1, 1};
  MPI_Exscan(&own, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) before = 0;
  MPI_Datatype inner;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &inner);
  MPI_Type_commit(&inner);
  float* memory = malloc(sizeof(float) * (size_t)(own + 2) * (ny + 2) * (nx + 2));
  for (int z = 0; z < own + 2; ++z) {
    for (int i = 0; i < (ny + 2) * (nx + 2); ++i) {
      const int y = i / (nx + 2) - 1, x = i % (nx + 2) - 1;
      memory[z * (ny + 2) * (nx + 2) + i] = value_of(((long)(before + z - 1) * ny + y) * nx + x);
    }
  }
  MPI_File file = open_new();
  set_view(file, (MPI_Offset)before * ny * nx * 4, MPI_FLOAT, MPI_FLOAT);
  write_own(file, memory, 1, inner, blocking);
  finish(file, 0);
  free(memory);
  MPI_Type_free(&inner);
}

/* Own parts, one behind another. */
static float* own_part(int* first, int* count) {
  *first = (int)((long)cells * rank / ranks);
  *count = (int)((long)cells * (rank + 1) / ranks) - *first;
  float* own = malloc(sizeof(float) * (size_t)*count);
  for (int i = 0; i < *count; ++i) own[i] = value_of(*first + i);
  return own;
}

static void in_order(int is_split) {
  int first, count;
  float* own = own_part(&first, &count);
  MPI_File file = open_new();
  set_view(file, 0, MPI_FLOAT, MPI_FLOAT);
  if (is_split) {
    CHECK(MPI_File_write_ordered_begin(file, own, count, MPI_FLOAT));
    CHECK(MPI_File_write_ordered_end(file, own, MPI_STATUS_IGNORE));
  } else {
    CHECK(MPI_File_write_ordered(file, own, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  }
  finish(file, 0);
  free(own);
}
static void ordered(void) { in_order(0); }
static void ordered_split(void) { in_order(1); }

static void shared(void) {
  int first, count;
  float* own = own_part(&first, &count);
  MPI_File file = open_new();
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) CHECK(MPI_File_write_shared(file, own, count, MPI_FLOAT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  finish(file, 0);
  free(own);
}

/* First writes of single ranks, which differ in size and type. */
static void unequal(void) {
  int first, count;
  float* own = own_part(&first, &count);
  MPI_File file = open_new();
  const int some = rank == 0 ? 10 : count / 2;
  CHECK(MPI_File_write_at(file, 4 * (MPI_Offset)first, own, some, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_write_at(file, 4 * (MPI_Offset)(first + some), own + some, count - some, MPI_FLOAT,
                          MPI_STATUS_IGNORE));
  finish(file, 0);
  free(own);
}

static void contiguous_types(void) {
  int first, count;
  float* own = own_part(&first, &count);
  MPI_Datatype line;
  MPI_Type_contiguous(count, MPI_FLOAT, &line);
  MPI_Type_commit(&line);
  MPI_File file = open_new();
  CHECK(MPI_File_write_at_all(file, 4 * (MPI_Offset)first, own, 1, line, MPI_STATUS_IGNORE));
  finish(file, 0);
  MPI_Type_free(&line);
  free(own);
}

/* Doubles, then floats, a header of text and integers, and single values between. */
static void mixed(void) {
  const MPI_Offset of_doubles = 64, of_floats = of_doubles + 8 * (MPI_Offset)cells;
  int first, count;
  float* own = own_part(&first, &count);
  double* doubles = malloc(sizeof(double) * (size_t)count);
  for (int i = 0; i < count; ++i) doubles[i] = own[i];
  MPI_File file = open_new();
  if (rank == 0) CHECK(MPI_File_write_at(file, 0, "a header", 8, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK(MPI_File_write_at_all(file, of_doubles + 8 * (MPI_Offset)first, doubles, count, MPI_DOUBLE,
                              MPI_STATUS_IGNORE));
  CHECK(MPI_File_write_at_all(file, of_floats + 4 * (MPI_Offset)first, own, count, MPI_FLOAT,
                              MPI_STATUS_IGNORE));
  const int number = 1000 + rank;
  CHECK(MPI_File_write_at_all(file, 8 + 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  settle(file);
  char header[64] = "";
  CHECK(MPI_File_read_at(file, 0, header, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT(memcmp(header, "a header", 8) == 0);
  for (int r = 0; r < ranks; ++r) {
    int got = 0;
    memcpy(&got, header + 8 + 4 * r, 4);
    EXPECT(got == 1000 + r);
  }
  double* all = malloc(sizeof(double) * cells);
  CHECK(MPI_File_read_at_all(file, of_doubles, all, cells, MPI_DOUBLE, MPI_STATUS_IGNORE));
  for (long i = 0; i < cells; ++i) EXPECT(is_value(all[i], i));
  finish(file, of_floats);
  free(own), free(doubles), free(all);
}

/* Steps in time by one view, the file pointer going on. */
static void steps(void) {
  enum { count_of_steps = 3 };
  MPI_Datatype type = box(MPI_ORDER_C);
  int count = 0;
  float* own = values_in(type, &count);
  MPI_File file = open_new();
  set_view(file, 0, MPI_FLOAT, type);
  for (int step = 0; step < count_of_steps; ++step) write_own(file, own, count, MPI_FLOAT, blocking);
  settle(file);
  for (int step = 0; step < count_of_steps; ++step) expect_array(file, (MPI_Offset)step * cells * 4);
  finish(file, 0);
  free(own);
  MPI_Type_free(&type);
}

/* FILE.in: three numbers, slowest first, and so many floats: the array that the ranks' boxes are of. */
static void given_array(void) {
  char name[4096];
  int sizes[3], grid[3] = {0, 0, 0}, parts[3], starts[3], r = rank;
  snprintf(name, sizeof name, "%s.in", path);
  FILE* in = fopen(name, "rb");
  if (in == NULL || fread(sizes, sizeof(int), 3, in) != 3) MPI_Abort(MPI_COMM_WORLD, 3);
  const size_t all = (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2];
  float* array = malloc(all * sizeof(float));
  if (fread(array, sizeof(float), all, in) != all) MPI_Abort(MPI_COMM_WORLD, 3);
  fclose(in);
  MPI_Dims_create(ranks, 3, grid);
  for (int d = 2; d >= 0; --d) {
    const int c = r % grid[d];
    r /= grid[d];
    starts[d] = (int)((long)sizes[d] * c / grid[d]);
    parts[d] = (int)((long)sizes[d] * (c + 1) / grid[d]) - starts[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  MPI_File file = open_new();
  set_view(file, 0, MPI_FLOAT, type);
  CHECK(MPI_File_write_all(file, array, 1, type, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Type_free(&type);
  free(array);
}

int main(int argc, char** argv) {
  const Mode modes[] = {{"boxes", boxes},
                        {"boxes_of_fortran", boxes_of_fortran},
                        {"boxes_behind_a_header", boxes_behind_a_header},
                        {"boxes_split", boxes_split},
                        {"boxes_nonblocking", boxes_nonblocking},
                        {"boxes_alone", boxes_alone},
                        {"distributed", distributed},
                        {"listed_rows", listed_rows},
                        {"memory_with_ghosts", memory_with_ghosts},
                        {"ordered", ordered},
                        {"ordered_split", ordered_split},
                        {"shared", shared},
                        {"unequal", unequal},
                        {"contiguous_types", contiguous_types},
                        {"mixed", mixed},
                        {"steps", steps},
                        {"given_array", given_array}};
  return RUN_MODE(modes);
}
