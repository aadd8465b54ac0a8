// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/encode_levels.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/cross_level.hpp"

namespace neve::mpi {
namespace {

// Chunks of `level` that are to be averaged as they are encoded, while all their averages together take no
// more than a chunk's values; the others are decoded once more.
void prepare_averages(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, uint64_t most_bytes,
                      std::span<EncodedChunk> chunks) {
  if (plan.strategy == Strategy::amrex_1d) return;
  for (EncodedChunk& chunk : chunks) {
    if (chunk.level != level || plan.levels[level].chunks.chunks[chunk.chunk].is_split) continue;
    const uint64_t bytes = ChunkAverages::bytes_for(hierarchy, plan, level, chunk.chunk);
    if (bytes == 0) continue;
    if (bytes > most_bytes) return;
    most_bytes -= bytes;
    chunk.averages = std::make_unique<ChunkAverages>(hierarchy, plan, level, chunk.chunk);
  }
}

// The levels of a write, encoded from the finest on.
class LevelEncoder {
 public:
  LevelEncoder(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
               const WriteOptions& options, WritePlan& plan, const ShowEncoding& progress,
               const PassingBy& passing, EncodedLevels& result)
      : comm_(comm),
        hierarchy_(hierarchy),
        owned_(owned),
        options_(options),
        plan_(plan),
        progress_(progress),
        passing_(passing),
        result_(result),
        encoded_from_(hierarchy.levels.size()) {}

  // Not collective.
  Status encode_from(size_t begin, const MissedCells& missed, bool is_averaged) {
    const Status encoded = guarded("encode", [&]() -> Status {
      const size_t levels = hierarchy_.levels.size();
      if (encoded_from_ == levels) {
        NEVE_TRY(injected_fault(Phase::encode, comm_.rank()));
        total_ = chunks_to_encode(comm_.rank(), plan_, 0, levels).size();
      }
      std::vector<EncodedChunk> coarser = chunks_to_encode(comm_.rank(), plan_, begin, encoded_from_);
      if (is_averaged) prepare_averages(hierarchy_, plan_, begin, options_.chunk_bytes, coarser);
      std::vector<EncodedChunk>& chunks = result_.chunks;
      const size_t before = chunks.size();
      NEVE_TRY(encode_chunks(
          hierarchy_, owned_, options_, plan_, missed, nullptr, coarser,
          [&](size_t finished) {
            progress_("encode", static_cast<double>(before + finished) / static_cast<double>(total_));
          },
          passing_));
      chunks.insert(chunks.begin(), std::make_move_iterator(coarser.begin()),
                    std::make_move_iterator(coarser.end()));
      encoded_from_ = begin;
      return {};
    });
    result_.encode_seconds += stopwatch_.lap();
    return encoded;
  }

  // Collective; `mine` as of CoverageCheck::settle_level.
  Status settle_and_encode(CoverageCheck& check, Status& mine) {
    for (size_t level = hierarchy_.levels.size(); level-- > 0;) {
      std::span<const EncodedChunk> finer;
      if (check.needs_finer_frames(level)) {
        if (mine.ok()) mine = encode_from(level + 1, check.missed(), true);
        if (mine.ok()) finer = chunks_of(level + 1);
      }
      NEVE_TRY(check.settle_level(level, finer, mine));
      for (EncodedChunk& chunk : result_.chunks) chunk.averages.reset();
      result_.coverage_seconds += stopwatch_.lap();
    }
    return {};
  }

  double lap() { return stopwatch_.lap(); }

 private:
  // The coarsest that is encoded.
  std::span<const EncodedChunk> chunks_of(size_t level) const {
    const std::vector<EncodedChunk>& chunks = result_.chunks;
    const auto end = std::find_if(chunks.begin(), chunks.end(),
                                  [&](const EncodedChunk& chunk) { return chunk.level != level; });
    return {chunks.begin(), end};
  }

  const Comm& comm_;
  const Hierarchy& hierarchy_;
  LocalValues owned_;
  const WriteOptions& options_;
  WritePlan& plan_;
  const ShowEncoding& progress_;
  PassingBy passing_;
  EncodedLevels& result_;
  Stopwatch stopwatch_;
  size_t encoded_from_;  // levels from here on are encoded
  size_t total_ = 0;     // of this rank's chunks
};

}  // namespace

bool settles_by_values(const WriteOptions& options, const WritePlan& plan) {
  return options.covered == Covered::automatic && plan.strategy != Strategy::amrex_1d;
}

Status encode_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                     const WriteOptions& options, WritePlan& plan, CoverageCheck* check,
                     const ShowEncoding& progress, EncodedLevels& result, Status& mine,
                     const PassingBy& passing) {
  LevelEncoder encoder(comm, hierarchy, owned, options, plan, progress, passing, result);
  MissedCells none;
  if (check != nullptr) {
    NEVE_TRY(encoder.settle_and_encode(*check, mine));
  } else if (mine.ok()) {
    mine = guarded("coverage check", [&]() -> Status {
      settle_as_asked(options, plan);
      none.resize(owned.size());
      return {};
    });
  }
  const MissedCells& missed = check != nullptr ? check->missed() : none;
  if (mine.ok()) mine = encoder.encode_from(0, missed, false);

  if (options.cross_level) {
    NEVE_TRY(agree(comm, mine));
    NEVE_TRY(predict_across_levels(comm, hierarchy, owned, options, missed, plan, result.chunks,
                                   [&](double fraction) { progress("cross-level", fraction); }));
    result.encode_seconds += encoder.lap();
  }
  return {};
}

}  // namespace neve::mpi
