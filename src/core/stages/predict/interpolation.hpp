// SPDX-License-Identifier: BSD-3-Clause
// Prediction from coarse to fine: the cells of a grid are visited level by level, and each is predicted by
// interpolation between cells that are decoded already, in a closed loop. After Zhao et al., "Optimizing
// error-bounded lossy compression ... by dynamic spline interpolation", ICDE 2021 (SZ3) and Liu et al., HPEZ,
// SIGMOD 2024; what is added: a least-squares stencil fitted to the field, and a blend of all predictions by
// the errors they made nearby.
//
// All predictions of a row depend on earlier rows, classes and levels only, never on the row itself, so rows
// are predicted, quantized and reconstructed by vector kernels, and an entropy coder can know the context of
// a whole row before it decodes it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "core/stages/predict/interpolation_weights.hpp"
#include "core/stages/predict/stencil.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

// What a section tells its decoder about one level. Levels it does not tell of are cubic, without stencils.
struct LevelModel {
  // Bit 3 (class - 1) + direction: linear interpolation there, else cubic.
  uint32_t linear = 0;
  int live = 0;  // directions of the stencils' taps
  // By class: weights of the taps in 1 / stencil_unit; empty: no stencil.
  std::array<std::vector<int32_t>, class_count> weights;
};
inline constexpr int stencil_unit = 256;
using InterpolationModel = std::vector<LevelModel>;

// Errors weigh more the finer the level they would spread to: the step of level l is that of level 0 divided
// by min(1.25^l, 2), the factors of HPEZ.
template <class T>
T level_step(T step, int level) {
  constexpr std::array<double, 5> divisor = {1, 1.25, 1.5625, 1.953125, 2};
  return step / static_cast<T>(divisor[static_cast<size_t>(std::min(level, 4))]);
}

// Why a cell has no quantization code: nothing is known of it, and its prediction takes its place; or it has
// a value from elsewhere, before any cell is coded.
inline constexpr uint8_t cell_excluded = 1;
inline constexpr uint8_t cell_known = 2;

// One class of one level: a dense grid of its own, x fastest.
template <class T>
struct PhaseClass {
  std::array<int64_t, 3> size{};
  RawVector<T> values;
  RawVector<uint8_t> excluded;    // cell_excluded, cell_known: not coded; empty: all cells are
  RawVector<uint8_t> magnitudes;  // of the quantization codes, for contexts; empty when nobody asks

  int64_t cells() const { return size[0] * size[1] * size[2]; }
  int64_t offset(int64_t y, int64_t z) const { return (z * size[1] + y) * size[0]; }
};

// A row about to be coded.
template <class T>
struct ClassRow {
  int level = 0;
  int of_class = 0;
  size_t count = 0;
  bool has_above = false;  // a row of the class before it in the plane
  const T* prediction = nullptr;
  T* values = nullptr;                // encoder: originals before, decoded after. Decoder: decoded after
  const uint8_t* excluded = nullptr;  // null: none
  uint8_t* magnitudes = nullptr;      // set by the coder when kept
  const uint16_t* magnitude_sum = nullptr;  // weighted magnitudes around each cell
  unsigned magnitude_weight = 0;            // sum of those weights
};

// A rectangle of up to three directions, split into classes level by level.
template <class T>
class PhaseField {
 public:
  PhaseField(const std::array<int64_t, 3>& size, bool keeps_magnitudes)
      : keeps_magnitudes_(keeps_magnitudes) {
    std::array<int64_t, 3> n = size;
    while (n[0] > 1 || n[1] > 1 || n[2] > 1) {
      Level level;
      level.size = n;
      for (int c = 0; c < class_count; ++c) {
        for (size_t d = 0; d < 3; ++d)
          level.classes[c].size[d] = ((c >> d) & 1) != 0 ? n[d] / 2 : (n[d] + 1) / 2;
      }
      n = level.classes[0].size;
      levels_.push_back(std::move(level));
    }
    finest_.size = size;
  }

  int level_count() const { return static_cast<int>(levels_.size()); }
  const PhaseClass<T>& phase(int level, int c) const {
    return levels_[static_cast<size_t>(level)].classes[c];
  }
  const std::array<int64_t, 3>& level_size(int level) const {
    return levels_[static_cast<size_t>(level)].size;
  }

