// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/place.hpp"

#include <algorithm>
#include <limits>

#include "parallel/comm/fault.hpp"
#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {

std::vector<hdf5::FieldRecord> field_records(const LevelReport& report) {
  std::vector<hdf5::FieldRecord> records;
  for (const FieldReport& field : report.fields) {
    hdf5::FieldRecord& record = records.emplace_back();
    record.name = field.name;
    record.asked = field.asked;
    record.bound_abs = field.bound_abs;
    record.max_abs_error = field.max_abs_error;
    record.range_min = field.range_min;
    record.range_max = field.range_max;
    record.cells = field.cells;
    record.left_out_cells = field.left_out_cells;
    record.special_cells = field.special_cells;
    record.exact_cells = field.exact_cells;
    record.stored_bytes = field.stored_bytes;
    record.fill = field.fill;
    record.codec = field.codec;
    record.arrangement = field.arrangement;
    record.chosen = field.chosen;
    record.covered = field.covered;
  }
  return records;
}

uint64_t dataset_metadata_bytes(size_t datasets, size_t chunks) {
  constexpr uint64_t a_level = 16 << 10;
  constexpr uint64_t a_chunk = 256;
  return datasets * a_level + chunks * a_chunk;
}

FramePlaces::FramePlaces(size_t datasets)
    : own_bytes_(datasets, 0), bytes_before_(datasets, 0), begins_(datasets, 0) {}

FramePlaces::~FramePlaces() {
  if (gathering_ != MPI_REQUEST_NULL) static_cast<void>(wait_patiently({&gathering_, 1}, ""));
}

Status FramePlaces::prepare(const Comm& comm, std::span<const FrameSet> sets) {
  NEVE_TRY(injected_fault(Phase::place, comm.rank()));
  sets_.assign(sets.begin(), sets.end());
  size_t datasets = 0;
  for (const FrameSet& set : sets_) {
    first_dataset_.push_back(datasets);
    first_chunk_.push_back(sizes_.size());
    for (const EncodedChunk& chunk : set.chunks) {
      sizes_.push_back(chunk.frame_bytes);
      own_bytes_[datasets + chunk.level] += chunk.frame_bytes;
    }
    datasets += set.plan->levels.size();
  }
  first_dataset_.push_back(datasets);
  first_chunk_.push_back(sizes_.size());
  addresses_.resize(sizes_.size());
  return comm.rank() == 0 ? order_by_rank(comm.size()) : Status();
}

Status FramePlaces::order_by_rank(int ranks) {
  uint64_t total = 0;
  for (const FrameSet& set : sets_) {
    for (const LevelPlan& level : set.plan->levels) total += level.chunks.chunks.size();
  }
  if (total > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    return usage_error("the file would have " + std::to_string(total) + " chunks; at most " +
                       std::to_string(std::numeric_limits<int>::max()) + " are allowed, choose larger ones");
  }
  counts_.assign(static_cast<size_t>(ranks), 0);
  starts_.assign(static_cast<size_t>(ranks), 0);
  for (size_t set = 0; set < sets_.size(); ++set) {
    for (size_t l = 0; l < sets_[set].plan->levels.size(); ++l) {
      const std::vector<amr::Chunk>& chunks = sets_[set].plan->levels[l].chunks.chunks;
      for (size_t c = 0; c < chunks.size(); ++c) {
        all_.push_back({static_cast<uint32_t>(set), static_cast<uint32_t>(l), c, chunks[c].owner});
        ++counts_[static_cast<size_t>(chunks[c].owner)];
      }
    }
  }
  std::ranges::stable_sort(all_, {}, &Frame::owner);
  for (size_t rank = 1; rank < starts_.size(); ++rank) starts_[rank] = starts_[rank - 1] + counts_[rank - 1];
  all_sizes_.resize(all_.size());
  all_addresses_.resize(all_.size());
  return {};
}

void FramePlaces::settle(uint64_t begin, std::span<const uint64_t> dataset_bytes) {
  end_ = begin;
  for (size_t d = 0; d < begins_.size(); ++d) {
    begins_[d] = end_;
    end_ += dataset_bytes[d];
    bytes_ += dataset_bytes[d];
    bytes_before_[d] += begins_[d];  // from here on where this rank's next frame goes
  }
  size_t i = 0;
  for (size_t set = 0; set < sets_.size(); ++set) {
    for (const EncodedChunk& chunk : sets_[set].chunks) {
      uint64_t& next = bytes_before_[first_dataset_[set] + chunk.level];
      addresses_[i] = next;
      next += sizes_[i++];
    }
  }
}

std::span<const uint64_t> FramePlaces::addresses(size_t set) const {
  return std::span(addresses_).subspan(first_chunk_[set], first_chunk_[set + 1] - first_chunk_[set]);
}

Status FramePlaces::begin_gather(const Comm& comm) {
  return mpi_status(
      MPI_Igatherv(sizes_.data(), static_cast<int>(sizes_.size()), MPI_UINT64_T, all_sizes_.data(),
                   counts_.data(), starts_.data(), MPI_UINT64_T, 0, comm.get(), &gathering_),
      "gathering of frame sizes");
}

Status FramePlaces::finish_gather() {
  NEVE_TRY(wait_patiently({&gathering_, 1}, "gathering of frame sizes"));
  std::vector<uint64_t> next = begins_;
  for (size_t i = 0; i < all_.size(); ++i) {
    uint64_t& place = next[first_dataset_[all_[i].set] + all_[i].level];
    all_addresses_[i] = place;
    place += all_sizes_[i];
  }
  return {};
}

std::vector<hdf5::LevelPlacement> FramePlaces::placements(size_t set,
                                                          std::span<const LevelReport> reports) const {
  const WritePlan& plan = *sets_[set].plan;
  std::vector<hdf5::LevelPlacement> levels(plan.levels.size());
  for (size_t l = 0; l < levels.size(); ++l) {
    const amr::LevelChunks& chunks = plan.levels[l].chunks;
    levels[l].chunk_elements = chunks.chunk_elements;
    levels[l].frame_bytes.resize(chunks.chunks.size());
    levels[l].addresses.resize(chunks.chunks.size());
    levels[l].box_offsets.assign(chunks.box_offsets.begin(), chunks.box_offsets.end());
    levels[l].box_offsets.push_back(static_cast<int64_t>(chunks.dataset_elements()));
    levels[l].processors.assign(plan.owners[l].begin(), plan.owners[l].end());
    levels[l].fields = field_records(reports[l]);
    levels[l].covered = covered_name(plan.covered);
    levels[l].ghosts = plan.ghosts;
  }
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].set != set) continue;
    levels[all_[i].level].frame_bytes[all_[i].chunk] = all_sizes_[i];
    levels[all_[i].level].addresses[all_[i].chunk] = all_addresses_[i];
  }
  return levels;
}

}  // namespace neve::mpi
