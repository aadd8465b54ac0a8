/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An AMR hierarchy in C: levels of boxes, and the values of the boxes. Made here to be written by plotfile.h
 * and checkpoint.h, or told by plotfile_reader.h and checkpoint.h of a file that is read.
 *
 * Nothing here is collective, needs MPI or looks at a value. A hierarchy that is to be written is described
 * in the same way on every rank, with the values of the boxes that the calling rank owns and NULL for all
 * others. Each box has exactly one owner.
 *
 * Functions that return int return a neve_code (neve.h), and neve_last_error() describes the error. What is
 * called a box, a corner or a cell is in the index space of its level; arrays of corners have as many values
 * as the hierarchy has dimensions.
 */
#ifndef NEVE_HIERARCHY_H
#define NEVE_HIERARCHY_H

#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct neve_hierarchy neve_hierarchy;

/* Makes a hierarchy without levels; NULL on error. dims is 1, 2 or 3, value_bytes is 4 (float) or 8 (double).
 * Names are UTF-8, each another one. The caller frees it. */
neve_hierarchy* neve_hierarchy_create(int dims, int value_bytes, int components, const char* const* names);
/* `hierarchy` may be NULL. */
void neve_hierarchy_free(neve_hierarchy* hierarchy);

/* Set the simulation's time, and the physical corners of the domain. The default is time 0 in the unit
 * cube. */
int neve_hierarchy_set_time(neve_hierarchy* hierarchy, double time);
int neve_hierarchy_set_domain(neve_hierarchy* hierarchy, const double* prob_lo, const double* prob_hi);
/* The coordinates: 0 Cartesian (the default), 1 cylindrical (r, z), 2 spherical. */
int neve_hierarchy_set_coordinates(neve_hierarchy* hierarchy, int coordinates);

/* A text or any bytes of the code's own, kept beside the values as they are: what a restart needs besides
 * them. `name` is a path without "..", in UTF-8; a file of that name that was added before is replaced. The
 * bytes are copied. They are those of rank 0. */
int neve_hierarchy_add_side_file(neve_hierarchy* hierarchy, const char* name, const void* bytes, size_t size);

/* Adds the next finer level, coarsest first, whose index space is lo..hi inclusive, ref_ratio times finer
 * than the level before it (ignored for the first), at least 2. */
int neve_hierarchy_add_level(neve_hierarchy* hierarchy, const int* lo, const int* hi, int ref_ratio);
/* The same with a ratio for each direction, at least 1. NULL for the first level. */
int neve_hierarchy_add_level_ratios(neve_hierarchy* hierarchy, const int* lo, const int* hi,
                                    const int* ref_ratios);

/* How many steps a level has taken, and its time where it is not the hierarchy's. */
int neve_hierarchy_set_level_step(neve_hierarchy* hierarchy, int level, int step);
int neve_hierarchy_set_level_time(neve_hierarchy* hierarchy, int level, double time);

/* Adds a box of valid cells lo..hi inclusive to the finest level so far. `values`, NULL on ranks that do not
 * own the box, holds it with `ghosts` more cells on every side (0 for none), component after component, x
 * fastest. Values are never copied here: they must live until the hierarchy is written. */
int neve_hierarchy_add_box(neve_hierarchy* hierarchy, const int* lo, const int* hi, const void* values,
                           int ghosts);

/* Where the components of the box added last lie, for a code that allocates them apart: fields[c] is
 * component c with the ghosts given with the box, x fastest. NULL on ranks that do not own the box. It takes
 * the place of `values`, which is best NULL then. The array of pointers is copied, the values are not. All of
 * them must lie a whole number of values apart, as arrays of one type do. */
int neve_hierarchy_set_box_fields(neve_hierarchy* hierarchy, const void* const* fields);

/* Replaces the layout of the box added last, in values: the neighbour of a cell in y lies stride_y further,
 * in z stride_z, and the next component component_stride, which is not used of fields that lie apart. 0:
 * behind what the directions before take. Neighbours in x lie side by side: components cannot be interleaved
 * value by value. Negative strides, and those by which values would overlap, are NEVE_USAGE. The
 * layers of ghost cells stay those given with the box: the first value of `values`, or of a field, is still
 * the first ghost cell. */
int neve_hierarchy_set_box_strides(neve_hierarchy* hierarchy, long long stride_y, long long stride_z,
                                   long long component_stride);

/* ---- What a hierarchy has, above all one that a reader tells. Texts belong to the hierarchy. ---- */

typedef struct neve_hierarchy_description {
  size_t struct_bytes;
  int dims;
  int value_bytes; /* 4: float, 8: double */
  int components;
  int levels;
  int side_files;
  int coordinates; /* as neve_hierarchy_set_coordinates */
  double time;
  double prob_lo[3], prob_hi[3];
} neve_hierarchy_description;

#define NEVE_HIERARCHY_DESCRIPTION_INIT                                 \
  {                                                                     \
    sizeof(neve_hierarchy_description), 0, 0, 0, 0, 0, 0, 0, {0}, { 0 } \
  }

int neve_hierarchy_info(const neve_hierarchy* hierarchy, neve_hierarchy_description* description);

typedef struct neve_level_description {
  size_t struct_bytes;
  int boxes;
  int step;
  double time;
  int lo[3], hi[3];  /* the level's index space; 0 in directions past dims */
  int ref_ratios[3]; /* to the next finer level; 1 on the finest and past dims */
  double dx[3];      /* size of a cell in the simulation's length unit */
} neve_level_description;

#define NEVE_LEVEL_DESCRIPTION_INIT                               \
  {                                                               \
    sizeof(neve_level_description), 0, 0, 0, {0}, {0}, {0}, { 0 } \
  }

/* Levels are numbered from 0, the coarsest. */
int neve_level_info(const neve_hierarchy* hierarchy, int level, neve_level_description* description);

/* Valid cells of a box. */
int neve_hierarchy_box(const neve_hierarchy* hierarchy, int level, int box, int* lo, int* hi);
/* NULL on error. */
const char* neve_hierarchy_component(const neve_hierarchy* hierarchy, int component);
/* Names of the side files, by number; NULL on error. */
const char* neve_hierarchy_side_file_name(const neve_hierarchy* hierarchy, int number);
/* *bytes belong to the hierarchy; a zero byte that is not counted follows them. No such file: NEVE_USAGE. */
int neve_hierarchy_side_file(const neve_hierarchy* hierarchy, const char* name, const char** bytes,
                             size_t* size);

/* A rank for each box of a level: owners[box] in 0..ranks-1, where neighbouring boxes lie together and all
 * ranks have about as many cells. The same answer everywhere. */
int neve_hierarchy_distribute(const neve_hierarchy* hierarchy, int ranks, int level, int* owners);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
