/* SPDX-License-Identifier: BSD-3-Clause
 * program MODE FILE TOLERANCE: gathers, writes and reads known values by MPI alone, and ends with 1 where one
 * comes back further off than the tolerance. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { count = 20000 };

static double value_at(long i) { return 3 * sin(0.002 * (double)i) + 1e-3 * cos(0.9 * (double)i); }

static void fill_floats(float* out, long first, int n) {
  for (int i = 0; i < n; ++i) out[i] = (float)value_at(first + i);
}
static void fill_doubles(double* out, long first, int n) {
  for (int i = 0; i < n; ++i) out[i] = value_at(first + i);
}

static void expect_floats(const float* got, long first, int n, const char* what) {
  for (int i = 0; i < n; ++i) {
    if (!(fabs((double)got[i] - (float)value_at(first + i)) <= tolerance)) return expect(0, what, __LINE__);
  }
}
static void expect_doubles(const double* got, long first, int n, const char* what) {
  for (int i = 0; i < n; ++i) {
    if (!(fabs(got[i] - value_at(first + i)) <= tolerance)) return expect(0, what, __LINE__);
  }
}

static void* room(size_t bytes) {
  void* memory = calloc(bytes, 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void gather(void) {
  const int root = ranks - 1;
  const long mine = (long)rank * count;
  float* floats = room(sizeof(float) * count);
  float* all = room(sizeof(float) * count * (size_t)ranks);
  fill_floats(floats, mine, count);
  CHECK(MPI_Gather(floats, count, MPI_FLOAT, all, count, MPI_FLOAT, root, MPI_COMM_WORLD));
  if (rank == root) expect_floats(all, 0, count * ranks, "MPI_Gather of floats");

  double* places = room(sizeof(double) * count * (size_t)ranks);
  double* own = rank == root ? places + mine : places;
  fill_doubles(own, mine, count);
  CHECK(MPI_Gather(rank == root ? MPI_IN_PLACE : own, count, MPI_DOUBLE, places, count, MPI_DOUBLE, root,
                   MPI_COMM_WORLD));
  if (rank == root) expect_doubles(places, 0, count * ranks, "MPI_Gather in place");

  /* One value more for each rank, the last first, with gaps of 3. */
  int* counts = room(sizeof(int) * (size_t)ranks);
  int* displs = room(sizeof(int) * (size_t)ranks);
  int end = 0;
  for (int r = ranks - 1; r >= 0; --r) {
    counts[r] = count / 2 + r;
    displs[r] = end;
    end += counts[r] + 3;
  }
  memset(all, 0, sizeof(float) * count * (size_t)ranks);
  CHECK(MPI_Gatherv(floats, counts[rank], MPI_FLOAT, all, rank == 0 ? counts : NULL,
                    rank == 0 ? displs : NULL, MPI_FLOAT, 0, MPI_COMM_WORLD));
  for (int r = 0; rank == 0 && r < ranks; ++r) {
    expect_floats(all + displs[r], (long)r * count, counts[r], "MPI_Gatherv");
    if (r > 0) EXPECT(all[displs[r] + counts[r]] == 0);
  }

  /* What is no frame's: integers, few values. */
  int* numbers = room(sizeof(int) * count);
  int* all_numbers = room(sizeof(int) * count * (size_t)ranks);
  for (int i = 0; i < count; ++i) numbers[i] = rank * count + i;
  CHECK(MPI_Gather(numbers, count, MPI_INT, all_numbers, count, MPI_INT, 0, MPI_COMM_WORLD));
  for (int i = 0; rank == 0 && i < count * ranks; ++i) EXPECT(all_numbers[i] == i);
  CHECK(MPI_Gather(floats, 1, MPI_FLOAT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD));
  for (int r = 0; rank == 0 && r < ranks; ++r) EXPECT(all[r] == (float)value_at((long)r * count));
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_FLOAT, &pair);
  MPI_Type_commit(&pair);
  CHECK(MPI_Gather(floats, count / 2, pair, all, count, MPI_FLOAT, 0, MPI_COMM_WORLD));
  if (rank == 0) expect_floats(all, 0, count * ranks, "MPI_Gather of pairs");
  MPI_Type_free(&pair);
  free(numbers), free(all_numbers), free(counts), free(displs), free(floats), free(all), free(places);
}

