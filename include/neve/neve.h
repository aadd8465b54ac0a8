/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compressing and decompressing arrays from C. Plotfiles are written through neve/plotfile.h.
 *
 * Errors. Functions that return int return a neve_code: NEVE_OK, or one of the exit codes of the `neve`
 * command. neve_last_error() then describes the error. A function that fails does not change its outputs,
 * except that neve_decompress may have written part of `out`. Running out of memory, on any thread, is
 * NEVE_FAILURE; nothing aborts the program.
 *
 * Ownership. Inputs stay the caller's and are not kept. A buffer that the library returns belongs to the
 * caller, who frees it with neve_free().
 *
 * Threads. All functions may be called from any number of threads at once, as long as no two write to the
 * same output. The last error belongs to the thread that made the call.
 *
 * Versions. The structs begin with their own size, which the INIT macros fill in. A library newer than the
 * caller's header reads and writes only the fields that the caller knows. A library older than the caller's
 * header refuses fields that are set and that it does not know.
 */
#ifndef NEVE_NEVE_H
#define NEVE_NEVE_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define NEVE_VERSION_MAJOR 0
#define NEVE_VERSION_MINOR 1
#define NEVE_VERSION_PATCH 0

/* "0.1.0": the version of the library in use. */
const char* neve_version(void);

typedef enum neve_code {
  NEVE_OK = 0,
  NEVE_FAILURE = 1,        /* the system refused: memory, I/O, another rank failed */
  NEVE_USAGE = 2,          /* the caller asked for something that is not allowed */
  NEVE_BOUND_VIOLATED = 3, /* a comparison found a value outside its error bound */
  NEVE_CORRUPT = 4,        /* the input's bytes are damaged or disagree with each other */
  NEVE_PLUGIN_MISSING = 5  /* HDF5 cannot find or load Neve's filter */
} neve_code;

/* The message of the calling thread's last call, those of plotfile.h included; "" when it succeeded. Valid
 * until the thread's next call. */
const char* neve_last_error(void);

/* Integers are kept bit for bit. */
typedef enum neve_dtype {
  NEVE_F32 = 0,
  NEVE_F64 = 1,
  NEVE_I8 = 2,
  NEVE_U8 = 3,
  NEVE_I16 = 4,
  NEVE_U16 = 5,
  NEVE_I32 = 6,
  NEVE_U32 = 7,
  NEVE_I64 = 8,
  NEVE_U64 = 9
} neve_dtype;

/* Most dimensions of an array. */
#define NEVE_MAX_DIMS 32
/* Most threads that a call may be given. It uses fewer if the system gives no more. */
#define NEVE_MAX_THREADS 1024

typedef struct neve_compress_options {
  size_t struct_bytes;
  const char* bound;     /* "rel=1e-3", "abs=0.5", "ratio=10", "psnr=60" or "lossless"; NULL: "rel=1e-3". rel
                            refers to the value range, max - min of the finite values that are not the fill
                            value. Integers: "lossless", also for NULL */
  const char* codec;     /* by name, as --codec of the command, whose help lists all of them; NULL: "auto",
                            which chooses. Integers: one that keeps every bit */
  const char* effort;    /* "fast", "balanced" or "max"; NULL: "fast" */
  const double* fill;    /* the value that means "no data"; it comes back bit for bit. NULL: detected */
  int no_fill_detection; /* non-zero: no fill value is detected if `fill` is NULL */
  int threads;           /* 1..NEVE_MAX_THREADS; 0: 1. The bytes do not depend on it */
  /* Fields below that are NULL or 0 are chosen automatically. */
  const char* arrangement;  /* how cells are placed for prediction: "auto", "linear", "cluster", "in_place" */
  int unit_cells;           /* side of the unit blocks of "linear" and "cluster": 8, 16, 32 or 64 */
  int block_cells;          /* side of lorenzo_regression's prediction blocks: 4 or 6 */
  int merge_units;          /* non-zero: lorenzo_regression and interpolation predict across unit blocks
                               stacked in a line */
  const void* integer_fill; /* instead of `fill` for integers: points to a value of the array's type */
  const char* method;  /* method of codec "lossless": "auto", "lorenzo", "shuffle-zstd", "BW-zlib", ...; NULL:
                          "auto" */
  const char* options; /* options of `neve compress` by name: "effort=max;unit=16". They override the fields
                          above. NULL: none */
} neve_compress_options;

#define NEVE_COMPRESS_OPTIONS_INIT \
  { sizeof(neve_compress_options), NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0, NULL, NULL, NULL }

/* Compresses an array of type `dtype` (neve_dtype) whose last index varies fastest. `shape` has ndim sizes
 * (0..NEVE_MAX_DIMS), slowest first; a size may be 0, and ndim 0 is a single value. `data` may be NULL only
 * where there are no values. NULL `options`: all defaults. On success *frame points to *frame_bytes
 * bytes, which the caller frees with neve_free(). */
int neve_compress(int dtype, int ndim, const uint64_t* shape, const void* data,
                  const neve_compress_options* options, void** frame, size_t* frame_bytes);

/* `buffer` may be NULL. */
void neve_free(void* buffer);

typedef struct neve_frame_description {
  size_t struct_bytes;
  neve_dtype dtype;
  int is_array; /* 1: made by neve_compress; 0: part of a plotfile, for which shape is {values} */
  int ndim;
  uint64_t shape[NEVE_MAX_DIMS]; /* slowest first */
  uint64_t values;
  uint64_t value_bytes;   /* what neve_decompress writes */
  uint64_t frame_bytes;   /* bytes after the frame do not count */
  int components;         /* 1 for an array; the fields below are of the first one */
  const char* bound_mode; /* as asked for: "abs", "rel", "ratio", "psnr" or "lossless". Not to be freed */
  double bound_value;     /* the number of the bound; 0 when lossless */
  double bound_abs;       /* the resulting absolute bound; 0: exact */
  double max_abs_error;   /* measured when the frame was made */
  int has_fill;
  double fill;           /* 0 for integers */
  uint64_t integer_fill; /* `fill` of integers, two's complement of 64 bits */
} neve_frame_description;

#define NEVE_FRAME_DESCRIPTION_INIT \
  { sizeof(neve_frame_description), NEVE_F32, 0, 0, {0}, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0 }

/* Reads a frame's header. Damaged bytes are NEVE_CORRUPT. */
int neve_frame_info(const void* frame, size_t frame_bytes, neve_frame_description* description);

/* Decompresses into the caller's `out`, which has exactly the value_bytes of neve_frame_info.
 * threads: 1..NEVE_MAX_THREADS, 0: 1. */
int neve_decompress(const void* frame, size_t frame_bytes, int threads, void* out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
