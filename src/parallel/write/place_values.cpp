// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/place_values.hpp"

#include <algorithm>
#include <limits>

#include "parallel/file/rows.hpp"

namespace neve::mpi {
namespace {

int64_t cells_with_ghosts(const Box& box, const IntVect& ghosts) {
  int64_t cells = 1;
  for (int d = 0; d < max_dims; ++d) cells *= box.size(d) + 2 * int64_t{ghosts[static_cast<size_t>(d)]};
  return cells;
}

// One component, wherever it lies.
BoxData component_alone(BoxData data, int component, size_t value_bytes) {
  // Allocations apart are not one array: their distance is added as a number.
  const auto bytes =
      static_cast<uintptr_t>(data.component_begin(component) * static_cast<int64_t>(value_bytes));
  data.data = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(data.data) + bytes);
  data.component_offsets = nullptr;
  return data;
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

Status check_ghosts_held(std::span<const LocalBox> owned, const IntVect& ghosts) {
  for (const LocalBox& local : owned) {
    for (size_t d = 0; d < max_dims; ++d) {
      if (local.ghosts[d] >= ghosts[d]) continue;
      return usage_error("level " + std::to_string(local.level) + " box " + std::to_string(local.box) +
                         " has " + std::to_string(local.ghosts[d]) + " layers of ghost cells in direction " +
                         std::to_string(d) + "; " + std::to_string(ghosts[d]) + " are to be written");
    }
  }
  return {};
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
    const uint64_t begin = address + static_cast<uint64_t>(offsets[box]) * value_bytes;
    if (local.data.component_offsets == nullptr) {
      pieces.push_back(
          {begin, rows_of_box(of.boxes[box], ghosts, local.data, components, value_bytes), dataset});
      continue;
    }
    uint64_t at = begin;
    for (size_t c = 0; c < components; ++c) {
      const BoxData component = component_alone(local.data, static_cast<int>(c), value_bytes);
      pieces.push_back({at, rows_of_box(of.boxes[box], ghosts, component, 1, value_bytes), dataset, c > 0});
      at += pieces.back().rows.bytes();
    }
  }
}

ValuePlaces place_values(const Hierarchy& hierarchy, const IntVect& ghosts, uint64_t begin) {
  ValuePlaces places{{}, begin};
  for (const Level& level : hierarchy.levels) {
    int64_t cells = 0;
    for (const Box& box : level.boxes) cells += cells_with_ghosts(box, ghosts);
    places.addresses.push_back(places.end);
    places.end += static_cast<uint64_t>(cells) * hierarchy.components.size() * dtype_bytes(hierarchy.dtype);
  }
  return places;
}

std::vector<hdf5::LevelPlacement> value_placements(const Hierarchy& hierarchy, const Ownership& owners,
                                                   const IntVect& ghosts, const ValuePlaces& places) {
  std::vector<hdf5::LevelPlacement> levels;
  for (size_t l = 0; l < hierarchy.levels.size(); ++l) {
    hdf5::LevelPlacement& level = levels.emplace_back();
    level.compressed = false;
    level.box_offsets = value_offsets(hierarchy.levels[l], ghosts, hierarchy.components.size());
    level.addresses = {places.addresses[l]};
    level.ghosts = ghosts;
    level.processors.assign(owners[l].begin(), owners[l].end());
  }
  return levels;
}

}  // namespace neve::mpi
