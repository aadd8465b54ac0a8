// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/arrangement.hpp"
#include "core/catalog/codecs.hpp"

#include <algorithm>
#include <cstring>

#include "core/codecs/section_codec.hpp"
#include "core/sections/copy_cells.hpp"
#include "core/sections/strides.hpp"

namespace neve {

namespace {

bool has_left_out(const std::vector<uint8_t>& mask) {
  return !mask.empty() && std::memchr(mask.data(), 1, mask.size()) != nullptr;
}

// The cells of a region that are left out: its holes, and what its rectangles leave out. Takes the mask of a
// rectangle where it can.
template <class Pointer>
std::vector<uint8_t> left_out_of(const Region& region, std::vector<RectRows<Pointer>>& rects) {
  if (region.is_view() && region.size == rects[region.parts[0].rect].size) {
    return std::move(rects[region.parts[0].rect].left_out);
  }
  std::vector<uint8_t> mask = region.holes;
  const bool has_holes = !mask.empty();
  const Strides stride = dense_strides(region.size);
  for (const RegionPart& part : region.parts) {
    const auto& rect = rects[part.rect];
    if (rect.left_out.empty()) continue;
    if (mask.empty()) mask.resize(static_cast<size_t>(region.cells()));
    const Strides rect_stride = dense_strides(rect.size);
    copy_cells(rect.left_out.data() + offset_of(part.from.lo, rect_stride), rect_stride,
               mask.data() + offset_of(part.to, stride), stride, part.from.size);
  }
  if (!has_holes && !has_left_out(mask)) mask = {};  // rows without a mask are much faster
  return mask;
}

template <class Pointer>
Pointer first_of(const RegionPart& part, const std::vector<RectRows<Pointer>>& rects) {
  const auto& rect = rects[part.rect];
  return rect.first == nullptr ? nullptr : rect.first + offset_of(part.from.lo, rect.stride);
}

uint64_t held_cells(const std::vector<uint8_t>& left_out, int64_t cells) {
  return static_cast<uint64_t>(cells - count_marked(left_out));
}

}  // namespace

template <class T>
ArrangedSource<T>::ArrangedSource(const std::vector<Region>& regions, std::vector<RectRows<const T*>>&& rects)
    : regions_(regions) {
  int64_t moved = 0;
  for (const Region& region : regions) moved += region.is_view() ? 0 : region.cells();
  if (moved > 0) memory_ = take_values<T>(static_cast<size_t>(moved));
  T* free = memory_.data();
  section_.rects.reserve(regions.size());
  for (const Region& region : regions) {
    RectRows<const T*> rows;
    rows.size = region.size;
    if (region.is_view()) {
      rows.first = first_of(region.parts[0], rects);
      rows.stride = rects[region.parts[0].rect].stride;
    } else {
      rows.first = free;
      rows.stride = dense_strides(region.size);
      for (size_t p = 0; p < region.parts.size(); ++p) {
        const RegionPart& part = region.parts[p];
        const RegionPart& next = region.parts[std::min(p + 1, region.parts.size() - 1)];
        copy_cells(first_of(part, rects), rects[part.rect].stride, free + offset_of(part.to, rows.stride),
                   rows.stride, part.from.size, first_of(next, rects));
      }
      free += region.cells();
    }
    rows.left_out = left_out_of(region, rects);
    section_.held += held_cells(rows.left_out, rows.cells());
    section_.rects.push_back(std::move(rows));
  }
}

// Values of the next coarser level for all regions of a section, source or target.
template <class T, class Section>
Status nest_section(const Prolongation& from, const std::vector<Region>& regions, Section& section) {
  if constexpr (std::is_floating_point_v<T>) {
    for (size_t r = 0; r < regions.size(); ++r) {
      NEVE_ASSIGN(NestedValues<T> values, prolong<T>(from, regions[r], section.rects[r].left_out));
      section.nested.push_back(std::move(values));
    }
    return {};
  } else {
    return usage_error("integers cannot be coded with a coarser level");
  }
}

template <class T>
Status ArrangedSource<T>::nest(const Prolongation& from) {
  return nest_section<T>(from, regions_, section_);
}

template <class T>
Status ArrangedTarget<T>::nest(const Prolongation& from) {
  return nest_section<T>(from, *regions_, section_);
}

template <class T>
ArrangedTarget<T>::ArrangedTarget(std::vector<RectRows<T*>>&& rects, bool needs_memory) {
  section_.rects = std::move(rects);
  int64_t passed = 0;
  for (const RectRows<T*>& rows : section_.rects) {
    section_.held += held_cells(rows.left_out, rows.cells());
    if (rows.first == nullptr) passed += rows.cells();
  }
  if (!needs_memory || passed == 0) return;
  memory_ = take_values<T>(static_cast<size_t>(passed));
  T* free = memory_.data();
  for (RectRows<T*>& rows : section_.rects) {
    if (rows.first != nullptr) continue;
    rows.first = free;
    rows.stride = dense_strides(rows.size);
    free += rows.cells();
  }
}

template <class T>
ArrangedTarget<T>::ArrangedTarget(const std::vector<Region>& regions, std::vector<RectRows<T*>>&& rects,
                                  bool needs_memory)
    : regions_(&regions), rects_(std::move(rects)) {
  const auto is_asked_for = [&](const Region& region) {
    return std::any_of(region.parts.begin(), region.parts.end(),
                       [&](const RegionPart& part) { return rects_[part.rect].first != nullptr; });
  };
  const auto is_direct = [&](const Region& region) { return region.is_view() && is_asked_for(region); };
  const auto is_moved = [&](const Region& region) {
    return !is_direct(region) && (needs_memory || is_asked_for(region));
  };
  int64_t moved = 0;
  for (const Region& region : regions) moved += is_moved(region) ? region.cells() : 0;
  if (moved > 0) memory_ = take_values<T>(static_cast<size_t>(moved));
  T* free = memory_.data();
  section_.rects.reserve(regions.size());
  for (const Region& region : regions) {
    RectRows<T*> rows;
    rows.size = region.size;
    rows.stride = dense_strides(region.size);
    if (is_direct(region)) {
      rows.first = first_of(region.parts[0], rects_);
      rows.stride = rects_[region.parts[0].rect].stride;
    } else if (is_moved(region)) {
      rows.first = free;
      free += region.cells();
    }
    rows.left_out = left_out_of(region, rects_);
    section_.held += held_cells(rows.left_out, rows.cells());
    section_.rects.push_back(std::move(rows));
  }
}

template <class T>
void ArrangedTarget<T>::scatter() const {
  if (regions_ == nullptr) return;
  for (size_t r = 0; r < regions_->size(); ++r) {
    const RectRows<T*>& rows = section_.rects[r];
    const Region& region = (*regions_)[r];
    if (rows.first == nullptr || region.is_view()) continue;
    for (const RegionPart& part : region.parts) {
      T* to = first_of(part, rects_);
      if (to == nullptr) continue;
      copy_cells<T>(rows.first + offset_of(part.to, rows.stride), rows.stride, to, rects_[part.rect].stride,
                    part.from.size);
    }
  }
}

namespace {

// Codec exact predicts nothing, and stands in for lossy codecs that have no bound: moving values would gain
// nothing.
bool is_predicted(const ComponentSpec& spec) {
  if (traits_of(spec.codec).keeps_bits) return spec.codec != Codec::exact;
  return is_lossless(spec) || spec.bound_abs > 0;
}

bool gathers_boxes(const FrameLayout& layout) {
  if (layout.is_split) return false;
  const std::vector<Section> sections = make_sections(layout, TileRule::large);
  return std::any_of(sections.begin(), sections.end(),
                     [](const Section& section) { return section.rects().size() > 1; });
}

// The largest unit block that leaves nothing over in any box.
int fitting_unit(const FrameLayout& layout) {
  constexpr int smallest = 8;
  for (int unit = 32; unit > smallest; unit /= 2) {
    const bool fits = std::all_of(layout.boxes.begin(), layout.boxes.end(), [&](const FrameBox& box) {
      return std::all_of(box.size.begin(), box.size.begin() + layout.ndim,
                         [unit](int64_t side) { return side % unit == 0; });
    });
    if (fits) return unit;
  }
  return smallest;
}

}  // namespace

SectionArrangement choose_arrangement(const FrameLayout& layout, const ComponentSpec& spec) {
  const CodecTuning& tuning = spec.tuning;
  switch (tuning.arrangement) {
    case Arrangement::linear:
      return {Arrangement::linear, tuning.unit_cells};
    case Arrangement::cluster:
      return {Arrangement::cluster, tuning.unit_cells > 0 ? tuning.unit_cells : fitting_unit(layout)};
    case Arrangement::in_place:
      return {Arrangement::in_place, 0};
    case Arrangement::nested:  // check_tuning refuses it
    case Arrangement::automatic:
      break;
  }
  if (tuning.unit_cells > 0) return {Arrangement::linear, tuning.unit_cells};
  if (spec.recalled_arrangement == Arrangement::linear) return {};
  if (is_predicted(spec) && gathers_boxes(layout)) return {Arrangement::in_place, 0};
  return {};
}

bool needs_arrangements(const ComponentSpec& spec, const SectionArrangement& arrangement,
                        const EncodeOptions& options) {
  if (arrangement != SectionArrangement{}) return true;
  if (!is_predicted(spec)) return false;
  if (spec.codec == Codec::automatic) return is_lossless(spec) || options.effort != Effort::fast;
  return traits_of(spec.codec).keeps_bits || !traits_of(spec.codec).decodes_alone;
}

template class ArrangedSource<float>;
template class ArrangedSource<double>;
template class ArrangedSource<uint8_t>;
template class ArrangedSource<uint16_t>;
template class ArrangedSource<uint32_t>;
template class ArrangedSource<uint64_t>;
template class ArrangedTarget<float>;
template class ArrangedTarget<double>;
template class ArrangedTarget<uint8_t>;
template class ArrangedTarget<uint16_t>;
template class ArrangedTarget<uint32_t>;
template class ArrangedTarget<uint64_t>;

}  // namespace neve