/* Boxes of a field of 40^3 in each rank's memory, whose halo of 2 no other rank gets. */
static void gather_boxes(void) {
  enum { edge = 40, halo = 2, whole = edge + 2 * halo, cells = edge * edge * edge };
  const int sizes[3] = {whole, whole, whole}, inner[3] = {edge, edge, edge}, starts[3] = {halo, halo, halo};
  float* field = room(sizeof(float) * whole * whole * whole);
  float* all = room(sizeof(float) * cells * (size_t)ranks);
  for (int z = 0; z < whole; ++z) {
    for (int y = 0; y < whole; ++y) {
      for (int x = 0; x < whole; ++x) {
        field[(z * whole + y) * whole + x] =
            (float)(sin(0.05 * z + rank) * cos(0.04 * y) + 0.01 * sin(0.9 * x));
      }
    }
  }
  MPI_Datatype box;
  MPI_Type_create_subarray(3, sizes, inner, starts, MPI_ORDER_C, MPI_FLOAT, &box);
  MPI_Type_commit(&box);
  CHECK(MPI_Gather(field, 1, box, all, cells, MPI_FLOAT, 0, MPI_COMM_WORLD));
  for (int i = 0; rank == 0 && i < cells * ranks; ++i) {
    const int z = halo + i % cells / (edge * edge), y = halo + i / edge % edge, x = halo + i % edge;
    const float value = (float)(sin(0.05 * z + i / cells) * cos(0.04 * y) + 0.01 * sin(0.9 * x));
    if (!(fabs((double)all[i] - value) <= tolerance)) return expect(0, "boxes", __LINE__);
  }
  MPI_Type_free(&box);
  free(field), free(all);
}

/* Each kind of collective call once. */
static void collectives(void) {
  const size_t of_all = sizeof(float) * count * (size_t)ranks;
  float* mine = room(of_all);
  float* all = room(of_all);
  fill_floats(mine, (long)rank * count, count);
  CHECK(MPI_Allgather(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, MPI_COMM_WORLD));
  expect_floats(all, 0, count * ranks, "MPI_Allgather");
  memset(all, 0, of_all);
  fill_floats(all + rank * count, (long)rank * count, count);
  CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_FLOAT, MPI_COMM_WORLD));
  expect_floats(all, 0, count * ranks, "MPI_Allgather in place");

  for (int r = 0; r < ranks; ++r) fill_floats(mine + r * count, (long)(rank + r) * count, count);
  CHECK(MPI_Alltoall(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, MPI_COMM_WORLD));
  for (int r = 0; r < ranks; ++r) {
    expect_floats(all + r * count, (long)(rank + r) * count, count, "MPI_Alltoall");
  }
  CHECK(MPI_Scatter(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, MPI_COMM_WORLD));
  expect_floats(all, (long)rank * count, count, "MPI_Scatter");
  const int root = ranks - 1;
  fill_floats(all, rank == root ? 7 : 0, count);
  CHECK(MPI_Bcast(all, count, MPI_FLOAT, root, MPI_COMM_WORLD));
  expect_floats(all, 7, count, "MPI_Bcast");
  free(mine), free(all);
}

