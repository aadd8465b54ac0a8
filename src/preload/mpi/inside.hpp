// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace neve::pmpi {

// While this thread is in here, MPI calls are Neve's own, or those that an MPI library makes of others: they
// go to MPI as they are.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static bool is() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace neve::pmpi
