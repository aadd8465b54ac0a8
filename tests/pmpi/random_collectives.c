/* SPDX-License-Identifier: BSD-3-Clause
 * random_collectives SEED PROGRAMS TOLERANCE [FIRST]: legal programs of collective calls, drawn at random:
 * communicators of 1 to all ranks, kinds of calls, roots, counts, datatypes that differ from rank to rank, in
 * place or not, blocking or not, on threads where MPI has them. Every call is made twice: of floating-point
 * values, and of the same bytes as integers in the same places, which nobody compresses. What the first
 * brings is off from what the second brings by the tolerance at most, and all else is as it was. Ends with 1
 * where anything is wrong. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { guard_bytes = 256, most_ranks = 64, most_pending = 3, most_steps = 4 };

static double tolerance;
static int world_rank, world_ranks, has_threads;
static long calls, values_compared, wrong;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- numbers ------------------------------------------------------------------------------------------ */

typedef struct {
  uint64_t state;
} Rng;

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
static uint64_t next(Rng* rng) { return mixed(rng->state += 0x9e3779b97f4a7c15U); }
static int draw(Rng* rng, int below) { return (int)(next(rng) % (uint64_t)below); }
static Rng derived(uint64_t a, uint64_t b, uint64_t c) {
  Rng rng = {mixed(mixed(mixed(a + 1) + b + 1) + c + 1)};
  return rng;
}
/* One of the divisors of n. */
static int divisor(Rng* rng, int n) {
  int found = 1, seen = 0;
  for (int d = 1; d <= n; ++d) {
    if (n % d == 0 && draw(rng, ++seen) == 0) found = d;
  }
  return found;
}

static void* room(size_t bytes) {
  void* memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  return memory;
}

/* --- datatypes ---------------------------------------------------------------------------------------- */

static MPI_Datatype done(MPI_Datatype made, MPI_Datatype* inner) {
  if (inner != NULL) MPI_Type_free(inner);
  MPI_Type_commit(&made);
  return made;
}

/* Blocks of 1 to 7 values with gaps of 0 to 3 between; the last first where `backwards`. */
static MPI_Datatype indexed(Rng* rng, MPI_Datatype base, int values, int backwards) {
  int* lengths = room(sizeof(int) * (size_t)values);
  int* places = room(sizeof(int) * (size_t)values);
  int blocks = 0, at = 0;
  for (int left = values; left > 0; ++blocks) {
    const int length = 1 + draw(rng, left < 7 ? left : 7);
    lengths[blocks] = length;
    places[blocks] = at;
    at += length + draw(rng, 4);
    left -= length;
  }
  for (int i = 0; backwards && i < blocks / 2; ++i) {
    const int length = lengths[i], place = places[i];
    lengths[i] = lengths[blocks - 1 - i], places[i] = places[blocks - 1 - i];
    lengths[blocks - 1 - i] = length, places[blocks - 1 - i] = place;
  }
  MPI_Datatype made;
  MPI_Type_indexed(blocks, lengths, places, base, &made);
  free(lengths), free(places);
  return done(made, NULL);
}

