/* SPDX-License-Identifier: BSD-3-Clause
 * neve.h as a C program uses it; capi_test.cpp calls these and looks at what they return. */
#include "capi_test.h"

#include <math.h>
#include <neve/neve.h>
#include <stdlib.h>
#include <string.h>

int c_round_trip(const char* bound, int threads, struct c_outcome* outcome) {
  const uint64_t shape[3] = {12, 20, 33};
  const size_t values = 12 * 20 * 33;
  float* field = malloc(values * sizeof *field);
  float* back = malloc(values * sizeof *back);
  for (size_t i = 0; i < values; ++i) field[i] = 300.f + sinf(0.01f * (float)i);
  field[7] = NAN;
  field[8] = -0.f;

  neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
  options.bound = bound;
  options.threads = threads;
  void* frame = NULL;
  size_t frame_bytes = 0;
  int code = neve_compress(NEVE_F32, 3, shape, field, &options, &frame, &frame_bytes);
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  if (code == NEVE_OK) code = neve_frame_info(frame, frame_bytes, &description);
  if (code == NEVE_OK) code = neve_decompress(frame, frame_bytes, threads, back, description.value_bytes);

  memset(outcome, 0, sizeof *outcome);
  if (code == NEVE_OK) {
    outcome->frame_bytes = frame_bytes;
    outcome->described_frame_bytes = description.frame_bytes;
    outcome->values = description.values;
    outcome->shape_is_kept = description.ndim == 3 && memcmp(description.shape, shape, sizeof shape) == 0;
    outcome->is_array_of_floats = description.is_array && description.dtype == NEVE_F32;
    outcome->bound_abs = description.bound_abs;
    outcome->described_error = description.max_abs_error;
    strncpy(outcome->bound_mode, description.bound_mode, sizeof outcome->bound_mode - 1);
    outcome->specials_are_kept = memcmp(&back[7], &field[7], 2 * sizeof *back) == 0;
    for (size_t i = 0; i < values; ++i) {
      if (isnan(field[i])) continue;
      const double error = fabs((double)back[i] - (double)field[i]);
      if (error > outcome->max_abs_error) outcome->max_abs_error = error;
    }
  }
  neve_free(frame);
  free(field);
  free(back);
  return code;
}
