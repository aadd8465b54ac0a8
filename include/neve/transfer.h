/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI that carries compressed values: gather, send and receive, and files that all ranks write and read. Each
 * rank cuts its values into blocks; while one block moves the next is encoded, and where blocks arrive they
 * are decoded while others still move.
 *
 * Arguments are those of the MPI function of the same name, with counts and displacements in values and of
 * 64 bits. `type` is a named MPI type: MPI_FLOAT, MPI_DOUBLE and their Fortran names, or an integer of 8 to
 * 64 bits, which is kept bit for bit.
 *
 * Bound. Text as in neve.h: "rel=1e-3", "abs=0.5" or "lossless"; NULL means options->values->bound, or
 * "rel=1e-3" (integers: "lossless"). In a collective call rel is of the value range over all ranks. Every
 * finite value arrives within the bound, special values (NaN, infinities, -0, the fill value) bit for bit.
 *
 * Errors. Functions return a neve_code (neve.h), and neve_last_error() says what and why. A collective
 * function returns the same code with the same words on all ranks, whichever rank failed, and nothing hangs:
 * ranks that are well go on with their part until all have agreed. What a rank that receives has then got is
 * undefined. Errors of MPI itself are the communicator's error handler's, which by default ends the program.
 *
 * Ownership. All buffers stay the caller's; nothing is kept when a function returns.
 *
 * Threads. A function may be called from one thread at a time for each communicator, and needs of MPI what
 * the caller's own calls need: Neve's other threads encode and decode and make no MPI call. Before MPI_Init,
 * after MPI_Finalize and on a thread that may not call MPI it is NEVE_USAGE.
 */
#ifndef NEVE_TRANSFER_H
#define NEVE_TRANSFER_H

#include <mpi.h>
#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* What a call moved, of the calling rank. */
typedef struct neve_mpi_report {
  uint64_t value_bytes; /* values sent or received, as they are in memory */
  uint64_t moved_bytes; /* the frames that they moved as */
  uint64_t blocks;
} neve_mpi_report;

typedef struct neve_mpi_options {
  size_t struct_bytes;
  const neve_compress_options*
      values;           /* codec, effort, fill value, threads, ... NULL: all defaults. Its bound
                           only where the call's own is NULL. threads: for the rank's blocks */
  uint64_t block_bytes; /* most bytes of values in a block, up to 2^30; 0: 2^22. The same on all ranks */
  int layer_ndim;       /* values lie in layers of this many dimensions, 0..NEVE_MAX_DIMS-1; 0: in a line. The
                           more of an array's shape is known, the better its values are predicted */
  const uint64_t* layer_shape; /* its sizes, slowest first. A rank's count must be a multiple of their
                                  product: that many layers it has */
  neve_mpi_report* report;     /* filled when the call succeeds; NULL: not wanted */
} neve_mpi_options;

#define NEVE_MPI_OPTIONS_INIT \
  { sizeof(neve_mpi_options), NULL, 0, 0, NULL, NULL }

/* Collective. As MPI_Gather: all ranks send `count` values; `recv`, of count times ranks values, matters on
 * `root` only. `send` on root may be MPI_IN_PLACE. Root's own values are copied as they are. */
int neve_mpi_gather(const void* send, uint64_t count, MPI_Datatype type, void* recv, int root, MPI_Comm comm,
                    const char* bound, const neve_mpi_options* options);

/* Collective. As MPI_Gatherv: counts[r] values of rank r go to recv + displs[r]; both matter on root only.
 * NULL displs: one after another. What lies between is left alone. */
int neve_mpi_gatherv(const void* send, uint64_t count, MPI_Datatype type, void* recv, const uint64_t* counts,
                     const uint64_t* displs, int root, MPI_Comm comm, const char* bound,
                     const neve_mpi_options* options);

/* Not collective: the receiver calls neve_mpi_recv. The bound's range is that of these values. Returns when
 * all is sent, which may be before it is received. A failure while values are encoded reaches the receiver.
 * To MPI_PROC_NULL nothing is sent, and that is no error. */
int neve_mpi_send(const void* values, uint64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  const char* bound, const neve_mpi_options* options);

/* Not collective. Receives what neve_mpi_send sent, up to `count` values of `type`; *received is how many
 * came, *status (as of MPI_Recv, without a count) from where; either may be NULL or MPI_STATUS_IGNORE. source
 * and tag may be MPI_ANY_SOURCE, MPI_ANY_TAG. A message that is longer, of another type or not of
 * neve_mpi_send is taken off and is an error. From MPI_PROC_NULL nothing comes, and that is no error. Of the
 * options block_bytes and layers are ignored. */
int neve_mpi_recv(void* values, uint64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  const neve_mpi_options* options, uint64_t* received, MPI_Status* status);

/* A frame file: values of one type in a line, numbered from 0, in frames (docs/format.md). It does not matter
 * how many ranks wrote what is read, nor how their calls cut it. Values that were never written are 0; where
 * writes overlap the later call counts, and within one call the higher rank. */
typedef struct neve_mpi_file neve_mpi_file;

typedef enum neve_mpi_file_mode {
  NEVE_MPI_FILE_READ = 0,
  NEVE_MPI_FILE_CREATE = 1, /* a new file takes the name at the first sync or close; until then, and where a
                               write fails, an earlier file of that name stays as it was */
  NEVE_MPI_FILE_UPDATE = 2  /* an existing frame file; what is written replaces or adds to what it holds. Its
                               space is not used again. Until sync or close readers find it as it was */
} neve_mpi_file_mode;

/* Collective; every rank gets the same answer. On success *file must be closed by neve_mpi_file_close. */
int neve_mpi_file_open(MPI_Comm comm, const char* path, int mode, neve_mpi_file** file);

/* Not collective. *dtype is a neve_dtype, -1 for a file that nothing was written to yet; *values one more
 * than the number of the last value. Either may be NULL. Of a file being written: as far as this rank knows.
 */
int neve_mpi_file_describe(const neve_mpi_file* file, int* dtype, uint64_t* values);

/* Collective, also for ranks without values. Writes `count` values that are number `offset` and on. All ranks
 * of all calls write the same type. */
int neve_mpi_file_write_at_all(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                               MPI_Datatype type, const char* bound, const neve_mpi_options* options);

/* Not collective, and rel is of the range of these values. The frames are held in memory until the next
 * collective call of the file. */
int neve_mpi_file_write_at(neve_mpi_file* file, uint64_t offset, const void* values, uint64_t count,
                           MPI_Datatype type, const char* bound, const neve_mpi_options* options);

/* Reads `count` values from number `offset` on; `type` is the file's. The first is collective: one rank's
 * error is everybody's. The second is not. Of the options only threads and report count. */
int neve_mpi_file_read_at_all(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                              MPI_Datatype type, const neve_mpi_options* options);
int neve_mpi_file_read_at(neve_mpi_file* file, uint64_t offset, void* values, uint64_t count,
                          MPI_Datatype type, const neve_mpi_options* options);

/* Collective. All that was written is under the file's name and durable. */
int neve_mpi_file_sync(neve_mpi_file* file);

/* Collective. As neve_mpi_file_sync, and *file is gone, and NULL, whatever the outcome. After a write that
 * failed this fails, too, and the file's name has what it had. */
int neve_mpi_file_close(neve_mpi_file** file);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