static MPI_Datatype subarray(Rng* rng, MPI_Datatype base, int values) {
  int sub[3], sizes[3], starts[3];
  sub[0] = divisor(rng, values);
  sub[1] = divisor(rng, values / sub[0]);
  sub[2] = values / sub[0] / sub[1];
  for (int d = 0; d < 3; ++d) {
    starts[d] = draw(rng, 3);
    sizes[d] = sub[d] + starts[d] + draw(rng, 3);
  }
  MPI_Datatype made;
  MPI_Type_create_subarray(3, sizes, sub, starts, draw(rng, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, base,
                           &made);
  return done(made, NULL);
}

/* Types made of types. */
static MPI_Datatype nested(Rng* rng, MPI_Datatype base, int bytes, int values, int way) {
  MPI_Datatype made, inner;
  const int length = divisor(rng, values), gap = draw(rng, 4);
  switch (way) {
    case 0:
      MPI_Type_contiguous(values, base, &inner);
      MPI_Type_create_resized(inner, 0, (MPI_Aint)(values + gap) * bytes, &made);
      break;
    case 1:
      MPI_Type_contiguous(length, base, &inner);
      MPI_Type_create_hvector(values / length, 1, (MPI_Aint)(length + gap) * bytes, inner, &made);
      break;
    case 2:
      inner = subarray(rng, base, length);
      MPI_Type_contiguous(values / length, inner, &made);
      break;
    default:
      inner = indexed(rng, base, values, 0);
      MPI_Type_dup(inner, &made);
  }
  return done(made, &inner);
}

/* A type of so many values. The same numbers give the same layout for each base of a size. */
static MPI_Datatype make_type(Rng rng, MPI_Datatype base, int bytes, int values) {
  MPI_Datatype made;
  const int way = draw(&rng, 13), length = divisor(&rng, values), gap = draw(&rng, 4);
  const int lengths[2] = {length, values - length};
  const MPI_Aint before = -(MPI_Aint)(gap + 1) * bytes;
  const MPI_Aint places[2] = {(MPI_Aint)gap * bytes, (MPI_Aint)(2 * gap + length) * bytes};
  const MPI_Datatype parts[2] = {base, base};
  switch (way) {
    case 0:
      MPI_Type_contiguous(values, base, &made);
      break;
    case 1:
      MPI_Type_vector(values / length, length, length + gap, base, &made);
      break;
    case 2:
    case 3:
      return indexed(&rng, base, values, way == 3);
    case 4:
    case 5:
      return subarray(&rng, base, values);
    case 6: /* begins before the buffer does */
      MPI_Type_create_hindexed(1, &values, &before, base, &made);
      break;
    case 7:
      MPI_Type_create_struct(2, lengths, places, parts, &made);
      break;
    case 8:
      MPI_Type_vector(values, 1, 1 + gap, base, &made);
      break;
    default:
      return nested(&rng, base, bytes, values, way - 9);
  }
  return done(made, NULL);
}

/* How a rank says what it sends or receives: instances of a type, and the same of integers. */
typedef struct {
  MPI_Datatype real, shadow;
  int is_named;
  int values; /* of an instance */
  MPI_Aint extent, lowest, span;
} Type;

static Type draw_type(Rng* rng, int bytes, int values) {
  Type type;
  type.real = bytes == 4 ? MPI_FLOAT : MPI_DOUBLE;
  type.shadow = bytes == 4 ? MPI_INT32_T : MPI_INT64_T;
  type.is_named = values == 1 && draw(rng, 3);
  type.values = values;
  if (!type.is_named) {
    const Rng of_type = {next(rng)};
    type.real = make_type(of_type, type.real, bytes, values);
    type.shadow = make_type(of_type, type.shadow, bytes, values);
  }
  MPI_Aint lower;
  MPI_Type_get_extent(type.real, &lower, &type.extent);
  MPI_Type_get_true_extent(type.real, &type.lowest, &type.span);
  return type;
}
static void free_type(Type* type) {
  if (type->is_named) return;
  MPI_Type_free(&type->real);
  MPI_Type_free(&type->shadow);
}

/* --- one side of a call ------------------------------------------------------------------------------- */

typedef struct {
  Type type;
  int parts;
  int counts[most_ranks], displs[most_ranks]; /* in instances */
  size_t bytes;                               /* of the memory, of which the buffer is a part */
  MPI_Aint before;                            /* of the memory, before the buffer */
  char *real, *shadow, *original;
} Side;

/* `counts[p]` instances of so many values for each part. One after another, or anywhere where each has its
 * own place. */
static Side make_side(Rng* rng, int bytes, int values, int parts, const int* counts, int is_of_counts) {
  Side side;
  memset(&side, 0, sizeof side);
  side.type = draw_type(rng, bytes, values);
  side.parts = parts;
  const int backwards = is_of_counts && draw(rng, 2);
  int end = is_of_counts ? draw(rng, 3) : 0;
  for (int i = 0; i < parts; ++i) {
    const int p = backwards ? parts - 1 - i : i;
    side.counts[p] = counts[p];
    side.displs[p] = end;
    end += side.counts[p] + (is_of_counts ? draw(rng, 3) : 0);
  }
  const MPI_Aint low = side.type.lowest < 0 ? -side.type.lowest : 0;
  const MPI_Aint last = side.type.lowest + side.type.span;
  const MPI_Aint high = (MPI_Aint)end * side.type.extent + (last > 0 ? last : 0);
  side.before = guard_bytes + (low + 15) / 16 * 16;
  side.bytes = (size_t)(side.before + (high + 15) / 16 * 16 + guard_bytes);
  side.real = room(side.bytes);
  side.shadow = room(side.bytes);
  side.original = room(side.bytes);
  return side;
}
static void free_side(Side* side) {
  free_type(&side->type);
  free(side->real), free(side->shadow), free(side->original);
}

static void put(char* at, int bytes, double value) {
  const float single = (float)value;
  if (bytes == 4) memcpy(at, &single, 4);
  if (bytes == 8) memcpy(at, &value, 8);
}
static double get(const char* at, int bytes) {
  float single;
  double value;
  memcpy(&single, at, 4);
  if (bytes == 4) return single;
  memcpy(&value, at, 8);
  return value;
}

/* Smooth, noisy, constant, of special values, or with a fill value. */
static void fill_with_values(Side* side, Rng* rng, int bytes) {
  const int way = draw(rng, 7);
  const double height = pow(10, draw(rng, 5) - 2), phase = draw(rng, 100);
  const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-42, 1e30, 0};
  for (size_t i = 0; i < side->bytes / (size_t)bytes; ++i) {
    double value = height * (sin(0.01 * (double)i + phase) + 0.1 * cos(0.31 * (double)i));
    if (way == 1) value = height * ((double)draw(rng, 1 << 20) / (1 << 19) - 1);
    if (way == 2) value = height;
    if (way == 3 && draw(rng, 40) == 0) value = special[draw(rng, 7)];
    if (way == 4 && draw(rng, 10) == 0) value = 1e20;
    if (way == 5) value = floor(value);
    put(side->original + i * (size_t)bytes, bytes, value);
  }
}
/* A NaN that nobody sends. */
static void fill_with_nothing(Side* side, int bytes) {
  const uint32_t single[2] = {0x7fc0beef, 0x7fc0beef};
  const uint64_t pair = 0x7ff8beefbeefbeefU;
  for (size_t i = 0; i < side->bytes / 8; ++i)
    memcpy(side->original + 8 * i, bytes == 4 ? (const void*)single : &pair, 8);
}
static void begin_side(Side* side) {
  memcpy(side->real, side->original, side->bytes);
  memcpy(side->shadow, side->original, side->bytes);
}

