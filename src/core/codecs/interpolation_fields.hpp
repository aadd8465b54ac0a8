// SPDX-License-Identifier: BSD-3-Clause
// What the codecs `interpolation` and `context` share: rectangles as split fields, the head of a section, and
// the way back into memory. They differ in how quantization codes are entropy coded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/sections/section_data.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/mask/special_values.hpp"
#include "core/stages/predict/interpolation.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"
#include "neve/frame.hpp"

namespace neve {

inline const InterpolationKernels<float>& interpolation_kernels(float) { return kernels().interpolation_f32; }
inline const InterpolationKernels<double>& interpolation_kernels(double) {
  return kernels().interpolation_f64;
}

// The anchor of a field is coded as its difference in steps from the anchor before it (the first: from the
// component's center). This number says that an exact value holds it.
inline constexpr int64_t exact_anchor = residual_limit;

// What a cell without a quantization code takes the place of its prediction with: finite, whatever was
// extrapolated.
template <class T>
T finite_or_zero(T prediction) {
  return std::isfinite(prediction) ? prediction : T{0};
}

// Gives the cells that the next coarser level knows their values. Whether there are any.
template <class T>
bool set_known(const NestedValues<T>& nested, int64_t w, PhaseClass<T>& grid) {
  if (nested.known.empty()) return false;
  const int64_t cells = grid.cells();
  bool found = false;
  for (int64_t cell = 0; cell < cells; ++cell) {
    if (nested.known[static_cast<size_t>(w * cells + cell)] == 0) continue;
    grid.values[static_cast<size_t>(cell)] = nested.values[static_cast<size_t>(w * cells + cell)];
    grid.excluded[static_cast<size_t>(cell)] = cell_known;
    found = true;
  }
  return found;
}

// --- encoder --------------------------------------------------------------------------------------------

// The fields of a section and everything of them that is not entropy coded. A rectangle of four directions
// is one field for each w.
template <class T>
class InterpolationEncoder {
 public:
  InterpolationEncoder(const SectionSource<T>& source, const ComponentSpec& spec, bool keeps_magnitudes);

  // Codes all fields; code(row) of `coder` calls quantize_row.
  template <class Coder>
  void run(Coder& coder) {
    const InterpolationKernels<T>& kernels = interpolation_kernels(T{});
    for (PhaseField<T>& field : fields_) {
      code_anchor(field);
      field.run(model_, step_, kernels, coder);
      field = PhaseField<T>({0, 0, 0}, false);
    }
  }

  // Quantizes a row in place; quant_codes[i] is rejected_quant_code where the value stays, exactly.
  // Excluded cells take their prediction, and a quantization code of no meaning.
  void quantize_row(const ClassRow<T>& row, int32_t* quant_codes);
  // A value that the bound could not hold, in coding order.
  void list_exactly(T value) { exact_.push_back(value); }

  // `are_merged`: whether the rectangles are merged ones (merged_rects.hpp).
  void write_head(ByteWriter& out, bool are_merged) const;
  ComponentReport report() const;

 private:
  void gather(const RectRows<const T*>& rect, const NestedValues<T>* nested, int64_t w,
              bool keeps_magnitudes);
  bool has_special(const T* row, int64_t count) const;
  void code_anchor(PhaseField<T>& field);

  Quantizer<T> quantizer_;
  ValueRules<T> rules_;
  T step_;
  T anchor_before_;
  std::vector<PhaseField<T>> fields_;
  InterpolationModel model_;
  SpecialValues specials_;
  uint64_t held_ = 0;  // cells gathered so far
  std::vector<int64_t> anchors_;
  std::vector<T> exact_;
  RawVector<T> originals_;  // of a row
  T max_error_ = 0;
};

// --- decoder --------------------------------------------------------------------------------------------

// Flags, special values, model, anchors and exact values: what precedes the entropy-coded quantization codes.
template <class T>
struct InterpolationHead {
  bool is_merged = false;
  SpecialValues specials;
  InterpolationModel model;
  std::vector<int64_t> anchors;
  std::vector<T> exact;
};
// Whether a codec can have merged rectangles.
enum class MayMerge : uint8_t { no, yes };
// Errors: corrupt.
template <class T>
Result<InterpolationHead<T>> read_interpolation_head(ByteReader& in, uint64_t held, MayMerge may_merge);

template <class T>
class InterpolationDecoder {
 public:
  InterpolationDecoder(const InterpolationHead<T>& head, const QuantizationGrid<T>& grid,
                       const SectionTarget<T>& target)
      : head_(head), step_(grid.step), anchor_before_(grid.center), target_(target), cursor_(head.specials) {}

  // Decodes all fields into the target; code(row) of `coder` calls restore_row. False: the quantization
  // codes, anchors or exact values ran out.
  template <class Coder>
  bool run(bool keeps_magnitudes, Coder& coder) {
    const InterpolationKernels<T>& kernels = interpolation_kernels(T{});
    for (size_t r = 0; r < target_.rects.size(); ++r) {
      const RectRows<T*>& rect = target_.rects[r];
      if (rect.cells() == 0) continue;
      for (int64_t w = 0; w < rect.size[3]; ++w) {
        PhaseField<T> field({rect.size[0], rect.size[1], rect.size[2]}, keeps_magnitudes);
        mark_excluded(rect, w, field);
        const bool has_known = !target_.nested.empty() && set_known(target_.nested[r], w, field.finest());
        field.split(has_known);
        if (!decode_anchor(field) || !field.run(head_.model, step_, kernels, coder)) return false;
        scatter(rect, w, field);
      }
    }
    return exact_at_ == head_.exact.size() && anchor_at_ == head_.anchors.size();
  }

  // Values of a row from its quantization codes. False: too few exact values.
  bool restore_row(const ClassRow<T>& row, const int32_t* quant_codes);

 private:
  void mark_excluded(const RectRows<T*>& rect, int64_t w, PhaseField<T>& field);
  bool decode_anchor(PhaseField<T>& field);
  void scatter(const RectRows<T*>& rect, int64_t w, PhaseField<T>& field);
  bool take_exact(T& value);

  const InterpolationHead<T>& head_;
  T step_;
  T anchor_before_;
  const SectionTarget<T>& target_;
  SpecialCursor cursor_;
  uint64_t held_ = 0;                                  // cells of the fields before
  std::vector<std::pair<int64_t, uint64_t>> patches_;  // special cells of the field: where, bits
  std::vector<T> known_;                               // of a row that takes values of the next coarser level
  size_t exact_at_ = 0;
  size_t anchor_at_ = 0;
};

}  // namespace neve
