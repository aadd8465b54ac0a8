// SPDX-License-Identifier: BSD-3-Clause
// Between tiles and codecs: a tile's rectangles become the regions of an arrangement, in memory of their own
// where cells must be moved, so that codecs see rectangles of rows whatever the arrangement.
#pragma once

#include <type_traits>
#include <vector>

#include "core/codecs/nested_values.hpp"
#include "core/format/regions.hpp"
#include "core/sections/section_data.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

// What an encoder reads. Values of left-out cells are undefined: holes have none.
template <class T>
class ArrangedSource {
 public:
  // `rects` are those of the tile, in its order.
  ArrangedSource(const std::vector<Region>& regions, std::vector<RectRows<const T*>>&& rects);
  ArrangedSource(const ArrangedSource&) = delete;
  ArrangedSource& operator=(const ArrangedSource&) = delete;
  ~ArrangedSource() { recycle_values(std::move(memory_)); }

  // Takes values of the next coarser level for what regions leave out. Errors: those of the coarser level.
  Status nest(const Prolongation& from);

  // The codec may tell what the section decodes to.
  void want_restored() { section_.wants_restored = true; }

  const SectionSource<T>& section() const { return section_; }

 private:
  const std::vector<Region>& regions_;
  SectionSource<T> section_;
  RawVector<T> memory_;
};

// What a decoder writes.
template <class T>
class ArrangedTarget {
 public:
  // `first` of a rectangle nobody asked for is null. It stays null for the codec where all rectangles of a
  // region are such, unless the codec `needs_memory` for what it decodes.
  ArrangedTarget(const std::vector<Region>& regions, std::vector<RectRows<T*>>&& rects, bool needs_memory);
  // As they are: what arrangement linear without unit blocks does.
  ArrangedTarget(std::vector<RectRows<T*>>&& rects, bool needs_memory);
  ArrangedTarget(const ArrangedTarget&) = delete;
  ArrangedTarget& operator=(const ArrangedTarget&) = delete;
  ~ArrangedTarget() { recycle_values(std::move(memory_)); }

  // As that of ArrangedSource; not of rectangles as they are.
  Status nest(const Prolongation& from);

  const SectionTarget<T>& section() const { return section_; }
  // Once decoded: moves values that were gathered to their rectangles.
  void scatter() const;

 private:
  const std::vector<Region>* regions_ = nullptr;
  std::vector<RectRows<T*>> rects_;
  SectionTarget<T> section_;
  RawVector<T> memory_;
};

// The arrangement of a component's sections, which its tuning may force; `auto` may weigh it against linear.
// Arrays of one box are linear.
SectionArrangement choose_arrangement(const FrameLayout& layout, const ComponentSpec& spec);

// Whether a frame must say each section's arrangement, for this component's sake.
bool needs_arrangements(const ComponentSpec& spec, const SectionArrangement& arrangement,
                        const EncodeOptions& options);

}  // namespace neve
