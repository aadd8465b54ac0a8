// SPDX-License-Identifier: BSD-3-Clause
// A folder for the files that MPI makes for itself, which is gone when this process is, whatever ends it.
#pragma once

#include <sys/types.h>

#include <string>

#include "neve/status.hpp"

namespace neve::cli {

class SessionFolder {
 public:
  SessionFolder() = default;
  // Removes it, once nothing uses it any more.
  ~SessionFolder();
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;

  // In TMPDIR. To be called while this process has one thread: a child is forked that watches over it.
  Status make();
  const std::string& path() const { return path_; }  // empty: not made

 private:
  int make_it();
  void hold_it();
  bool start_watcher();
  int hear_of_it();
  [[noreturn]] void watch(int lifeline, int answer);

  std::string place_, path_;
  int parent_ = -1, folder_ = -1;  // open, so that nothing but this folder is ever removed
  int lifeline_ = -1;              // the end of a pipe that this process alone holds
  int answer_ = -1;                // the end of another, which the watcher speaks into
  pid_t watcher_ = -1;
};

}  // namespace neve::cli
