// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/value_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/bits/ordered_words.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/difference_bits.hpp"
#include "core/select/repeat_estimate.hpp"
#include "core/select/sequence.hpp"
#include "core/stages/lossless/value_multiples.hpp"

namespace neve {

namespace {

constexpr int64_t run_cells = 16;
constexpr int64_t enough_runs = 48, cells_per_run = 4096;  // and of large sections
constexpr int64_t cells_per_sample = 4;                    // of small sections
// Under a bound of fewer units, or of fewer times the numbers' spacing, the bits that a lossless method has
// to keep beside those of the bound are few.
constexpr double max_units_of_bound = 2;
// Values repeat at such distances in lists of corners.
constexpr size_t repeats_within = 4;
// Repeats over longer distances are looked for in blocks of neighbours at uneven distances, so many at least.
// If all of N values repeat with period P, B blocks have B^2 / 2 * 2 * block_cells / P pairs that overlap in
// that period. No loss can take less than `bits` a value where N / P >= value_bits / bits; so that several
// pairs overlap then, B is some sqrt(N * bits / value_bits).
constexpr int64_t block_cells = 64, few_blocks = 12;
constexpr double blocks_per_root = 0.33;
// Pairs of runs from few overlaps tell little more than that there are repeats: the share that is guessed may
// be so many times too low. What repeats differ by takes more than among the runs that are alike.
constexpr double share_doubt = 2, residual_doubt = 2;
// What repeats and ramps take, in bits a value, beside those that are new.
constexpr double order_bits = 0.02;
// What a value of a row that repeats none may take, of its bits.
constexpr double new_share_of_bits = 0.5;
// One value in so many tells at a glance whether there may be few different ones: such a share of all.
constexpr size_t values_per_glance = 4;
constexpr double few_at_a_glance = 0.8, few_of_all = 0.5;

template <class T>
class OrderSample {
 public:
  OrderSample(const SectionSource<T>& source, const ValueRules<T>& rules) : source_(source), rules_(rules) {
    for (const auto& rect : source.rects) cells_ += rect.cells();
  }

  ValueOrder take(double coded_bits) {
    const int64_t runs = std::clamp<int64_t>(cells_ / (run_cells * cells_per_sample), 1,
                                             std::max(enough_runs, cells_ / cells_per_run));
    for (int64_t k = 0; k < runs; ++k) read_run(k * (cells_ / runs) + cells_ / (2 * runs) - run_cells / 2);
    ValueOrder order;
    if (values_.empty()) return order;
    order.bits = std::min(repeat_bits(), bits_of_few());
    if (const auto unit = find_unit<T>(values_)) {
      order.unit = Multiples<double>(*unit).value(1);
      const Multiples<T> multiples(*unit);
      order.bits = std::min(order.bits, number_bits([&](T value) { return multiples.multiple(value); }));
    }
    const double new_bits = std::min(order.bits, new_share_of_bits * value_bits);
    order.bits = std::min({order.bits, row_repeat_bits(new_bits), long_repeat_bits(coded_bits)});
    double sum = 0;
    for (const T value : values_) sum += std::abs(static_cast<double>(value));
    order.spacing =
        sum / static_cast<double>(values_.size()) * static_cast<double>(std::numeric_limits<T>::epsilon());
    return order;
  }

 private:
  void read_run(int64_t cell) {
    run_begins_.push_back(values_.size());
    compare_rows(std::max<int64_t>(cell, 0));
    read_neighbours(std::max<int64_t>(cell, 0), run_cells, values_);
    // Special values are kept apart by every codec.
    const auto is_special = [&](T value) { return rules_.is_special(value); };
    const auto begin = values_.begin() + static_cast<ptrdiff_t>(run_begins_.back());
    values_.erase(std::remove_if(begin, values_.end(), is_special), values_.end());
  }

