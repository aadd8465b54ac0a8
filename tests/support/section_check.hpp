// SPDX-License-Identifier: BSD-3-Clause
// One section alone, without a frame around it: rectangles to bytes and back, checked against the bound.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/codecs/section_codec.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve::test {

template <class T>
struct Units {
  std::vector<Extents> sizes;
  std::vector<T> values;  // one after another
  std::vector<std::vector<uint8_t>> left_out;

  template <class Pointer>
  std::vector<RectRows<Pointer>> rects(Pointer first, uint64_t& held) const {
    std::vector<RectRows<Pointer>> out;
    for (size_t k = 0; k < sizes.size(); ++k) {
      RectRows<Pointer> rect;
      rect.size = sizes[k];
      rect.stride = {1, rect.size[0], rect.size[0] * rect.size[1],
                     rect.size[0] * rect.size[1] * rect.size[2]};
      rect.first = first;
      if (!left_out.empty()) rect.left_out = left_out[k];
      first += rect.cells();
      held += static_cast<uint64_t>(rect.cells());
      held -= static_cast<uint64_t>(std::count(rect.left_out.begin(), rect.left_out.end(), uint8_t{1}));
      out.push_back(rect);
    }
    return out;
  }
  SectionSource<T> source() const {
    SectionSource<T> source;
    source.rects = rects<const T*>(values.data(), source.held);
    return source;
  }
};

template <class T>
ComponentSpec spec_of(Codec codec, const std::vector<T>& values, double relative) {
  ComponentSpec spec;
  spec.codec = codec;
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  spec.range = {static_cast<double>(*lo), static_cast<double>(*hi), false};
  spec.bound_abs = relative * spec.range.width();
  return spec;
}

template <class T>
ComponentInfo info_of(const ComponentSpec& spec) {
  const QuantizationGrid<T> grid = make_grid<T>(spec);
  ComponentInfo info;
  info.bound_abs = spec.bound_abs;
  info.center = static_cast<double>(grid.center);
  info.step = static_cast<double>(grid.step);
  return info;
}

// Decodes a section of the units; checks held cells against the bound, left-out ones to be finite.
template <class T>
std::vector<T> check_section(const Units<T>& units, const ComponentSpec& spec, ByteSpan bytes, Codec codec) {
  std::vector<T> back(units.values.size(), T(-77));
  SectionTarget<T> target;
  target.rects = units.template rects<T*>(back.data(), target.held);
  const Status status = decode_section<T>(bytes, codec, info_of<T>(spec), {}, target);
  EXPECT_TRUE(status.ok()) << status.message();
  size_t at = 0;
  for (const auto& rect : target.rects) {
    for (int64_t i = 0; i < rect.cells(); ++i, ++at) {
      if (!rect.left_out.empty() && rect.left_out[static_cast<size_t>(i)] != 0) {
        EXPECT_TRUE(std::isfinite(back[at])) << at;
      } else if (std::isfinite(units.values[at])) {
        EXPECT_LE(std::abs(static_cast<double>(back[at]) - static_cast<double>(units.values[at])),
                  spec.bound_abs)
            << at;
      } else {
        EXPECT_EQ(std::memcmp(&back[at], &units.values[at], sizeof(T)), 0) << at;
      }
    }
  }
  return back;
}

// Each rectangle asked for alone, the others passed over, comes out as in `all`, the section decoded whole.
template <class T>
void check_reads_alone(const Units<T>& units, const ComponentSpec& spec, ByteSpan bytes, Codec codec,
                       const std::vector<T>& all) {
  for (size_t k = 0; k < units.sizes.size(); ++k) {
    std::vector<T> back(units.values.size());
    SectionTarget<T> target;
    target.rects = units.template rects<T*>(back.data(), target.held);
    for (size_t r = 0; r < target.rects.size(); ++r) {
      if (r != k) target.rects[r].first = nullptr;
    }
    ASSERT_TRUE(decode_section<T>(bytes, codec, info_of<T>(spec), {}, target).ok());
    if (target.rects[k].cells() == 0) continue;
    const auto begin = target.rects[k].first - back.data();
    EXPECT_EQ(std::memcmp(back.data() + begin, all.data() + begin,
                          static_cast<size_t>(target.rects[k].cells()) * sizeof(T)),
              0)
        << k;
  }
}

}  // namespace neve::test
