// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/chunk_averages.hpp"

#include <algorithm>
#include <numeric>

#include "core/amr/average_down.hpp"
#include "core/amr/coverage.hpp"
#include "core/amr/rect_box.hpp"
#include "parallel/write/box_values.hpp"

namespace neve::mpi {
namespace {

Box averaged_cells(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, int box) {
  return amr::fully_covered(plan.levels[level].index.box(box), hierarchy.levels[level - 1].ref_ratio);
}

size_t words_for(size_t bytes) { return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t); }

}  // namespace

uint64_t ChunkAverages::bytes_for(const Hierarchy& hierarchy, const WritePlan& plan, size_t level,
                                  size_t chunk) {
  uint64_t cells = 0;
  for (const int box : plan.levels[level].chunks.chunks[chunk].boxes) {
    cells += static_cast<uint64_t>(averaged_cells(hierarchy, plan, level, box).cells());
  }
  return cells * hierarchy.components.size() * dtype_bytes(hierarchy.dtype);
}

ChunkAverages::ChunkAverages(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, size_t chunk)
    : hierarchy_(hierarchy), level_(level), value_bytes_(dtype_bytes(hierarchy.dtype)) {
  const std::vector<int>& boxes = plan.levels[level].chunks.chunks[chunk].boxes;
  for (const int box : boxes) {
    places_.push_back({box, averaged_cells(hierarchy, plan, level, box), cells_});
    cells_ += static_cast<size_t>(places_.back().cells.cells());
  }
  by_box_.resize(boxes.size());
  std::iota(by_box_.begin(), by_box_.end(), size_t{0});
  std::sort(by_box_.begin(), by_box_.end(), [&](size_t a, size_t b) { return boxes[a] < boxes[b]; });
  const size_t components = hierarchy.components.size();
  is_taken_.assign(components * boxes.size(), 0);
  values_.resize(words_for(cells_ * components * value_bytes_));
}

std::byte* ChunkAverages::place_of(size_t number, int component) {
  const size_t cell = static_cast<size_t>(component) * cells_ + places_[number].before;
  return reinterpret_cast<std::byte*>(values_.data()) + cell * value_bytes_;
}

void ChunkAverages::take(const RestoredBox& restored) {
  const BoxPlace& place = places_[restored.box];
  amr::average_down(hierarchy_.dtype, place.cells, hierarchy_.levels[level_ - 1].ref_ratio, restored.values,
                    amr::box_of(restored.held), place_of(restored.box, restored.component), place.cells);
  is_taken_[static_cast<size_t>(restored.component) * places_.size() + restored.box] = 1;
}

bool ChunkAverages::get(int box, int component, const Box& cells, std::byte* out) const {
  const auto found = std::lower_bound(by_box_.begin(), by_box_.end(), box, [&](size_t number, int wanted) {
    return places_[number].box < wanted;
  });
  const size_t number = *found;
  if (is_taken_[static_cast<size_t>(component) * places_.size() + number] == 0) return false;
  const BoxPlace& place = places_[number];
  const auto* values = reinterpret_cast<const std::byte*>(values_.data()) +
                       (static_cast<size_t>(component) * cells_ + place.before) * value_bytes_;
  gather_region(cells, place.cells, dense_box_data(values, plain_frame_box(place.cells)), 0, value_bytes_,
                out);
  return true;
}

}  // namespace neve::mpi
