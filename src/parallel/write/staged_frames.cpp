// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/staged_frames.hpp"

#include <utility>
#include <vector>

#include "io/files/stage_file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/writes_behind.hpp"

namespace neve::mpi {

Result<std::unique_ptr<StagedFrames>> StagedFrames::make(const WriteOptions& options, int rank,
                                                         WritesBehind& behind, bool has_served) {
  if (!has_served) NEVE_TRY(files::check_stage(options.stage));
  Result<std::optional<files::ScratchFile>> file = files::make_stage_file(options.stage);
  if (!file.ok() && has_served) return std::unique_ptr<StagedFrames>();
  NEVE_TRY(file.status());
  if (!file->has_value()) return std::unique_ptr<StagedFrames>();
  return std::unique_ptr<StagedFrames>(
      new StagedFrames(FrameSpool(std::move(**file)), options.stage_bytes, rank, behind));
}

StagedFrames::StagedFrames(FrameSpool spool, uint64_t most_bytes, int rank, WritesBehind& behind)
    : spool_(std::move(spool)),
      most_bytes_(most_bytes > 0 ? most_bytes : UINT64_MAX),
      rank_(rank),
      behind_(behind) {}

StagedFrames::~StagedFrames() { behind_.leave_stage(bytes_); }

std::optional<uint64_t> StagedFrames::put(std::span<const std::byte> bytes) noexcept {
  if (full_at_ == behind_.puts()) return {};
  const uint64_t before = behind_.puts();
  std::optional<uint64_t> place;
  if (behind_.enter_stage(bytes.size(), most_bytes_)) {
    const Status put = guarded("stage", [&]() -> Status {
      NEVE_TRY(injected_fault(Phase::stage, rank_));
      NEVE_ASSIGN(place, spool_.put(bytes));
      return {};
    });
    if (put.ok()) {
      bytes_ += bytes.size();
      return place;
    }
    behind_.leave_stage(bytes.size());
  }
  full_at_ = before;
  return {};
}

void StagedFrames::take(EncodedChunk& chunk) noexcept {
  std::optional<uint64_t> place;
  for (uint64_t before = behind_.puts(); !place; before = behind_.puts()) {
    place = put(chunk.frame);
    if (!place && !behind_.wait_for_put(before)) return;
  }
  chunk.spool = &spool_;
  chunk.spooled_at = *place;
  chunk.frame = std::vector<std::byte>();  // since `= {}` would keep its memory
}

}  // namespace neve::mpi