  // Notes in which directions the cells from this one on, to the end of a run or of its row, are what lies
  // one step before them. Nothing lies before the first ones of a rectangle.
  void compare_rows(int64_t cell) {
    const auto rect = std::find_if(source_.rects.begin(), source_.rects.end(), [&](const auto& candidate) {
      if (cell < candidate.cells()) return true;
      cell -= candidate.cells();
      return false;
    });
    if (rect == source_.rects.end() || !rect->left_out.empty()) return;
    const int64_t x = cell % rect->size[0], row = cell / rect->size[0];
    const auto bytes = static_cast<size_t>(std::min(run_cells, rect->size[0] - x)) * sizeof(T);
    const Extents at{x, row % rect->size[1], row / rect->size[1] % rect->size[2],
                     row / (rect->size[1] * rect->size[2])};
    for (size_t d = 1; d < max_frame_dims; ++d) {
      ++compared_rows_[d];
      if (at[d] == 0) continue;
      const T* const own = rect->row(at[1], at[2], at[3]) + x;
      if (std::memcmp(own, own - rect->stride[d], bytes) == 0) ++same_rows_[d];
    }
  }

  // Of rows that repeat those before them, in the direction in which most do, where the others take
  // `new_bits` a value.
  double row_repeat_bits(double new_bits) const {
    double share = 0;
    for (size_t d = 1; d < max_frame_dims; ++d) {
      if (compared_rows_[d] == 0) continue;
      share = std::max(share, static_cast<double>(same_rows_[d]) / static_cast<double>(compared_rows_[d]));
    }
    return (1 - share) * new_bits + order_bits;
  }

  // Appends the values from that cell on that are not left out.
  void read_neighbours(int64_t cell, int64_t count, std::vector<T>& values) {
    if (cell < rect_begin_) rect_ = 0, rect_begin_ = 0;
    while (rect_ < source_.rects.size() && cell >= rect_begin_ + source_.rects[rect_].cells())
      rect_begin_ += source_.rects[rect_++].cells();
    cell -= rect_begin_;
    size_t r = rect_;
    for (int64_t taken = 0; taken < count && r < source_.rects.size();) {
      const auto& rect = source_.rects[r];
      const int64_t in_row = std::min(count - taken, rect.size[0] - cell % rect.size[0]);
      take_of_row(rect, cell, in_row, values);
      taken += in_row;
      cell += in_row;
      if (cell == rect.cells()) cell = 0, ++r;
    }
  }

  static void take_of_row(const RectRows<const T*>& rect, int64_t cell, int64_t count,
                          std::vector<T>& values) {
    const T* row = rect.row(cell / rect.size[0]) + cell % rect.size[0];
    if (rect.left_out.empty()) {
      values.insert(values.end(), row, row + count);
      return;
    }
    const uint8_t* left_out = rect.left_out.data() + cell;
    for (int64_t i = 0; i < count; ++i) {
      if (left_out[i] == 0) values.push_back(row[i]);
    }
  }

  template <class Visit>
  void visit_runs(const Visit& visit) const {
    for (size_t run = 0; run < run_begins_.size(); ++run)
      visit(run_begins_[run], run + 1 < run_begins_.size() ? run_begins_[run + 1] : values_.size());
  }

  // Calls `judge` with three neighbours, oldest first.
  template <class Judge>
  void visit_neighbours(const Judge& judge) const {
    visit_runs([&](size_t begin, size_t end) {
      for (size_t i = begin + 2; i < end; ++i) judge(values_[i - 2], values_[i - 1], values_[i]);
    });
  }

  // Of values that neither are one of those shortly before nor go on from them.
  double repeat_bits() const {
    uint64_t fresh = 0, judged = 0;
    visit_runs([&](size_t begin, size_t end) {
      for (size_t i = begin + 2; i < end; ++i, ++judged) {
        const T value = values_[i];
        bool repeats = value - values_[i - 1] == values_[i - 1] - values_[i - 2];
        for (size_t k = 1; k <= std::min(repeats_within, i - begin); ++k)
          repeats = repeats || is_same(value, values_[i - k]);
        fresh += repeats ? 0 : 1;
      }
    });
    if (judged == 0) return HUGE_VAL;
    return static_cast<double>(fresh) / static_cast<double>(judged) * 8 * sizeof(T) + order_bits;
  }

