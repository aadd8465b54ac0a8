// SPDX-License-Identifier: BSD-3-Clause
// Encoding that runs ahead of what moves the frames.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mpi/blocks/block_encoder.hpp"

namespace neve::mpi {

// Encodes blocks in order on a thread of its own, at most two beyond the one that was taken last, so that
// memory stays bounded. After the first error nothing more is made. One block alone is encoded when it is
// asked for: there is nothing it could overlap with; and so are all where the system gives no thread.
class Ahead {
 public:
  explicit Ahead(const BlockEncoder& encoder);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // The next block's frame, or the error that it came to; nothing when none is ready within the time.
  std::optional<Result<Bytes>> take_within(std::chrono::microseconds time);
  Result<Bytes> take();

 private:
  static constexpr size_t most_ready = 2;

  Result<Bytes> make(size_t block) const;
  void run();

  const BlockEncoder& encoder_;
  size_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Result<Bytes>> ready_;  // room for all of them from the beginning
  bool stopped_ = false;
  std::jthread thread_;
};

}  // namespace neve::mpi
