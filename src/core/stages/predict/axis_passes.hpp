// SPDX-License-Identifier: BSD-3-Clause
// Prediction from coarse to fine along one axis at a time, in a closed loop: of a rectangle the cells at
// multiples of 2^levels in every direction, its anchors, come first. Then, level by level, one pass an axis
// predicts the cells at odd multiples of 2^level along that axis from decoded cells before and behind them on
// it. After Zhao et al., "Optimizing error-bounded lossy compression for scientific data by dynamic spline
// interpolation", ICDE 2021 (SZ3); here all levels have the same step, and the coarsest cells are predicted
// as dual_quant does it.
//
// A row is kept as its even cells followed by its odd ones. So a pass reads and writes contiguous rows, also
// the pass along x, and no cell of a pass depends on another: all of it is vector code.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/kernels/axis_kernels.hpp"
#include "core/sections/tiling.hpp"
#include "core/stages/predict/interpolation_weights.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

inline constexpr int max_pass_levels = 16;
// Longer rows are coded in pieces that stay in the first cache.
inline constexpr size_t max_pass_row = 4096;

// What a section tells its decoder.
struct AxisPassModel {
  int levels = 0;
  std::array<uint8_t, max_frame_dims> order{3, 2, 1, 0};  // directions in the order of their passes
  std::array<uint8_t, max_pass_levels> linear{};          // of a level, bit d: linear along d, else cubic
};

// Cells about to be coded, neighbours in memory, max_pass_row at most.
template <class T>
struct PassRow {
  size_t count = 0;
  AxisSource<T> from;                 // what predicts them
  T* values = nullptr;                // encoder: originals before, decoded after. Decoder: decoded after
  const uint8_t* excluded = nullptr;  // 1: has no quantization code; null: all have one
};

// The weights of the odd cells of rows, by level: boxes of one size have the same.
template <class T>
class RowWeights {
 public:
  using OfCells = std::array<std::vector<T>, 4>;

  const OfCells& of(size_t level, int64_t known, size_t count, bool is_linear) {
    Row& row = rows_[level];
    if (row.known == known && row.count == count && row.is_linear == is_linear) return row.of_cells;
    row = {known, count, is_linear, {}};
    for (auto& weights : row.of_cells) weights.resize(count + row_padding);
    for (size_t i = 0; i < count; ++i) {
      const auto& weights = interpolation_weights<T>(static_cast<int64_t>(i), known, is_linear);
      for (size_t k = 0; k < weights.size(); ++k) row.of_cells[k][i] = weights[k];
    }
    return row.of_cells;
  }

 private:
  struct Row {
    int64_t known = 0;
    size_t count = 0;
    bool is_linear = false;
    OfCells of_cells;
  };
  std::array<Row, max_pass_levels> rows_;
};

template <class T>
class AxisPassField {
 public:
  AxisPassField(const Extents& size, int levels, RowWeights<T>& row_weights) : row_weights_(row_weights) {
    size_t cells = row_padding;  // a row's vectors may begin before it
    Extents n = size;
    for (int l = 0; l <= levels; ++l) {
      grids_.push_back({n, (n[0] + 1) / 2, cells});
      cells += static_cast<size_t>(n[0] * n[1] * n[2] * n[3]);
      for (int64_t& extent : n) extent = (extent + 1) / 2;
    }
    values_ = take_values<T>(cells + row_padding);
  }
  ~AxisPassField() {
    recycle_values(std::move(values_));
    recycle_symbols(std::move(excluded_));
  }
  AxisPassField(const AxisPassField&) = delete;
  AxisPassField& operator=(const AxisPassField&) = delete;

  // Makes room for exclusions; there are none until rows of them are put.
  void allow_exclusions() {
    excluded_ = take_symbols(values_.size());
    std::fill(excluded_.begin(), excluded_.end(), uint8_t{0});
  }

  // Deals the cells of a row out to the levels that code them.
  void put_values(int64_t y, int64_t z, int64_t w, const T* row) { deal(values_.data(), y, z, w, row); }
  void put_exclusions(int64_t y, int64_t z, int64_t w, const uint8_t* row) {
    deal(excluded_.data(), y, z, w, row);
  }
  // A row of the field once it has been run.
  void get_values(int64_t y, int64_t z, int64_t w, T* row) const {
    copy_row(0, values_.data() + grids_.front().row(y, z, w), row);
  }

