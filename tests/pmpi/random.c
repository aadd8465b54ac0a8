/* SPDX-License-Identifier: BSD-3-Clause
 * random FILE TOLERANCE FIRST COUNT: COUNT random legal programs of MPI-IO, numbered from FIRST on, one after
 * another on one file. Every rank knows what the file holds by MPI's rules (random_model.h); ends with 1
 * where anything was something else. Values of floats and doubles may come back off by the tolerance. */
#include "random_parts.h"

enum Where { given, own, shared, ordered };
enum How { blocking, nonblocking, split };

static const char* path;
static MPI_File file;
static int can_read, can_write, file_mode;
static long own_at[max_ranks], shared_at; /* pointers, in bytes of the view */
static Part parts[max_ranks];

/* Nonblocking calls of this rank under way. */
enum { most_pending = 4 };
typedef struct {
  Part part;
  MPI_Request request;
  int is_write;
} Pending;
static Pending pending[most_pending];
static int pending_count; /* of this rank */
static int any_pending;   /* of some rank */
static int any_reading;   /* of them */

#define AT file, offset
#define CALLS(dir)                                                                                        \
  static int dir##_blocking(enum Where where, int is_of_all, MPI_Offset offset, void* data, int count,    \
                            MPI_Datatype type, MPI_Status* status) {                                      \
    if (where == ordered) return MPI_File_##dir##_ordered(file, data, count, type, status);               \
    if (where == shared) return MPI_File_##dir##_shared(file, data, count, type, status);                 \
    if (where == own) {                                                                                   \
      return is_of_all ? MPI_File_##dir##_all(file, data, count, type, status)                            \
                       : MPI_File_##dir(file, data, count, type, status);                                 \
    }                                                                                                     \
    return is_of_all ? MPI_File_##dir##_at_all(AT, data, count, type, status)                             \
                     : MPI_File_##dir##_at(AT, data, count, type, status);                                \
  }                                                                                                       \
  static int dir##_nonblocking(enum Where where, int is_of_all, MPI_Offset offset, void* data, int count, \
                               MPI_Datatype type, MPI_Request* request) {                                 \
    if (where == shared) return MPI_File_i##dir##_shared(file, data, count, type, request);               \
    if (where == own) {                                                                                   \
      return is_of_all ? MPI_File_i##dir##_all(file, data, count, type, request)                          \
                       : MPI_File_i##dir(file, data, count, type, request);                               \
    }                                                                                                     \
    return is_of_all ? MPI_File_i##dir##_at_all(AT, data, count, type, request)                           \
                     : MPI_File_i##dir##_at(AT, data, count, type, request);                              \
  }                                                                                                       \
  static int dir##_split(enum Where where, MPI_Offset offset, void* data, int count, MPI_Datatype type,   \
                         MPI_Status* status) {                                                            \
    int code;                                                                                             \
    if (where == ordered) {                                                                               \
      code = MPI_File_##dir##_ordered_begin(file, data, count, type);                                     \
      return code != MPI_SUCCESS ? code : MPI_File_##dir##_ordered_end(file, data, status);               \
    }                                                                                                     \
    if (where == own) {                                                                                   \
      code = MPI_File_##dir##_all_begin(file, data, count, type);                                         \
      return code != MPI_SUCCESS ? code : MPI_File_##dir##_all_end(file, data, status);                   \
    }                                                                                                     \
    code = MPI_File_##dir##_at_all_begin(AT, data, count, type);                                          \
    return code != MPI_SUCCESS ? code : MPI_File_##dir##_at_all_end(file, data, status);                  \
  }
CALLS(write)
CALLS(read)

static void check_read(Part* p) {
  unsigned char* got = malloc((size_t)p->bytes + 1);
  pack_buffer(p, got);
  compare(got, p->places, p->bytes);
  free(got);
}

static void wait_for_all(void) {
  for (int i = 0; i < pending_count; ++i) {
    MPI_Status status;
    int got = 0;
    CHECK(MPI_Wait(&pending[i].request, &status));
    MPI_Get_elements(&status, MPI_BYTE, &got);
    expect_equal(got, pending[i].part.bytes, "bytes of a nonblocking call");
    if (!pending[i].is_write) check_read(&pending[i].part);
    free_part(&pending[i].part);
  }
  pending_count = any_pending = any_reading = 0;
}

/* What all have written is there for all. */
static void settle(void) {
  wait_for_all();
  if (file_mode & MPI_MODE_RDONLY) return;
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_sync(file));
  memset(owner, settled, sizeof owner);
  settled_size = model_size;
}

