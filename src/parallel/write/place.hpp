// SPDX-License-Identifier: BSD-3-Clause
// Where every frame goes: one dataset after another, in each the frames of one rank after those of the other,
// so that each rank knows its places when it knows how many bytes come before its own. The file's structure,
// which needs the sizes of all frames, is written by rank 0 before and behind them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/skeleton.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// What a level's records say of its fields.
std::vector<hdf5::FieldRecord> field_records(const LevelReport& report);

// Compressed datasets, of the levels of a plotfile or of a variable, and this rank's frames of them.
struct FrameSet {
  const WritePlan* plan = nullptr;
  std::span<const EncodedChunk> chunks = {};  // by level, then chunk
};

class FramePlaces {
 public:
  // Of so many datasets: those of all sets, one after another.
  explicit FramePlaces(size_t datasets);
  FramePlaces(const FramePlaces&) = delete;
  ~FramePlaces();  // waits for a gather that has begun

  // Not collective, and the last to allocate. The sets must outlive the places.
  Status prepare(const Comm& comm, std::span<const FrameSet> sets);

  // For the exchange (Exchange::run_with_prefix): bytes of this rank's frames, and those of lower ranks'
  // frames; and all ranks' sums of the former.
  std::span<const uint64_t> own_bytes() const { return own_bytes_; }
  std::span<uint64_t> bytes_before() { return bytes_before_; }
  // Places the datasets from `begin` of the file on.
  void settle(uint64_t begin, std::span<const uint64_t> dataset_bytes);
  uint64_t end() const { return end_; }
  uint64_t bytes() const { return bytes_; }  // of all frames
  // Of this rank's frames, by set, then as in it.
  std::span<const uint64_t> addresses(size_t set) const;

  // Collective, but nobody waits: the sizes of all frames begin to travel to rank 0.
  Status begin_gather(const Comm& comm);
  // Rank 0 alone: waits for them. Then the placements of a set's levels, which have `reports`.
  Status finish_gather();
  std::vector<hdf5::LevelPlacement> placements(size_t set, std::span<const LevelReport> reports) const;
  size_t frames() const { return all_.size(); }  // of all ranks

 private:
  struct Frame {
    uint32_t set, level;
    uint64_t chunk;
    int owner;
  };
  Status order_by_rank(int ranks);

  std::vector<FrameSet> sets_;
  std::vector<size_t> first_dataset_, first_chunk_;          // of each set, and the end
  std::vector<uint64_t> own_bytes_, bytes_before_, begins_;  // by dataset
  std::vector<uint64_t> sizes_, addresses_;                  // this rank's
  uint64_t end_ = 0, bytes_ = 0;
  MPI_Request gathering_ = MPI_REQUEST_NULL;
  // Rank 0's: frames of all ranks, those of a rank together.
  std::vector<Frame> all_;
  std::vector<uint64_t> all_sizes_, all_addresses_;
  std::vector<int> counts_, starts_;
};

// What HDF5 may need beside the frames for the datasets' object headers and chunk indices, where it makes
// them.
uint64_t dataset_metadata_bytes(size_t datasets, size_t chunks);

}  // namespace neve::mpi