/* --- calls -------------------------------------------------------------------------------------------- */

enum Kind { GATHER, GATHERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, BCAST, SCATTER, SCATTERV, KINDS };
static const char* const names[KINDS] = {"MPI_Gather",     "MPI_Gatherv",  "MPI_Allgather",
                                         "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
                                         "MPI_Bcast",      "MPI_Scatter",  "MPI_Scatterv"};

typedef struct {
  int kind, root, bytes, in_place, is_nonblocking, rank, ranks;
  long program;
  MPI_Comm comm;
  Side send, recv;
  MPI_Request request;
} Call;

static int is_of_counts(int kind) {
  return kind == GATHERV || kind == ALLGATHERV || kind == ALLTOALLV || kind == SCATTERV;
}
static int has_root(int kind) { return kind <= GATHERV || kind >= BCAST; }

/* What a rank sends lies where it receives, or what it receives stays where it is sent from. */
static int sends_in_place(const Call* c) {
  if (!c->in_place) return 0;
  if (c->kind <= GATHERV) return c->rank == c->root;
  return c->kind >= ALLGATHER && c->kind <= ALLTOALLV;
}
static int receives_in_place(const Call* c) {
  return c->in_place && c->kind >= SCATTER && c->rank == c->root;
}

static int make_call(Call* c, int is_shadow) {
  const void* send = (is_shadow ? c->send.shadow : c->send.real) + c->send.before;
  void* recv = (is_shadow ? c->recv.shadow : c->recv.real) + c->recv.before;
  const MPI_Datatype st = is_shadow ? c->send.type.shadow : c->send.type.real;
  const MPI_Datatype rt = is_shadow ? c->recv.type.shadow : c->recv.type.real;
  const int *sc = c->send.counts, *sd = c->send.displs, *rc = c->recv.counts, *rd = c->recv.displs;
  const int root = c->root, is_root = c->rank == c->root;
  MPI_Request* const request = &c->request;
  if (sends_in_place(c)) send = MPI_IN_PLACE;
  if (receives_in_place(c)) recv = MPI_IN_PLACE;
  void* const values = is_root ? (void*)send : recv;
  const int count = is_root ? sc[0] : rc[0];
  const MPI_Datatype type = is_root ? st : rt;
#define EITHER(name, ...) \
  return c->is_nonblocking && !is_shadow ? MPI_I##name(__VA_ARGS__, request) : (MPI_##name)(__VA_ARGS__)
  /* MPI_Igather is not MPI_I ## Gather. */
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IBcast MPI_Ibcast
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
  switch (c->kind) {
    case GATHER:
      EITHER(Gather, send, sc[0], st, recv, rc[0], rt, root, c->comm);
    case GATHERV:
      EITHER(Gatherv, send, sc[0], st, recv, rc, rd, rt, root, c->comm);
    case ALLGATHER:
      EITHER(Allgather, send, sc[0], st, recv, rc[0], rt, c->comm);
    case ALLGATHERV:
      EITHER(Allgatherv, send, sc[0], st, recv, rc, rd, rt, c->comm);
    case ALLTOALL:
      EITHER(Alltoall, send, sc[0], st, recv, rc[0], rt, c->comm);
    case ALLTOALLV:
      EITHER(Alltoallv, send, sc, sd, st, recv, rc, rd, rt, c->comm);
    case BCAST:
      EITHER(Bcast, values, count, type, root, c->comm);
    case SCATTER:
      EITHER(Scatter, send, sc[0], st, recv, rc[0], rt, root, c->comm);
    default:
      EITHER(Scatterv, send, sc, sd, st, recv, rc[0], rt, root, c->comm);
  }
}

