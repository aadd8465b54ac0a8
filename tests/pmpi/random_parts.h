/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks read and write in a call: bytes of the view, and memory of any type. */
#pragma once

#include "random_views.h"

enum Kind { floats, doubles, ints, bytes_alone, pairs, kinds };
static const int kind_bytes[kinds] = {4, 8, 4, 1, 12};

typedef struct {
  long at, bytes; /* of the view */
  enum Kind kind;
  long* places;
  unsigned char* stream; /* the bytes that go into the file */
  MPI_Datatype memory;
  int count;
  unsigned char* buffer; /* of that type; this rank's alone */
  long buffer_bytes;
} Part;

static MPI_Datatype type_of(enum Kind kind) {
  static MPI_Datatype pair = MPI_DATATYPE_NULL;
  if (kind == pairs && pair == MPI_DATATYPE_NULL) {
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
  }
  const MPI_Datatype types[kinds] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_BYTE, pair};
  return types[kind];
}

static void fill_value(unsigned char* out, enum Kind kind, double i, double phase) {
  const double x = 3 * sin(0.002 * i + phase) + 1e-3 * cos(0.9 * i);
  const int number = (int)(1000 * x);
  const float f = (float)x;
  if (kind == floats) memcpy(out, &f, 4);
  if (kind == doubles) memcpy(out, &x, 8);
  if (kind == ints || kind == pairs) memcpy(out, &number, 4);
  if (kind == pairs) memcpy(out + 4, &x, 8);
  if (kind == bytes_alone) out[0] = (unsigned char)number;
}

static void fill_special(unsigned char* out, enum Kind kind, int which) {
  const double values[4] = {NAN, INFINITY, -0.0, -INFINITY};
  const double x = values[which];
  const float f = (float)x;
  if (kind == floats) memcpy(out, &f, 4);
  if (kind == doubles) memcpy(out, &x, 8);
}

/* The memory of one type: a value of gaps too, where that is asked for. */
static void choose_memory(Part* p, int shape) {
  const MPI_Datatype base = type_of(p->kind);
  const int n = (int)(p->bytes / kind_bytes[p->kind]);
  p->memory = base;
  p->count = n;
  if (shape == 1 && n % 2 == 0 && n > 0) {
    MPI_Type_vector(2, n / 2, n / 2 + 3, base, &p->memory);
    p->count = 1;
  } else if (shape == 2 && n % 3 == 0 && n > 0) {
    MPI_Datatype three;
    MPI_Aint lower, extent;
    MPI_Type_contiguous(3, base, &three);
    MPI_Type_get_extent(three, &lower, &extent);
    MPI_Type_create_resized(three, 0, 2 * extent, &p->memory);
    MPI_Type_free(&three);
    p->count = n / 3;
  } else if (shape == 3 && n > 0) {
    int sizes[2] = {3, n + 2}, parts[2] = {1, n}, starts[2] = {1, 1};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, base, &p->memory);
    p->count = 1;
  }
  if (p->memory != base) MPI_Type_commit(&p->memory);
}

static void make_buffer(Part* p) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(p->memory, &lower, &extent);
  MPI_Type_get_true_extent(p->memory, &true_lower, &true_extent);
  p->buffer_bytes = (long)(p->count * extent + true_lower + true_extent + 16);
  p->buffer = malloc((size_t)p->buffer_bytes);
  memset(p->buffer, 0x5a, (size_t)p->buffer_bytes);
}

static void pack_buffer(const Part* p, unsigned char* out) {
  int position = 0;
  if (p->bytes > 0) MPI_Pack(p->buffer, p->count, p->memory, out, (int)p->bytes, &position, MPI_COMM_SELF);
}
static void unpack_buffer(Part* p) {
  int position = 0;
  if (p->bytes > 0) {
    MPI_Unpack(p->stream, (int)p->bytes, &position, p->buffer, p->count, p->memory, MPI_COMM_SELF);
  }
}

static void free_part(Part* p) {
  free(p->places);
  free(p->stream);
  free(p->buffer);
  if (p->memory != type_of(p->kind) && p->memory != MPI_DATATYPE_NULL) MPI_Type_free(&p->memory);
  memset(p, 0, sizeof *p);
  p->memory = MPI_DATATYPE_NULL;
}

/* Bytes [at, at + bytes) of rank r's view: 0 where the model has no room for them. */
static int make_places(Part* p, int r) {
  p->places = malloc((size_t)(p->bytes + 1) * sizeof(long));
  for (long i = 0; i < p->bytes; ++i) {
    p->places[i] = place_of(r, p->at + i);
    if (p->places[i] >= max_bytes) return 0;
  }
  return 1;
}

static void make_stream(Part* p) {
  const double phase = pick(0, 100);
  const int special = one_in(20) ? pick(0, 3) : -1, bytes = kind_bytes[p->kind];
  p->stream = malloc((size_t)p->bytes + 16);
  for (long i = 0; i < p->bytes / bytes; ++i) {
    fill_value(p->stream + i * bytes, p->kind, (double)(p->at / bytes + i), phase);
    if (special >= 0 && i % 37 == 5) fill_special(p->stream + i * bytes, p->kind, special);
  }
}

/* Into the model. */
static void put_part(const Part* p, int writer) {
  const int bytes = kind_bytes[p->kind];
  for (long i = 0; i < p->bytes; ++i) {
    int value = p->kind == floats ? 4 : (p->kind == doubles ? 8 : 0), index = (int)(i % bytes);
    if (p->kind == pairs && index >= 4) value = 8, index -= 4;
    put_byte(p->places[i], p->stream[i], value, index);
    owner[p->places[i]] = (signed char)writer;
  }
}
