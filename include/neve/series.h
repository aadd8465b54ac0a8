/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Series in C: time steps of variables, each compressed by the method that performs best, which is kept while
 * it does, with a log of what was chosen at each step, and why.
 *
 *   neve_series* series = NULL;
 *   neve_series_create("candidates=acomps;speed_weight=1;ratio_weight=1", &series);
 *   for (int step = 0; step < steps; ++step) {
 *     const void* values[] = {temperature};
 *     void* frame = NULL;
 *     size_t size = 0;
 *     neve_series_step(series, "temperature", NEVE_F64, 3, shape, 1, values, &frame, &size);
 *     fwrite(frame, 1, size, file);
 *     neve_free(frame);
 *   }
 *   neve_series_free(series);
 *
 * Nothing is collective, and nothing needs MPI. Distinct series may be used by distinct threads, one series
 * by one thread at a time. Functions that return int return a neve_code (neve.h), and neve_last_error()
 * describes the error: NEVE_USAGE, NEVE_FAILURE (no memory). Inputs stay the caller's and are not kept.
 */
#ifndef NEVE_SERIES_H
#define NEVE_SERIES_H

#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct neve_series neve_series;

/* `options`: those of `neve compress` by name, and of a series: "candidates=acomps;delta=0.1".
 *
 * - candidates=NAMES: methods that codec lossless chooses from: "all" (Neve's ten and B-zlib), "acomps" (the
 *   nine of ACOMPS), or names with + between them
 * - speed_weight=X, ratio_weight=X: weights of a method's performance: its speed in 100 MB/s times the first
 *   plus its ratio times the second; 0 and 1
 * - delta=X: a method is kept while its performance stays within this fraction of what it was when it was
 *   chosen, and no other is estimated to perform better by more than 0.4 x delta; 0.05
 * - speeds=NAME: "typical", or "measured" (with a speed_weight), by which frames depend on what else the
 *   machine does
 *
 * Without a bound every bit is kept. NULL: none. On success the caller frees *series; else it is NULL. */
int neve_series_create(const char* options, neve_series** series);
/* `series` may be NULL. */
void neve_series_free(neve_series* series);

/* Compresses the next step of `variable`, which lies in `pieces` arrays of one type `dtype` (neve_dtype) and
 * one shape: `ndim` sizes (0..NEVE_MAX_DIMS), slowest first, the last index fastest in memory. data[i] is
 * piece i; it may be NULL only where there are no values. Type, shape and number of pieces may be others at
 * the next step. On success frames[i] points to frame_bytes[i] bytes, which neve_decompress reads and the
 * caller frees with neve_free(); both arrays have room for `pieces` entries. Else they are as they were. */
int neve_series_step(neve_series* series, const char* variable, int dtype, int ndim, const uint64_t* shape,
                     size_t pieces, const void* const* data, void** frames, size_t* frame_bytes);

/* How many choices the log has, one for each step of each variable, in the order of the calls. *dropped is
 * how many older ones it had before: it keeps the last 65536. `dropped` may be NULL. */
int neve_series_choices(const neve_series* series, uint64_t* choices, uint64_t* dropped);

/* Texts are not to be freed. `variable` is the series', until its next step; the others live as long as the
 * program. */
typedef struct neve_choice {
  size_t struct_bytes;
  const char* variable;
  uint64_t step;                   /* of this variable, from 0 */
  const char* method;              /* of codec lossless, else the codec */
  const char* reason;              /* "kept", "first", "drift", "rival" or "due" */
  const char* why;                 /* the same in a sentence */
  double performance;              /* speed * speed_weight + ratio * ratio_weight, as coded */
  double estimate;                 /* of the method when it was compared with others; 0: it was not */
  const char* rival;               /* the best of the others, by its estimate; NULL: none */
  double rival_estimate;           /* 0 without one */
  uint64_t raw_bytes, coded_bytes; /* of all pieces */
  uint64_t choosing_ns, coding_ns; /* CPU time; of choosing: samples, estimates, what was coded in vain */
} neve_choice;

#define NEVE_CHOICE_INIT \
  { sizeof(neve_choice), NULL, 0, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0, 0, 0 }

/* Choice `number` of the log, from 0. */
int neve_series_choice(const neve_series* series, uint64_t number, neve_choice* choice);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
