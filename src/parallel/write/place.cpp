// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/place.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include "io/hdf5/skeleton.hpp"
#include "parallel/comm/fault.hpp"

namespace neve::mpi {
namespace {

Result<GatheredFrames> order_by_rank(const WritePlan& plan, int ranks) {
  GatheredFrames all;
  all.counts.assign(static_cast<size_t>(ranks), 0);
  all.starts.assign(static_cast<size_t>(ranks), 0);
  uint64_t total = 0;
  for (const LevelPlan& level : plan.levels) total += level.chunks.chunks.size();
  if (total > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    return usage_error("the file would have " + std::to_string(total) + " chunks; at most " +
                       std::to_string(std::numeric_limits<int>::max()) + " are allowed, choose larger ones");
  }
  for (size_t l = 0; l < plan.levels.size(); ++l) {
    const auto& chunks = plan.levels[l].chunks.chunks;
    for (size_t c = 0; c < chunks.size(); ++c) {
      all.chunks.push_back({l, c});
      ++all.counts[static_cast<size_t>(chunks[c].owner)];
    }
  }
  const auto owner = [&](const GatheredFrames::Chunk& c) {
    return plan.levels[c.level].chunks.chunks[c.chunk].owner;
  };
  std::stable_sort(all.chunks.begin(), all.chunks.end(),
                   [&](const auto& a, const auto& b) { return owner(a) < owner(b); });
  for (size_t rank = 1; rank < all.starts.size(); ++rank) {
    all.starts[rank] = all.starts[rank - 1] + all.counts[rank - 1];
  }
  return all;
}

// What HDF5 may need beside the frames for the levels' datasets: object headers and chunk indices.
uint64_t dataset_metadata_bytes(const WritePlan& plan, size_t chunks) {
  constexpr uint64_t a_level = 16 << 10;
  constexpr uint64_t a_chunk = 256;
  return plan.levels.size() * a_level + chunks * a_chunk;
}

}  // namespace

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

std::vector<hdf5::LevelPlacement> frame_placements(const WritePlan& plan,
                                                   std::span<const LevelReport> reports,
                                                   const GatheredFrames& frames) {
  std::vector<hdf5::LevelPlacement> levels(plan.levels.size());
  for (size_t l = 0; l < levels.size(); ++l) {
    const amr::LevelChunks& chunks = plan.levels[l].chunks;
    levels[l].chunk_elements = chunks.chunk_elements;
    levels[l].frame_bytes.resize(chunks.chunks.size());
    levels[l].box_offsets.assign(chunks.box_offsets.begin(), chunks.box_offsets.end());
    levels[l].box_offsets.push_back(static_cast<int64_t>(chunks.dataset_elements()));
    levels[l].processors.assign(plan.owners[l].begin(), plan.owners[l].end());
    levels[l].fields = field_records(reports[l]);
    levels[l].covered = covered_name(plan.covered);
    levels[l].ghosts = plan.ghosts;
  }
  for (size_t i = 0; i < frames.sizes.size(); ++i) {
    levels[frames.chunks[i].level].frame_bytes[frames.chunks[i].chunk] = frames.sizes[i];
  }
  return levels;
}

Result<GatheredFrames> gather_frames(const Comm& comm, const WritePlan& plan,
                                     std::span<const EncodedChunk> chunks) {
  GatheredFrames frames;
  std::vector<uint64_t> my_sizes;
  const Status prepared = guarded("place", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::place, comm.rank()));
    for (const EncodedChunk& chunk : chunks) my_sizes.push_back(chunk.frame_bytes);
    if (comm.rank() != 0) return {};
    NEVE_ASSIGN(frames, order_by_rank(plan, comm.size()));
    frames.sizes.resize(frames.chunks.size());
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  NEVE_TRY(mpi_status(
      MPI_Gatherv(my_sizes.data(), static_cast<int>(my_sizes.size()), MPI_UINT64_T, frames.sizes.data(),
                  frames.counts.data(), frames.starts.data(), MPI_UINT64_T, 0, comm.get()),
      "gathering of frame sizes"));
  return frames;
}

Result<std::vector<uint64_t>> scatter_addresses(const Comm& comm, const GatheredFrames& frames,
                                                const hdf5::FrameAddresses& by_level, size_t count) {
  std::vector<uint64_t> all, mine;
  const Status prepared = guarded("place", [&]() -> Status {
    mine.resize(count);
    for (const GatheredFrames::Chunk& chunk : frames.chunks) {
      all.push_back(by_level[chunk.level][chunk.chunk]);
    }
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  NEVE_TRY(mpi_status(MPI_Scatterv(all.data(), frames.counts.data(), frames.starts.data(), MPI_UINT64_T,
                                   mine.data(), static_cast<int>(mine.size()), MPI_UINT64_T, 0, comm.get()),
                      "scattering of frame addresses"));
  return mine;
}

uint64_t end_of_frames(const GatheredFrames& frames, const hdf5::FrameAddresses& by_level) {
  uint64_t end = 0;
  for (size_t i = 0; i < frames.chunks.size(); ++i) {
    end = std::max(end, by_level[frames.chunks[i].level][frames.chunks[i].chunk] + frames.sizes[i]);
  }
  return end;
}

Result<std::vector<uint64_t>> place_frames(const Comm& comm, const std::string& path, const Hints& hints,
                                           const Hierarchy& hierarchy, const WritePlan& plan,
                                           const WriteReport& report, std::span<const EncodedChunk> chunks,
                                           const std::string& like) {
  NEVE_ASSIGN(const GatheredFrames frames, gather_frames(comm, plan, chunks));
  hdf5::FrameAddresses addresses;
  const Status written = guarded("skeleton", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::skeleton, comm.rank()));
    if (comm.rank() != 0) return {};
    NEVE_TRY(create_file(path, hints));
    NEVE_ASSIGN(addresses,
                hdf5::write_skeleton(path, hierarchy, frame_placements(plan, report.levels, frames), like));
    return reserve_space(path, end_of_frames(frames, addresses));
  });
  NEVE_TRY(agree(comm, written));
  return scatter_addresses(comm, frames, addresses, chunks.size());
}

Status describe_file(const Comm& comm, const std::string& path, const Hints& hints,
                     const Hierarchy& hierarchy, const WritePlan& plan, const WriteReport& report,
                     std::span<const EncodedChunk> chunks, const std::string& like) {
  NEVE_ASSIGN(const GatheredFrames frames, gather_frames(comm, plan, chunks));
  const Status written = guarded("skeleton", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::skeleton, comm.rank()));
    if (comm.rank() != 0) return {};
    NEVE_TRY(create_file(path, hints));
    NEVE_TRY(hdf5::write_description(path, hierarchy, frame_placements(plan, report.levels, frames), like));
    std::error_code error;
    const uint64_t described = std::filesystem::file_size(path, error);
    if (error) return failure(path + ": " + error.message());
    const uint64_t bytes = std::accumulate(frames.sizes.begin(), frames.sizes.end(), uint64_t{0});
    return reserve_space(path, described + bytes + dataset_metadata_bytes(plan, frames.sizes.size()));
  });
  return agree(comm, written);
}

}  // namespace neve::mpi