/* 1 where all parts can be written or read at once, 2 after a sync, 0 never. */
static int is_free(int is_write) {
  static signed char taken[max_bytes];
  int outcome = 1;
  memset(taken, settled, sizeof taken);
  for (int r = 0; r < ranks; ++r) {
    for (long i = 0; i < parts[r].bytes; ++i) {
      const long at = parts[r].places[i];
      if (!is_write && at >= model_size) return 0;
      if (is_write && taken[at] != settled) return 0;
      taken[at] = (signed char)r;
      if (owner[at] != settled && (owner[at] != r || any_pending)) outcome = 2;
      if (!is_write && at >= settled_size) outcome = 2;
    }
  }
  return outcome;
}

static void free_parts(void) {
  for (int r = 0; r < ranks; ++r) free_part(&parts[r]);
}

static long in_elements(long bytes) { return bytes / view.element_bytes * view.element_bytes; }

/* Bytes of a part: whole elements of the view and whole values. */
static long some_bytes(enum Kind kind) {
  const int bytes = kind_bytes[kind],
            step = bytes % view.element_bytes == 0 ? bytes : bytes * view.element_bytes;
  if (one_in(8)) return 0;
  return (long)(one_in(3) ? pick(1, 4000) : pick(1, 200)) * bytes / step * step;
}

static enum Kind some_kind(int first) {
  const enum Kind likely[8] = {floats, floats, floats, doubles, doubles, ints, bytes_alone, pairs};
  return one_in(10) ? likely[pick(0, 7)] : (enum Kind)first;
}

/* The parts of a call of `callers` (a rank, or -1 for all). */
static int make_parts(enum Where where, int caller, int is_write, int is_of_all) {
  const enum Kind likely[8] = {floats, floats, floats, doubles, doubles, ints, bytes_alone, pairs};
  const enum Kind first = likely[pick(0, 7)];
  const int is_beside = view.is_same, some_shape = one_in(2) ? 0 : pick(0, 3);
  /* Open MPI's collective reads of places that overlap need memory without gaps. */
  const int shape = where == own && is_of_all && !is_write ? 0 : some_shape;
  long at = where == shared || where == ordered ? shared_at : in_elements(one_in(2) ? 0 : pick(0, 3000)),
       fits = 1;
  for (int r = 0; r < ranks; ++r) {
    Part* p = &parts[r];
    p->kind = some_kind((int)first);
    p->bytes = caller >= 0 && caller != r ? 0 : some_bytes(p->kind);
    p->at = at;
    if (where == own && one_in(2)) p->at = own_at[r];
    if (view.tile_bytes[r] == 0) p->bytes = 0;
    fits = make_places(p, r) && fits;
    make_stream(p);
    choose_memory(p, shape);
    if (where == shared || where == ordered || is_beside) at += p->bytes;
    if (is_beside && where != shared && where != ordered && is_write && one_in(3)) {
      at += (long)pick(0, 5) * view.element_bytes;
    }
  }
  return (int)fits;
}

static void seek_own(long at) {
  const int is_lazy = one_in(2), is_set = one_in(2); /* the same on all ranks, whose places differ */
  const long element = view.element_bytes, from = own_at[rank] / element;
  if (at == own_at[rank] && is_lazy) return;
  if (is_set) {
    CHECK(MPI_File_seek(file, at / element, MPI_SEEK_SET));
  } else {
    CHECK(MPI_File_seek(file, at / element - from, MPI_SEEK_CUR));
  }
}

static void expect_moved(const MPI_Status* status, const Part* p) {
  int got = 0;
  MPI_Get_elements((MPI_Status*)status, MPI_BYTE, &got);
  expect_equal(got, p->bytes, "bytes of a status");
}

/* This rank's part of a call. */
static void call(Part* p, enum Where where, enum How how, int is_of_all, int is_write) {
  MPI_Status status;
  const MPI_Offset offset = p->at / view.element_bytes;
  make_buffer(p);
  if (is_write) unpack_buffer(p);
  if (how == nonblocking) {
    Pending* slot = &pending[pending_count++];
    slot->is_write = is_write;
    CHECK((is_write ? write_nonblocking : read_nonblocking)(where, is_of_all, offset, p->buffer, p->count,
                                                            p->memory, &slot->request));
    slot->part = *p;
    memset(p, 0, sizeof *p);
    p->memory = MPI_DATATYPE_NULL;
    return;
  }
  if (how == split) {
    CHECK((is_write ? write_split : read_split)(where, offset, p->buffer, p->count, p->memory, &status));
  } else {
    CHECK((is_write ? write_blocking : read_blocking)(where, is_of_all, offset, p->buffer, p->count,
                                                      p->memory, &status));
  }
  expect_moved(&status, p);
  if (!is_write) check_read(p);
}