  // The grid of anchors, x fastest.
  const Extents& anchor_size() const { return grids_.back().size; }
  T* anchors() { return values_.data() + grids_.back().first; }
  const uint8_t* anchor_exclusions() const {
    return excluded_.empty() ? nullptr : excluded_.data() + grids_.back().first;
  }

  // Visits all cells but the anchors, which are decoded. coder.code(row) codes them, returns false to stop.
  template <class Coder>
  bool run(const AxisPassModel& model, Coder& coder) {
    for (size_t l = grids_.size() - 1; l-- > 0;) {
      merge(l);
      Pass pass{grids_[l], {2, 2, 2, 2}, 0, false};
      for (const uint8_t d : model.order) {
        pass.direction = d;
        pass.is_linear = ((model.linear[l] >> d) & 1) != 0;
        if (d == 0) weigh_cells(pass, l);
        if (grids_[l].size[d] > 1 && !visit(pass, coder)) return false;
        pass.step[d] = 1;
      }
    }
    return true;
  }

 private:
  struct Grid {
    Extents size;
    int64_t even;  // cells of a row that come first
    size_t first;  // of its values
    size_t row(int64_t y, int64_t z, int64_t w) const {
      return first + static_cast<size_t>(((w * size[2] + z) * size[1] + y) * size[0]);
    }
  };

  // One pass over a grid: which cells it visits.
  struct Pass {
    const Grid& grid;
    Extents step;  // 1: the pass along that direction has been; else 2, and only even cells are decoded
    size_t direction;
    bool is_linear;
  };

  static void split(const T* row, const Grid& grid, T* halves) {
    axis_kernels(T{}).split(row, static_cast<size_t>(grid.size[0]), halves, halves + grid.even);
  }
  static void split(const uint8_t* row, const Grid& grid, uint8_t* halves) {
    for (int64_t x = 0; x < grid.size[0]; ++x) halves[(x % 2 != 0 ? grid.even : 0) + x / 2] = row[x];
  }
  static void join(const T* halves, const Grid& grid, T* row) {
    axis_kernels(T{}).join(halves, halves + grid.even, static_cast<size_t>(grid.size[0]), row);
  }

  template <class V>
  void deal(V* all, int64_t y, int64_t z, int64_t w, const V* row) {
    for (size_t l = 0;; ++l) {
      const Grid& grid = grids_[l];
      V* halves = all + grid.row(y, z, w);
      if (l + 1 == grids_.size()) {
        std::copy(row, row + grid.size[0], halves);
        return;
      }
      split(row, grid, halves);
      if (((y | z | w) & 1) != 0) return;
      row = halves;
      y /= 2;
      z /= 2;
      w /= 2;
    }
  }

  // A row of grid l as neighbours; the coarsest grid's are already.
  void copy_row(size_t l, const T* halves, T* row) const {
    if (l + 1 == grids_.size()) {
      std::copy(halves, halves + grids_[l].size[0], row);
    } else {
      join(halves, grids_[l], row);
    }
  }

  // Puts the next coarser grid, decoded, where grid l has it.
  void merge(size_t l) {
    const Grid& coarse = grids_[l + 1];
    for (int64_t w = 0; w < coarse.size[3]; ++w) {
      for (int64_t z = 0; z < coarse.size[2]; ++z) {
        for (int64_t y = 0; y < coarse.size[1]; ++y) {
          copy_row(l + 1, values_.data() + coarse.row(y, z, w),
                   values_.data() + grids_[l].row(2 * y, 2 * z, 2 * w));
        }
      }
    }
  }

  template <class Coder>
  bool visit(const Pass& pass, Coder& coder) {
    Extents begin{};
    Extents step = pass.step;
    begin[pass.direction] = 1;
    step[pass.direction] = 2;
    const Extents& size = pass.grid.size;
    for (int64_t w = begin[3]; w < size[3]; w += step[3]) {
      for (int64_t z = begin[2]; z < size[2]; z += step[2]) {
        for (int64_t y = begin[1]; y < size[1]; y += step[1]) {
          if (!code_row(pass, {0, y, z, w}, coder)) return false;
        }
      }
    }
    return true;
  }

  template <class Coder>
  bool code_row(const Pass& pass, const Extents& at, Coder& coder) {
    const size_t first = pass.grid.row(at[1], at[2], at[3]);
    if (pass.direction == 0)
      return weights_ != nullptr ? code_short_row(pass, first, coder) : code_along_row(pass, first, coder);
    return code_across(pass, at[pass.direction], first, coder);
  }

