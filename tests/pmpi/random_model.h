/* SPDX-License-Identifier: BSD-3-Clause
 * What a file holds by now, as every rank knows it: random.c writes the same into it and into the file. */
#pragma once

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_bytes = 1 << 17, max_ranks = 8, settled = -1, of_all = 100 };

/* What a byte of the file is: one that comes back as it is, byte number part - 1 of a value that may come
 * back off by the tolerance, or one that may be anything: of a value that was cut, or that nobody wrote. */
enum { exact = 0, of_float = 1, of_double = 11, unknown = -1 };

static unsigned char model[max_bytes];
static signed char part[max_bytes];
static signed char
    owner[max_bytes]; /* who has written it since the last sync: a rank, all of them, or nobody */
static long model_size, settled_size; /* the latter: what all ranks know of */
static double tolerance;
static int rank, ranks;

/* The same numbers on all ranks. */
static uint64_t state;
static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
static int pick(int least, int most) {
  return least + (int)((next_random() >> 11) % (uint64_t)(most - least + 1));
}
static int one_in(int n) { return pick(1, n) == 1; }

static int wrong, said;
static uint64_t seed;
static const char* doing = "";
static void fail(const char* what, long at, double got, double expected) {
  if (said++ < 8) {
    fprintf(stderr, "program %llu, rank %d of %d, %s: %s at %ld: %.17g instead of %.17g\n",
            (unsigned long long)seed, rank, ranks, doing, what, at, got, expected);
  }
  wrong = 1;
}
static void expect_equal(long got, long expected, const char* what) {
  if (got != expected) fail(what, 0, (double)got, (double)expected);
}
static void expect_success(int code, const char* what) {
  if (code != MPI_SUCCESS) fail(what, 0, code, MPI_SUCCESS);
}
#define CHECK(call) expect_success(call, #call)

static void begin_model(void) {
  memset(model, 0, sizeof model);
  memset(part, exact, sizeof part);
  memset(owner, settled, sizeof owner);
  model_size = settled_size = 0;
}

/* A value of which a byte changes is no value any more. */
static void cut_value(long at) {
  if (part[at] <= exact) return;
  const int bytes = part[at] >= of_double ? 8 : 4, index = part[at] - (bytes == 8 ? of_double : of_float);
  for (long i = at - index; i < at - index + bytes; ++i) {
    if (i >= 0 && i < max_bytes) part[i] = unknown;
  }
}

/* Byte number `index` of a value of so many bytes that may come back off, or of what is exact (0). */
static void put_byte(long at, unsigned char byte, int value_bytes, int index) {
  cut_value(at);
  model[at] = byte;
  part[at] = value_bytes == 0 ? exact : (value_bytes == 4 ? of_float : of_double) + index;
  for (long i = model_size; i < at; ++i) part[i] = unknown;
  if (at >= model_size) model_size = at + 1;
}

static void resize_model(long bytes) {
  for (long i = bytes; i < model_size; ++i) {
    cut_value(i);
    model[i] = 0;
    part[i] = exact;
    owner[i] = settled;
  }
  for (long i = model_size; i < bytes; ++i) part[i] = unknown;
  model_size = bytes;
}

static int is_near(double got, double expected) {
  if (isnan(expected)) return isnan(got);
  if (isinf(expected)) return got == expected;
  return fabs(got - expected) <= tolerance * (1 + 1e-6) + 1e-7 * fabs(expected);
}

/* One value of a file at places[0], places[1] ...: 1 where it is whole there, and so compared. */
static int compare_value(const unsigned char* got, const long* places, long n, int bytes) {
  const int first = bytes == 4 ? of_float : of_double;
  unsigned char found[8], expected[8];
  if (n < bytes || part[places[0]] != first) return 0;
  for (int k = 0; k < bytes; ++k) {
    if (places[k] != places[0] + k || part[places[k]] != first + k) return 0;
    found[k] = got[k];
    expected[k] = model[places[k]];
  }
  float f, g;
  double d, e;
  memcpy(&f, found, 4);
  memcpy(&g, expected, 4);
  memcpy(&d, found, 8);
  memcpy(&e, expected, 8);
  if (bytes == 4) d = f, e = g;
  if (!is_near(d, e)) fail("a value", places[0], d, e);
  return 1;
}

static void compare(const unsigned char* got, const long* places, long n) {
  for (long i = 0; i < n; ++i) {
    const long at = places[i];
    if (tolerance > 0 && compare_value(got + i, places + i, n - i, 4)) {
      i += 3;
    } else if (tolerance > 0 && compare_value(got + i, places + i, n - i, 8)) {
      i += 7;
    } else if (part[at] == exact || (tolerance == 0 && part[at] != unknown)) {
      if (got[i] != model[at]) return fail("a byte", at, got[i], model[at]);
    }
  }
}
