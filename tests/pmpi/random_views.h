/* SPDX-License-Identifier: BSD-3-Clause
 * Random views of a file, of all ranks, and where their bytes lie. */
#pragma once

#include "random_model.h"

typedef struct {
  MPI_Datatype element;
  int element_bytes;
  int is_same; /* on all ranks */
  int is_line;
  MPI_Datatype filetype[max_ranks];
  long displacement[max_ranks];
  long tile_bytes[max_ranks], extent[max_ranks];
  int* map[max_ranks]; /* of the bytes of a tile */
} View;

static View view;

static long place_of(int r, long at) {
  if (view.tile_bytes[r] == 0) return view.displacement[r];
  return view.displacement[r] + at / view.tile_bytes[r] * view.extent[r] +
         view.map[r][at % view.tile_bytes[r]];
}

/* Where MPI finds the bytes of a type: it packs their numbers. */
static int* map_of(MPI_Datatype type, long bytes) {
  MPI_Aint lower, extent;
  MPI_Type_get_true_extent(type, &lower, &extent);
  const long span = bytes == 0 ? 0 : (long)(lower + extent);
  unsigned char* memory = malloc((size_t)span + 1);
  unsigned char* packed = malloc((size_t)bytes + 1);
  int* map = calloc((size_t)bytes + 1, sizeof(int));
  for (int shift = 0; shift < 24; shift += 8) {
    int position = 0;
    for (long i = 0; i < span; ++i) memory[i] = (unsigned char)(i >> shift);
    MPI_Pack(memory, 1, type, packed, (int)bytes, &position, MPI_COMM_SELF);
    for (long i = 0; i < bytes; ++i) map[i] |= packed[i] << shift;
  }
  free(memory);
  free(packed);
  return map;
}

static MPI_Datatype resized(MPI_Datatype type, long extent) {
  MPI_Datatype wider;
  MPI_Type_create_resized(type, 0, extent, &wider);
  MPI_Type_free(&type);
  return wider;
}

/* Runs of one rank between those of the others. */
static MPI_Datatype interleaved(int r, int* displacement) {
  const int length = pick(1, 9), count = pick(1, 7);
  MPI_Datatype type;
  MPI_Type_vector(count, length, length * ranks, view.element, &type);
  *displacement += r * length * view.element_bytes;
  return resized(type, (long)length * ranks * count * view.element_bytes);
}

/* A box of an array that the ranks share. */
static MPI_Datatype box_of_array(int r) {
  const int ndim = pick(1, 3), order = one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int grid[3] = {0, 0, 0}, sizes[3], parts[3], starts[3];
  MPI_Dims_create(ranks, ndim, grid);
  for (int d = ndim - 1; d >= 0; --d) {
    parts[d] = pick(1, 6);
    sizes[d] = parts[d] * grid[d];
    starts[d] = parts[d] * (r % grid[d]);
    r /= grid[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(ndim, sizes, parts, starts, order, view.element, &type);
  return type;
}

static MPI_Datatype distributed(int r) {
  const int ndim = pick(1, 3), order = one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int grid[3] = {0, 0, 0}, sizes[3], kinds[3], arguments[3];
  MPI_Dims_create(ranks, ndim, grid);
  for (int d = 0; d < ndim; ++d) {
    const int is_cyclic = one_in(2);
    kinds[d] = is_cyclic ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
    arguments[d] = is_cyclic ? pick(1, 3) : MPI_DISTRIBUTE_DFLT_DARG;
    sizes[d] = grid[d] * pick(1, 4) * (is_cyclic ? arguments[d] : 1);
  }
  MPI_Datatype type;
  MPI_Type_create_darray(ranks, r, ndim, sizes, kinds, arguments, grid, order, view.element, &type);
  return type;
}

/* Blocks of all lengths, in turns. */
static MPI_Datatype listed(int r) {
  int lengths[32], places[32], n = 0, at = 0;
  const int count = ranks * pick(1, 4);
  for (int i = 0; i < count; ++i) {
    const int length = pick(1, 6);
    at += pick(0, 2);
    if (i % ranks == r) lengths[n] = length, places[n++] = at;
    at += length;
  }
  MPI_Datatype type;
  if (one_in(2)) {
    MPI_Type_indexed(n, lengths, places, view.element, &type);
  } else {
    MPI_Aint bytes[32];
    for (int i = 0; i < n; ++i) bytes[i] = (MPI_Aint)places[i] * view.element_bytes;
    MPI_Type_create_hindexed(n, lengths, bytes, view.element, &type);
  }
  return resized(type, (long)at * view.element_bytes);
}

/* Two members of a record of several, the same on all ranks. */
static MPI_Datatype members(void) {
  int lengths[2] = {pick(1, 4), pick(1, 4)};
  MPI_Aint places[2] = {(MPI_Aint)pick(0, 3) * view.element_bytes, 0};
  MPI_Datatype types[2] = {view.element, view.element}, type;
  places[1] = places[0] + (MPI_Aint)(lengths[0] + pick(0, 3)) * view.element_bytes;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  return resized(type, (long)places[1] + (long)(lengths[1] + pick(0, 3)) * view.element_bytes);
}

static MPI_Datatype several(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(pick(1, 5), view.element, &type);
  return type;
}

static void free_view(void) {
  for (int r = 0; r < ranks; ++r) {
    if (view.filetype[r] != view.element) MPI_Type_free(&view.filetype[r]);
    free(view.map[r]);
  }
}

static MPI_Datatype filetype_of(int kind, int r, int* displacement) {
  switch (kind) {
    case 0:
      return members();
    case 1:
      return several();
    case 2:
      return interleaved(r, displacement);
    case 3:
    case 4:
      return box_of_array(r);
    case 5:
      return distributed(r);
    case 6:
      return listed(r);
    default:
      return view.element;
  }
}

static void make_view_of(int kind, MPI_Datatype element) {
  int displacement = one_in(2) ? 0 : pick(0, 20) * (one_in(3) ? 1 : 8);
  view.element = element;
  MPI_Type_size(element, &view.element_bytes);
  view.is_same = kind < 2 || kind > 6;
  view.is_line = kind == 1 || kind > 6;
  const uint64_t before = state;
  for (int r = 0; r < ranks; ++r) {
    int own = displacement, bytes;
    MPI_Aint lower, extent;
    state = before; /* all ranks' types are of the same numbers */
    view.filetype[r] = filetype_of(kind, r, &own);
    if (view.filetype[r] != element) MPI_Type_commit(&view.filetype[r]);
    MPI_Type_size(view.filetype[r], &bytes);
    MPI_Type_get_extent(view.filetype[r], &lower, &extent);
    view.displacement[r] = own;
    view.tile_bytes[r] = bytes;
    view.extent[r] = (long)extent;
    view.map[r] = map_of(view.filetype[r], bytes);
  }
}

static void make_default_view(void) {
  make_view_of(99, MPI_BYTE);
  for (int r = 0; r < ranks; ++r) view.displacement[r] = 0;
}
