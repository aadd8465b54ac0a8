/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI with compressed values: gathers and other collective calls that move values, send and receive, and
 * files that all ranks write and read. Each rank cuts its values into blocks. While one block moves, the next
 * is encoded, and blocks that have arrived are decoded while others still move.
 *
 * Arguments are those of the MPI function of the same name. Counts and displacements are in values and have
 * 64 bits. `type` is a named MPI type: MPI_FLOAT, MPI_DOUBLE and their Fortran names, or an integer of 8 to
 * 64 bits, which is kept bit for bit.
 *
 * Bound. Text as in neve.h: "rel=1e-3", "abs=0.5" or "lossless"; NULL means options->values->bound, or
 * "rel=1e-3" (integers: "lossless"). In a collective call rel refers to the value range over all ranks. Every
 * finite value arrives within the bound, special values (NaN, infinities, -0, the fill value) bit for bit.
 * A gather or a write of floating-point values also takes "ratio=10", of the bytes of values that are sent or
 * written to those of their frames. Each collective call gets one absolute bound: that of the last call with
 * the same communicator, root, type, ratio and number of values (writes: into files that were opened with the
 * same communicator), corrected until samples of all ranks take as much as they may. From the third call of
 * like values on the ratio is reached within 5 %. Values that need no error are sent without any, and may
 * take less; those that do not get there under any bound are sent as small as they get, within a few per
 * cent. A write of one rank keeps the ratio for itself.
 *
 * Errors. Functions return a neve_code (neve.h), and neve_last_error() describes the error. A collective
 * function returns the same code with the same message on all ranks, whichever rank failed, and nothing
 * hangs: ranks without an error continue with their part until all have agreed. The received values are then
 * undefined. Errors of MPI itself go to the communicator's error handler, which by default ends the program.
 *
 * Ownership. All buffers stay the caller's; the library keeps none when a function returns. Of a communicator
 * that a collective function was called with it keeps a duplicate, until that is freed or MPI is finalized.
 *
 * Threads. A function may be called from one thread at a time for each communicator. It needs the same MPI
 * thread level as the caller's own calls: Neve's other threads encode and decode and make no MPI call. A call
 * before MPI_Init, after MPI_Finalize or on a thread that may not call MPI is NEVE_USAGE.
 */
#ifndef NEVE_TRANSFER_H
#define NEVE_TRANSFER_H

#include <mpi.h>
#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* What a call moved on the calling rank. */
typedef struct neve_mpi_report {
  uint64_t value_bytes; /* values sent or received, uncompressed */
  uint64_t moved_bytes; /* the frames that were moved for them */
  uint64_t blocks;
} neve_mpi_report;

/* What a collective call of values came to over all ranks; the same on all of them. */
typedef struct neve_mpi_reached {
  uint64_t value_bytes; /* values sent or written, those that go to all ranks once; copied ones are not */
  uint64_t moved_bytes; /* their frames: the ratio is value_bytes / moved_bytes */
  double bound_abs;     /* the absolute bound that was used; 0: lossless */
  double max_abs_error; /* the largest error of a value that was sent, in the values' own arithmetic */
} neve_mpi_reached;

typedef struct neve_mpi_options {
  size_t struct_bytes;
  const neve_compress_options*
      values;           /* codec, effort, fill value, threads, ... NULL: all defaults. Its bound
                           only where the call's own is NULL. threads: for the rank's blocks */
  uint64_t block_bytes; /* most bytes of values in a block, up to 2^30; 0: 2^22. The same on all ranks */
  int layer_ndim;       /* values lie in layers of this many dimensions, 0..NEVE_MAX_DIMS-1; 0: in a line. The
                           more of an array's shape is known, the better the prediction */
  const uint64_t* layer_shape; /* sizes of a layer, slowest first. A rank's count must be a multiple of
                                  their product, so that it has whole layers */
  neve_mpi_report* report;     /* filled when the call succeeds; NULL: not wanted */
  neve_mpi_reached* reached; /* of a collective call of values, or a collective write whose bound is a ratio,
                                filled when it succeeds; NULL: not wanted. With other calls a usage error */
} neve_mpi_options;

#define NEVE_MPI_OPTIONS_INIT \
  { sizeof(neve_mpi_options), NULL, 0, 0, NULL, NULL, NULL }

/* Collective. As MPI_Gather: all ranks send `count` values; `recv`, of count times ranks values, is used on
 * `root` only. `send` on root may be MPI_IN_PLACE. Root's own values are copied without loss. */
