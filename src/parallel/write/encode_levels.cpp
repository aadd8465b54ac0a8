// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/encode_levels.hpp"

#include <algorithm>
#include <iterator>

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

}  // namespace

Result<EncodedLevels> encode_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                    const WriteOptions& options, WritePlan& plan,
                                    const std::function<void(const char* phase, double fraction)>& progress,
                                    const PassingBy& passing) {
  EncodedLevels result;
  Stopwatch stopwatch;
  NEVE_ASSIGN(CoverageCheck check, CoverageCheck::begin(comm, hierarchy, owned, options, plan));
  result.coverage_seconds += stopwatch.lap();

  const size_t levels = hierarchy.levels.size();
  size_t total = 0;
  size_t encoded_from = levels;  // levels from here on are encoded
  std::vector<EncodedChunk>& chunks = result.chunks;
  const auto encode_from = [&](size_t begin, bool is_averaged) -> Status {
    const Status encoded = guarded("encode", [&]() -> Status {
      if (encoded_from == levels) {
        NEVE_TRY(injected_fault(Phase::encode, comm.rank()));
        total = chunks_to_encode(comm.rank(), plan, 0, levels).size();
      }
      std::vector<EncodedChunk> coarser = chunks_to_encode(comm.rank(), plan, begin, encoded_from);
      if (is_averaged) prepare_averages(hierarchy, plan, begin, options.chunk_bytes, coarser);
      const size_t before = chunks.size();
      NEVE_TRY(encode_chunks(
          hierarchy, owned, options, plan, check.missed(), nullptr, coarser,
          [&](size_t finished) {
            progress("encode", static_cast<double>(before + finished) / static_cast<double>(total));
          },
          passing));
      chunks.insert(chunks.begin(), std::make_move_iterator(coarser.begin()),
                    std::make_move_iterator(coarser.end()));
      return {};
    });
    encoded_from = begin;
    const Status agreed = agree(comm, encoded);
    result.encode_seconds += stopwatch.lap();
    return agreed;
  };

  for (size_t level = levels; level-- > 0;) {
    std::span<const EncodedChunk> finer;
    if (check.needs_finer_frames(level)) {
      NEVE_TRY(encode_from(level + 1, true));
      const auto end = std::find_if(chunks.begin(), chunks.end(),
                                    [&](const EncodedChunk& c) { return c.level != level + 1; });
      finer = {chunks.begin(), end};
    }
    NEVE_TRY(check.settle_level(level, finer));
    for (EncodedChunk& chunk : chunks) chunk.averages.reset();
    result.coverage_seconds += stopwatch.lap();
  }
  NEVE_TRY(encode_from(0, false));

  if (options.cross_level) {
    NEVE_TRY(predict_across_levels(comm, hierarchy, owned, options, check.missed(), plan, chunks,
                                   [&](double fraction) { progress("cross-level", fraction); }));
    result.encode_seconds += stopwatch.lap();
  }
  return result;
}

}  // namespace neve::mpi
