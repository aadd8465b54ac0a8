/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing an AMR hierarchy from C, from all ranks of a communicator.
 *
 * Describe the hierarchy, the same on every rank, giving the values of the boxes that the calling rank owns
 * and NULL for all others; write it; free it. Each box has exactly one owner.
 *
 * Functions that return int return a neve_code (neve.h): 0, or the exit codes of the `neve` command.
 * neve_last_error() then says what and why.
 */
#ifndef NEVE_PLOTFILE_H
#define NEVE_PLOTFILE_H

#include <mpi.h>
#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct neve_hierarchy neve_hierarchy;

/* Not collective. A hierarchy without levels: dims is 1, 2 or 3; value_bytes 4 (float) or 8 (double). NULL on
 * error. Names are UTF-8. */
neve_hierarchy* neve_hierarchy_create(int dims, int value_bytes, int components, const char* const* names);
void neve_hierarchy_free(neve_hierarchy* hierarchy);

/* Not collective. The simulation's time, and the physical corners of the domain (dims values each). The
 * default is time 0 in the unit cube. */
int neve_hierarchy_set_time(neve_hierarchy* hierarchy, double time);
int neve_hierarchy_set_domain(neve_hierarchy* hierarchy, const double* prob_lo, const double* prob_hi);

/* Not collective. Adds the next finer level, coarsest first, whose index space is lo..hi inclusive (dims
 * values each), ref_ratio times finer than the level before it (ignored for the first). */
int neve_hierarchy_add_level(neve_hierarchy* hierarchy, const int* lo, const int* hi, int ref_ratio);

/* Not collective. Adds a box of valid cells lo..hi inclusive to the finest level so far. `values`, NULL on
 * ranks that do not own the box, holds it with `ghosts` more cells on every side (0 for none), component
 * after component, x fastest; it must live until the hierarchy is written. */
int neve_hierarchy_add_box(neve_hierarchy* hierarchy, const int* lo, const int* hi, const void* values,
                           int ghosts);

/* Not collective. Replaces the layout of the box added last, in values: from the first valid cell its
 * neighbour in y lies stride_y further, in z stride_z, and the next component component_stride. The
 * layers of ghost cells stay those given with the box. */
int neve_hierarchy_set_box_strides(neve_hierarchy* hierarchy, long long stride_y, long long stride_z,
                                   long long component_stride);

/* Collective over comm; every rank gets the same answer. Writes an HDF5 plotfile. `options` is a list of
 * "key=value" separated by ';', or NULL. The keys are the command's options, which `neve convert --help`
 * tells, with _ for -; the usual ones: abs=0.5, rel=1e-3, lossless    the error bound of all fields
 * (rel=1e-3) field:NAME=RULE                what differs for one field, e.g.
 * field:density=abs=1e-6,codec=context; a NAME that holds '=', ';' or a leading '"' in quotes:
 * field:"a=b;c"=abs=1, where \" and \\ stand for '"' and '\' codec=NAME, effort=NAME        as the command's
 * --codec and --effort (auto, fast) covered=auto|drop|keep         cells that a finer level covers (keep);
 * what auto and drop leave out is within the bound for Neve's readers alone, other tools see stand-in values
 *   strategy=NAME                  skeleton, aggregated, collective, independent, filtered or amrex-1d
 *                                  (skeleton)
 *   aggregate_boxes=N              of aggregated: pieces of a rank that one write takes; 0: all (0)
 *   uncompressed                   the values as they are; bounds, codecs and chunks are then refused
 *   ghosts=N                       layers of ghost cells written around every box (0)
 *   threads=N                      threads of each rank, 1 to NEVE_MAX_THREADS (1)
 *   chunk_size=N                   most logical bytes of a chunk, as in 65536 or 4MiB (8MiB)
 * No two may settle the same ("lossless;abs=1", "threads=1;threads=2"), and none that would do nothing is
 * taken. On error nothing is left behind, and an earlier file at `path` is whole.
 *
 * MPI: to be called between MPI_Init and MPI_Finalize, on a communicator of a single group, by the thread
 * that initialized MPI unless its level is MPI_THREAD_SERIALIZED; under MPI_THREAD_MULTIPLE by several
 * threads at a time, each on a communicator of its own. Anything else is NEVE_USAGE. HDF5 is used by one of
 * Neve's threads at a time; the caller's own use of HDF5 meanwhile is its own affair. */
int neve_write_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                        const char* options);

/* Not collective. The same as neve_last_error(). */
const char* neve_mpi_last_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
