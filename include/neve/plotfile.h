/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing an AMR hierarchy from C, from all ranks of a communicator.
 *
 * Describe the hierarchy in the same way on every rank (hierarchy.h), with the values of the boxes that the
 * calling rank owns and NULL for all others. Write it, then free it. To read it: plotfile_reader.h.
 *
 * Functions that return int return a neve_code (neve.h): 0, or the exit codes of the `neve` command.
 * neve_last_error() then describes the error.
 */
#ifndef NEVE_PLOTFILE_H
#define NEVE_PLOTFILE_H

#include <mpi.h>
#include <neve/hierarchy.h>
#include <neve/neve.h>
#include <neve/report.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Collective over comm; every rank gets the same answer. Writes an HDF5 plotfile. On error nothing is left
 * behind, and an earlier file at `path` is whole. Where an earlier call's file is lost that was written
 * behind (option behind), the error is that file's, which it names; the file of this call is written all the
 * same.
 *
 * `options` is a list of keys and "key=value" separated by ';', or NULL. The keys are the options of
 * `neve convert` (see its --help) with _ for -. The most common ones, with their defaults in parentheses:
 *
 *   abs=0.5, rel=1e-3, lossless   error bound of all fields (rel=1e-3)
 *   field:NAME=RULE               settings of one field: field:density=abs=1e-6,codec=context
 *   codec=NAME, effort=NAME       as --codec and --effort of the command (auto, fast)
 *   fill=X|auto|none              the value that marks missing data, which comes back bit for bit; found
 *                                 out, or none (auto). Of one field: field:density=fill=-999
 *   covered=auto|drop|keep        cells that a finer level covers (keep). Only Neve's readers restore cells
 *                                 that auto and drop leave out; other tools see stand-in values there
 *   behind=none|encode|copy       what goes into the file when the call has returned: nothing; the compressed
 *                                 data; or all, of values that are copied in the call and compressed behind
 *                                 (none). The file is there when neve_wait_for_writes returns, or earlier
 *   stage=DIR                     a folder on a fast device of each machine (NVMe, /dev/shm): what is written
 *                                 behind waits there and not in memory (none). With it behind is encode,
 *                                 unless copy is said
 *   stage_size=N                  most that a rank may have there, as in 4GiB; 0: as much as there is room
 * (0) strategy=NAME                 skeleton, aggregated, collective, independent, filtered or amrex-1d
 *                                 (skeleton)
 *   aggregate_boxes=N             strategy aggregated: pieces of a rank in one write; 0: all (0)
 *   uncompressed                  write values uncompressed; bounds, codecs and chunks are then refused
 *   ghosts=N                      layers of ghost cells written around every box (0)
 *   threads=N                     threads of each rank, 1 to NEVE_MAX_THREADS (1)
 *   chunk_size=N                  most bytes of values in a chunk, as in 65536 or 4MiB (8MiB); not with
 *                                 strategies filtered and amrex-1d
 *   chunk_values=N                strategy amrex-1d: values in a chunk (1024)
 *
 * A NAME that holds '=' or ';', or begins with '"', is put in quotes, in which \" and \\ stand for '"' and
 * '\': field:"a=b;c"=abs=1. Two options that set the same thing ("lossless;abs=1", "threads=1;threads=2") are
 * refused, and so is an option that would have no effect.
 *
 * MPI: call it between MPI_Init and MPI_Finalize, on a communicator of a single group, in the thread that
 * initialized MPI unless its level is MPI_THREAD_SERIALIZED. Under MPI_THREAD_MULTIPLE several threads may
 * call it at the same time, each on a communicator of its own. Anything else is NEVE_USAGE. Neve's threads
 * use HDF5 one at a time; the caller's own use of HDF5 at the same time is the caller's responsibility. */
int neve_write_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                        const char* options);

/* Collective. The same, and on success *report is what was done, on every rank that gives a `report` (NULL:
 * not wanted). The caller frees it with neve_report_free(). After an error *report is NULL. */
int neve_write_plotfile_report(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                               const char* options, neve_report** report);

/* The plotfiles of a run: options that are read once, and what was chosen for each field in the files before,
 * so that most steps need no trials. Each rank has its own. Not collective: options are as of
 * neve_write_plotfile, and on success the caller frees *series; else it is NULL. */
typedef struct neve_plotfile_series neve_plotfile_series;
int neve_plotfile_series_create(const char* options, neve_plotfile_series** series);
/* `series` may be NULL. */
void neve_plotfile_series_free(neve_plotfile_series* series);
/* Not collective, the same on all ranks: a hint for MPI-IO ("striping_factor", "8"). */
int neve_plotfile_series_set_hint(neve_plotfile_series* series, const char* key, const char* value);
/* Collective: as neve_write_plotfile_report, with the options of the series. */
int neve_plotfile_series_write(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                               neve_plotfile_series* series, neve_report** report);

/* Collective over comm; every rank gets the same answer. Writes an AMReX native plotfile, a directory of
 * uncompressed values, with the same promises: it is renamed when whole. The names of side files are plain
 * then, without '/'. */
int neve_write_amrex_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy);

/* Collective over comm; every rank gets the same answer. Waits until every file that calls on `comm` write
 * behind (option behind) has its name. Without it the next call waits for what it must, and MPI_Finalize for
 * the rest. An error is that of the first file that is lost and that no call has told of. */
int neve_wait_for_writes(MPI_Comm comm);

/* Not collective. The same as neve_last_error(). */
const char* neve_mpi_last_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