  // The whole grid. An encoder fills its values (and `excluded`, when there is any) before split().
  PhaseClass<T>& finest() { return finest_; }
  // The one cell that nothing predicts.
  T& anchor() { return levels_.empty() ? finest_.values[0] : levels_.back().classes[0].values[0]; }
  uint8_t anchor_exclusion() const {
    const PhaseClass<T>& top = levels_.empty() ? finest_ : levels_.back().classes[0];
    return top.excluded.empty() ? uint8_t{0} : top.excluded[0];
  }

  // Deals values and exclusions out to the classes. Decoders may have no values yet.
  void split(bool with_values) {
    PhaseClass<T>* whole = &finest_;
    for (Level& level : levels_) {
      for (int c = 0; c < class_count; ++c) {
        PhaseClass<T>& part = level.classes[c];
        const auto cells = static_cast<size_t>(part.cells());
        part.values.resize(cells);
        if (keeps_magnitudes_) part.magnitudes.assign(cells, 0);
        if (!whole->excluded.empty()) part.excluded.resize(cells);
        for_each_class_row(level, c, [&](int64_t from, int64_t to, int64_t count) {
          if (with_values) {
            for (int64_t i = 0; i < count; ++i) part.values[to + i] = whole->values[from + 2 * i];
          }
          if (!whole->excluded.empty()) {
            for (int64_t i = 0; i < count; ++i) part.excluded[to + i] = whole->excluded[from + 2 * i];
          }
        });
      }
      whole = &level.classes[0];
    }
  }

  // Visits every row of every class but the anchor. coder.code(row) codes it, returns false to stop.
  template <class Coder>
  bool run(const InterpolationModel& model, T step, const InterpolationKernels<T>& kernels, Coder& coder) {
    for (int l = level_count() - 1; l >= 0; --l) {
      static const LevelModel plain;
      const LevelModel& level_model =
          static_cast<size_t>(l) < model.size() ? model[static_cast<size_t>(l)] : plain;
      for (const int c : class_order) {
        if (levels_[static_cast<size_t>(l)].classes[c].cells() == 0) continue;
        ClassPass pass(levels_[static_cast<size_t>(l)], l, c, level_model, step, kernels);
        if (!pass.run(coder)) return false;
      }
      merge(l);
    }
    return true;
  }

 private:
  struct Level {
    std::array<int64_t, 3> size{};  // of the grid that its classes make up
    std::array<PhaseClass<T>, class_count> classes;
  };

  // row(first cell in the level's grid, in the class, count)
  template <class Row>
  static void for_each_class_row(const Level& level, int c, const Row& row) {
    const PhaseClass<T>& part = level.classes[c];
    for (int64_t z = 0; z < part.size[2]; ++z) {
      for (int64_t y = 0; y < part.size[1]; ++y) {
        const int64_t from =
            ((2 * z + ((c >> 2) & 1)) * level.size[1] + 2 * y + ((c >> 1) & 1)) * level.size[0] + (c & 1);
        row(from, part.offset(y, z), part.size[0]);
      }
    }
  }

  // Puts the decoded classes of a level together: class 0 of the next finer one, or the whole grid.
  void merge(int l) {
    const Level& level = levels_[static_cast<size_t>(l)];
    PhaseClass<T>& whole = l == 0 ? finest_ : levels_[static_cast<size_t>(l) - 1].classes[0];
    whole.values.resize(static_cast<size_t>(whole.cells()));
    const bool with_magnitudes = keeps_magnitudes_ && l > 0;
    for (int c = 0; c < class_count; ++c) {
      const PhaseClass<T>& part = level.classes[c];
      for_each_class_row(level, c, [&](int64_t from, int64_t to, int64_t count) {
        for (int64_t i = 0; i < count; ++i) whole.values[from + 2 * i] = part.values[to + i];
        if (with_magnitudes) {
          for (int64_t i = 0; i < count; ++i) whole.magnitudes[from + 2 * i] = part.magnitudes[to + i];
        }
      });
    }
  }

