// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction (Ibarria et al., "Out-of-core compression and decompression of large n-dimensional
// scalar fields", 2003) of words modulo 2^bits, along any set of a rectangle's axes: the word less its
// prediction is the mixed difference along those axes, exactly undone by the mixed sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "format/tiling.hpp"
#include "stages/lossless/ordered_words.hpp"
#include "threads/scratch.hpp"

namespace neve {

inline constexpr unsigned axis_x = 1;  // bit d of a set of axes is axis d
inline constexpr unsigned all_axes = (1U << max_frame_dims) - 1;

// Both directions, row by row of a dense rectangle. Words outside the rectangle count as 0. Excluded cells
// repeat the word before them in their row (the row's first: the word before it in scan order, 0 at the very
// beginning) and have no residual.
template <class U>
class WordLorenzo {
 public:
  WordLorenzo(const Extents& size, unsigned axes) : size_(size), along_x_((axes & axis_x) != 0) {
    const Extents stride{1, size[0], size[0] * size[1], size[0] * size[1] * size[2]};
    for (unsigned subset = axis_x + 1; subset <= all_axes; ++subset) {
      if ((subset & ~axes) != 0 || (subset & axis_x) != 0) continue;
      Term term{subset, 0, false};
      bool adds = false;
      for (size_t d = 1; d < max_frame_dims; ++d) {
        if (((subset >> d) & 1) == 0) continue;
        term.back += stride[d];
        adds = !adds;
      }
      term.adds = adds;
      terms_[term_count_++] = term;
    }
    prediction_.resize(static_cast<size_t>(size[0]));
  }

  // Residuals of all rows of `words`, which excluded cells are filled in of.
  void forward(U* words, const uint8_t* excluded, U* residuals) {
    for_each_row([&](int64_t row, const Extents& at) {
      U* const own = words + row;
      const uint8_t* const skip = excluded == nullptr ? nullptr : excluded + row;
      if (skip != nullptr) {
        U before = row > 0 ? own[-1] : U{0};
        for (int64_t i = 0; i < size_[0]; ++i) before = own[i] = skip[i] != 0 ? before : own[i];
      }
      predict(words, row, at);
      const U* const p = prediction_.data();
      U* const out = residuals + row;
      if (!along_x_) {
        for (int64_t i = 0; i < size_[0]; ++i) out[i] = fold_sign<U>(own[i] - p[i]);
        return;
      }
      out[0] = fold_sign<U>(own[0] - p[0]);
      for (int64_t i = 1; i < size_[0]; ++i) {
        out[i] = fold_sign<U>((own[i] - p[i]) - (own[i - 1] - p[i - 1]));
      }
    });
  }

  // Words from residuals, in place.
  void inverse(U* words, const uint8_t* excluded) {
    for_each_row([&](int64_t row, const Extents& at) {
      U* const own = words + row;
      const uint8_t* const skip = excluded == nullptr ? nullptr : excluded + row;
      predict(words, row, at);
      const U* const p = prediction_.data();
      U before = row > 0 ? own[-1] : U{0};
      U sum = 0;  // what is left of the word before once its prediction is taken off
      for (int64_t i = 0; i < size_[0]; ++i) {
        if (skip != nullptr && skip[i] != 0) {
          sum = before - p[i];
        } else {
          sum = (along_x_ ? sum : U{0}) + unfold_sign<U>(own[i]);
        }
        before = own[i] = sum + p[i];
      }
    });
  }

 private:
  struct Term {
    unsigned axes;
    int64_t back;  // cells
    bool adds;
  };

  template <class Row>
  void for_each_row(const Row& row) const {
    int64_t cell = 0;
    Extents at{};
    for (at[3] = 0; at[3] < size_[3]; ++at[3]) {
      for (at[2] = 0; at[2] < size_[2]; ++at[2]) {
        for (at[1] = 0; at[1] < size_[1]; ++at[1], cell += size_[0]) row(cell, at);
      }
    }
  }

  // From the rows before, by inclusion and exclusion.
  void predict(const U* words, int64_t row, const Extents& at) {
    U* const p = prediction_.data();
    std::fill(prediction_.begin(), prediction_.end(), U{0});
    for (size_t t = 0; t < term_count_; ++t) {
      const Term& term = terms_[t];
      bool inside = true;
      for (size_t d = 1; d < max_frame_dims; ++d)
        inside = inside && (((term.axes >> d) & 1) == 0 || at[d] > 0);
      if (!inside) continue;
      const U* const other = words + row - term.back;
      if (term.adds) {
        for (int64_t i = 0; i < size_[0]; ++i) p[i] += other[i];
      } else {
        for (int64_t i = 0; i < size_[0]; ++i) p[i] -= other[i];
      }
    }
  }

  Extents size_;
  bool along_x_;
  std::array<Term, 7> terms_{};
  size_t term_count_ = 0;
  RawVector<U> prediction_;
};

}  // namespace neve
