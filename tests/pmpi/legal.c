/* SPDX-License-Identifier: BSD-3-Clause
 * legal MODE FILE TOLERANCE: legal sequences of MPI-IO and gathers, which have the same outcome whatever lies
 * under them; ends with 1 where one has not. Values may come back off by the tolerance. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { count = 20000, own_bytes = count * 4 };

static float values[count];

static float value_at(long i) { return (float)(3 * sin(0.002 * (double)i) + 1e-3 * cos(0.9 * (double)i)); }
static long first_of(int r) { return (long)r * count; }
static MPI_Offset begin_of(int r) { return (MPI_Offset)r * own_bytes; }

static void fill(float* out, long first, int n) {
  for (int i = 0; i < n; ++i) out[i] = value_at(first + i);
}
static int are_values(const float* got, long first, int n) {
  for (int i = 0; i < n; ++i) {
    if (!(fabs((double)got[i] - value_at(first + i)) <= tolerance)) return 0;
  }
  return 1;
}

static MPI_File open_by(MPI_Comm comm, int mode) {
  MPI_File file = MPI_FILE_NULL;
  CHECK(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file));
  if (file == MPI_FILE_NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  return file;
}
static MPI_File open_new(void) { return open_by(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR); }

/* Each rank its own values, by all: what becomes frames. */
static void write_own(MPI_File file) {
  fill(values, first_of(rank), count);
  CHECK(MPI_File_write_at_all(file, begin_of(rank), values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
}
static MPI_File written(void) {
  MPI_File file = open_new();
  write_own(file);
  return file;
}
/* What is durable for all: the way that MPI asks for. */
static void settle(MPI_File file) {
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_sync(file));
}
static void expect_all_values(MPI_File file) {
  for (int r = 0; r < ranks; ++r) {
    memset(values, 0, sizeof values);
    CHECK(MPI_File_read_at(file, begin_of(r), values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
    EXPECT(are_values(values, first_of(r), count));
  }
}
static void close_and_look_again(MPI_File file) {
  CHECK(MPI_File_close(&file));
  EXPECT(file == MPI_FILE_NULL);
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  expect_all_values(file);
  CHECK(MPI_File_close(&file));
}

static void sync_and_read(void) {
  MPI_File file = written();
  MPI_Offset bytes = 0;
  MPI_Status status;
  int got = 0;
  settle(file);
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == begin_of(ranks));
  CHECK(MPI_File_read_at_all(file, begin_of((rank + 1) % ranks), values, count, MPI_FLOAT, &status));
  EXPECT(are_values(values, first_of((rank + 1) % ranks), count));
  CHECK(MPI_File_seek(file, -40, MPI_SEEK_END));
  CHECK(MPI_File_read(file, values, 100, MPI_FLOAT, &status));
  MPI_Get_count(&status, MPI_FLOAT, &got);
  EXPECT(got == 10 && are_values(values, first_of(ranks) - 10, 10));
  /* The pointer has moved by what was asked for, not to the end of the file. */
  MPI_Offset at = 0;
  CHECK(MPI_File_get_position(file, &at));
  EXPECT(at == begin_of(ranks) - 40 + 400);
  /* Own values can be read before any sync; and go on. */
  fill(values, first_of(rank), 10);
  CHECK(MPI_File_write_at(file, begin_of(rank), values, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
  memset(values, 0, sizeof values);
  CHECK(MPI_File_read_at(file, begin_of(rank), values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(values, first_of(rank), count));
  settle(file);
  expect_all_values(file);
  close_and_look_again(file);
}

static void read_at_once(void) {
  MPI_File file = written();
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_values(file);
  CHECK(
      MPI_File_read_at_all(file, begin_of((rank + 1) % ranks), values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(values, first_of((rank + 1) % ranks), count));
  close_and_look_again(file);
}

static void doubles_behind_floats(void) {
  MPI_File file = written();
  double doubles[1000];
  for (int i = 0; i < 1000; ++i) doubles[i] = rank + 1e-12 * i;
  const MPI_Offset at = begin_of(ranks) + rank * 8000;
  CHECK(MPI_File_write_at_all(file, at, doubles, 1000, MPI_DOUBLE, MPI_STATUS_IGNORE));
  memset(doubles, 0, sizeof doubles);
  settle(file);
  CHECK(MPI_File_read_at(file, at, doubles, 1000, MPI_DOUBLE, MPI_STATUS_IGNORE));
  for (int i = 0; i < 1000; ++i) EXPECT(fabs(doubles[i] - (rank + 1e-12 * i)) <= tolerance);
  settle(file);
  expect_all_values(file);
  close_and_look_again(file);
}

/* Calls of single ranks that frames cannot hold, over and behind frames, and the later ones count. */
static void integers_by_single_ranks(void) {
  MPI_File file = written();
  int numbers[100], got[100];
  const MPI_Offset at = begin_of(ranks) + 2 + rank * 400;
  for (int i = 0; i < 100; ++i) numbers[i] = rank * 100 + i;
  if (rank % 2 == 0) CHECK(MPI_File_write_at(file, at, numbers, 100, MPI_INT, MPI_STATUS_IGNORE));
  if (rank % 2 == 0) {
    CHECK(MPI_File_read_at(file, at, got, 100, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(memcmp(numbers, got, sizeof got) == 0);
    CHECK(MPI_File_write_at(file, begin_of(rank), numbers, 10, MPI_INT, MPI_STATUS_IGNORE));
    fill(values, first_of(rank), 10);
    CHECK(MPI_File_write_at(file, begin_of(rank), values, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
  }
  settle(file);
  for (int r = 0; r < ranks; r += 2) {
    CHECK(MPI_File_read_at(file, begin_of(ranks) + 2 + r * 400, got, 100, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < 100; ++i) EXPECT(got[i] == r * 100 + i);
  }
  close_and_look_again(file);
}

static void nonblocking(void) {
  MPI_File file = written();
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int number = 7 + rank, got = 0, back = 0;
  const MPI_Offset behind = begin_of(ranks);
  fill(values, first_of(rank), count);
  CHECK(MPI_File_iwrite_at(file, begin_of(rank), values, 500, MPI_FLOAT, &requests[0]));
  CHECK(MPI_File_iwrite_at(file, behind + 4 * rank, &number, 1, MPI_INT, &requests[1]));
  CHECK(MPI_File_seek(file, begin_of(rank) + 2000, MPI_SEEK_SET));
  CHECK(MPI_File_iwrite(file, values + 500, 500, MPI_FLOAT, &requests[2]));
  CHECK(MPI_Waitall(3, requests, statuses));
  MPI_Get_count(&statuses[2], MPI_FLOAT, &got);
  EXPECT(got == 500 && requests[1] == MPI_REQUEST_NULL);
  CHECK(MPI_File_iread_at(file, behind + 4 * rank, &back, 1, MPI_INT, &requests[0]));
  CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  EXPECT(back == number);
  settle(file);
  close_and_look_again(file);
}

/* Collective, and not to wait for others: the first rank is let go before the last begins. */
static void nonblocking_together(void) {
  MPI_File file = written();
  MPI_Request request;
  int number = 7 + rank, got = 0, back = 0;
  const MPI_Offset behind = begin_of(ranks);
  if (rank > 0) MPI_Recv(&got, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(MPI_File_iwrite_at_all(file, behind + 4 * rank, &number, 1, MPI_INT, &request));
  if (rank + 1 < ranks) MPI_Send(&got, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  settle(file);
  CHECK(MPI_File_read_at(file, behind + 4 * ((rank + 1) % ranks), &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(back == 7 + (rank + 1) % ranks);
  close_and_look_again(file);
}

static void unequal_first_writes(void) {
  MPI_File file = open_new();
  fill(values, first_of(rank), count);
  /* One rank writes little, one integers, one by the file pointer. */
  if (rank == 0) CHECK(MPI_File_write_at(file, 0, values, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
  if (rank == 0) CHECK(MPI_File_write_at(file, 40, values + 10, count - 10, MPI_FLOAT, MPI_STATUS_IGNORE));
  if (rank == 1) CHECK(MPI_File_write_at(file, begin_of(1), values, own_bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  if (rank >= 2) {
    CHECK(MPI_File_seek(file, begin_of(rank), MPI_SEEK_SET));
    CHECK(MPI_File_write(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  }
  settle(file);
  write_own(file);
  settle(file);
  expect_all_values(file);
  close_and_look_again(file);
}

static void split_calls(void) {
  MPI_File file = open_new();
  MPI_Status status;
  int got = 0;
  fill(values, first_of(rank), count);
  CHECK(MPI_File_write_at_all_begin(file, begin_of(rank), values, count, MPI_FLOAT));
  CHECK(MPI_File_write_at_all_end(file, values, &status));
  MPI_Get_count(&status, MPI_FLOAT, &got);
  EXPECT(got == count);
  settle(file);
  memset(values, 0, sizeof values);
  CHECK(MPI_File_seek(file, begin_of(rank), MPI_SEEK_SET));
  CHECK(MPI_File_read_all_begin(file, values, count, MPI_FLOAT));
  CHECK(MPI_File_read_all_end(file, values, &status));
  EXPECT(are_values(values, first_of(rank), count));
  int number = rank;
  CHECK(MPI_File_seek(file, begin_of(ranks) + 4 * rank, MPI_SEEK_SET));
  CHECK(MPI_File_write_all_begin(file, &number, 1, MPI_INT));
  CHECK(MPI_File_write_all_end(file, &number, &status));
  close_and_look_again(file);
}

static void shared_pointers(void) {
  MPI_File file = written();
  MPI_Offset at = -1;
  settle(file);
  /* From the file's beginning on, each rank ten values of the beginning, in whatever order. */
  CHECK(MPI_File_read_shared(file, values, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
  int is_some = 0;
  for (int r = 0; r < ranks; ++r) is_some = is_some || are_values(values, 10 * r, 10);
  EXPECT(is_some);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 40 * ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_seek_shared(file, begin_of(ranks), MPI_SEEK_SET));
  CHECK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  settle(file);
  int got = -1;
  CHECK(MPI_File_read_at(file, begin_of(ranks) + 4 * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(got == rank);
  close_and_look_again(file);
}

static void holes(void) {
  MPI_File file = written();
  MPI_Datatype column;
  MPI_Type_vector(100, 1, ranks, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  const MPI_Offset behind = begin_of(ranks);
  CHECK(MPI_File_set_view(file, behind + rank * 4, MPI_FLOAT, column, "native", MPI_INFO_NULL));
  float own[100];
  for (int i = 0; i < 100; ++i) own[i] = value_at(first_of(ranks) + (long)i * ranks + rank);
  CHECK(MPI_File_write_all(file, own, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  settle(file);
  CHECK(MPI_File_read_at(file, behind, own, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(own, first_of(ranks), 100));
  close_and_look_again(file);
  MPI_Type_free(&column);
}

/* Readers of frames that are no program of Neve's time: other types, pieces of values, holes, shared
 * pointers. */
static void read_otherwise(void) {
  MPI_File file = written();
  CHECK(MPI_File_close(&file));
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  unsigned char whole[4000], part[1001];
  MPI_Status status;
  int got = 0;
  CHECK(MPI_File_read_at(file, begin_of(rank), whole, 4000, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_at(file, begin_of(rank) + 3, part, 1001, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT(memcmp(whole + 3, part, 1001) == 0);
  int numbers[1000];
  CHECK(MPI_File_read_at_all(file, begin_of(rank), numbers, 1000, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(memcmp(whole, numbers, 4000) == 0);
  MPI_Datatype spread;
  MPI_Type_vector(50, 1, 2, MPI_FLOAT, &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < 200; ++i) values[i] = -77;
  CHECK(MPI_File_read_at(file, begin_of(ranks) - 300, values, 2, spread, &status));
  MPI_Get_elements(&status, spread, &got);
  EXPECT(got >= 75); /* ROMIO counts what is behind the end */
  for (int i = 0; i < 50; ++i) EXPECT(are_values(values + 2 * i, first_of(ranks) - 75 + i, 1));
  for (int i = 0; i < 49; ++i) EXPECT(values[2 * i + 1] == -77);
  CHECK(MPI_File_read_ordered(file, values, 5, MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(values, 5 * rank, 5));
  CHECK(MPI_File_set_view(file, begin_of(rank), MPI_FLOAT, spread, "native", MPI_INFO_NULL));
  CHECK(MPI_File_read_all(file, values, 50, MPI_FLOAT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 50; ++i) EXPECT(are_values(values + i, first_of(rank) + 2 * i, 1));
  CHECK(MPI_File_close(&file));
  MPI_Type_free(&spread);
}

static void sizes(void) {
  MPI_File file = written();
  MPI_Offset bytes = 0;
  MPI_Barrier(MPI_COMM_WORLD); /* Open MPI's rank 0 reads and writes what others may still be writing */
  CHECK(MPI_File_preallocate(file, begin_of(ranks) + 1000));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == begin_of(ranks) + 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_set_size(file, begin_of(ranks) + 10));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == begin_of(ranks) + 10);
  /* What is preallocated may be anything. */
  if (rank == 0)
    CHECK(MPI_File_write_at(file, begin_of(ranks), "ten bytes.", 10, MPI_BYTE, MPI_STATUS_IGNORE));
  settle(file);
  expect_all_values(file);
  close_and_look_again(file);
}

static void set_to_nothing(MPI_File file) {
  MPI_Offset bytes = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_set_size(file, 0));
  settle(file);
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A file of frames that is begun again, by what frames hold and by what they do not. */
static void begun_again(void) {
  MPI_File file = written();
  CHECK(MPI_File_close(&file));
  file = open_new();
  set_to_nothing(file);
  write_own(file);
  settle(file);
  expect_all_values(file);
  set_to_nothing(file);
  MPI_Offset bytes = 0;
  if (rank == 0) CHECK(MPI_File_write_at(file, 0, &ranks, 1, MPI_INT, MPI_STATUS_IGNORE));
  settle(file);
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == 4);
  MPI_Barrier(MPI_COMM_WORLD);
  set_to_nothing(file);
  write_own(file);
  close_and_look_again(file);
}

static void append(void) {
  MPI_File file = written();
  CHECK(MPI_File_close(&file));
  file = open_by(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_APPEND);
  MPI_Offset at = 0;
  CHECK(MPI_File_get_position(file, &at));
  EXPECT(at == begin_of(ranks));
  fill(values, first_of(ranks), 100);
  CHECK(MPI_File_seek(file, rank == 0 ? 0 : 400 * (rank - 1) + 400, MPI_SEEK_CUR));
  CHECK(MPI_File_write_all(file, values, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  close_and_look_again(file);
}

/* Ranks one behind another, behind what is there. */
static void append_together(void) {
  MPI_File file = written();
  CHECK(MPI_File_close(&file));
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_APPEND);
  MPI_Offset at = 0;
  CHECK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == begin_of(ranks));
  MPI_Barrier(MPI_COMM_WORLD);
  fill(values, first_of(ranks) + 100 * rank, 100);
  CHECK(MPI_File_write_ordered(file, values, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  fill(values, first_of(ranks) + 100 * ranks, 100);
  if (rank == 0) CHECK(MPI_File_write_shared(file, values, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  settle(file);
  CHECK(MPI_File_read_at(file, begin_of(ranks), values, 100 * (ranks + 1), MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(values, first_of(ranks), 100 * (ranks + 1)));
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  expect_all_values(file);
  close_and_look_again(file);
}

static void append_alone(void) {
  MPI_File file = written();
  CHECK(MPI_File_close(&file));
  if (rank == 0) {
    file = open_by(MPI_COMM_SELF, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset at = 0;
    CHECK(MPI_File_get_position(file, &at));
    EXPECT(at == begin_of(ranks));
    fill(values, first_of(ranks), 100);
    CHECK(MPI_File_write(file, values, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  MPI_Offset bytes = 0;
  CHECK(MPI_File_get_size(file, &bytes));
  EXPECT(bytes == begin_of(ranks) + 400);
  CHECK(MPI_File_read_at(file, begin_of(ranks), values, 100, MPI_FLOAT, MPI_STATUS_IGNORE));
  EXPECT(are_values(values, first_of(ranks), 100));
  close_and_look_again(file);
}

/* What a program asks of its view, before and after the file has become a plain one. */
static void expect_view(MPI_File file, MPI_Offset displacement, MPI_Datatype filetype, MPI_Offset of_77) {
  MPI_Offset found = -1, byte = -1;
  MPI_Datatype element, type;
  MPI_Aint lower, extent = -1, wanted = -1;
  char representation[MPI_MAX_DATAREP_STRING];
  int bytes = -1, wanted_bytes = -1;
  CHECK(MPI_File_get_view(file, &found, &element, &type, representation));
  EXPECT(found == displacement && strcmp(representation, "native") == 0);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_extent(filetype, &lower, &wanted);
  MPI_Type_size(type, &bytes);
  MPI_Type_size(filetype, &wanted_bytes);
  EXPECT(extent == wanted && bytes == wanted_bytes);
  CHECK(MPI_File_get_byte_offset(file, 77, &byte));
  EXPECT(byte == of_77);
}

static void views(void) {
  MPI_File file = written();
  MPI_Datatype tens;
  MPI_Type_vector(count / 10, 10, 10 * ranks, MPI_FLOAT, &tens);
  MPI_Type_commit(&tens);
  expect_view(file, 0, MPI_BYTE, 77);
  CHECK(MPI_File_set_view(file, 40, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
  expect_view(file, 40, MPI_FLOAT, 40 + 77 * 4);
  const MPI_Offset own = rank * 40;
  CHECK(MPI_File_set_view(file, own, MPI_FLOAT, tens, "native", MPI_INFO_NULL));
  expect_view(file, own, tens, own + (7 * 10 * ranks + 7) * 4);
  CHECK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  expect_view(file, 8, MPI_INT, 8 + 77 * 4);
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  close_and_look_again(file);
  MPI_Type_free(&tens);
}

static void deleted(void) {
  MPI_File file = open_by(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  write_own(file);
  settle(file);
  expect_all_values(file);
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  file = written();
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_by(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  write_own(file);
  close_and_look_again(file);
}

/* One file by handles of single ranks. */
static void alone(void) {
  MPI_File file = open_by(MPI_COMM_SELF, MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_own(file);
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_by(MPI_COMM_SELF, MPI_MODE_RDONLY);
  expect_all_values(file);
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  /* The same of a file of frames. */
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  file = written();
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_by(MPI_COMM_SELF, MPI_MODE_RDWR);
  fill(values, first_of(rank), count);
  CHECK(MPI_File_write_at(file, begin_of(rank), values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  close_and_look_again(file);
}

static void twice(void) {
  MPI_File file = written(), second;
  settle(file);
  /* By one rank, to read and to write; then by all. */
  if (rank == 0) {
    second = open_by(MPI_COMM_SELF, MPI_MODE_RDWR);
    expect_all_values(second);
    CHECK(MPI_File_write_at(second, begin_of(ranks), &ranks, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_sync(second));
  }
  settle(file);
  int got = 0;
  CHECK(MPI_File_read_at(file, begin_of(ranks), &got, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(got == ranks);
  if (rank == 0) {
    CHECK(MPI_File_read_at(second, begin_of(ranks), &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(got == ranks);
    CHECK(MPI_File_close(&second));
  }
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  file = written();
  settle(file);
  second = open_by(MPI_COMM_WORLD, MPI_MODE_RDWR);
  expect_all_values(second);
  CHECK(MPI_File_write_at_all(second, begin_of(ranks) + 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  settle(second);
  settle(file);
  CHECK(MPI_File_read_at(file, begin_of(ranks) + 4 * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(got == rank);
  CHECK(MPI_File_close(&second));
  close_and_look_again(file);
}

static void atomic(void) {
  MPI_File file = written();
  int is_on = 0;
  CHECK(MPI_File_set_atomicity(file, 1));
  CHECK(MPI_File_get_atomicity(file, &is_on));
  EXPECT(is_on == 1);
  write_own(file);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all_values(file);
  close_and_look_again(file);
}

static int handled;
static void handle(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  ++handled;
}
#define FAILS(call) EXPECT((call) != MPI_SUCCESS)

static void wrong_file_calls(void) {
  MPI_File file = written();
  MPI_Errhandler handler;
  MPI_Request request;
  float one = 1;
  for (int round = 0; round < 2; ++round) {
    FAILS(MPI_File_write_at(file, 0, &one, -1, MPI_FLOAT, MPI_STATUS_IGNORE));
    FAILS(MPI_File_write_at(file, 0, &one, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_File_read_at(file, 0, &one, -1, MPI_FLOAT, MPI_STATUS_IGNORE));
    FAILS(MPI_File_iwrite_at(file, 0, &one, -1, MPI_FLOAT, &request));
    FAILS(MPI_File_seek(file, -8, MPI_SEEK_SET));
    FAILS(MPI_File_seek(file, 0, 12345));
    if (round == 0) {
      MPI_File_create_errhandler(handle, &handler);
      CHECK(MPI_File_set_errhandler(file, handler));
    }
  }
  EXPECT(handled == 6);
  MPI_Errhandler_free(&handler);
  settle(file);
  expect_all_values(file);
  close_and_look_again(file);
  file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  FAILS(MPI_File_write_at(file, 0, &one, 1, MPI_FLOAT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  close_and_look_again(written());
  FAILS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file));
}

/* What is left on the stack is no zeros. */
static void __attribute__((noinline)) leave_traces(void) {
  volatile char traces[4096];
  for (size_t i = 0; i < sizeof traces; ++i) traces[i] = 0x5a;
}
/* Some ranks bring nothing to a collective call: that is what the status says. */
static void nothing_from_some(void) {
  MPI_File file = open_new();
  char bytes[16] = {1};
  const int own = rank == 0 ? 16 : 0;
  for (int call = 0; call < 4; ++call) {
    MPI_Status status;
    int got = -1;
    memset(&status, 0, sizeof status);
    leave_traces();
    if (call % 2 == 0) {
      CHECK(MPI_File_write_at_all(file, begin_of(ranks), bytes, own, MPI_BYTE, &status));
    } else {
      CHECK(MPI_File_read_at_all(file, begin_of(ranks), bytes, own, MPI_BYTE, &status));
    }
    CHECK(MPI_Get_count(&status, MPI_BYTE, &got));
    if (rank > 0) EXPECT(got == 0);
    if (call == 1) write_own(file);
  }
  close_and_look_again(file);
}

/* Views that are set again and again, with the shared pointer between. */
static void views_and_shared_pointers(void) {
  MPI_File file = open_new();
  MPI_Offset at = -1;
  for (int round = 0; round < 6; ++round) {
    CHECK(MPI_File_set_view(file, begin_of(round), MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
    if (round % 3 == 1) continue;
    if (rank == round % ranks) {
      fill(values, first_of(round), count);
      CHECK(MPI_File_write_shared(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE));
    }
    settle(file);
    CHECK(MPI_File_get_position_shared(file, &at));
    EXPECT(at == count);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK(MPI_File_get_position_shared(file, &at));
  EXPECT(at == 0);
  write_own(file);
  close_and_look_again(file);
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}
/* Open MPI lets the collective call pass, and what it leaves behind can stop a later one. */
static void read_only(void) {
  close_and_look_again(written());
  MPI_File file = open_by(MPI_COMM_WORLD, MPI_MODE_RDONLY);
  MPI_Request request;
  fill(values, first_of(rank), count);
  int code = MPI_File_write_at_all(file, begin_of(rank), values, count, MPI_FLOAT, MPI_STATUS_IGNORE);
  EXPECT(class_of(code) == MPI_ERR_READ_ONLY);
  code = MPI_File_iwrite_at(file, begin_of(rank), values, count, MPI_FLOAT, &request);
  EXPECT(class_of(code) == MPI_ERR_READ_ONLY);
  code = MPI_File_write_at_all_begin(file, begin_of(rank), values, count, MPI_FLOAT);
  EXPECT(class_of(code) == MPI_ERR_READ_ONLY);
  code = MPI_File_write_ordered(file, values, count, MPI_FLOAT, MPI_STATUS_IGNORE);
  EXPECT(class_of(code) == MPI_ERR_READ_ONLY);
  close_and_look_again(file);
  close_and_look_again(written());
}

static void wrong_gathers(void) {
  static float all[count * 8];
  int counts[8], displs[8];
  for (int r = 0; r < ranks; ++r) counts[r] = count, displs[r] = r * count;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  FAILS(MPI_Gather(values, -1, MPI_FLOAT, all, -1, MPI_FLOAT, 0, MPI_COMM_WORLD));
  FAILS(MPI_Gather(values, count, MPI_DATATYPE_NULL, all, count, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
  FAILS(MPI_Gather(values, count, MPI_FLOAT, all, count, MPI_FLOAT, ranks, MPI_COMM_WORLD));
  FAILS(MPI_Gather(values, count, MPI_FLOAT, all, count, MPI_FLOAT, -1, MPI_COMM_WORLD));
  FAILS(MPI_Gatherv(values, -1, MPI_FLOAT, all, counts, displs, MPI_FLOAT, 0, MPI_COMM_WORLD));
  fill(values, first_of(rank), count);
  CHECK(MPI_Gatherv(values, count, MPI_FLOAT, all, counts, displs, MPI_FLOAT, 0, MPI_COMM_WORLD));
  for (int r = 0; rank == 0 && r < ranks; ++r) EXPECT(are_values(all + r * count, first_of(r), count));
  FILE* none = fopen(path, "w"); /* every mode leaves a file */
  fclose(none);
}

static void external_data(void) {
  MPI_File file = open_new();
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  write_own(file);
  float back[10];
  const int code =
      MPI_File_set_view(file, begin_of(ranks), MPI_FLOAT, MPI_FLOAT, "external32", MPI_INFO_NULL);
  if (code == MPI_SUCCESS) {
    fill(values, 0, 10);
    CHECK(MPI_File_write_at_all(file, 10 * rank, values, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_read_at_all(file, 10 * rank, back, 10, MPI_FLOAT, MPI_STATUS_IGNORE));
    EXPECT(memcmp(values, back, sizeof back) == 0);
  }
  CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  close_and_look_again(file);
}

int main(int argc, char** argv) {
  const Mode modes[] = {{"sync_and_read", sync_and_read},
                        {"read_at_once", read_at_once},
                        {"doubles_behind_floats", doubles_behind_floats},
                        {"integers_by_single_ranks", integers_by_single_ranks},
                        {"nonblocking", nonblocking},
                        {"nonblocking_together", nonblocking_together},
                        {"unequal_first_writes", unequal_first_writes},
                        {"split_calls", split_calls},
                        {"shared_pointers", shared_pointers},
                        {"holes", holes},
                        {"read_otherwise", read_otherwise},
                        {"sizes", sizes},
                        {"begun_again", begun_again},
                        {"append", append},
                        {"append_together", append_together},
                        {"append_alone", append_alone},
                        {"views", views},
                        {"deleted", deleted},
                        {"alone", alone},
                        {"twice", twice},
                        {"atomic", atomic},
                        {"wrong_file_calls", wrong_file_calls},
                        {"read_only", read_only},
                        {"nothing_from_some", nothing_from_some},
                        {"views_and_shared_pointers", views_and_shared_pointers},
                        {"wrong_gathers", wrong_gathers},
                        {"external_data", external_data}};
  return RUN_MODE(modes);
}
