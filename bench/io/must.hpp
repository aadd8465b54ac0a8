// SPDX-License-Identifier: BSD-3-Clause
// Ends a measuring program at the first thing that goes wrong, on all ranks.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "neve/status.hpp"

namespace neve::bench {

[[noreturn]] inline void stop(const Status& status) {
  std::fprintf(stderr, "neve bench write: %s\n", status.message().c_str());
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status.code()));
  std::abort();
}

inline void must(const Status& status) {
  if (!status.ok()) stop(status);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) stop(result.status());
  return std::move(*result);
}

inline int number_argument(const char* text, const char* name, int most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 1 || value > most) {
    stop(usage_error(std::string(name) + " is '" + text + "'; allowed: 1 to " + std::to_string(most)));
  }
  return static_cast<int>(value);
}

}  // namespace neve::bench
