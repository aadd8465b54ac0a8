// SPDX-License-Identifier: BSD-3-Clause
// Exceptions as errors: what the standard library throws, out of memory above all, leaves no public function.
#pragma once

#include <string_view>
#include <utility>

#include "neve/status.hpp"

namespace neve {

// In a catch block: the exception being handled as a Failure, "`what`: out of memory". Memory that is gone
// shortens the message, and nothing more.
Status caught_exception(std::string_view what) noexcept;

// What `work` returns, a Status or a Result, or the exception that it ended in.
template <class Work>
auto guarded(std::string_view what, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return caught_exception(what);
  }
}

}  // namespace neve
