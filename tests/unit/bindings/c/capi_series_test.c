/* SPDX-License-Identifier: BSD-3-Clause
 * series.h as a C program uses it; capi_series_test.cpp calls this and looks at what came back. */
#include "capi_series_test.h"

#include <neve/series.h>

int c_series_steps(const char* options, const float* values, uint64_t count, int steps, struct c_step* out) {
  neve_series* series = NULL;
  int code = neve_series_create(options, &series);
  for (int s = 0; s < steps && code == NEVE_OK; ++s) {
    const float* const step = values + (uint64_t)s * c_series_pieces * count;
    const void* pieces[c_series_pieces] = {step, step + count};
    code = neve_series_step(series, "field", NEVE_F32, 1, &count, c_series_pieces, pieces, out[s].frames,
                            out[s].bytes);
    neve_choice choice = NEVE_CHOICE_INIT;
    uint64_t dropped = 1;
    if (code == NEVE_OK) code = neve_series_choices(series, &out[s].choices, &dropped);
    if (code == NEVE_OK) code = neve_series_choice(series, out[s].choices - 1, &choice);
    out[s].method = choice.method;
    out[s].reason = choice.reason;
    out[s].coded_bytes = choice.coded_bytes;
  }
  neve_series_free(series);
  return code;
}
