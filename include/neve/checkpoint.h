/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checkpoints in C: what a simulation needs to restart, bit for bit or within bounds. One HDF5 file with any
 * number of variables on the same boxes, each with components and ghost cells of its own, and texts of the
 * code beside them. It has its name only when it is whole.
 *
 *   neve_variable gas = NEVE_VARIABLE_INIT;
 *   gas.name = "gas";
 *   gas.values = hierarchy;                       (neve/hierarchy.h: levels, boxes, values)
 *   gas.ghosts = 2;
 *   neve_write_checkpoint(MPI_COMM_WORLD, "chk00100.h5", 1, &gas, NULL, NULL);
 *
 *   neve_checkpoint* checkpoint = NULL;
 *   neve_checkpoint_open("chk00100.h5", 0, &checkpoint);
 *   const neve_hierarchy* boxes = neve_checkpoint_hierarchy(checkpoint);
 *   neve_checkpoint_read_box(checkpoint, 0, level, box, component, values, 2, 0, 0);
 *   neve_checkpoint_close(checkpoint);
 *
 * Functions that return int return a neve_code (neve.h), and neve_last_error() describes the error.
 */
#ifndef NEVE_CHECKPOINT_H
#define NEVE_CHECKPOINT_H

#include <mpi.h>
#include <neve/hierarchy.h>
#include <neve/neve.h>
#include <neve/plotfile_reader.h>
#include <neve/report.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct neve_variable {
  size_t struct_bytes;
  const char* name;             /* part of a dataset's name: without '/', each another one */
  const neve_hierarchy* values; /* its components, and where the values are */
  int ghosts;       /* layers of ghost cells that are kept around every box, which must have them. The range
                       to which a relative bound refers includes them */
  int uncompressed; /* non-zero: kept as it is; what the options say of bounds and codecs does not
                       hold for it */
} neve_variable;

#define NEVE_VARIABLE_INIT \
  { sizeof(neve_variable), NULL, NULL, 0, 0 }

/* Collective over comm; every rank gets the same answer. Writes `count` variables, at least one, into the
 * file `path`. On error nothing is left behind, and an earlier file at `path` is whole. All hierarchies have
 * the same type of values, levels and boxes; who owns a box may differ between them. Time, steps, domain and
 * side files are those of the first. Nothing is left out of a checkpoint, whatever covers it.
 *
 * `options` is a list as of neve_write_plotfile (plotfile.h), or NULL: lossless. A bound and a codec hold for
 * all variables without a rule; `field:NAME=RULE` is the rule of a variable and sets its bound and codec:
 * "field:gas=abs=1e-6". Allowed beside them are effort, threads, chunk_size, behind, stage, stage_size,
 * strategy (not filtered, not amrex-1d), aggregate_boxes, the codec's settings, uncompressed, and what
 * belongs to a parallel file system.
 *
 * report: NULL, or where the report of the write goes (report.h), which the caller frees. What is required of
 * MPI is what neve_write_plotfile requires. */
int neve_write_checkpoint(MPI_Comm comm, const char* path, int count, const neve_variable* variables,
                          const char* options, neve_report** report);

/* ---- Reading: not collective, without MPI, as of plotfile_reader.h; by any number of ranks. ---- */

typedef struct neve_checkpoint neve_checkpoint;

/* Checkpoints of Neve, of Chombo and of Chombo codes. On success the caller closes *checkpoint; else it is
 * NULL. flags: 0 or NEVE_FOLLOW_EXTERNAL (plotfile_reader.h). */
int neve_checkpoint_open(const char* path, int flags, neve_checkpoint** checkpoint);
/* `checkpoint` may be NULL. */
void neve_checkpoint_close(neve_checkpoint* checkpoint);

/* Levels, boxes, time, steps, side files; its components are not those of the variables. Belongs to the
 * checkpoint; NULL on error. */
const neve_hierarchy* neve_checkpoint_hierarchy(const neve_checkpoint* checkpoint);

typedef struct neve_variable_description {
  size_t struct_bytes;
  const char* name; /* belongs to the checkpoint */
  int components;
  int ghosts[3]; /* layers that are kept, in each direction */
  int is_compressed;
  const char* bound_mode; /* as asked for: "abs", "rel" or "lossless" */
  double bound_value;     /* the number of the bound; 0 when lossless */
} neve_variable_description;

#define NEVE_VARIABLE_DESCRIPTION_INIT \
  { sizeof(neve_variable_description), NULL, 0, {0}, 0, NULL, 0 }

/* -1 on error. */
int neve_checkpoint_variables(const neve_checkpoint* checkpoint);
/* The number of the variable of that name; -1 where there is none, or on error. */
int neve_checkpoint_find(const neve_checkpoint* checkpoint, const char* name);
int neve_checkpoint_variable(const neve_checkpoint* checkpoint, int variable,
                             neve_variable_description* description);
/* Belongs to the checkpoint; NULL on error. */
const char* neve_checkpoint_component(const neve_checkpoint* checkpoint, int variable, int component);

/* One component of a box of a variable into the caller's memory, with the ghost cells that both the file and
 * the memory have: `values`, `ghosts` and the strides are as of neve_plotfile_read_box. Layers that the file
 * does not have are left as they are, and so is whatever lies between rows. */
int neve_checkpoint_read_box(neve_checkpoint* checkpoint, int variable, int level, int box, int component,
                             void* values, int ghosts, long long stride_y, long long stride_z);

/* As of a plotfile: that all of one variable after another will be read, and where a box of a variable lies.
 */
int neve_checkpoint_expect_all(neve_checkpoint* checkpoint);
int neve_checkpoint_place(const neve_checkpoint* checkpoint, int variable, int level, int box,
                          uint64_t* place);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
