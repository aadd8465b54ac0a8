// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/nested_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/kernels/portable.hpp"
#include "core/sections/visit_cells.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

namespace {

int64_t floor_quotient(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// The centre of a finer cell lies between those of two coarser ones, `rest` / (2 ratio) behind the first.
struct Between {
  int64_t below = 0;
  int64_t rest = 0;  // 0: at the first one's centre
};
Between between(int64_t cell, int64_t ratio) {
  const int64_t place = 2 * cell + 1 - ratio;  // behind the centre of the coarser cell 0, in 1 / (2 ratio)
  const int64_t below = floor_quotient(place, 2 * ratio);
  return {below, place - below * 2 * ratio};
}

// Where a region's cells lie along one direction.
template <class T>
struct Axis {
  std::vector<int64_t> below;  // relative to the first coarser cell read
  std::vector<int64_t> home;   // the coarser cell that this one is a part of, likewise
  std::vector<T> weight;       // of the coarser cell behind `below`; 0: it takes no part
};

template <class T>
Axis<T> make_axis(int64_t lo, int64_t size, int64_t ratio, int64_t first) {
  Axis<T> axis;
  for (int64_t cell = lo; cell < lo + size; ++cell) {
    const Between place = between(cell, ratio);
    axis.below.push_back(place.below - first);
    axis.home.push_back(floor_quotient(cell, ratio) - first);
    axis.weight.push_back(static_cast<T>(place.rest) / static_cast<T>(2 * ratio));
  }
  return axis;
}

template <class T>
class Prolonged {
 public:
  Prolonged(const Region& region, const Extents& ratio) : cells_(coarser_cells(region, ratio)) {
    for (size_t d = 0; d < max_frame_dims; ++d) {
      axes_[d] = make_axis<T>(region.lo[d], region.size[d], ratio[d], cells_.lo[d]);
    }
    stride_ = {1, cells_.size[0], cells_.size[0] * cells_.size[1],
               cells_.size[0] * cells_.size[1] * cells_.size[2]};
  }

  Status read(const Prolongation& from) {
    const auto cells = static_cast<size_t>(cells_.cells());
    values_.resize(cells);
    usable_.resize(cells);
    NEVE_TRY(from.coarser->read(from.component, cells_, reinterpret_cast<std::byte*>(values_.data()),
                                usable_.data()));
    const auto fill = portable::bits(static_cast<T>(from.fill.value_or(0)));
    for (size_t i = 0; i < cells; ++i) {
      const bool is_fill = from.fill.has_value() && portable::bits(values_[i]) == fill;
      usable_[i] = usable_[i] != 0 && std::isfinite(values_[i]) && !is_fill ? 1 : 0;
    }
    return {};
  }

  // False where the coarser level says nothing of the cell.
  bool at(const Extents& cell, T& value) const {
    std::array<T, max_frame_dims> weight{};
    int64_t home = 0;
    int64_t first = 0;
    std::array<int64_t, max_frame_dims> step{};
    for (size_t d = 0; d < max_frame_dims; ++d) {
      const auto i = static_cast<size_t>(cell[d]);
      weight[d] = axes_[d].weight[i];
      home += axes_[d].home[i] * stride_[d];
      first += axes_[d].below[i] * stride_[d];
      step[d] = weight[d] != 0 ? stride_[d] : 0;
    }
    if (usable_[static_cast<size_t>(home)] == 0) return false;
    constexpr size_t corner_count = size_t{1} << max_frame_dims;
    std::array<T, corner_count> corners;
    for (size_t k = 0; k < corner_count; ++k) {
      int64_t corner = first;
      for (size_t d = 0; d < max_frame_dims; ++d) corner += ((k >> d) & 1) != 0 ? step[d] : 0;
      corners[k] = values_[static_cast<size_t>(usable_[static_cast<size_t>(corner)] != 0 ? corner : home)];
    }
    for (size_t d = 0, left = corner_count / 2; d < max_frame_dims; ++d, left /= 2) {
      for (size_t k = 0; k < left; ++k) {
        const T below = corners[2 * k];
        corners[k] = weight[d] != 0 ? below + (corners[2 * k + 1] - below) * weight[d] : below;
      }
    }
    value = corners[0];
    return std::isfinite(value);
  }

 private:
  std::array<Axis<T>, max_frame_dims> axes_;
  Rect cells_;
  std::array<int64_t, max_frame_dims> stride_{};
  RawVector<T> values_;
  RawVector<uint8_t> usable_;
};

}  // namespace

Rect coarser_cells(const Region& region, const Extents& ratio) {
  Rect cells;
  for (size_t d = 0; d < max_frame_dims; ++d) {
    cells.lo[d] = between(region.lo[d], ratio[d]).below;
    const Between last = between(region.lo[d] + region.size[d] - 1, ratio[d]);
    cells.size[d] = last.below - cells.lo[d] + (last.rest != 0 ? 2 : 1);
  }
  return cells;
}

template <class T>
Result<NestedValues<T>> prolong(const Prolongation& from, const Region& region,
                                const std::vector<uint8_t>& left_out) {
  NestedValues<T> nested;
  if (std::find(left_out.begin(), left_out.end(), uint8_t{1}) == left_out.end()) return nested;
  Prolonged<T> prolonged(region, from.ratio);
  NEVE_TRY(prolonged.read(from));
  nested.known.assign(left_out.size(), 0);
  nested.values.resize(left_out.size());
  size_t number = 0;
  visit_rows(region.size, [&](int64_t y, int64_t z, int64_t w) {
    for (int64_t x = 0; x < region.size[0]; ++x, ++number) {
      if (left_out[number] == 0) continue;
      nested.known[number] = prolonged.at({x, y, z, w}, nested.values[number]) ? 1 : 0;
    }
  });
  return nested;
}

template Result<NestedValues<float>> prolong<float>(const Prolongation&, const Region&,
                                                    const std::vector<uint8_t>&);
template Result<NestedValues<double>> prolong<double>(const Prolongation&, const Region&,
                                                      const std::vector<uint8_t>&);

}  // namespace neve