/* A root that lets the others wait for a message until its own part of the call is under way. */
static void nonblocking_calls(void) {
  float* mine = room(sizeof(float) * count);
  float* all = room(sizeof(float) * count * (size_t)ranks);
  MPI_Request requests[2];
  int go = 0;
  fill_floats(mine, (long)rank * count, count);
  if (rank != 0) MPI_Recv(&go, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(MPI_Igather(mine, count, MPI_FLOAT, all, count, MPI_FLOAT, 0, MPI_COMM_WORLD, &requests[0]));
  if (rank + 1 < ranks) MPI_Send(&go, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  if (rank == 0) expect_floats(all, 0, count * ranks, "MPI_Igather");
  CHECK(MPI_Ibcast(all, count * ranks, MPI_FLOAT, 0, MPI_COMM_WORLD, &requests[1]));
  CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  expect_floats(all, 0, count * ranks, "MPI_Ibcast");
  free(mine), free(all);
}

static MPI_File open_file(int mode) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fprintf(stderr, "rank %d: MPI_File_open failed\n", rank);
    MPI_Finalize();
    exit(3);
  }
  return file;
}

/* `count` doubles of each rank, then 100 more by rank 0 alone. */
static void write_at(void) {
  double* values = room(sizeof(double) * count);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_Status status;
  int written = 0;
  CHECK(MPI_File_set_size(file, 0));
  fill_doubles(values, (long)rank * count, count);
  CHECK(MPI_File_write_at_all(file, (MPI_Offset)rank * count * 8, values, count, MPI_DOUBLE, &status));
  MPI_Get_count(&status, MPI_DOUBLE, &written);
  EXPECT(written == count);
  fill_doubles(values, (long)ranks * count, 100);
  if (rank == 0)
    CHECK(MPI_File_write_at(file, (MPI_Offset)ranks * count * 8, values, 100, MPI_DOUBLE, &status));
  CHECK(MPI_File_close(&file));
  free(values);
}