static void move_pointers(enum Where where) {
  for (int r = 0; r < ranks; ++r) {
    if (where == own) own_at[r] = parts[r].at + parts[r].bytes;
    if (where == shared || where == ordered) shared_at += parts[r].bytes;
  }
}

static void access_file(int is_write) {
  const char* names[4] = {"at", "own", "shared", "ordered"};
  static char text[64];
  const enum Where where =
      view.is_same && one_in(5) ? (enum Where)pick(shared, ordered) : (enum Where)pick(given, own);
  enum How how = (enum How)pick(blocking, split);
  if (where == ordered && how == nonblocking) how = blocking;
  if (where == shared && how == split) how = blocking;
  int is_of_all = how == split || where == ordered || (where != shared && one_in(2));
  const int caller = where == shared || (!is_of_all && one_in(3)) ? pick(0, ranks - 1) : -1;
  const int fits = make_parts(where, caller, is_write, is_of_all), is_now = fits ? is_free(is_write) : 0;
  snprintf(text, sizeof text, "%s%s %s %s", is_of_all ? "all " : "",
           how == split      ? "split"
           : how == blocking ? ""
                             : "nonblocking",
           is_write ? "write" : "read", names[where]);
  doing = text;
  if (is_now != 0) {
    if (is_now == 2 || any_pending == most_pending || (is_write && any_reading)) settle();
    if (where == own) {
      seek_own(parts[rank].at);
    }
    if (is_write) {
      for (int r = 0; r < ranks; ++r) /* Open MPI's collective writes of other ranks may still be under way
                                         when a call comes back. */
        put_part(&parts[r], is_of_all ? of_all : r);
    }
    move_pointers(where);
    if (how == nonblocking) ++any_pending, any_reading |= !is_write;
    if (is_of_all || caller < 0 || caller == rank) call(&parts[rank], where, how, is_of_all, is_write);
    /* The next shared one's place is known, and what was read may be written. */
    if (where == shared || !is_write) MPI_Barrier(MPI_COMM_WORLD);
  }
  free_parts();
}

static void set_default_pointers(void) {
  memset(own_at, 0, sizeof own_at);
  shared_at = 0;
}

static void set_view(void) {
  const MPI_Datatype elements[6] = {MPI_BYTE, MPI_FLOAT, MPI_FLOAT, MPI_DOUBLE, MPI_DOUBLE, MPI_INT};
  doing = "set_view";
  wait_for_all();
  free_view();
  make_view_of(pick(0, 9), elements[pick(0, 5)]);
  CHECK(MPI_File_set_view(file, view.displacement[rank], view.element, view.filetype[rank], "native",
                          MPI_INFO_NULL));
  set_default_pointers();
}