  // One class of one level, row by row.
  class ClassPass {
   public:
    ClassPass(Level& level, int number, int c, const LevelModel& model, T step,
              const InterpolationKernels<T>& kernels)
        : level_(level),
          own_(level.classes[c]),
          number_(number),
          class_(c),
          model_(model),
          inverse_step_(1 / step),
          kernels_(kernels),
          width_(static_cast<size_t>(own_.size[0])) {
      for (int d = 0; d < 3; ++d) {
        if (((c >> d) & 1) != 0) directions_[direction_count_++] = d;
      }
      const std::vector<int32_t>& weights = model.weights[static_cast<size_t>(c)];
      if (!weights.empty()) {
        taps_ = stencil_taps(c, model.live);
        for (const int32_t weight : weights) {
          tap_weights_.push_back(static_cast<T>(weight) / static_cast<T>(stencil_unit));
        }
        stencil_end_ = own_.size;
        for (const Tap& tap : taps_) {
          for (size_t d = 0; d < 3; ++d) {
            stencil_begin_[d] = std::max<int64_t>(stencil_begin_[d], -tap.shift[d]);
            stencil_end_[d] =
                std::min<int64_t>(stencil_end_[d], level.classes[tap.from_class].size[d] - tap.shift[d]);
          }
        }
        tap_rows_.resize(taps_.size());
      }
      experts_ = direction_count_ + (weights.empty() ? 0 : 1);
      for (int e = 0; e < experts_; ++e) {
        predictions_[e].resize(width_);
        estimates_[e].resize(width_);
        // A value at each end of a row beside the cells, so that the smoothing needs no special case.
        errors_[e].assign((width_ + 2) * static_cast<size_t>(own_.size[1] + 1), T{0});
      }
      no_errors_.assign(width_ + 2, T{0});
      blended_.resize(width_);
      mean_.resize(width_);
      magnitude_sum_.resize(width_);
    }

    template <class Coder>
    bool run(Coder& coder) {
      for (int64_t z = 0; z < own_.size[2]; ++z) {
        for (int64_t y = 0; y < own_.size[1]; ++y) {
          predict_row(y, z);
          ClassRow<T> row;
          row.level = number_;
          row.of_class = class_;
          row.count = width_;
          row.has_above = y > 0;
          row.prediction = prediction_;
          row.values = own_.values.data() + own_.offset(y, z);
          if (!own_.excluded.empty()) row.excluded = own_.excluded.data() + own_.offset(y, z);
          if (!own_.magnitudes.empty()) {
            row.magnitudes = own_.magnitudes.data() + own_.offset(y, z);
            row.magnitude_weight = sum_magnitudes(y, z);
            row.magnitude_sum = magnitude_sum_.data();
          }
          if (!coder.code(row)) return false;
          if (experts_ > 1) note_errors(row, y);
        }
      }
      return true;
    }

   private:
    using Weights = std::array<T, 4>;

    void predict_row(int64_t y, int64_t z) {
      for (int e = 0; e < direction_count_; ++e) interpolate(directions_[e], y, z, predictions_[e].data());
      prediction_ = predictions_[0].data();
      if (experts_ == 1) return;
      for (int e = 0; e < experts_; ++e) estimate_errors(e, y, z);
      std::array<const T*, 4> p{};
      std::array<const T*, 4> e{};
      const auto blend = [&](int64_t begin, int64_t end, int experts) {
        if (begin >= end) return;
        for (int k = 0; k < experts; ++k) {
          p[k] = predictions_[k].data() + begin;
          e[k] = estimates_[k].data() + begin;
        }
        if (experts == 1) {
          std::copy(p[0], p[0] + (end - begin), blended_.data() + begin);
        } else {
          kernels_.blend(p.data(), e.data(), experts, static_cast<size_t>(end - begin),
                         blended_.data() + begin);
        }
      };
      const auto width = static_cast<int64_t>(width_);
      has_stencil_ = !tap_weights_.empty() && stencil_begin_[0] < stencil_end_[0] && y >= stencil_begin_[1] &&
                     y < stencil_end_[1] && z >= stencil_begin_[2] && z < stencil_end_[2];
      blend(0, width, direction_count_);
      if (has_stencil_) {
        predict_stencil(y, z);
        blend(stencil_begin_[0], stencil_end_[0], experts_);
      }
      prediction_ = blended_.data();
    }

