// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/chunking.hpp"

#include <algorithm>

#include "core/amr/coverage.hpp"
#include "core/amr/grow.hpp"
#include "core/amr/morton.hpp"

namespace neve::amr {
namespace {

// Boxes by owner, ascending, each owner's in Morton order.
std::vector<int> by_owner_then_morton(const Level& level, std::span<const int> owner) {
  std::vector<int> order = morton_order(level.boxes);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return owner[static_cast<size_t>(a)] < owner[static_cast<size_t>(b)];
  });
  return order;
}

}  // namespace

LevelChunks chunk_level(const Level& level, int components, std::span<const int> owner,
                        uint64_t cap_elements) {
  LevelChunks result;
  const auto box_elements = [&](int i) {
    return static_cast<uint64_t>(level.boxes[static_cast<size_t>(i)].cells()) *
           static_cast<uint64_t>(components);
  };
  for (int i : by_owner_then_morton(level, owner)) {
    const int rank = owner[static_cast<size_t>(i)];
    const uint64_t elements = box_elements(i);
    if (elements > cap_elements) {
      for (uint64_t begin = 0; begin < elements; begin += cap_elements) {
        result.chunks.push_back({rank, {i}, std::min(cap_elements, elements - begin), true, begin});
      }
      continue;
    }
    const bool opens_chunk = result.chunks.empty() || result.chunks.back().owner != rank ||
                             result.chunks.back().is_split ||
                             result.chunks.back().elements + elements > cap_elements;
    if (opens_chunk) result.chunks.push_back({rank, {}, 0, false, 0});
    result.chunks.back().boxes.push_back(i);
    result.chunks.back().elements += elements;
  }
  for (const Chunk& c : result.chunks) result.chunk_elements = std::max(result.chunk_elements, c.elements);

  result.box_offsets.resize(level.boxes.size());
  result.box_first_chunk.resize(level.boxes.size());
  for (size_t c = 0; c < result.chunks.size(); ++c) {
    const Chunk& chunk = result.chunks[c];
    if (chunk.is_split && chunk.split_begin > 0) continue;
    uint64_t offset = c * result.chunk_elements;
    for (int i : chunk.boxes) {
      result.box_offsets[static_cast<size_t>(i)] = offset;
      result.box_first_chunk[static_cast<size_t>(i)] = c;
      offset += box_elements(i);
    }
  }
  return result;
}

FrameBox frame_box(const Box& box, const IntVect& ghosts, const IntVect& ratio, const BoxIndex* finer) {
  FrameBox result;
  for (int d = 0; d < max_dims; ++d) {
    result.lo[static_cast<size_t>(d)] = box.lo[d];
    result.size[static_cast<size_t>(d)] = box.size(d);
  }
  if (finer != nullptr) {
    result.covered = covered_rects(shrink(box, ghosts), *finer, ratio);
    for (Rect& rect : result.covered) {
      for (size_t d = 0; d < max_dims; ++d) rect.lo[d] += ghosts[d];
    }
  }
  return result;
}

FrameLayout chunk_layout(const Hierarchy& hierarchy, int level, const LevelChunks& chunks, size_t chunk,
                         const BoxIndex* finer, const IntVect& ghosts) {
  const Level& of = hierarchy.levels[static_cast<size_t>(level)];
  const Chunk& c = chunks.chunks[chunk];
  FrameLayout layout;
  layout.ndim = hierarchy.dims;
  layout.components = static_cast<int>(hierarchy.components.size());
  for (int i : c.boxes) {
    layout.boxes.push_back(frame_box(of.boxes[static_cast<size_t>(i)], ghosts, of.ref_ratio, finer));
  }
  layout.element_count = chunks.chunk_elements;
  layout.is_split = c.is_split;
  if (c.is_split) {
    layout.split_begin = c.split_begin;
    layout.split_count = c.elements;
  }
  return layout;
}

}  // namespace neve::amr
