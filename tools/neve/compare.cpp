// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/bits/value_types.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether readers mask a value: it equals a fill value or lies outside the limits.
template <class T>
class Mask {
 public:
  explicit Mask(const CompareRule& rule)
      : lowest_(rule.missing.lowest),
        highest_(rule.missing.highest),
        nan_is_missing_(rule.nan_is_missing && std::is_floating_point_v<T>) {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    const auto add = [&](double fill) {
      if (fill >= least && fill <= most) fills_.push_back(static_cast<T>(fill));
    };
    for (const double fill : rule.missing.fills) add(fill);
    std::sort(fills_.begin(), fills_.end());
    if constexpr (std::is_same_v<T, float>) {
      lowest_ = std::clamp(lowest_, least, most) == lowest_ ? static_cast<double>(static_cast<float>(lowest_))
                                                            : lowest_;
      highest_ = std::clamp(highest_, least, most) == highest_
                     ? static_cast<double>(static_cast<float>(highest_))
                     : highest_;
    }
    is_empty_ = fills_.empty() && !has_limits(rule.missing) && !nan_is_missing_;
  }
  bool operator()(T value) const {
    if (is_empty_) return false;
    const auto number = static_cast<double>(value);
    if (std::isnan(number)) return nan_is_missing_;
    return number < lowest_ || number > highest_ || std::binary_search(fills_.begin(), fills_.end(), value);
  }

 private:
  std::vector<T> fills_;
  double lowest_, highest_;
  bool nan_is_missing_;
  bool is_empty_;
};

template <class T>
void compare_typed(const std::byte* original_bytes, const std::byte* copy_bytes, uint64_t cells,
                   std::span<const uint8_t> left_out, const CompareRule& rule, Comparison& into) {
  const Mask<T> is_missing(rule);
  const bool has_fill = rule.fill.has_value() && !std::isnan(*rule.fill);
  const T fill = has_fill ? static_cast<T>(*rule.fill) : T{};
  const double bound = rule.bound_abs.value_or(infinity);
  Comparison sums;
  sums.cells = cells;
  for (uint64_t i = 0; i < cells; ++i) {
    T original, copy;
    std::memcpy(&original, original_bytes + i * sizeof(T), sizeof(T));
    std::memcpy(&copy, copy_bytes + i * sizeof(T), sizeof(T));
    const bool missing = is_missing(original), missing_in_copy = is_missing(copy);
    sums.missing_cells += missing;
    sums.missing_in_copy += missing_in_copy;
    sums.missing_changes += missing != missing_in_copy;
    bool special = missing || (has_fill && original == fill);
    if constexpr (std::is_floating_point_v<T>) {
      special = special || !std::isfinite(original) || (original == 0 && std::signbit(original));
    }
    const bool same_bits = std::memcmp(&original, &copy, sizeof(T)) == 0;
    // The encoder checks itself with this same difference in double.
    double difference = std::fabs(static_cast<double>(copy) - static_cast<double>(original));
    // Of large integers that differ it may round to 0.
    if constexpr (std::is_integral_v<T>) difference = std::max(difference, 1.0);
    const double error = same_bits ? 0 : std::isnan(difference) ? infinity : difference;
    if (!special) {
      sums.min = std::min(sums.min, static_cast<double>(original));
      sums.max = std::max(sums.max, static_cast<double>(original));
    }
    if (!left_out.empty() && left_out[i] != 0) {
      ++sums.left_out_cells;
      sums.left_out_max_abs_error = std::max(sums.left_out_max_abs_error, error);
      sums.left_out_violations += error > bound;
    } else if (special) {
      ++sums.special_cells;
      sums.special_mismatches += !same_bits;
    } else {
      ++sums.compared_cells;
      sums.max_abs_error = std::max(sums.max_abs_error, error);
      sums.sum_squared_error += error * error;
      sums.violations += error > bound;
    }
  }
  into.merge(sums);
}

// Sums, minima and maxima travel in one reduction each.
struct Packed {
  std::vector<uint64_t> counts;
  std::vector<double> squares;
  std::vector<double> extremes;  // maxima; minima negated
};

constexpr int counts_each = 10;
constexpr int extremes_each = 4;

Packed pack(const std::vector<Comparison>& all) {
  Packed p;
  for (const Comparison& c : all) {
    p.counts.insert(p.counts.end(), {c.cells, c.compared_cells, c.special_cells, c.special_mismatches,
                                     c.violations, c.left_out_cells, c.left_out_violations, c.missing_cells,
                                     c.missing_in_copy, c.missing_changes});
    p.squares.push_back(c.sum_squared_error);
    p.extremes.insert(p.extremes.end(), {c.max_abs_error, -c.min, c.max, c.left_out_max_abs_error});
  }
  return p;
}

void unpack(const Packed& p, std::vector<Comparison>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t* n = &p.counts[i * counts_each];
    const double* e = &p.extremes[i * extremes_each];
    Comparison& c = all[i];
    c.cells = n[0];
    c.compared_cells = n[1];
    c.special_cells = n[2];
    c.special_mismatches = n[3];
    c.violations = n[4];
    c.left_out_cells = n[5];
    c.left_out_violations = n[6];
    c.missing_cells = n[7];
    c.missing_in_copy = n[8];
    c.missing_changes = n[9];
    c.sum_squared_error = p.squares[i];
    c.max_abs_error = e[0];
    c.min = -e[1];
    c.max = e[2];
    c.left_out_max_abs_error = e[3];
  }
}

}  // namespace

Comparison::Comparison() : min(infinity), max(-infinity) {}

void Comparison::merge(const Comparison& other) {
  cells += other.cells;
  compared_cells += other.compared_cells;
  special_cells += other.special_cells;
  special_mismatches += other.special_mismatches;
  violations += other.violations;
  max_abs_error = std::max(max_abs_error, other.max_abs_error);
  sum_squared_error += other.sum_squared_error;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  left_out_cells += other.left_out_cells;
  left_out_violations += other.left_out_violations;
  missing_cells += other.missing_cells;
  missing_in_copy += other.missing_in_copy;
  missing_changes += other.missing_changes;
  left_out_max_abs_error = std::max(left_out_max_abs_error, other.left_out_max_abs_error);
}

double Comparison::psnr_db() const {
  if (compared_cells == 0) return std::numeric_limits<double>::quiet_NaN();
  if (sum_squared_error == 0) return infinity;
  const double rms_error = std::sqrt(sum_squared_error / static_cast<double>(compared_cells));
  return 20 * std::log10((max - min) / rms_error);
}

void compare_values(DType dtype, const std::byte* original, const std::byte* copy, uint64_t cells,
                    std::span<const uint8_t> left_out, const CompareRule& rule, Comparison& into) {
  visit_type(dtype, [&]<class T>(std::type_identity<T>) {
    compare_typed<T>(original, copy, cells, left_out, rule, into);
  });
}

Status merge_over_ranks(const Ranks& ranks, std::vector<Comparison>& comparisons) {
  Packed p = pack(comparisons);
  const auto reduce = [&](auto& values, MPI_Datatype type, MPI_Op op) {
    return mpi::mpi_status(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, op, ranks.comm()),
        "merging the comparison over ranks");
  };
  NEVE_TRY(reduce(p.counts, MPI_UINT64_T, MPI_SUM));
  NEVE_TRY(reduce(p.squares, MPI_DOUBLE, MPI_SUM));
  NEVE_TRY(reduce(p.extremes, MPI_DOUBLE, MPI_MAX));
  unpack(p, comparisons);
  return {};
}

}  // namespace neve::cli
