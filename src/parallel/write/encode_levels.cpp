// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/encode_levels.hpp"

#include <algorithm>
#include <iterator>

#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/cross_level.hpp"

namespace neve::mpi {
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
  const auto encode_from = [&](size_t begin) -> Status {
    const Status encoded = guarded("encode", [&]() -> Status {
      if (encoded_from == levels) {
        NEVE_TRY(injected_fault(Phase::encode, comm.rank()));
        total = chunks_to_encode(comm.rank(), plan, 0, levels).size();
      }
      std::vector<EncodedChunk> coarser = chunks_to_encode(comm.rank(), plan, begin, encoded_from);
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
      NEVE_TRY(encode_from(level + 1));
      const auto end = std::find_if(chunks.begin(), chunks.end(),
                                    [&](const EncodedChunk& c) { return c.level != level + 1; });
      finer = {chunks.begin(), end};
    }
    NEVE_TRY(check.settle_level(level, finer));
    result.coverage_seconds += stopwatch.lap();
  }
  NEVE_TRY(encode_from(0));

  if (options.cross_level) {
    NEVE_TRY(predict_across_levels(comm, hierarchy, owned, options, check.missed(), plan, chunks,
                                   [&](double fraction) { progress("cross-level", fraction); }));
    result.encode_seconds += stopwatch.lap();
  }
  return result;
}

}  // namespace neve::mpi
