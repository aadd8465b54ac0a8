// SPDX-License-Identifier: BSD-3-Clause
// Signals are the program's: its own threads handle them, not those that are begun while this lives.
#pragma once

#include <pthread.h>

#include <csignal>

namespace neve {

class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace neve