/* Instances in each part that this rank sends and receives, the same where ranks have to say the same. */
static void draw_counts(Call* c, Rng* common, int most, int* sent, int* received, int* sends, int* receives) {
  int matrix[most_ranks][most_ranks];
  const int one = draw(common, 5) ? draw(common, most) : 0;
  for (int from = 0; from < c->ranks; ++from) {
    const int of_rank = draw(common, 4) ? draw(common, most) : 0;
    for (int to = 0; to < c->ranks; ++to) {
      matrix[from][to] = c->kind == ALLTOALLV && draw(common, 4) ? draw(common, most) : 0;
      if (c->kind != ALLTOALLV) matrix[from][to] = is_of_counts(c->kind) ? of_rank : one;
    }
  }
  const int me = c->rank, n = c->ranks;
  for (int r = 0; r < n; ++r) {
    sent[r] = matrix[me][r], received[r] = matrix[r][me];
    if (c->kind == SCATTERV) sent[r] = matrix[r][r], received[0] = matrix[me][me];
    if (c->kind == ALLTOALLV && c->in_place) {
      sent[r] = received[r] = me < r ? matrix[me][r] : matrix[r][me];
    }
  }
  const int is_root = me == c->root;
  switch (c->kind) {
    case GATHER:
    case GATHERV:
      *sends = 1, *receives = is_root ? n : 0;
      break;
    case ALLGATHER:
    case ALLGATHERV:
      *sends = 1, *receives = n;
      break;
    case ALLTOALL:
    case ALLTOALLV:
      *sends = *receives = n;
      break;
    case BCAST:
      *sends = is_root, *receives = !is_root;
      break;
    default:
      *sends = is_root ? n : 0, *receives = 1;
  }
}

