// SPDX-License-Identifier: BSD-3-Clause
// What is done where a signal ends the process.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "neve/status.hpp"

namespace neve::apps {

// While it lives, SIGTERM, SIGINT and SIGHUP have `last` called, once, by a thread of its own; then the
// process ends by the signal. Signals that are ignored or handled already stay so. One at a time in a
// process.
class SignalEnd {
 public:
  // Errors: failure (no pipe, no thread).
  static Result<std::unique_ptr<SignalEnd>> call(std::function<void()> last);
  ~SignalEnd();
  SignalEnd(const SignalEnd&) = delete;
  SignalEnd& operator=(const SignalEnd&) = delete;

 private:
  SignalEnd() = default;
  int read_end_ = -1, write_end_ = -1;
  std::thread watcher_;
};

}  // namespace neve::apps
