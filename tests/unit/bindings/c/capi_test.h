/* SPDX-License-Identifier: BSD-3-Clause
 * What capi_test.c, compiled as C, does for capi_test.cpp. */
#ifndef NEVE_TESTS_UNIT_CAPI_TEST_H
#define NEVE_TESTS_UNIT_CAPI_TEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_outcome {
  size_t frame_bytes;
  uint64_t described_frame_bytes;
  uint64_t values;
  int shape_is_kept;
  int is_array_of_floats;
  int specials_are_kept;
  double bound_abs;
  double described_error;
  double max_abs_error;
  char bound_mode[16];
};

/* A float field with a NaN and a -0 there and back, from C; the first code that is not NEVE_OK. */
int c_round_trip(const char* bound, int threads, struct c_outcome* outcome);

#ifdef __cplusplus
}
#endif

#endif
