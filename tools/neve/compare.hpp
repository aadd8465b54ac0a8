// SPDX-License-Identifier: BSD-3-Clause
// Original against copy, cell by cell, as sums that merge over boxes and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

// Special values (NaN, infinities, -0, the fill value) must come back bit for bit; other values must lie
// within the bound. Covered cells the copy does not hold are read back as averages, so they are counted on
// their own.
struct Comparison {
  uint64_t cells = 0;           // all, left-out ones too
  uint64_t compared_cells = 0;  // held, and not special in the original
  uint64_t special_cells = 0;   // held, special in the original
  uint64_t special_mismatches = 0;
  uint64_t violations = 0;  // compared cells whose error exceeds the bound
  double max_abs_error = 0;
  double sum_squared_error = 0;
  double min = 0, max = 0;  // of the original's values that are not special
  uint64_t left_out_cells = 0;
  uint64_t left_out_violations = 0;  // special values among them count too
  double left_out_max_abs_error = 0;
  // Cells that readers take for missing by what the original declares, in the original and in the copy.
  uint64_t missing_cells = 0, missing_in_copy = 0;
  uint64_t missing_changes = 0;  // cells that are missing in one of them only

  Comparison();
  void merge(const Comparison& other);
  // 20 log10(range / root mean square error); infinite when every value is exact, NaN when there is none.
  double psnr_db() const;
};

struct CompareRule {
  std::optional<double> bound_abs;  // none: nothing is called a violation
  std::optional<double> fill;       // must come back bit for bit
  MissingValues missing = {};       // so must these, and nothing else may become one of them
  bool nan_is_missing = false;
};

// `left_out` holds one byte a cell, or is empty. Both arrays hold `cells` values of `dtype`.
void compare_values(DType dtype, const std::byte* original, const std::byte* copy, uint64_t cells,
                    std::span<const uint8_t> left_out, const CompareRule& rule, Comparison& into);

// Collective: every rank gets the merged comparisons.
Status merge_over_ranks(const Ranks& ranks, std::vector<Comparison>& comparisons);

}  // namespace neve::cli
