// SPDX-License-Identifier: BSD-3-Clause
// Where every frame, or every box, goes: sizes to rank 0, the skeleton there, addresses back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/skeleton.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// What a level's records say of its fields.
std::vector<hdf5::FieldRecord> field_records(const LevelReport& report);

// Rank 0's view of all frames: those of a rank, by level, then chunk, lie together. Empty on the others.
struct GatheredFrames {
  struct Chunk {
    size_t level;
    size_t chunk;
  };
  std::vector<Chunk> chunks;
  std::vector<uint64_t> sizes;  // by `chunks`
  std::vector<int> counts;      // by rank
  std::vector<int> starts;      // by rank
};

// Collective.
Result<GatheredFrames> gather_frames(const Comm& comm, const WritePlan& plan,
                                     std::span<const EncodedChunk> chunks);
// Rank 0 alone.
std::vector<hdf5::LevelPlacement> frame_placements(const WritePlan& plan,
                                                   std::span<const LevelReport> reports,
                                                   const GatheredFrames& frames);
// Collective. The addresses of this rank's frames, of which there are `count`.
Result<std::vector<uint64_t>> scatter_addresses(const Comm& comm, const GatheredFrames& frames,
                                                const hdf5::FrameAddresses& by_level, size_t count);
// Where the last of the frames ends.
uint64_t end_of_frames(const GatheredFrames& frames, const hdf5::FrameAddresses& by_level);

// Collective. Rank 0 creates `path`, writes everything but the frames into it and reserves its space; every
// rank learns the addresses of its own frames, by `chunks`, and only those. `like`: WriteOptions::like.
Result<std::vector<uint64_t>> place_frames(const Comm& comm, const std::string& path, const Hints& hints,
                                           const Hierarchy& hierarchy, const WritePlan& plan,
                                           const WriteReport& report, std::span<const EncodedChunk> chunks,
                                           const std::string& like);

// Collective. Rank 0 creates `path`, writes everything into it but the levels' datasets, and reserves what
// they will need: for strategies in which HDF5 places the frames.
Status describe_file(const Comm& comm, const std::string& path, const Hints& hints,
                     const Hierarchy& hierarchy, const WritePlan& plan, const WriteReport& report,
                     std::span<const EncodedChunk> chunks, const std::string& like);

}  // namespace neve::mpi
