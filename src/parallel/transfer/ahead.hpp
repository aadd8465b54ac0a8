// SPDX-License-Identifier: BSD-3-Clause
// Encoding that runs ahead of what moves the frames.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/bits/bytes.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/transfer/block_source.hpp"

namespace neve::mpi {

// Encodes blocks on threads of its own, as many as the transfer asks for, and gives them out in order. As
// many frames as there are threads, and one, are made or ready at a time, so that memory stays bounded. After
// an error no block is begun. One block alone is encoded when it is asked for: there is nothing it could
// overlap with; and so are all where the system gives no thread.
class Ahead {
 public:
  explicit Ahead(const BlockSource& encoder);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // The next block's frame, or the error that it came to; nothing when it is not ready within the time.
  std::optional<Result<Bytes>> take_within(std::chrono::microseconds time);
  Result<Bytes> take();

 private:
  Result<Bytes> make(size_t block) const;
  void run();

  const BlockSource& encoder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t begun_ = 0;  // blocks that a thread has, or had
  size_t taken_ = 0;
  std::vector<std::optional<Result<Bytes>>> ready_;  // block b at b % size
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace neve::mpi
