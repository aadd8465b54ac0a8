// SPDX-License-Identifier: BSD-3-Clause
// What neve/trace.h finds when this library is in the process.
#include "preload/trace/next.hpp"
#include "preload/trace/recorder.hpp"

NEVE_EXPORT void neve_trace_phase_begin(const char* name);

NEVE_EXPORT void neve_trace_phase_begin(const char* name) {
  if (neve::trace::Recording recording; recording) neve::trace::set_phase(name);
}