/* All ranks of the communicator draw the same of `common`. */
static Call draw_call(Rng* common, MPI_Comm comm, long program) {
  /* Of an instance, on all ranks and both sides alike: Open MPI chooses algorithms by it, and hangs where
   * ranks choose differently. How it lies is each rank's own. */
  static const int all_values[] = {1, 1, 6, 24, 60, 120};
  Call c;
  memset(&c, 0, sizeof c);
  c.program = program;
  c.comm = comm;
  c.request = MPI_REQUEST_NULL;
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.ranks);
  c.kind = draw(common, KINDS);
  c.root = has_root(c.kind) ? draw(common, c.ranks) : 0;
  c.bytes = draw(common, 2) ? 4 : 8;
  c.in_place = draw(common, 3) == 0 && c.kind != BCAST;
  /* Open MPI's own MPI_Ialltoallv in place brings wrong values. */
  c.is_nonblocking = draw(common, 3) == 0 && !(c.kind == ALLTOALLV && c.in_place);
  const int values = all_values[draw(common, 6)];
  const int most = 1 + (draw(common, 4) ? 2000 : 20000) / values;
  int sent[most_ranks] = {0}, received[most_ranks] = {0}, sends = 0, receives = 0;
  draw_counts(&c, common, most, sent, received, &sends, &receives);
  Rng own = derived(next(common), (uint64_t)c.rank, 7);
  /* Only the side of MPI_Gatherv and its like that has parts of all ranks has places. */
  const int sends_apart = c.kind == ALLTOALLV || c.kind == SCATTERV;
  const int receives_apart = is_of_counts(c.kind) && c.kind != SCATTERV;
  c.send = make_side(&own, c.bytes, values, sends, sent, sends_apart);
  c.recv = make_side(&own, c.bytes, values, receives, received, receives_apart);
  fill_with_values(&c.send, &own, c.bytes);
  fill_with_nothing(&c.recv, c.bytes);
  if (sends_in_place(&c)) fill_with_values(&c.recv, &own, c.bytes);
  begin_side(&c.send);
  begin_side(&c.recv);
  return c;
}

static void say_wrong(const Call* c, const char* what, size_t at, double got, double wanted) {
  pthread_mutex_lock(&mutex);
  if (wrong++ < 5) {
    fprintf(stderr,
            "rank %d: program %ld: %s%s of %d-byte values, rank %d of %d, root %d%s: %s: %.9g for %.9g at "
            "byte %zu\n",
            world_rank, c->program, names[c->kind], c->is_nonblocking ? " (nonblocking)" : "", c->bytes,
            c->rank, c->ranks, c->root, c->in_place ? ", in place" : "", what, got, wanted, at);
  }
  pthread_mutex_unlock(&mutex);
}

/* What a side has against what it is to have. */
static void compare(const Call* c, const char* what, const char* got, const char* wanted, size_t bytes) {
  const size_t step = (size_t)c->bytes;
  for (size_t i = 0; i + step <= bytes; i += step) {
    if (memcmp(got + i, wanted + i, step) == 0) continue;
    const double a = get(got + i, c->bytes), b = get(wanted + i, c->bytes);
    if (tolerance > 0 && fabs(a - b) <= tolerance) continue;
    say_wrong(c, what, i, a, b);
    return;
  }
}

