// SPDX-License-Identifier: BSD-3-Clause
// The edge between C++ and C: nothing passes it but a code, and the words stay with the calling thread.
#pragma once

#include <utility>

#include "core/status/guarded.hpp"
#include "neve/status.hpp"

namespace neve::capi {

// Remembers the status for neve_last_error() and returns its code. Never throws.
int report(const Status& status) noexcept;

// Runs `work`, which returns a Status; an exception becomes one.
template <class Work>
int reported(Work&& work) noexcept {
  return report(guarded("", [&]() -> Status { return std::forward<Work>(work)(); }));
}

}  // namespace neve::capi