  template <class Coder>
  bool code_piece(PassRow<T>& row, size_t first, Coder& coder) {
    row.values = values_.data() + first;
    // Most rows have none, and are coded as those of a field without any.
    const bool has_excluded =
        !excluded_.empty() && std::memchr(excluded_.data() + first, 1, row.count) != nullptr;
    row.excluded = has_excluded ? excluded_.data() + first : nullptr;
    return coder.code(row);
  }

  // From the rows before and behind in the pass's direction, where the row at `first` has coordinate `at`.
  template <class Coder>
  bool code_across(const Pass& pass, int64_t at, size_t first, Coder& coder) {
    const Extents& size = pass.grid.size;
    const size_t d = pass.direction;
    const auto count = static_cast<size_t>(pass.step[0] == 1 ? size[0] : pass.grid.even);
    int64_t stride = size[0];
    for (size_t e = 1; e < d; ++e) stride *= size[e];
    // Rows outside the grid have weight 0; the one before stands for them.
    const auto neighbour = [&](size_t begin, int64_t k) {
      const T* own = values_.data() + first + begin;
      return at + k < 0 || at + k >= size[d] ? own - stride : own + k * stride;
    };
    PassRow<T> row;
    row.from.weights = interpolation_weights<T>(at / 2, (size[d] + 1) / 2, pass.is_linear);
    for (size_t begin = 0; begin < count; begin += max_pass_row) {
      row.count = std::min(max_pass_row, count - begin);
      row.from.a = neighbour(begin, -3);
      row.from.b = neighbour(begin, -1);
      row.from.c = neighbour(begin, 1);
      row.from.d = neighbour(begin, 3);
      if (!code_piece(row, first + begin, coder)) return false;
    }
    return true;
  }

  // Rows that are not long, and many, are coded each in one piece, since the ends have weights of their own.
  void weigh_cells(const Pass& pass, size_t level) {
    const int64_t known = pass.grid.even;
    const auto count = static_cast<size_t>(pass.grid.size[0] - known);
    const int64_t rows = pass.grid.size[1] * pass.grid.size[2] * pass.grid.size[3];
    constexpr int64_t min_rows = 8;
    weights_ = count > max_pass_row || rows < min_rows
                   ? nullptr
                   : &row_weights_.of(level, known, count, pass.is_linear);
  }

  // The odd cells of a row from its even ones. What lies beside these has weight 0.
  template <class Coder>
  bool code_short_row(const Pass& pass, size_t first, Coder& coder) {
    PassRow<T> row;
    row.count = static_cast<size_t>(pass.grid.size[0] - pass.grid.even);
    const T* even = values_.data() + first;
    row.from.a = even - 1;
    row.from.b = even;
    row.from.c = even + 1;
    row.from.d = even + 2;
    for (size_t k = 0; k < weights_->size(); ++k) row.from.of_each[k] = (*weights_)[k].data();
    return code_piece(row, first + static_cast<size_t>(pass.grid.even), coder);
  }

  // The odd cells of a row from its even ones: those of equal weights together.
  template <class Coder>
  bool code_along_row(const Pass& pass, size_t first, Coder& coder) {
    const int64_t known = pass.grid.even;
    const int64_t count = pass.grid.size[0] - known;
    const int64_t inner_end = std::min(count, known - 2);
    const T* even = values_.data() + first;
    PassRow<T> row;
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(row.count)) {
      const bool is_inner = i > 0 && i < inner_end;
      row.count = is_inner ? std::min(max_pass_row, static_cast<size_t>(inner_end - i)) : size_t{1};
      const auto neighbour = [&](int64_t k) { return i + k < 0 || i + k >= known ? even + i : even + i + k; };
      row.from = {neighbour(-1),
                  even + i,
                  neighbour(1),
                  neighbour(2),
                  interpolation_weights<T>(i, known, pass.is_linear),
                  {}};
      if (!code_piece(row, first + static_cast<size_t>(known + i), coder)) return false;
    }
    return true;
  }

  std::vector<Grid> grids_;  // finest first
  RawVector<T> values_;
  Symbols excluded_;  // empty: no cell is
  RowWeights<T>& row_weights_;
  const typename RowWeights<T>::OfCells* weights_ =
      nullptr;  // in the pass along x, of the odd cells of a row
};

}  // namespace neve
