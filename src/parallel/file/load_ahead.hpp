// SPDX-License-Identifier: BSD-3-Clause
// Bytes of write calls that are not in memory, loaded by a thread of its own while the call before is made.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "neve/status.hpp"
#include "parallel/file/call_types.hpp"

namespace neve::mpi {

// The bytes from `address` of the file on, which lie in one of this rank's pieces, into `out`.
using LoadBytes = std::function<Status(uint64_t address, std::span<std::byte> out)>;

class LoadAhead {
 public:
  // The pieces of each call in turn; their Rows::first are set. At most two calls are in memory.
  LoadAhead(const LoadBytes& load, std::vector<std::span<Piece>> calls);
  ~LoadAhead();
  LoadAhead(const LoadAhead&) = delete;
  LoadAhead& operator=(const LoadAhead&) = delete;

  // Waits for the next call's pieces, which are in memory until the call after it is asked for. Not to be
  // called again after an error. Throws nothing.
  Status next();

 private:
  void run() noexcept;
  Status load_call(size_t call);

  const LoadBytes& load_;
  std::vector<std::span<Piece>> calls_;
  std::vector<std::byte> buffers_[2];  // call c in number c % 2
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t taken_ = 0;     // calls that were asked for
  size_t released_ = 0;  // whose buffers are free again
  size_t loaded_ = 0;
  Status error_;  // of call loaded_; none is loaded after it
  bool stopped_ = false;
  std::jthread thread_;
};

}  // namespace neve::mpi
