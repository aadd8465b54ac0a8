// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/place_values.hpp"

#include <algorithm>
#include <limits>

#include "io/hdf5/skeleton.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/file/rows.hpp"
#include "parallel/write/place.hpp"

namespace neve::mpi {
namespace {

int64_t cells_with_ghosts(const Box& box, const IntVect& ghosts) {
  int64_t cells = 1;
  for (int d = 0; d < max_dims; ++d) cells *= box.size(d) + 2 * int64_t{ghosts[static_cast<size_t>(d)]};
  return cells;
}

// Rank 0 alone.
Status write_value_skeleton(const std::string& path, const Hints& hints, const Hierarchy& hierarchy,
                            const Ownership& owners, const IntVect& ghosts, const WriteReport& report,
                            const std::string& like, std::vector<uint64_t>& addresses) {
  std::vector<hdf5::LevelPlacement> levels;
  for (size_t l = 0; l < hierarchy.levels.size(); ++l) {
    hdf5::LevelPlacement& level = levels.emplace_back();
    level.compressed = false;
    level.box_offsets = value_offsets(hierarchy.levels[l], ghosts, hierarchy.components.size());
    level.ghosts = ghosts;
    level.processors.assign(owners[l].begin(), owners[l].end());
    level.fields = field_records(report.levels[l]);
  }
  NEVE_TRY(create_file(path, hints));
  NEVE_ASSIGN(const hdf5::FrameAddresses placed, hdf5::write_skeleton(path, hierarchy, levels, like));
  uint64_t end = 0;
  for (size_t l = 0; l < levels.size(); ++l) {
    addresses[l] = placed[l].front();
    end = std::max(end, addresses[l] + static_cast<uint64_t>(levels[l].box_offsets.back()) *
                                           dtype_bytes(hierarchy.dtype));
  }
  return reserve_space(path, end);
}

}  // namespace

std::vector<int64_t> value_offsets(const Level& level, const IntVect& ghosts, size_t components) {
  std::vector<int64_t> offsets = {0};
  offsets.reserve(level.boxes.size() + 1);
  for (const Box& box : level.boxes) {
    offsets.push_back(offsets.back() + cells_with_ghosts(box, ghosts) * static_cast<int64_t>(components));
  }
  return offsets;
}

Status check_ghosts_held(const Comm& comm, std::span<const LocalBox> owned, const IntVect& ghosts) {
  const Status held = guarded("plan", [&]() -> Status {
    for (const LocalBox& local : owned) {
      for (size_t d = 0; d < max_dims; ++d) {
        if (local.ghosts[d] >= ghosts[d]) continue;
        return usage_error("level " + std::to_string(local.level) + " box " + std::to_string(local.box) +
                           " has " + std::to_string(local.ghosts[d]) +
                           " layers of ghost cells in direction " + std::to_string(d) + "; " +
                           std::to_string(ghosts[d]) + " are to be written");
      }
    }
    return {};
  });
  return agree(comm, held);
}

WriteReport report_values(const Hierarchy& hierarchy, const IntVect& ghosts) {
  constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  WriteReport report;
  for (const Level& level : hierarchy.levels) {
    uint64_t cells = 0, stored_cells = 0;
    for (const Box& box : level.boxes) {
      cells += static_cast<uint64_t>(box.cells());
      stored_cells += static_cast<uint64_t>(cells_with_ghosts(box, ghosts));
    }
    LevelReport& of = report.levels.emplace_back();
    of.stored_bytes = stored_cells * value_bytes * hierarchy.components.size();
    for (const std::string& name : hierarchy.components) {
      FieldReport& field = of.fields.emplace_back();
      field.name = name;
      field.asked = {BoundMode::lossless, 0};
      field.cells = cells;
      field.exact_cells = cells;
      field.raw_bytes = cells * value_bytes;
      field.stored_bytes = stored_cells * value_bytes;
      field.range_min = field.range_max = not_measured;
      field.codec = "none";
      field.arrangement = "none";
      field.chosen = "uncompressed";
      field.covered = "none";
      report.raw_bytes += field.raw_bytes;
    }
  }
  return report;
}

void append_pieces(const Hierarchy& hierarchy, int level, const IntVect& ghosts, size_t components,
                   std::span<const LocalBox> owned, uint64_t address, uint32_t dataset,
                   std::vector<Piece>& pieces) {
  const Level& of = hierarchy.levels[static_cast<size_t>(level)];
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  const std::vector<int64_t> offsets = value_offsets(of, ghosts, components);
  for (const LocalBox& local : owned) {
    if (local.level != level) continue;
    const auto box = static_cast<size_t>(local.box);
    pieces.push_back({address + static_cast<uint64_t>(offsets[box]) * value_bytes,
                      rows_of_box(of.boxes[box], ghosts, local.data, components, value_bytes), dataset});
  }
}

Result<std::vector<uint64_t>> place_values(const Comm& comm, const std::string& path, const Hints& hints,
                                           const Hierarchy& hierarchy, const Ownership& owners,
                                           const IntVect& ghosts, const WriteReport& report,
                                           const std::string& like) {
  std::vector<uint64_t> addresses;
  const Status written = guarded("skeleton", [&]() -> Status {
    addresses.assign(hierarchy.levels.size(), 0);
    NEVE_TRY(injected_fault(Phase::place, comm.rank()));
    NEVE_TRY(injected_fault(Phase::skeleton, comm.rank()));
    if (comm.rank() != 0) return {};
    return write_value_skeleton(path, hints, hierarchy, owners, ghosts, report, like, addresses);
  });
  NEVE_TRY(agree(comm, written));
  NEVE_TRY(
      mpi_status(MPI_Bcast(addresses.data(), static_cast<int>(addresses.size()), MPI_UINT64_T, 0, comm.get()),
                 "broadcast of the datasets' addresses"));
  return addresses;
}

}  // namespace neve::mpi