static void finish_call(Call* c) {
  if (make_call(c, 1) != MPI_SUCCESS) say_wrong(c, "the call of integers failed", 0, 0, 0);
  compare(c, "what was received", c->recv.real, c->recv.shadow, c->recv.bytes);
  if (memcmp(c->send.real, c->send.original, c->send.bytes) != 0 && !receives_in_place(c))
    say_wrong(c, "what was sent has changed", 0, 0, 0);
  if (receives_in_place(c)) compare(c, "what stays in place", c->send.real, c->send.original, c->send.bytes);
  pthread_mutex_lock(&mutex);
  ++calls;
  values_compared += (long)(c->recv.bytes / (size_t)c->bytes);
  pthread_mutex_unlock(&mutex);
  free_side(&c->send);
  free_side(&c->recv);
}

/* Messages of the program's own, that any receive of Neve's would take, or whose receive would take Neve's.
 */
typedef struct {
  int in, out;
  MPI_Request requests[2];
} Ring;
static void begin_ring(Ring* ring, MPI_Comm comm, int number) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  ring->in = -1;
  ring->out = 1000 * number + rank;
  MPI_Irecv(&ring->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &ring->requests[0]);
}
static void end_ring(Ring* ring, const Call* c, int number) {
  MPI_Isend(&ring->out, 1, MPI_INT, (c->rank + 1) % c->ranks, number, c->comm, &ring->requests[1]);
  MPI_Waitall(2, ring->requests, MPI_STATUSES_IGNORE);
  const int from = (c->rank + c->ranks - 1) % c->ranks;
  if (ring->in != 1000 * number + from) say_wrong(c, "a message", 0, ring->in, 1000.0 * number + from);
}

static void complete(Rng* own, Call* pending, int count) {
  MPI_Request requests[most_pending];
  for (int i = 0; i < count; ++i) requests[i] = pending[i].request;
  const int way = draw(own, 3);
  int flag = 0, at = 0;
  if (way == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  while (way == 1 && !flag) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  for (int i = 0; way == 2 && i < count; ++i) MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) finish_call(&pending[i]);
}

/* A few calls on one communicator. */
static void run_steps(Rng* common, MPI_Comm comm, long program) {
  Call pending[most_pending];
  int waiting = 0, rank;
  MPI_Comm_rank(comm, &rank);
  Rng own = derived(common->state, (uint64_t)rank, 11);
  const int steps = 1 + draw(common, most_steps);
  for (int step = 0; step < steps; ++step) {
    Call call = draw_call(common, comm, program);
    Ring ring;
    const int has_ring = draw(common, 3) == 0;
    if (has_ring) begin_ring(&ring, comm, step);
    if (make_call(&call, 0) != MPI_SUCCESS) say_wrong(&call, "the call failed", 0, 0, 0);
    if (has_ring) end_ring(&ring, &call, step);
    const int waits = draw(common, 2);
    if (!call.is_nonblocking) {
      finish_call(&call);
      continue;
    }
    pending[waiting++] = call;
    if (waits || waiting == most_pending) complete(&own, pending, waiting), waiting = 0;
  }
  complete(&own, pending, waiting);
}

/* --- programs ----------------------------------------------------------------------------------------- */

typedef struct {
  Rng rng;
  MPI_Comm comm;
  long program;
} Work;

static void* run_work(void* data) {
  Work* work = data;
  run_steps(&work->rng, work->comm, work->program);
  return NULL;
}

/* Two threads, each on a communicator of its own. */
static void run_on_threads(Rng* common, MPI_Comm comm, long program) {
  pthread_t threads[2];
  Work works[2];
  for (int t = 0; t < 2; ++t) {
    works[t].rng.state = next(common);
    works[t].program = program;
    MPI_Comm_dup(comm, &works[t].comm);
  }
  for (int t = 0; t < 2; ++t) pthread_create(&threads[t], NULL, run_work, &works[t]);
  for (int t = 0; t < 2; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; ++t) MPI_Comm_free(&works[t].comm);
}

