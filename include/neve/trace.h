/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases for `neve trace`, from any C or C++ program, with or without MPI; nothing to link. In a program that
 * is not traced a call only checks a variable. MPI programs can call MPI_Pcontrol(2, "name") instead, without
 * this header. */
#ifndef NEVE_TRACE_H
#define NEVE_TRACE_H

#include <dlfcn.h>
#include <stddef.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* From now on this process's input and output is counted in the phase `name` ("" for none). */
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
