// SPDX-License-Identifier: BSD-3-Clause
// This rank's chunks as frames.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/write/chunk_averages.hpp"
#include "parallel/write/local_values.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

class CoarserValues;
class FrameSpool;
class StagedFrames;

// Covered cells that must be stored although their field leaves covered cells out, because the finer average
// misses them: [owned box][component], index in the box, x fastest; an owned box without any has an empty
// list.
using MissedCells = std::vector<std::vector<std::vector<uint64_t>>>;

struct EncodedChunk {
  size_t level = 0;
  size_t chunk = 0;                   // index in LevelPlan::chunks
  std::vector<std::byte> frame = {};  // empty where it was put aside
  uint64_t frame_bytes = 0;
  const FrameSpool* spool = nullptr;  // where it was put aside, else null
  uint64_t spooled_at = 0;
  FrameReport report = {};
  // By component: 1 where a value's decoded form is known only from the frame, because a section's codec
  // predicts from decoded neighbours, or was chosen by rules that only the encoder knows.
  std::vector<char> needs_decoding = {};
  // Filled while the chunk is encoded, where there is one: what the next coarser level is settled with.
  std::unique_ptr<ChunkAverages> averages = nullptr;
};

// A frame's bytes, wherever they are; `storage` takes those that are not in memory.
Result<std::span<const std::byte>> frame_bytes(const EncodedChunk& chunk, std::vector<std::byte>& storage);

// What becomes of frames and values meanwhile.
struct PassingBy {
  StagedFrames* stage = nullptr;  // of values in memory: takes the frames; null: they stay in memory
  // Where boxes are read as they are needed (LocalValues):
  FrameSpool* spool = nullptr;    // takes the frames
  FieldRanges* ranges = nullptr;  // into which those of all values are merged; null: not looked at
};

// Whether asking for this codec may bring one that predicts from decoded neighbours. The others restore each
// value from its quantization code alone, or hold what that would give (codecs/reconstruct.hpp).
bool may_predict(Codec asked);

// This rank's chunks of the levels [begin, end), by level, then chunk, not encoded yet.
std::vector<EncodedChunk> chunks_to_encode(int rank, const WritePlan& plan, size_t begin_level,
                                           size_t end_level);

// Not collective. The frames do not depend on the number of threads; beside them only what the threads are
// working on is held. `around`: of the one level that all chunks are of, for fields that may nest; null: none
// does. `finished`: called on the calling thread with the number of chunks that are done. Values
// that are read a thread of its own reads, ahead of those that encode.
Status encode_chunks(const Hierarchy& hierarchy, const LocalValues& owned, const WriteOptions& options,
                     const WritePlan& plan, const MissedCells& missed, const CoarserValues* around,
                     std::span<EncodedChunk> chunks, const std::function<void(size_t)>& finished,
                     const PassingBy& passing = {});

}  // namespace neve::mpi