  // Of values that stand a second time somewhere in the section, if many do.
  double long_repeat_bits(double coded_bits) {
    const double informed = static_cast<double>(cells_) * coded_bits / value_bits;
    const auto enough = static_cast<int64_t>(blocks_per_root * std::sqrt(informed));
    const int64_t blocks = std::min(std::max(few_blocks, enough), cells_ / block_cells);
    if (blocks == 0) return HUGE_VAL;
    std::vector<T> values;
    values.reserve(static_cast<size_t>(blocks * block_cells));
    Sequence sequence;
    const int64_t apart = cells_ / blocks;
    for (int64_t k = 0; k < blocks; ++k) {
      const uint64_t room = static_cast<uint64_t>(apart - block_cells + 1);
      read_neighbours(k * apart + static_cast<int64_t>(sequence.below(room)), block_cells, values);
      values.resize(values.size() / block_cells * block_cells);  // whole blocks
    }
    std::vector<uint8_t> is_special(values.size());
    for (size_t i = 0; i < values.size(); ++i) is_special[i] = rules_.is_special(values[i]) ? 1 : 0;
    const auto blocks_between = static_cast<size_t>(cells_ / (blocks * block_cells));
    const RepeatEstimate repeats = estimate_repeats<T>(values, is_special, block_cells, blocks_between);
    const double share = std::min(1.0, share_doubt * repeats.share);
    return (1 - share) * value_bits + share * residual_doubt * repeats.residual_bits + order_bits;
  }

  // Of first or second differences of the numbers that `number_of` gives values, if any.
  template <class NumberOf>
  double number_bits(const NumberOf& number_of) const {
    double bits_of_first = 0, bits_of_second = 0;
    uint64_t judged = 0;
    visit_neighbours([&](T first, T second, T value) {
      const auto a = number_of(first), b = number_of(second), c = number_of(value);
      if (!a || !b || !c) return;
      const int64_t before = int64_t{*b} - int64_t{*a}, after = int64_t{*c} - int64_t{*b};
      bits_of_first += difference_bits(static_cast<uint64_t>(std::abs(after)));
      bits_of_second += difference_bits(static_cast<uint64_t>(std::abs(after - before)));
      ++judged;
    });
    if (judged == 0) return HUGE_VAL;
    return std::min(bits_of_first, bits_of_second) / static_cast<double>(judged) + order_bits;
  }

  // Of numbers for different values, and of a list of these.
  double bits_of_few() const {
    std::vector<T> glance;
    for (size_t i = 0; i < values_.size(); i += values_per_glance) glance.push_back(values_[i]);
    const auto glanced = static_cast<double>(glance.size());
    keep_different(glance);
    if (static_cast<double>(glance.size()) > few_at_a_glance * glanced) return HUGE_VAL;
    std::vector<T> different = values_;
    keep_different(different);
    const auto count = static_cast<double>(different.size());
    if (count > few_of_all * static_cast<double>(values_.size())) return HUGE_VAL;
    const auto number_of = [&](T value) {
      return std::optional(std::lower_bound(different.begin(), different.end(), value) - different.begin());
    };
    return std::min(math::log2(count), number_bits(number_of)) +
           count * 8 * sizeof(T) / static_cast<double>(cells_) + order_bits;
  }

  static void keep_different(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  static bool is_same(T a, T b) { return std::bit_cast<WordOf<T>>(a) == std::bit_cast<WordOf<T>>(b); }

  static constexpr double value_bits = 8 * sizeof(T);

  const SectionSource<T>& source_;
  const ValueRules<T>& rules_;
  int64_t cells_ = 0;
  size_t rect_ = 0;  // that was read from last, and its first cell among all
  int64_t rect_begin_ = 0;
  std::vector<T> values_;
  std::vector<size_t> run_begins_;
  std::array<int64_t, max_frame_dims> compared_rows_{}, same_rows_{};  // by direction
};

}  // namespace

template <class T>
ValueOrder sample_order(const SectionSource<T>& source, const ValueRules<T>& rules, double coded_bits) {
  return OrderSample<T>(source, rules).take(coded_bits);
}

bool may_be_smaller_lossless(const ValueOrder& order, uint64_t ordinary, uint64_t bytes, double bound,
                             int bits_beside) {
  const double few = static_cast<double>(1 << bits_beside);
  constexpr double few_bytes = 256;                            // that no sample is sure about
  constexpr uint64_t small_cells = 32768, small_bytes = 1024;  // which are soon tried
  if (ordinary <= small_cells && bytes < small_bytes) return true;
  const double guessed_bytes = order.bits / 8 * static_cast<double>(ordinary);
  return guessed_bytes < static_cast<double>(bytes) + few_bytes ||
         order.unit * max_units_of_bound * few > bound || order.spacing * few > bound;
}

template ValueOrder sample_order<float>(const SectionSource<float>&, const ValueRules<float>&, double);
template ValueOrder sample_order<double>(const SectionSource<double>&, const ValueRules<double>&, double);

}  // namespace neve
