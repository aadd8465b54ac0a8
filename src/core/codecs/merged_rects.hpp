// SPDX-License-Identifier: BSD-3-Clause
// Rectangles of one size as one rectangle, stacked along the slowest direction in which they have more than
// one cell: their cells, x fastest, one rectangle behind the other. AMRIC's linear arrangement for SZ_Interp
// (Wang et al., SC 2023, fig. 5), which interpolates across the units of the line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/codecs/rect_stack.hpp"
#include "core/sections/copy_cells.hpp"
#include "core/sections/section_data.hpp"
#include "core/sections/strides.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

// Whether any two of the rectangles become one array of up to three directions. Stacked along the fourth,
// they stay apart: codecs see a rectangle for each w.
template <class Pointer>
bool can_merge(const std::vector<RectRows<Pointer>>& rects) {
  const auto stacks = make_stacks(rects, true);
  return std::any_of(stacks.begin(), stacks.end(), [](const RectStack<Pointer>& stack) {
    return stack.rects.size() > 1 && stack.direction[stack.slowest()] + 1 < max_frame_dims;
  });
}

// The rectangle that a stack makes: its size and what is left out; nowhere in memory.
template <class Pointer>
RectRows<Pointer> merged_rect(const RectStack<Pointer>& stack) {
  RectRows<Pointer> merged;
  merged.size = stack.rects.front()->size;
  merged.size[stack.direction[stack.slowest()]] *= static_cast<int64_t>(stack.rects.size());
  merged.stride = dense_strides(merged.size);
  size_t before = 0;
  for (const RectRows<Pointer>* rect : stack.rects) {
    const auto cells = static_cast<size_t>(rect->cells());
    if (!rect->left_out.empty()) {
      merged.left_out.resize(static_cast<size_t>(merged.cells()));
      std::copy(rect->left_out.begin(), rect->left_out.end(),
                merged.left_out.begin() + static_cast<ptrdiff_t>(before));
    }
    before += cells;
  }
  return merged;
}

// A section's rectangles, merged. The section outlives it.
template <class T>
class MergedSource {
 public:
  explicit MergedSource(const SectionSource<T>& source) {
    int64_t cells = 0;
    for (const auto& rect : source.rects) cells += rect.cells();
    memory_ = take_values<T>(static_cast<size_t>(cells));
    section_.held = source.held;
    T* free = memory_.data();
    for (const auto& stack : make_stacks(source.rects, true)) {
      RectRows<const T*> merged = merged_rect(stack);
      merged.first = free;
      for (const RectRows<const T*>* rect : stack.rects) {
        copy_cells(rect->first, rect->stride, free, dense_strides(rect->size), rect->size);
        free += rect->cells();
      }
      section_.rects.push_back(std::move(merged));
    }
  }
  MergedSource(const MergedSource&) = delete;
  MergedSource& operator=(const MergedSource&) = delete;
  ~MergedSource() { recycle_values(std::move(memory_)); }
  const SectionSource<T>& section() const { return section_; }

 private:
  RawVector<T> memory_;
  SectionSource<T> section_;
};

// Where a merged section is decoded to; scatter() takes it to the rectangles. The section outlives it.
template <class T>
class MergedTarget {
 public:
  explicit MergedTarget(const SectionTarget<T>& target) : stacks_(make_stacks(target.rects, true)) {
    int64_t cells = 0;
    for (const Stack& stack : stacks_) {
      section_.rects.push_back(merged_rect(stack));
      if (is_asked_for(stack)) cells += section_.rects.back().cells();
    }
    memory_ = take_values<T>(static_cast<size_t>(cells));
    section_.held = target.held;
    T* free = memory_.data();
    for (size_t s = 0; s < stacks_.size(); ++s) {
      if (!is_asked_for(stacks_[s])) continue;
      section_.rects[s].first = free;
      free += section_.rects[s].cells();
    }
  }
  MergedTarget(const MergedTarget&) = delete;
  MergedTarget& operator=(const MergedTarget&) = delete;
  ~MergedTarget() { recycle_values(std::move(memory_)); }
  const SectionTarget<T>& section() const { return section_; }

  void scatter() const {
    for (size_t s = 0; s < stacks_.size(); ++s) {
      const T* from = section_.rects[s].first;
      if (from == nullptr) continue;
      for (const RectRows<T*>* rect : stacks_[s].rects) {
        if (rect->first != nullptr)
          copy_cells<T>(from, dense_strides(rect->size), rect->first, rect->stride, rect->size);
        from += rect->cells();
      }
    }
  }

 private:
  using Stack = RectStack<T*>;

  static bool is_asked_for(const Stack& stack) {
    return std::any_of(stack.rects.begin(), stack.rects.end(),
                       [](const RectRows<T*>* rect) { return rect->first != nullptr; });
  }

  std::vector<Stack> stacks_;
  RawVector<T> memory_;
  SectionTarget<T> section_;
};

}  // namespace neve