    void predict_stencil(int64_t y, int64_t z) {
      const auto count = static_cast<size_t>(stencil_end_[0] - stencil_begin_[0]);
      T* out = predictions_[experts_ - 1].data() + stencil_begin_[0];
      // Taps count by their differences from the mean of the interpolations, so that rounding follows those
      // and not the values.
      std::array<const T*, 3> p{};
      for (int k = 0; k < 3; ++k)
        p[k] = predictions_[std::min(k, direction_count_ - 1)].data() + stencil_begin_[0];
      const T* base = p[0];
      if (direction_count_ > 1) {
        static const Weights half = {T{0.5}, T{0.5}, T{0}, T{0}};
        static const Weights third = {T{1} / T{3}, T{1} / T{3}, T{1} / T{3}, T{0}};
        base = mean_.data() + stencil_begin_[0];
        kernels_.axis(p[0], p[1], p[2], p[2], (direction_count_ == 2 ? half : third).data(), count,
                      mean_.data() + stencil_begin_[0]);
      }
      std::copy(base, base + count, out);
      for (size_t t = 0; t < taps_.size(); ++t) {
        const Tap& tap = taps_[t];
        const PhaseClass<T>& from = level_.classes[tap.from_class];
        tap_rows_[t] = from.values.data() + from.offset(y + tap.shift[1], z + tap.shift[2]) +
                       stencil_begin_[0] + tap.shift[0];
      }
      kernels_.add_taps(tap_rows_.data(), tap_weights_.data(), taps_.size(), base, count, out);
    }

    // Interpolation along direction d between the cells of the class before it in that direction.
    void interpolate(int d, int64_t y, int64_t z, T* out) const {
      const PhaseClass<T>& from = level_.classes[class_ ^ (1 << d)];
      const bool linear = ((model_.linear >> (3 * (class_ - 1) + d)) & 1) != 0;
      const T* row = from.values.data() + from.offset(y, z);
      const int64_t size = from.size[d];
      if (d == 0) return interpolate_along(row, size, linear, out);
      const int64_t at = d == 1 ? y : z;
      const int64_t stride = d == 1 ? from.size[0] : from.size[0] * from.size[1];
      const Weights& weights = weights_at(at, size, linear);
      // Rows outside the grid have weight 0; any row inside stands for them.
      const auto neighbour = [&](int64_t k) { return at + k < 0 || at + k >= size ? row : row + k * stride; };
      kernels_.axis(neighbour(-1), row, neighbour(1), neighbour(2), weights.data(), width_, out);
    }

    void interpolate_along(const T* row, int64_t size, bool linear, T* out) const {
      const auto width = static_cast<int64_t>(width_);
      const auto one = [&](int64_t i) {
        const Weights& weights = weights_at(i, size, linear);
        const auto value = [&](int64_t k) { return i + k < 0 || i + k >= size ? row[i] : row[i + k]; };
        out[i] =
            ((weights[0] * value(-1) + weights[1] * row[i]) + weights[2] * value(1)) + weights[3] * value(2);
      };
      const int64_t inner_end = std::min(width, size - 2);
      one(0);
      if (inner_end > 1) {
        kernels_.axis(row, row + 1, row + 2, row + 3, weights_at(1, size, linear).data(),
                      static_cast<size_t>(inner_end - 1), out + 1);
      }
      for (int64_t i = std::max<int64_t>(1, inner_end); i < width; ++i) one(i);
    }

    static const Weights& weights_at(int64_t at, int64_t size, bool linear) {
      return interpolation_weights<T>(at, size, linear);
    }

    T* error_row(int e, int64_t y) { return errors_[e].data() + static_cast<size_t>(y) * (width_ + 2) + 1; }

    // The plane of errors holds this plane's rows up to y - 1 and the plane before's from y on.
    void estimate_errors(int e, int64_t y, int64_t z) {
      const T* none = no_errors_.data() + 1;
      const T* above = y > 0 ? error_row(e, y - 1) : none;
      const T* here = z > 0 ? error_row(e, y) : none;
      const bool has_below = z > 0 && y + 1 < own_.size[1];
      const T* below = has_below ? error_row(e, y + 1) : none;
      const int weight = (y > 0 ? 4 : 0) + (z > 0 ? 4 : 0) + (has_below ? 1 : 0);
      kernels_.estimate(above, here, below, weight > 0 ? T{1} / static_cast<T>(weight) : T{0}, width_,
                        estimates_[e].data());
    }

