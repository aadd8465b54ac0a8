// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/box_runs.hpp"

#include <algorithm>
#include <numeric>

#include "core/amr/chunking.hpp"
#include "core/amr/grow.hpp"
#include "core/sections/tiling.hpp"

namespace neve::datafile {

BoxRuns::BoxRuns(int dims, const std::vector<Box>& valid, const hdf5::BoxedDataset& data)
    : dims_(dims), components_(data.components), ghosts_(data.ghosts) {
  std::vector<size_t> order(valid.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return data.box_offsets[a] < data.box_offsets[b]; });
  for (const size_t box : order) {
    boxes_.push_back(amr::grow(valid[box], ghosts_));
    begins_.push_back(static_cast<uint64_t>(data.box_offsets[box]));
  }
}

void BoxRuns::append_between(uint64_t begin, uint64_t end, std::vector<BoxPiece>& out) const {
  if (begin >= end) return;
  BoxPiece& piece = out.emplace_back();
  piece.box.size[0] = static_cast<int64_t>(end - begin);
}

// Elements [begin, end) of the box's own.
void BoxRuns::append_box(size_t box, uint64_t begin, uint64_t end, std::vector<BoxPiece>& out) const {
  const FrameBox whole = amr::frame_box(boxes_[box], amr::no_ghosts, {1, 1, 1}, nullptr);
  const auto cells = static_cast<uint64_t>(whole.cells());
  while (begin < end) {
    const uint64_t component = begin / cells;
    const uint64_t of_component = component * cells;
    const uint64_t stop = std::min(end, of_component + cells);
    for (const Rect& rect : rects_of_range(whole.size, static_cast<int64_t>(begin - of_component),
                                           static_cast<int64_t>(stop - of_component))) {
      BoxPiece& piece = out.emplace_back();
      piece.component = static_cast<int>(component);
      piece.box.size = rect.size;
      for (size_t d = 0; d < rect.lo.size(); ++d) piece.box.lo[d] = whole.lo[d] + rect.lo[d];
    }
    begin = stop;
  }
}

std::vector<BoxPiece> BoxRuns::pieces(uint64_t begin, uint64_t end) const {
  std::vector<BoxPiece> out;
  uint64_t at = begin;
  auto box = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin());
  if (box > 0) --box;
  for (; box < boxes_.size() && begins_[box] < end; ++box) {
    const uint64_t first = begins_[box];
    const uint64_t last =
        first + static_cast<uint64_t>(boxes_[box].cells()) * static_cast<uint64_t>(components_);
    if (last <= at) continue;
    append_between(at, first, out);
    at = std::max(at, first);
    const uint64_t stop = std::min(end, last);
    append_box(box, at - first, stop - first, out);
    at = stop;
  }
  append_between(at, end, out);
  return out;
}

uint64_t BoxRuns::typical_cells() const {
  if (boxes_.empty()) return 1;
  std::vector<int64_t> cells;
  for (const Box& box : boxes_) cells.push_back(box.cells());
  const auto middle = cells.begin() + static_cast<ptrdiff_t>(cells.size() / 2);
  std::nth_element(cells.begin(), middle, cells.end());
  return static_cast<uint64_t>(*middle);
}

}  // namespace neve::datafile
