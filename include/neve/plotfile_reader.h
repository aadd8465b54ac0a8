/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a plotfile in C: an AMReX plotfile directory, an HDF5 plotfile of Chombo, AMReX or Neve, or a .npy
 * array. In the library neve_mpi; no function needs MPI to be initialized.
 *
 *   neve_plotfile* plotfile = NULL;
 *   if (neve_plotfile_open("plt00113.h5", 0, &plotfile) == NEVE_OK) {
 *     const neve_hierarchy* h = neve_plotfile_hierarchy(plotfile);      (what it has: neve/hierarchy.h)
 *     neve_plotfile_read_box(plotfile, 0, 0, 0, values, 0, 0, 0);       (level 0, box 0, component 0)
 *     neve_plotfile_close(plotfile);
 *   }
 *
 * Nothing is collective: each rank opens the file and reads the boxes that it wants. A reader is used by one
 * thread at a time; several threads may use several readers. MPI_Finalize closes HDF5 files: a reader of one
 * refuses to read afterwards, and may still be closed.
 *
 * Functions that return int return a neve_code (neve.h), and neve_last_error() describes the error:
 * NEVE_USAGE (there is no such box, an argument is NULL), NEVE_CORRUPT, NEVE_FAILURE, NEVE_PLUGIN_MISSING (a
 * filter that HDF5 cannot load; Neve's own needs no plugin here). After an error of reading, what was to be
 * filled may be partly filled.
 */
#ifndef NEVE_PLOTFILE_READER_H
#define NEVE_PLOTFILE_READER_H

#include <neve/hierarchy.h>
#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Flags of opening a file. */
enum {
  /* Also read files outside the folder of the one that is opened, where it refers to such; they are refused
   * otherwise, since a file of unknown origin must not decide which files of its reader are read. */
  NEVE_FOLLOW_EXTERNAL = 1
};

typedef struct neve_plotfile neve_plotfile;

/* On success the caller closes *plotfile; else it is NULL. flags: 0 or NEVE_FOLLOW_EXTERNAL. */
int neve_plotfile_open(const char* path, int flags, neve_plotfile** plotfile);
/* `plotfile` may be NULL. */
void neve_plotfile_close(neve_plotfile* plotfile);

/* Levels, boxes, names, time, side files. Belongs to the plotfile; NULL on error. */
const neve_hierarchy* neve_plotfile_hierarchy(const neve_plotfile* plotfile);
/* "AMReX plotfile", "Chombo HDF5", ... Belongs to the plotfile; NULL on error. */
const char* neve_plotfile_kind(const neve_plotfile* plotfile);

/* The valid cells of one component of a box into the caller's memory, which has the layout that
 * neve_hierarchy_add_box and neve_hierarchy_set_box_fields take: `values` is the first of `ghosts` layers
 * around the valid cells, x fastest, neighbours in y stride_y values apart and in z stride_z; a stride of 0
 * is the box's own with its ghosts. Ghost cells, and whatever lies between rows, are left as they are. Values
 * are of the hierarchy's type. Covered cells that the file leaves out are the average of the finer cells. */
int neve_plotfile_read_box(neve_plotfile* plotfile, int level, int box, int component, void* values,
                           int ghosts, long long stride_y, long long stride_z);

/* `count` values of a component of a box from `first` on, counted with x fastest over its valid cells, one
 * behind the other into `values`. Only these are read, where the file allows that. */
int neve_plotfile_read_cells(neve_plotfile* plotfile, int level, int box, int component, uint64_t first,
                             uint64_t count, void* values);

/* Which valid cells of a component of a box the file leaves out because a finer level covers them:
 * marks[cell] is 1 for those, 0 for others, x fastest. *any, unless `any` is NULL, becomes 1 if there are
 * any, else 0. */
int neve_plotfile_left_out(neve_plotfile* plotfile, int level, int box, int component, unsigned char* marks,
                           int* any);

/* Smallest and largest value of a component on a level as the file states them, which nobody has compared
 * with its values. *is_stated becomes 0, and the others stay, where the file states none. */
int neve_plotfile_range(const neve_plotfile* plotfile, int level, int component, double* min, double* max,
                        int* is_stated);

/* Says that all boxes with all components will be read, about once each: the reader then decodes more at a
 * time. Values are the same without. */
int neve_plotfile_expect_all(neve_plotfile* plotfile);
/* Where a box lies in the file: the boxes of a level are read fastest by rising place. */
int neve_plotfile_place(const neve_plotfile* plotfile, int level, int box, uint64_t* place);

/* Texts for people, by number from 0 on; NULL past the last one, which is NEVE_USAGE. They belong to the
 * plotfile. What the file has besides fields and side files (particles, ...), and where the hierarchy differs
 * from the file (a name that two components had). */
const char* neve_plotfile_left_behind(neve_plotfile* plotfile, int number);
const char* neve_plotfile_remark(neve_plotfile* plotfile, int number);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