    void note_errors(const ClassRow<T>& row, int64_t y) {
      for (int e = 0; e < experts_; ++e) {
        T* errors = error_row(e, y);
        const bool is_stencil = e == direction_count_;
        if (!is_stencil) {
          kernels_.errors(row.values, predictions_[e].data(), inverse_step_, width_, errors);
        } else {
          // Where it took no part it is thought as good as the first interpolation.
          std::copy(error_row(0, y), error_row(0, y) + width_, errors);
          if (has_stencil_) {
            kernels_.errors(row.values + stencil_begin_[0], predictions_[e].data() + stencil_begin_[0],
                            inverse_step_, static_cast<size_t>(stencil_end_[0] - stencil_begin_[0]),
                            errors + stencil_begin_[0]);
          }
        }
        errors[-1] = errors[0];
        errors[width_] = errors[width_ - 1];
      }
    }

    // Twice the own class's row above and the same row of the plane before, once the diagonals above and the
    // cells interpolated between. Returns the sum of the weights.
    unsigned sum_magnitudes(int64_t y, int64_t z) {
      std::fill(magnitude_sum_.begin(), magnitude_sum_.end(), uint16_t{0});
      uint16_t* sum = magnitude_sum_.data();
      unsigned weight = 0;
      const std::array<int64_t, 3> at{0, y, z};
      for (int k = 0; k < direction_count_; ++k) {
        const int d = directions_[k];
        const PhaseClass<T>& from = level_.classes[class_ ^ (1 << d)];
        const uint8_t* row = from.magnitudes.data() + from.offset(y, z);
        kernels_.add_magnitudes(row, 1, width_, sum);
        if (d == 0) {
          const auto inner = std::min(width_, static_cast<size_t>(from.size[0]) - 1);
          kernels_.add_magnitudes(row + 1, 1, inner, sum);
          if (inner < width_) sum[inner] = static_cast<uint16_t>(sum[inner] + row[inner]);
        } else {
          const int64_t stride = d == 1 ? from.size[0] : from.size[0] * from.size[1];
          kernels_.add_magnitudes(at[d] + 1 < from.size[d] ? row + stride : row, 1, width_, sum);
        }
        weight += 2;
      }
      const uint8_t* own = own_.magnitudes.data() + own_.offset(y, z);
      if (y > 0) {
        const uint8_t* above = own - own_.size[0];
        kernels_.add_magnitudes(above, 2, width_, sum);
        kernels_.add_magnitudes(above + 1, 1, width_ - 1, sum);
        kernels_.add_magnitudes(above, 1, width_ - 1, sum + 1);
        sum[0] = static_cast<uint16_t>(sum[0] + above[0]);
        sum[width_ - 1] = static_cast<uint16_t>(sum[width_ - 1] + above[width_ - 1]);
        weight += 4;
      }
      if (z > 0) {
        kernels_.add_magnitudes(own - own_.size[0] * own_.size[1], 2, width_, sum);
        weight += 2;
      }
      return weight;
    }

    Level& level_;
    PhaseClass<T>& own_;
    int number_;
    int class_;
    const LevelModel& model_;
    T inverse_step_;
    const InterpolationKernels<T>& kernels_;
    size_t width_;
    std::array<int, 3> directions_{};
    int direction_count_ = 0;
    std::vector<Tap> taps_;
    std::vector<T> tap_weights_;
    // The cells that have all taps.
    std::array<int64_t, 3> stencil_begin_{};
    std::array<int64_t, 3> stencil_end_{};
    std::vector<const T*> tap_rows_;
    bool has_stencil_ = false;  // in the row at hand
    int experts_ = 0;           // the interpolations, then the stencil
    std::array<RawVector<T>, 4> predictions_;
    std::array<RawVector<T>, 4> estimates_;
    std::array<std::vector<T>, 4> errors_;  // in steps of level 0
    std::vector<T> no_errors_;
    RawVector<T> blended_;
    RawVector<T> mean_;  // of the interpolations
    RawVector<uint16_t> magnitude_sum_;
    const T* prediction_ = nullptr;
  };

  bool keeps_magnitudes_;
  std::vector<Level> levels_;  // finest first
  PhaseClass<T> finest_;
};

}  // namespace neve
