/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { c_series_pieces = 2 };

struct c_step {
  void* frames[c_series_pieces]; /* of malloc */
  size_t bytes[c_series_pieces];
  uint64_t choices;
  const char* method; /* of the last choice */
  const char* reason;
  uint64_t coded_bytes;
};

/* The steps of one variable, two pieces of `count` values each. Returns the neve_code. */
int c_series_steps(const char* options, const float* values, uint64_t count, int steps, struct c_step* out);

#ifdef __cplusplus
}
#endif
