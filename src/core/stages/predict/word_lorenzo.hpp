// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction (Ibarria et al., "Out-of-core compression and decompression of large n-dimensional
// scalar fields", 2003) of words modulo 2^bits, along any set of a rectangle's axes: the word less its
// prediction is the mixed difference along those axes, exactly undone by the mixed sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/bits/ordered_words.hpp"
#include "core/kernels/word_rows.hpp"
#include "core/sections/tiling.hpp"
#include "core/stages/lossless/word_repeats.hpp"

namespace neve {

inline constexpr unsigned axis_x = 1;  // bit d of a set of axes is axis d
inline constexpr unsigned all_axes = (1U << max_frame_dims) - 1;

// Excluded cells repeat the word before them in scan order, 0 at the very beginning, and have no residual.
template <class U>
void fill_excluded(U* words, const uint8_t* excluded, size_t cells) {
  U before = 0;
  for (size_t i = 0; i < cells; ++i) before = words[i] = excluded[i] != 0 ? before : words[i];
}

// Both directions, row by row of a dense rectangle. Words outside the rectangle count as 0.
template <class U>
class WordLorenzo {
 public:
  WordLorenzo(const Extents& size, unsigned axes) : size_(size), axes_(axes) {
    stride_ = {1, size[0], size[0] * size[1], size[0] * size[1] * size[2]};
  }

  // Residuals of all cells of `words`, of which excluded ones are filled.
  void forward(const U* words, U* residuals) const {
    const WordKernels<U>& kernel = word_kernels(U{});
    for_each_run(
        [&](size_t begin, size_t end, const Around& around) {
          // Runs in pieces that stay in the first-level cache; left[0] is what is left of the cell before.
          std::array<U, piece_cells + 1> left;
          left[0] = 0;
          for (size_t at = begin; at < end; at += piece_cells) {
            const size_t n = std::min(piece_cells, end - at);
            const Around here = around.moved(static_cast<ptrdiff_t>(at));
            kernel.differ(words + at, here.rows.data(), here.count, n, left.data() + 1);
            if ((axes_ & axis_x) == 0) {
              kernel.fold(left.data() + 1, n, residuals + at);
              continue;
            }
            kernel.fold_steps(left.data() + 1, n, residuals + at);
            const auto width = static_cast<size_t>(size_[0]);
            for (size_t first = (at + width - 1) / width * width; first < at + n; first += width) {
              residuals[first] = fold_sign<U>(left[1 + first - at]);
            }
            left[0] = left[n];
          }
        },
        words);
  }

  // Words from residuals, in place. `all` is where `repeats` count from, of which the rectangle is a part.
  void inverse(U* words, const uint8_t* excluded, const U* all = nullptr,
               std::span<const WordRepeat> repeats = {}) const {
    const auto width = static_cast<size_t>(size_[0]);
    const size_t offset = repeats.empty() ? 0 : static_cast<size_t>(words - all);
    auto next = std::find_if(repeats.begin(), repeats.end(),
                             [&](const WordRepeat& r) { return r.begin + r.count > offset; });
    for_each_run(
        [&](size_t begin, size_t end, const Around& around) {
          for (size_t row = begin; row < end; row += width) {
            size_t at = row;
            while (next != repeats.end() && next->begin < offset + row + width) {
              const size_t first = std::max(next->begin, offset + row) - offset;
              const size_t last = std::min(next->begin + next->count, offset + row + width) - offset;
              sum_up(words, excluded, around, row, at, first);
              repeat(words, excluded, all, *next, offset, first, last);
              at = last;
              if (next->begin + next->count > offset + row + width) break;
              ++next;
            }
            sum_up(words, excluded, around, row, at, row + width);
          }
        },
        words);
  }

 private:
  // The rows whose signed sum is the prediction from outside the own row, see NeighbourRows.
  struct Around {
    std::array<const U*, 7> rows{};
    size_t count = 0;

    Around moved(ptrdiff_t cells) const {
      Around other = *this;
      for (size_t r = 0; r < count; ++r) other.rows[r] += cells;
      return other;
    }
  };

