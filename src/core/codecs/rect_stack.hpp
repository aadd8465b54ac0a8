// SPDX-License-Identifier: BSD-3-Clause
// Rectangles as block predictors see them: arrays of their used directions, cut into prediction blocks.
// Several equal rectangles may be stacked along the slowest of them and then count as one array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/sections/section_data.hpp"

namespace neve {

// Directions here are *used directions*: those in which a rectangle has more than one cell, fastest first; x
// alone when there is none.
template <class Pointer>
struct RectStack {
  std::vector<const RectRows<Pointer>*> rects;
  int dims = 1;
  std::array<size_t, max_frame_dims> direction{};  // what each used direction is in the frame
  Extents size{1, 1, 1, 1};                        // of the stack; 1 past dims
  int64_t layers_each = 1;                         // of one rectangle in the slowest used direction
  int64_t unit = 1;                                // the longest side of one rectangle

  size_t slowest() const { return static_cast<size_t>(dims) - 1; }
  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
};

struct StackBlock {
  Extents at{0, 0, 0, 0};
  Extents size{1, 1, 1, 1};

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
};

// A run of cells along the fastest used direction inside one rectangle.
template <class Pointer>
struct StackSegment {
  Pointer first = nullptr;  // null: nowhere
  int64_t stride = 1;
  const uint8_t* left_out = nullptr;  // of the cells, without gaps; null: all held
  Extents at{0, 0, 0, 0};             // of the first cell, in the block
  int64_t number = 0;                 // of the first cell, in the block
  int64_t cells = 0;
};

// The rectangles with cells: one stack each, or, merged, one for all that have the same size, in the order in
// which sizes first occur.
template <class Pointer>
std::vector<RectStack<Pointer>> make_stacks(const std::vector<RectRows<Pointer>>& rects, bool merged) {
  std::vector<RectStack<Pointer>> stacks;
  std::map<Extents, size_t> stack_of_size;
  for (const auto& rect : rects) {
    if (rect.cells() == 0) continue;
    if (merged) {
      const auto [known, is_new] = stack_of_size.try_emplace(rect.size, stacks.size());
      if (!is_new) {
        auto& stack = stacks[known->second];
        stack.rects.push_back(&rect);
        stack.size[stack.slowest()] += stack.layers_each;
        continue;
      }
    }
    RectStack<Pointer> stack;
    stack.rects.push_back(&rect);
    stack.dims = 0;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (rect.size[d] == 1) continue;
      stack.direction[static_cast<size_t>(stack.dims)] = d;
      stack.size[static_cast<size_t>(stack.dims++)] = rect.size[d];
    }
    stack.dims = std::max(stack.dims, 1);
    stack.layers_each = stack.size[stack.slowest()];
    stack.unit = *std::max_element(rect.size.begin(), rect.size.end());
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

// Calls visit(segment) for the cells of a block, in its order.
template <class Pointer, class Visit>
void visit_segments(const RectStack<Pointer>& stack, const StackBlock& block, const Visit& visit) {
  const size_t slowest = stack.slowest();
  const auto visit_segment = [&](const Extents& in_block, int64_t cell, int64_t cells) {
    Extents at;
    for (size_t d = 0; d < max_frame_dims; ++d) at[d] = block.at[d] + in_block[d];
    const RectRows<Pointer>* rect = stack.rects.front();
    if (stack.rects.size() > 1) {
      rect = stack.rects[static_cast<size_t>(at[slowest] / stack.layers_each)];
      at[slowest] %= stack.layers_each;
    }
    StackSegment<Pointer> segment;
    segment.at = in_block;
    segment.number = cell;
    segment.cells = cells;
    segment.stride = rect->stride[stack.direction[0]];
    int64_t offset = 0;
    for (size_t d = 0; d <= slowest; ++d) offset += at[d] * rect->stride[stack.direction[d]];
    if (rect->first != nullptr) segment.first = rect->first + offset;
    if (!rect->left_out.empty()) {
      int64_t cell_of_rect = at[slowest];
      for (size_t d = slowest; d-- > 0;) cell_of_rect = cell_of_rect * stack.size[d] + at[d];
      segment.left_out = rect->left_out.data() + cell_of_rect;
    }
    visit(segment);
  };
  int64_t cell = 0;
  // Written out: over blocks of a few cells visit_rows makes encoding a tenth slower.
  for (int64_t w = 0; w < block.size[3]; ++w) {
    for (int64_t z = 0; z < block.size[2]; ++z) {
      for (int64_t y = 0; y < block.size[1]; ++y) {
        if (slowest > 0 || stack.rects.size() == 1) {
          visit_segment({0, y, z, w}, cell, block.size[0]);
          cell += block.size[0];
          continue;
        }
        for (int64_t x = 0; x < block.size[0];) {
          const int64_t left = stack.layers_each - (block.at[0] + x) % stack.layers_each;
          const int64_t cells = std::min(left, block.size[0] - x);
          visit_segment({x, 0, 0, 0}, x, cells);
          x += cells;
        }
      }
    }
  }
}

}  // namespace neve