static void ask(void) {
  MPI_Offset offset = -1;
  MPI_Aint extent = -1;
  char representation[MPI_MAX_DATAREP_STRING] = "";
  MPI_Datatype element, filetype;
  doing = "questions";
  CHECK(MPI_File_get_position(file, &offset));
  expect_equal(offset, own_at[rank] / view.element_bytes, "the position");
  if (!any_pending && view.tile_bytes[rank] > 0) {
    const long at = pick(0, 300) * (long)view.element_bytes;
    CHECK(MPI_File_get_byte_offset(file, at / view.element_bytes, &offset));
    expect_equal(offset, place_of(rank, at), "the byte of an offset");
  }
  CHECK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  expect_equal(extent, 8, "an extent");
  CHECK(MPI_File_get_view(file, &offset, &element, &filetype, representation));
  expect_equal(offset, view.displacement[rank], "the displacement");
  expect_equal(strcmp(representation, "native"), 0, "the representation");
  if (one_in(2)) {
    settle();
    CHECK(MPI_File_get_size(file, &offset));
    expect_equal(offset, model_size, "the size");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (view.is_same && one_in(2)) {
    wait_for_all();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_get_position_shared(file, &offset));
    expect_equal(offset, shared_at / view.element_bytes, "the shared position");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void seek(void) {
  doing = "seek";
  const long end = model_size - view.displacement[rank], element = view.element_bytes;
  /* MPIs differ in where half an element ends, and Open MPI's end of some views with a displacement is none.
   */
  const int has_end = view.is_line && view.displacement[rank] == 0 && end > 0 && end % element == 0;
  if (has_end && one_in(2)) {
    settle();
    const long elements = end / element, back = pick(0, elements > 100 ? 100 : (int)elements);
    CHECK(MPI_File_seek(file, -back, MPI_SEEK_END));
    for (int r = 0; r < ranks; ++r) own_at[r] = (elements - back) * element;
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (view.is_same) {
    wait_for_all();
    MPI_Barrier(MPI_COMM_WORLD);
    shared_at = pick(0, 500) * element;
    CHECK(MPI_File_seek_shared(file, shared_at / element, MPI_SEEK_SET));
  }
}

static void set_size(void) {
  doing = "set_size";
  settle();
  /* Open MPI's preallocation of more ranks hangs, and it reads. */
  const int is_set = ranks > 2 || !can_read || one_in(2);
  const long bytes = one_in(4) ? 0 : pick(0, one_in(2) ? (int)model_size : 40000);
  if (is_set) {
    CHECK(MPI_File_set_size(file, bytes));
    resize_model(bytes);
  } else if (bytes > 0) {
    CHECK(MPI_File_preallocate(file, bytes));
    if (bytes > model_size) resize_model(bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  settle();
}

static void open_file(int mode) {
  file_mode = mode;
  can_read = !(mode & MPI_MODE_WRONLY);
  can_write = !(mode & MPI_MODE_RDONLY);
  const int code = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file);
  expect_success(code, "MPI_File_open");
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  make_default_view();
  set_default_pointers();
  if (mode & MPI_MODE_APPEND) {
    shared_at = model_size;
    for (int r = 0; r < ranks; ++r) own_at[r] = model_size;
  }
}

static void close_file(void) {
  wait_for_all();
  CHECK(MPI_File_close(&file));
  free_view();
  memset(owner, settled, sizeof owner);
  settled_size = model_size;
  MPI_Barrier(MPI_COMM_WORLD);
}

/* By the ranks of a communicator, what another one wrote: all of it, in pieces of any size. */
static void look_by(MPI_Comm comm) {
  static unsigned char got[max_bytes];
  static long places[max_bytes];
  MPI_File other;
  MPI_Offset bytes = -1;
  CHECK(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other));
  CHECK(MPI_File_get_size(other, &bytes));
  expect_equal(bytes, model_size, "the size");
  const int step = 1 + (int)model_size / (1 + (int)(seed % 5));
  for (long at = 0; at < model_size; at += step) {
    const int n = at + step > model_size ? (int)(model_size - at) : step;
    CHECK(MPI_File_read_at(other, at, got, n, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; ++i) places[i] = at + i;
    compare(got, places, n);
  }
  CHECK(MPI_File_close(&other));
}

static void look_again(void) {
  doing = "reading after the end";
  const int parts_of_world = pick(1, ranks);
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank % parts_of_world, rank, &some);
  look_by(some);
  MPI_Comm_free(&some);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void open_again(void) {
  const int modes[5] = {MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_WRONLY, MPI_MODE_RDONLY,
                        MPI_MODE_RDWR | MPI_MODE_APPEND};
  doing = "opening again";
  close_file();
  if (one_in(3)) look_again();
  doing = "opening again";
  open_file(modes[pick(0, 4)]);
}

static void set_atomicity(void) {
  doing = "set_atomicity";
  settle();
  CHECK(MPI_File_set_atomicity(file, one_in(2)));
}

static void take_step(void) {
  const int step = pick(1, 100);
  if (step <= 50) {
    if (can_write) access_file(1);
  } else if (step <= 72) {
    if (can_read) access_file(0);
  } else if (step <= 82) {
    set_view();
  } else if (step <= 86) {
    doing = "sync";
    settle();
  } else if (step <= 91) {
    ask();
  } else if (step <= 94) {
    seek();
  } else if (step <= 96) {
    if (can_write) set_size();
  } else if (step <= 99) {
    open_again();
  } else if (can_write && one_in(3)) {
    set_atomicity();
  }
}

static void run_program(uint64_t number) {
  seed = number;
  state = (number + 1) * 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < 20; ++i) next_random();
  begin_model();
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  doing = "opening";
  open_file(MPI_MODE_CREATE | (one_in(4) ? MPI_MODE_WRONLY : MPI_MODE_RDWR));
  const int steps = pick(2, 14);
  for (int i = 0; i < steps; ++i) take_step();
  doing = "closing";
  close_file();
  look_again();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5 || ranks > max_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  path = argv[1];
  tolerance = atof(argv[2]);
  const uint64_t first = strtoull(argv[3], NULL, 10), count = strtoull(argv[4], NULL, 10);
  for (uint64_t number = first; number < first + count; ++number) {
    said = 0;
    run_program(number);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong;
}