int neve_mpi_gather(const void* send, uint64_t count, MPI_Datatype type, void* recv, int root, MPI_Comm comm,
                    const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Gatherv: counts[r] values of rank r go to recv + displs[r]; both are used on root only.
 * NULL displs: one after another. What lies between is not changed. */
int neve_mpi_gatherv(const void* send, uint64_t count, MPI_Datatype type, void* recv, const uint64_t* counts,
                     const uint64_t* displs, int root, MPI_Comm comm, const char* bound,
                     const neve_mpi_options* options);

/* Collective. As MPI_Allgather: `recv` has count times ranks values. All ranks get the same values, in the
 * bound of what was sent: a rank's own also as the others get them. `send` may be MPI_IN_PLACE. */
int neve_mpi_allgather(const void* send, uint64_t count, MPI_Datatype type, void* recv, MPI_Comm comm,
                       const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Allgatherv: counts[r] values of rank r go to recv + displs[r]. NULL displs: one after
 * another. What lies between is not changed. */
int neve_mpi_allgatherv(const void* send, uint64_t count, MPI_Datatype type, void* recv,
                        const uint64_t* counts, const uint64_t* displs, MPI_Comm comm, const char* bound,
                        const neve_mpi_options* options);

/* Collective. As MPI_Alltoall: values r * count and on of `send` go to rank r; both buffers have count times
 * ranks values. A rank's own are copied without loss. `send` may be MPI_IN_PLACE, on all ranks or on some:
 * room for what is sent is needed then. Each part is cut into blocks by itself, and is whole layers. */
int neve_mpi_alltoall(const void* send, uint64_t count, MPI_Datatype type, void* recv, MPI_Comm comm,
                      const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Alltoallv: send_counts[r] values at send + send_displs[r] go to rank r, and
 * recv_counts[r] of rank r to recv + recv_displs[r]. NULL displacements: one after another. */
int neve_mpi_alltoallv(const void* send, const uint64_t* send_counts, const uint64_t* send_displs,
                       MPI_Datatype type, void* recv, const uint64_t* recv_counts,
                       const uint64_t* recv_displs, MPI_Comm comm, const char* bound,
                       const neve_mpi_options* options);

/* Collective. As MPI_Bcast: the `count` values of `root`, which keeps them as they are, go to all others, who
 * all get the same. The same count on all ranks. */
int neve_mpi_bcast(void* values, uint64_t count, MPI_Datatype type, int root, MPI_Comm comm,
                   const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Scatter: values r * count and on of `send`, which is used on `root` only, go to rank r.
 * Root's own are copied without loss; `recv` on root may be MPI_IN_PLACE. */
int neve_mpi_scatter(const void* send, uint64_t count, MPI_Datatype type, void* recv, int root, MPI_Comm comm,
                     const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Scatterv: counts[r] values at send + displs[r] go to rank r, where `count` is the same;
 * both arrays are used on root only. NULL displs: one after another. */
int neve_mpi_scatterv(const void* send, const uint64_t* counts, const uint64_t* displs, MPI_Datatype type,
                      void* recv, uint64_t count, int root, MPI_Comm comm, const char* bound,
                      const neve_mpi_options* options);

/* Not collective: the receiver calls neve_mpi_recv. A rel bound refers to the range of these values. Returns
 * when everything is sent, which may be before it is received. A failure while values are encoded is also
 * reported to the receiver. Sending to MPI_PROC_NULL succeeds and moves nothing. */
int neve_mpi_send(const void* values, uint64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  const char* bound, const neve_mpi_options* options);

/* Not collective. Receives a message of neve_mpi_send, up to `count` values of `type`. *received is set to
 * the number of values, *status (as in MPI_Recv, without a count) to the source; either may be NULL or
 * MPI_STATUS_IGNORE. source and tag may be MPI_ANY_SOURCE, MPI_ANY_TAG. A message that is longer, has another
 * type or does not come from neve_mpi_send is received and is an error. Receiving from MPI_PROC_NULL succeeds
 * and moves nothing. The options block_bytes and layer_* are ignored. */
int neve_mpi_recv(void* values, uint64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  const neve_mpi_options* options, uint64_t* received, MPI_Status* status);

/* A frame file: values of one type in a line, numbered from 0, in frames (docs/format.md). Any number of
 * ranks may read any part of it, however many ranks wrote it and in whatever parts. Values that were never
 * written are 0; where writes overlap the later call counts, and within one call the higher rank. A file that
 * is no such line, because a program under `neve mpi run` put several types or other bytes into it, can be
 * read as values of any type, value n at n times its size; to open it for NEVE_MPI_FILE_UPDATE is an error.
 */
typedef struct neve_mpi_file neve_mpi_file;

typedef enum neve_mpi_file_mode {
  NEVE_MPI_FILE_READ = 0,
  NEVE_MPI_FILE_CREATE = 1, /* a new file gets the name at the first sync or close; until then, and if a
                               write fails, an earlier file of that name does not change */
  NEVE_MPI_FILE_UPDATE = 2  /* an existing frame file; new values replace or extend the old ones. The space of
                               replaced values is not used again. Until sync or close readers see the old
                               contents */
} neve_mpi_file_mode;

/* Collective; every rank gets the same answer. On success *file must be closed by neve_mpi_file_close. */
int neve_mpi_file_open(MPI_Comm comm, const char* path, int mode, neve_mpi_file** file);

/* Not collective. *dtype is set to a neve_dtype, or to -1 if nothing was written yet or the file is no line
 * of values of one type, *values to one more than the number of the last value, or in such a file to its
 * bytes. Either may be NULL. For a file being written, both are what this rank knows.
 */
int neve_mpi_file_describe(const neve_mpi_file* file, int* dtype, uint64_t* values);

/* Collective, also for ranks without values. Writes the values with numbers offset to offset + count - 1. All
 * ranks write the same type in all calls. */
int neve_mpi_file_write_at_all(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                               MPI_Datatype type, const char* bound, const neve_mpi_options* options);

/* Not collective; rel refers to the range of these values. The frames are kept in memory until the next
 * collective call for the file. */
int neve_mpi_file_write_at(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                           MPI_Datatype type, const char* bound, const neve_mpi_options* options);

/* Read `count` values from number `offset` on; `type` is the file's type. The first function is collective:
 * an error on one rank is an error on all. The second is not. Only the options threads and report are used.
 */
int neve_mpi_file_read_at_all(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                              MPI_Datatype type, const neve_mpi_options* options);
int neve_mpi_file_read_at(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                          MPI_Datatype type, const neve_mpi_options* options);

/* Collective. Afterwards everything written is durable, under the file's name. */
int neve_mpi_file_sync(neve_mpi_file* file);

/* Collective. Does what neve_mpi_file_sync does, then frees *file and sets it to NULL, whatever the outcome.
 * After a failed write this fails too, and an earlier file of that name does not change. */
int neve_mpi_file_close(neve_mpi_file** file);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