  static constexpr size_t piece_cells = 1024;

  // Calls visit(first cell, end, rows around cell 0) for the longest runs of whole rows that have the same
  // rows around them. (The first row of a plane has others than the rest.)
  template <class Visit>
  void for_each_run(const Visit& visit, const U* words) const {
    const auto width = static_cast<size_t>(size_[0]);
    size_t cell = 0;
    Extents at{};
    for (at[3] = 0; at[3] < size_[3]; ++at[3]) {
      for (at[2] = 0; at[2] < size_[2]; ++at[2]) {
        for (at[1] = 0; at[1] < size_[1];) {
          const auto rows = static_cast<size_t>(at[1] == 0 ? 1 : size_[1] - 1);
          visit(cell, cell + rows * width, around(words, at));
          cell += rows * width;
          at[1] += static_cast<int64_t>(rows);
        }
      }
    }
  }

  // Of the directions that are differenced and have a cell before, every non-empty subset: 0, 1, 3 or 7 rows.
  Around around(const U* words, const Extents& at) const {
    unsigned usable = 0;
    for (size_t d = 1; d < max_frame_dims; ++d) {
      if (((axes_ >> d) & 1) != 0 && at[d] > 0) usable |= 1U << d;
    }
    Around found;
    for (unsigned subset = 2; subset <= all_axes; subset += 2) {
      if ((subset & ~usable) != 0) continue;
      int64_t back = 0;
      for (size_t d = 1; d < max_frame_dims; ++d) back += ((subset >> d) & 1) != 0 ? stride_[d] : 0;
      found.rows[found.count++] = words - back;
    }
    return found;
  }

  // Cells [from, to) of the row that begins at `row`.
  void sum_up(U* words, const uint8_t* excluded, const Around& around, size_t row, size_t from,
              size_t to) const {
    if (from >= to) return;
    if (around.count == 0) return sum_up<0>(words, excluded, around, row, from, to);
    if (around.count == 1) return sum_up<1>(words, excluded, around, row, from, to);
    if (around.count == 3) return sum_up<3>(words, excluded, around, row, from, to);
    sum_up<7>(words, excluded, around, row, from, to);
  }
  template <size_t count>
  void sum_up(U* words, const uint8_t* excluded, const Around& around, size_t row, size_t from,
              size_t to) const {
    std::array<const U*, count + 1> rows{};
    std::copy_n(around.rows.begin(), count, rows.begin());
    const auto prediction = [&](size_t i) { return rows::around_sum<count>(rows.data(), i); };
    if (excluded != nullptr) {
      const bool along_x = (axes_ & axis_x) != 0;
      U before = from > 0 ? words[from - 1] : U{0};
      U left = from > row ? before - prediction(from - 1) : U{0};
      for (size_t i = from; i < to; ++i) {
        const U p = prediction(i);
        if (excluded[i] != 0) {
          left = before - p;
        } else {
          left = (along_x ? left : U{0}) + unfold_sign<U>(words[i]);
        }
        before = words[i] = left + p;
      }
    } else if ((axes_ & axis_x) != 0) {
      U left = from > row ? words[from - 1] - prediction(from - 1) : U{0};
      for (size_t i = from; i < to; ++i) {
        left += unfold_sign<U>(words[i]);
        words[i] = left + prediction(i);
      }
    } else {
      for (size_t i = from; i < to; ++i) words[i] = unfold_sign<U>(words[i]) + prediction(i);
    }
  }

  void repeat(U* words, const uint8_t* excluded, const U* all, const WordRepeat& repeat, size_t offset,
              size_t from, size_t to) const {
    for (size_t i = from; i < to; ++i) {
      if (excluded != nullptr && excluded[i] != 0) {
        words[i] = i > 0 ? words[i - 1] : U{0};
      } else {
        words[i] = unfold_sign<U>(words[i]) + repeat.word(all, offset + i);
      }
    }
  }

  Extents size_;
  unsigned axes_;
  std::array<int64_t, max_frame_dims> stride_{};
};

}  // namespace neve
