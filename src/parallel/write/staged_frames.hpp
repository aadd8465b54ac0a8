// SPDX-License-Identifier: BSD-3-Clause
// The frames of a file that is written behind, on this rank's stage: a folder on a fast device of its machine
// (WriteOptions::stage), from where its thread brings them into the file. Whatever happens to the stage,
// frames for which it has no room stay in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "neve/write_options.hpp"
#include "parallel/write/frame_spool.hpp"

namespace neve::mpi {

struct EncodedChunk;
class WritesBehind;

class StagedFrames {
 public:
  // Not collective. A usage error or failure where there is no such folder, but null where it has no room
  // for a file, or has served before (`has_served`) and can take nothing now. `behind`, whose files leave the
  // stage, must outlive it.
  static Result<std::unique_ptr<StagedFrames>> make(const WriteOptions& options, int rank,
                                                    WritesBehind& behind, bool has_served);
  StagedFrames(const StagedFrames&) = delete;
  ~StagedFrames();  // all that lies there is gone

  // Where the stage takes the chunk's frame, its memory is given back. Waits for room while files leave it.
  // Safe in several threads.
  void take(EncodedChunk& chunk) noexcept;
  // Where any other bytes lie on the stage from now on. Nothing is waited for.
  std::optional<uint64_t> put(std::span<const std::byte> bytes) noexcept;
  const FrameSpool& spool() const { return spool_; }

 private:
  StagedFrames(FrameSpool spool, uint64_t most_bytes, int rank, WritesBehind& behind);

  FrameSpool spool_;
  const uint64_t most_bytes_;
  const int rank_;
  WritesBehind& behind_;
  std::atomic<uint64_t> bytes_ = 0;
  // Of the last that did not fit: what had left the stage before. The next one tries when more has.
  static constexpr uint64_t none = UINT64_MAX;
  std::atomic<uint64_t> full_at_ = none;
};

}  // namespace neve::mpi
