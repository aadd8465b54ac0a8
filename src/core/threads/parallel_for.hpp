// SPDX-License-Identifier: BSD-3-Clause
// Independent pieces of work over a few threads, inside one call: no pool outlives it, because a library is a
// guest in a simulation that manages its own cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "core/threads/float_environment.hpp"

namespace neve {

// Calls work(i) for each i in [0, count), in any order, by at most `threads` threads including the caller's;
// by fewer where the system gives no more. Once a piece has thrown, no other is begun, and when those under
// way have ended the exception (the first one's) is thrown to the caller.
inline void parallel_for(size_t count, int threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> has_thrown{false};
  std::exception_ptr thrown;
  const auto run = [&]() noexcept {
    const FloatEnvironment environment;
    try {
      for (size_t i = next++; i < count && !has_thrown; i = next++) work(i);
    } catch (...) {
      if (!has_thrown.exchange(true)) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;  // joined wherever this is left
    try {
      for (int t = 1; t < threads && static_cast<size_t>(t) < count; ++t) helpers.emplace_back(run);
    } catch (const std::exception&) {  // NOLINT: nothing to do
      // The system gives no more threads (or no memory for one): those that run do all the work.
    }
    run();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace neve