/* The same values as floats, by a view for each rank and the file pointer, in two pieces; the 100 by all. */
static void write_view(void) {
  float* values = room(sizeof(float) * count);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset at = -1;
  fill_floats(values, (long)rank * count, count);
  CHECK(MPI_File_set_view(file, (MPI_Offset)rank * count * 4, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
  CHECK(MPI_File_write_all(file, values, count / 2, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_get_position(file, &at));
  EXPECT(at == count / 2);
  CHECK(MPI_File_seek(file, 0, MPI_SEEK_CUR));
  CHECK(MPI_File_write_all(file, values + count / 2, count - count / 2, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_sync(file));
  CHECK(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
  fill_floats(values, (long)ranks * count, 100);
  CHECK(MPI_File_seek(file, (MPI_Offset)ranks * count, MPI_SEEK_SET));
  CHECK(MPI_File_write_all(file, values, rank == 0 ? 100 : 0, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  free(values);
}

/* What write_at wrote, each rank the values of the next. */
static void read_doubles(void) {
  double* values = room(sizeof(double) * count);
  const long first = (long)((rank + 1) % ranks) * count;
  MPI_File file = open_file(MPI_MODE_RDONLY);
  MPI_Offset bytes = 0, at = -1;
  MPI_Status status;
  int got = 0;
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == ((MPI_Offset)ranks * count + 100) * 8);
  CHECK(MPI_File_read_at_all(file, first * 8, values, count, MPI_DOUBLE, &status));
  expect_doubles(values, first, count, "MPI_File_read_at_all");
  CHECK(MPI_File_seek(file, -200 * 8, MPI_SEEK_END));
  CHECK(MPI_File_read(file, values, 200, MPI_DOUBLE, &status));
  expect_doubles(values, (long)ranks * count - 100, 200, "MPI_File_read before the end");
  CHECK(MPI_File_get_position(file, &at));
  EXPECT(at == bytes);
  CHECK(MPI_File_read(file, values, 1, MPI_DOUBLE, &status));
  MPI_Get_count(&status, MPI_DOUBLE, &got);
  EXPECT(got == 0);
  CHECK(MPI_File_read_at(file, bytes - 50 * 8, values, count, MPI_DOUBLE, &status));
  MPI_Get_count(&status, MPI_DOUBLE, &got);
  EXPECT(got == 50);
  CHECK(MPI_File_close(&file));
  free(values);
}

static void read_floats(void) {
  float* values = room(sizeof(float) * count);
  const long first = (long)((rank + 1) % ranks) * count;
  MPI_File file = open_file(MPI_MODE_RDONLY);
  CHECK(MPI_File_set_view(file, first * 4, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
  CHECK(MPI_File_read_all(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  expect_floats(values, first, count, "MPI_File_read_all in a view");
  CHECK(MPI_File_close(&file));
  free(values);
}

/* Some of a file that is there already. */
static void rewrite(void) {
  double* values = room(sizeof(double) * count);
  MPI_File file = open_file(MPI_MODE_RDWR);
  CHECK(MPI_File_read_at(file, (MPI_Offset)rank * count * 8, values, count, MPI_DOUBLE, MPI_STATUS_IGNORE));
  expect_doubles(values, (long)rank * count, count, "MPI_File_read_at before the write");
  fill_doubles(values, (long)rank * count, count);
  CHECK(MPI_File_write_at(file, (MPI_Offset)rank * count * 8, values, 50, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  free(values);
}

/* Values behind integers, and in a view with holes. */
static void write_header(void) {
  float* values = room(sizeof(float) * count);
  const int header[2] = {count, ranks};
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  if (rank == 0) CHECK(MPI_File_write_at(file, 0, header, 2, MPI_INT, MPI_STATUS_IGNORE));
  fill_floats(values, (long)rank * count, count);
  CHECK(MPI_File_write_at_all(file, 8 + (MPI_Offset)rank * count * 4, values, count, MPI_FLOAT,
                              MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  free(values);
}

static void write_columns(void) {
  float* values = room(sizeof(float) * count);
  MPI_Datatype column;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_Type_vector(count / 10, 10, 10 * ranks, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  CHECK(MPI_File_set_view(file, (MPI_Offset)rank * 40, MPI_FLOAT, column, "native", MPI_INFO_NULL));
  for (int i = 0; i < count; ++i)
    values[i] = (float)value_at((long)(i / 10) * 10 * ranks + 10 * rank + i % 10);
  CHECK(MPI_File_write_all(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Type_free(&column);
  free(values);
}

/* What begins as frames, or on some ranks as something else, and what reads it. */
static void write_mixed(void) {
  float* values = room(sizeof(float) * count);
  const int number = 1;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  CHECK(
      MPI_File_write_at_all(file, (MPI_Offset)rank * count * 4, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_write_at_all(file, (MPI_Offset)(ranks * count + rank) * 4, &number, 1, MPI_INT,
                              MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

static void write_apart(void) {
  float* values = room(sizeof(float) * count);
  int* numbers = room(sizeof(int) * count);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  if (rank == 0) CHECK(MPI_File_write_at(file, 0, numbers, count, MPI_INT, MPI_STATUS_IGNORE));
  if (rank != 0)
    CHECK(MPI_File_write_at(file, rank * count * 4, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

static void write_and_read(void) {
  float* values = room(sizeof(float) * count);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(
      MPI_File_write_at_all(file, (MPI_Offset)rank * count * 4, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_at_all(file, 0, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

static void read_as_integers(void) {
  int* values = room(sizeof(int) * count);
  MPI_File file = open_file(MPI_MODE_RDONLY);
  CHECK(MPI_File_read_at_all(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  const Mode modes[] = {{"gather", gather},
                        {"gather_boxes", gather_boxes},
                        {"collectives", collectives},
                        {"nonblocking_calls", nonblocking_calls},
                        {"write_at", write_at},
                        {"write_view", write_view},
                        {"read_doubles", read_doubles},
                        {"read_floats", read_floats},
                        {"rewrite", rewrite},
                        {"write_header", write_header},
                        {"write_columns", write_columns},
                        {"write_mixed", write_mixed},
                        {"write_apart", write_apart},
                        {"write_and_read", write_and_read},
                        {"read_as_integers", read_as_integers}};
  return RUN_MODE(modes);
}
