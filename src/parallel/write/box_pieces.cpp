// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/box_pieces.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace neve::mpi {
namespace {

// As the chunks of a file by default; smaller ones cost calls, larger ones memory.
constexpr uint64_t piece_bytes = uint64_t{8} << 20;

std::vector<size_t> by_place(const LocalValues& owned) {
  std::vector<std::pair<int, uint64_t>> keys;
  keys.reserve(owned.size());
  for (size_t i = 0; i < owned.size(); ++i) keys.emplace_back(owned[i].level, owned.place(i));
  std::vector<size_t> order(owned.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace

BoxPieces::BoxPieces(const LocalValues& owned, const Hierarchy& stored, bool whole_components)
    : owned_(owned), stored_(stored), value_bytes_(dtype_bytes(stored.dtype)) {
  for (const size_t local : by_place(owned)) add(local, whole_components);
}

const Box& BoxPieces::box(size_t local) const {
  return stored_.levels[static_cast<size_t>(owned_[local].level)]
      .boxes[static_cast<size_t>(owned_[local].box)];
}

void BoxPieces::add(size_t local, bool whole_components) {
  const auto cells = static_cast<uint64_t>(box(local).cells());
  const uint64_t most = whole_components ? cells : std::min(cells, piece_bytes / value_bytes_);
  for (size_t c = 0; c < stored_.components.size(); ++c) {
    for (uint64_t first = 0; first < cells; first += most) {
      add_run({local, static_cast<int>(c), first, std::min(most, cells - first)});
    }
  }
}

void BoxPieces::add_run(const BoxRun& run) {
  const uint64_t bytes = run.cells * value_bytes_;
  if (ends_.empty() || last_bytes_ + bytes > piece_bytes) {
    ends_.push_back(runs_.size());
    last_bytes_ = 0;
  }
  runs_.push_back(run);
  ends_.back() = runs_.size();
  last_bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, last_bytes_);
}

std::span<const BoxRun> BoxPieces::runs_of(size_t piece) const {
  const size_t begin = piece == 0 ? 0 : ends_[piece - 1];
  return std::span(runs_).subspan(begin, ends_[piece] - begin);
}

std::vector<BoxStretch> BoxPieces::stretches_of(size_t piece) const {
  std::vector<BoxStretch> stretches;
  for (const BoxRun& run : runs_of(piece)) {
    if (stretches.empty() || stretches.back().local != run.local) {
      const auto cells = static_cast<uint64_t>(box(run.local).cells());
      stretches.push_back({run.local, static_cast<uint64_t>(run.component) * cells + run.first_cell, 0});
    }
    stretches.back().elements += run.cells;
  }
  return stretches;
}

Status BoxPieces::read(size_t piece, std::byte* out) const {
  for (const BoxStretch& stretch : stretches_of(piece)) {
    NEVE_TRY(owned_.read(stretch.local, stretch.first_element, stretch.elements, out));
    out += stretch.elements * value_bytes_;
  }
  return {};
}

Status BoxPieces::for_each_stretch(
    size_t piece, const std::byte* values,
    const std::function<Status(const BoxStretch&, const std::byte*)>& use) const {
  for (const BoxStretch& stretch : stretches_of(piece)) {
    NEVE_TRY(use(stretch, values));
    values += stretch.elements * value_bytes_;
  }
  return {};
}

Status BoxPieces::for_each_run(size_t piece, const std::byte* values,
                               const std::function<Status(const BoxRun&, const std::byte*)>& use) const {
  for (const BoxRun& run : runs_of(piece)) {
    NEVE_TRY(use(run, values));
    values += run.cells * value_bytes_;
  }
  return {};
}

}  // namespace neve::mpi
