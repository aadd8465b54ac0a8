// SPDX-License-Identifier: BSD-3-Clause
// The edge between C++ and C: nothing passes it but a code, and the words stay with the calling thread.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "neve/status.hpp"

namespace neve::capi {

// Remembers the status for neve_last_error() and returns its code. Never throws.
int report(const Status& status) noexcept;

// Runs `work`, which returns a Status; an exception becomes one.
template <class Work>
int reported(Work&& work) noexcept {
  try {
    return report(std::forward<Work>(work)());
  } catch (const std::bad_alloc&) {
    return report({Code::failure, "out of memory"});
  } catch (const std::exception& error) {
    return report({Code::failure, error.what()});
  } catch (...) {
    return report({Code::failure, "unknown error"});
  }
}

}  // namespace neve::capi
