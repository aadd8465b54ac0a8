// SPDX-License-Identifier: BSD-3-Clause
// Codes that the calls return, and how work that may throw ends in one.
#pragma once

#include <exception>

#include "alone/mpi.h"

namespace neve::alone {

enum ErrorCode : int {
  no_memory = 1,
  bad_argument,
  bad_rank,
  message_too_long,
  nobody_sends,
  closed_key,
  first_of_system = 1000,  // errno + this
};

// Of errno as it is now.
int system_error();

template <class Work>
int guarded(Work&& work) {
  try {
    return work();
  } catch (const std::exception&) {  // nothing but allocations throws here
    return no_memory;
  }
}

}  // namespace neve::alone