/* Values of the ranks of one group at those of the other. */
static void run_between_groups(Rng* common, MPI_Comm comm) {
  enum { count = 3000 };
  int rank, ranks, remote;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (ranks < 2) return;
  MPI_Comm half, both;
  const int color = rank % 2;
  MPI_Comm_split(comm, color, rank, &half);
  MPI_Intercomm_create(half, 0, comm, color == 0 ? 1 : 0, 3, &both);
  MPI_Comm_remote_size(both, &remote);
  float* own = room(sizeof(float) * count);
  float* all = room(sizeof(float) * count * (size_t)remote);
  for (int i = 0; i < count; ++i) own[i] = (float)(rank + sin(0.01 * i));
  const int is_gather = draw(common, 2);
  int local, first = color == 0 ? 1 : 0;
  MPI_Comm_rank(half, &local);
  const int root = color == 0 ? (local == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  if (is_gather) MPI_Gather(own, count, MPI_FLOAT, all, count, MPI_FLOAT, root, both);
  if (!is_gather) MPI_Allgather(own, count, MPI_FLOAT, all, count, MPI_FLOAT, both);
  for (int r = 0; r < remote && (!is_gather || root == MPI_ROOT); ++r) {
    for (int i = 0; i < count; ++i) {
      const float wanted = (float)(first + 2 * r + sin(0.01 * i));
      if (fabs((double)all[r * count + i] - wanted) <= tolerance) continue;
      pthread_mutex_lock(&mutex);
      if (wrong++ < 5)
        fprintf(stderr, "rank %d: between groups: %g for %g\n", world_rank, all[r * count + i], wanted);
      pthread_mutex_unlock(&mutex);
      break;
    }
  }
  free(own), free(all);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void run_program(uint64_t seed, long program) {
  Rng rng = derived(seed, (uint64_t)program, 1);
  const int colors = draw(&rng, 3) ? 1 : 1 + draw(&rng, 3), way = draw(&rng, 10);
  int my_color = 0, my_key = 0;
  /* Of all ranks, the same on all: who is with whom, and in which order. */
  for (int r = 0; r < world_ranks; ++r) {
    const int color = draw(&rng, colors), key = draw(&rng, 100);
    if (r == world_rank) my_color = color, my_key = key;
  }
  MPI_Comm comm = MPI_COMM_WORLD, other;
  if (draw(&rng, 3)) MPI_Comm_split(MPI_COMM_WORLD, my_color, my_key, &comm);
  Rng of_comm = {next(&rng) + (comm == MPI_COMM_WORLD ? 0 : (uint64_t)my_color)};
  if (has_threads && way < 2) {
    run_on_threads(&of_comm, comm, program);
  } else if (way == 2) {
    run_between_groups(&of_comm, comm);
  } else if (way == 3) { /* two communicators of the same ranks take turns */
    MPI_Comm_dup(comm, &other);
    run_steps(&of_comm, comm, program);
    run_steps(&of_comm, other, program);
    run_steps(&of_comm, comm, program);
    MPI_Comm_free(&other);
  } else {
    run_steps(&of_comm, comm, program);
  }
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, getenv("RANDOM_THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (argc < 4 || world_ranks > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const long programs = atol(argv[2]), first = argc > 4 ? atol(argv[4]) : 0;
  tolerance = atof(argv[3]);
  has_threads = getenv("RANDOM_THREADS") && provided == MPI_THREAD_MULTIPLE;
  for (long program = first; program < first + programs; ++program) {
    if (getenv("RANDOM_SAYS")) fprintf(stderr, "rank %d: program %ld\n", world_rank, program);
    run_program(seed, program);
  }
  long own[3] = {calls, values_compared, wrong}, all[3];
  MPI_Allreduce(own, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) {
    printf("%ld programs on %d ranks: %ld calls of ranks, %ld values, %ld violations\n", programs,
           world_ranks, all[0], all[1], all[2]);
  }
  MPI_Finalize();
  return all[2] > 0;
}
