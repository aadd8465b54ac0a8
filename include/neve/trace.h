/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases for `neve trace`, from any program: C or C++, with or without MPI, nothing to link. In a program
 * that is not traced a call costs a look at a variable. MPI programs that want no header say MPI_Pcontrol(2,
 * "name"). */
#ifndef NEVE_TRACE_H
#define NEVE_TRACE_H

#include <dlfcn.h>
#include <stddef.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* From here on this process's input and output counts to the phase `name` ("" for none). */
static inline void neve_trace_phase(const char* name) {
  typedef void (*neve_trace_function)(const char*);
  static int looked = 0;
  static neve_trace_function begin = NULL;
  if (!looked) {
#ifdef __cplusplus
    begin = reinterpret_cast<neve_trace_function>(dlsym(RTLD_DEFAULT, "neve_trace_phase_begin"));
#else
    *(void**)&begin = dlsym(NULL, "neve_trace_phase_begin"); /* RTLD_DEFAULT, which needs _GNU_SOURCE */
#endif
    looked = 1;
  }
  if (begin != NULL) begin(name);
}

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
