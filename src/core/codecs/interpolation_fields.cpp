// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/interpolation_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/kernels/portable.hpp"
#include "core/math/portable_math.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "core/stages/lossless/exact_values.hpp"
#include "core/stages/predict/stencil_fit.hpp"

namespace neve {

namespace {

constexpr uint8_t flag_specials = 1;
constexpr uint8_t flag_merged = 2;
constexpr int linear_bits = 21;  // 3 directions of 7 classes

void write_model(const InterpolationModel& model, ByteWriter& out) {
  out.put(static_cast<uint8_t>(model.size()));
  for (const LevelModel& level : model) {
    out.put_varint(level.linear);
    uint8_t with_stencil = 0;
    for (int c = 1; c < class_count; ++c) {
      if (!level.weights[static_cast<size_t>(c)].empty()) with_stencil |= static_cast<uint8_t>(1 << c);
    }
    out.put(with_stencil);
    if (with_stencil == 0) continue;
    out.put(static_cast<uint8_t>(level.live));
    for (const auto& weights : level.weights) {
      for (const int32_t weight : weights) out.put_signed_varint(weight);
    }
  }
}

Result<InterpolationModel> read_model(ByteReader& in) {
  const auto levels = in.get<uint8_t>();
  if (in.failed() || levels > model_levels) {
    return corrupt(fmt::format("interpolation model: {} levels, at most {}", levels, model_levels));
  }
  InterpolationModel model(levels);
  for (LevelModel& level : model) {
    const uint64_t linear = in.get_varint();
    const auto with_stencil = in.get<uint8_t>();
    if (in.failed() || linear >> linear_bits != 0 || (with_stencil & 1) != 0) {
      return corrupt(
          fmt::format("interpolation model: linear 0x{:x}, stencils 0x{:02x} unknown", linear, with_stencil));
    }
    level.linear = static_cast<uint32_t>(linear);
    if (with_stencil == 0) continue;
    level.live = in.get<uint8_t>();
    if (in.failed() || level.live >= class_count) {
      return corrupt(fmt::format("interpolation model: directions 0x{:02x} unknown", level.live));
    }
    for (int c = 1; c < class_count; ++c) {
      if (((with_stencil >> c) & 1) == 0) continue;
      if ((c & ~level.live) != 0) {
        return corrupt(
            fmt::format("interpolation model: a stencil for class {} in directions 0x{:02x}", c, level.live));
      }
      auto& weights = level.weights[static_cast<size_t>(c)];
      weights.resize(stencil_taps(c, level.live).size());
      for (int32_t& weight : weights) {
        const int64_t value = in.get_signed_varint();
        if (in.failed() || value < -stencil_weight_limit || value > stencil_weight_limit) {
          return corrupt(fmt::format("interpolation model: weight {}, must be within +-{}", value,
                                     stencil_weight_limit));
        }
        weight = static_cast<int32_t>(value);
      }
    }
  }
  return model;
}

}  // namespace

// --- encoder --------------------------------------------------------------------------------------------

template <class T>
InterpolationEncoder<T>::InterpolationEncoder(const SectionSource<T>& source, const ComponentSpec& spec,
                                              bool keeps_magnitudes)
    : quantizer_(make_quantizer<T>(spec)),
      rules_(spec, quantizer_),
      step_(quantizer_.step),
      anchor_before_(quantizer_.center) {
  for (size_t r = 0; r < source.rects.size(); ++r) {
    const RectRows<const T*>& rect = source.rects[r];
    if (rect.cells() == 0) continue;
    const NestedValues<T>* nested = source.nested.empty() ? nullptr : &source.nested[r];
    for (int64_t w = 0; w < rect.size[3]; ++w) gather(rect, nested, w, keeps_magnitudes);
  }
  model_ = fit_interpolation(fields_, step_);
}

// Without a branch a value, so that compilers make vectors of it: most rows have none.
template <class T>
bool InterpolationEncoder<T>::has_special(const T* row, int64_t count) const {
  const auto fill = portable::bits(quantizer_.fill);
  bool found = false;
  for (int64_t x = 0; x < count; ++x) found |= portable::is_special(row[x], quantizer_.has_fill, fill);
  if (found || !rules_.has_more()) return found;
  return std::any_of(row, row + count, [&](T value) { return rules_.is_special(value); });
}

template <class T>
void InterpolationEncoder<T>::gather(const RectRows<const T*>& rect, const NestedValues<T>* nested, int64_t w,
                                     bool keeps_magnitudes) {
  PhaseField<T> field({rect.size[0], rect.size[1], rect.size[2]}, keeps_magnitudes);
  PhaseClass<T>& grid = field.finest();
  const int64_t cells = grid.cells();
  const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + w * cells;
  grid.values.resize(static_cast<size_t>(cells));
  if (left_out != nullptr) grid.excluded.assign(left_out, left_out + cells);
  int64_t cell = 0;
  for (int64_t z = 0; z < rect.size[2]; ++z) {
    for (int64_t y = 0; y < rect.size[1]; ++y) {
      const T* row = rect.row(y, z, w);
      std::copy(row, row + rect.size[0], grid.values.data() + cell);
      if (left_out == nullptr && !has_special(row, rect.size[0])) {
        held_ += static_cast<uint64_t>(rect.size[0]);
        cell += rect.size[0];
        continue;
      }
      for (int64_t x = 0; x < rect.size[0]; ++x, ++cell) {
        if (left_out != nullptr && left_out[cell] != 0) continue;
        if (rules_.is_special(row[x])) {
          if (grid.excluded.empty()) grid.excluded.assign(static_cast<size_t>(cells), 0);
          grid.excluded[static_cast<size_t>(cell)] = 1;
          specials_.add(held_, portable::bits(row[x]), true);
        }
        ++held_;
      }
    }
  }
  if (nested != nullptr) set_known(*nested, w, grid);
  field.split(true);
  fields_.push_back(std::move(field));
}

template <class T>
void InterpolationEncoder<T>::code_anchor(PhaseField<T>& field) {
  T& value = field.anchor();
  if (const uint8_t excluded = field.anchor_exclusion(); excluded != 0) {
    if (excluded == cell_excluded) value = anchor_before_;
    return;
  }
  // On the grid of the finest level: one value more or less exact costs nothing.
  const T scaled = (value - anchor_before_) / step_;
  const bool fits = std::abs(scaled) < static_cast<T>(residual_limit);
  const int64_t quant_code = fits ? static_cast<int64_t>(math::round_even(scaled)) : exact_anchor;
  const T decoded = anchor_before_ + static_cast<T>(quant_code) * step_;
  const T error = std::abs(value - decoded);
  if (quant_code < exact_anchor && quant_code > -exact_anchor && error <= quantizer_.tolerance) {
    anchors_.push_back(quant_code);
    max_error_ = std::max(max_error_, error);
    value = decoded;
  } else {
    anchors_.push_back(exact_anchor);
    exact_.push_back(value);
  }
  anchor_before_ = value;
}

template <class T>
void InterpolationEncoder<T>::quantize_row(const ClassRow<T>& row, int32_t* quant_codes) {
  originals_.resize(row.count);
  std::copy(row.values, row.values + row.count, originals_.data());
  const T step = level_step(step_, row.level);
  interpolation_kernels(T{}).quantize(row.values, row.prediction, {step, 1 / step, quantizer_.tolerance},
                                      row.count, quant_codes);
  if (row.excluded != nullptr) {
    for (size_t i = 0; i < row.count; ++i) {
      if (row.excluded[i] == cell_known) row.values[i] = originals_[i];
      if (row.excluded[i] == cell_excluded) originals_[i] = row.values[i] = finite_or_zero(row.prediction[i]);
    }
  }
  T worst = max_error_;
  for (size_t i = 0; i < row.count; ++i) worst = std::max(worst, std::abs(originals_[i] - row.values[i]));
  max_error_ = worst;
}

template <class T>
void InterpolationEncoder<T>::write_head(ByteWriter& out, bool are_merged) const {
  uint8_t flags = are_merged ? flag_merged : 0;
  if (!specials_.runs.empty()) flags |= flag_specials;
  out.put(flags);
  if (!specials_.runs.empty()) write_special_values(specials_, sizeof(T), out);
  write_model(model_, out);
  out.put_varint(anchors_.size());
  Bytes anchors;
  ByteWriter writer(anchors);
  for (const int64_t anchor : anchors_) writer.put_signed_varint(anchor);
  write_packed(anchors, out);
  out.put_varint(exact_.size());
  write_exact_values(std::as_bytes(std::span(exact_)), sizeof(T), out);
}

template <class T>
ComponentReport InterpolationEncoder<T>::report() const {
  ComponentReport report;
  report.special_cells = specials_.count();
  report.exact_cells = exact_.size();
  report.max_abs_error = static_cast<double>(max_error_);
  return report;
}

// --- decoder --------------------------------------------------------------------------------------------

template <class T>
Result<InterpolationHead<T>> read_interpolation_head(ByteReader& in, uint64_t held, MayMerge may_merge) {
  InterpolationHead<T> head;
  const auto flags = in.get<uint8_t>();
  const uint8_t known_flags = flag_specials | (may_merge == MayMerge::yes ? flag_merged : 0);
  if (in.failed() || (flags & ~known_flags) != 0) {
    return corrupt(fmt::format("interpolated section: unknown flags 0x{:02x}", flags));
  }
  head.is_merged = (flags & flag_merged) != 0;
  if ((flags & flag_specials) != 0) {
    NEVE_ASSIGN(head.specials, read_special_values(in, sizeof(T), held));
  }
  NEVE_ASSIGN(head.model, read_model(in));
  const uint64_t anchors = in.get_varint();
  if (in.failed() || anchors > held) {
    return corrupt(fmt::format("interpolated section: {} anchors among {} values", anchors, held));
  }
  constexpr uint64_t anchor_max_bytes = 4;
  NEVE_ASSIGN(const Bytes packed, read_packed(in, anchors * anchor_max_bytes));
  ByteReader anchor_reader(packed);
  for (uint64_t a = 0; a < anchors; ++a) {
    const int64_t anchor = anchor_reader.get_signed_varint();
    if (anchor_reader.failed() || anchor > exact_anchor || anchor <= -exact_anchor) {
      return corrupt(fmt::format("interpolated section: anchor {} not within +-{}", anchor, exact_anchor));
    }
    head.anchors.push_back(anchor);
  }
  if (anchor_reader.remaining() != 0) {
    return corrupt(
        fmt::format("interpolated section: {} bytes behind its anchors", anchor_reader.remaining()));
  }
  const uint64_t exact = in.get_varint();
  if (in.failed() || exact > held) {
    return corrupt(fmt::format("interpolated section: {} exact values among {}", exact, held));
  }
  NEVE_ASSIGN(const Bytes values, read_exact_values(in, exact, sizeof(T)));
  head.exact.resize(exact);
  if (exact > 0) std::memcpy(head.exact.data(), values.data(), values.size());
  return head;
}

template <class T>
bool InterpolationDecoder<T>::take_exact(T& value) {
  if (exact_at_ == head_.exact.size()) return false;
  value = head_.exact[exact_at_++];
  return true;
}

template <class T>
void InterpolationDecoder<T>::mark_excluded(const RectRows<T*>& rect, int64_t w, PhaseField<T>& field) {
  PhaseClass<T>& grid = field.finest();
  const int64_t cells = grid.cells();
  const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + w * cells;
  uint64_t held = static_cast<uint64_t>(cells);
  if (left_out != nullptr) {
    grid.excluded.assign(left_out, left_out + cells);
    held -= static_cast<uint64_t>(std::count(left_out, left_out + cells, uint8_t{1}));
  }
  grid.values.resize(static_cast<size_t>(cells));
  patches_.clear();
  uint64_t special_at = cursor_.next(held_);
  if (special_at >= held_ + held) {
    held_ += held;
    return;
  }
  if (grid.excluded.empty()) grid.excluded.assign(static_cast<size_t>(cells), 0);
  for (int64_t cell = 0; cell < cells; ++cell) {
    if (left_out != nullptr && left_out[cell] != 0) continue;
    if (held_ == special_at) {
      grid.excluded[static_cast<size_t>(cell)] = 1;
      patches_.emplace_back(cell, cursor_.bits(held_));
      special_at = cursor_.next(held_ + 1);
    }
    ++held_;
  }
}

template <class T>
bool InterpolationDecoder<T>::decode_anchor(PhaseField<T>& field) {
  T& value = field.anchor();
  if (const uint8_t excluded = field.anchor_exclusion(); excluded != 0) {
    if (excluded == cell_excluded) value = anchor_before_;
    return true;
  }
  if (anchor_at_ == head_.anchors.size()) return false;
  const int64_t quant_code = head_.anchors[anchor_at_++];
  if (quant_code == exact_anchor) {
    if (!take_exact(value)) return false;
  } else {
    value = anchor_before_ + static_cast<T>(quant_code) * step_;
  }
  anchor_before_ = value;
  return true;
}

template <class T>
bool InterpolationDecoder<T>::restore_row(const ClassRow<T>& row, const int32_t* quant_codes) {
  const bool may_know = row.excluded != nullptr && !target_.nested.empty();
  if (may_know) known_.assign(row.values, row.values + row.count);
  interpolation_kernels(T{}).reconstruct(quant_codes, row.prediction, level_step(step_, row.level), row.count,
                                         row.values);
  for (size_t i = 0; i < row.count; ++i) {
    if (row.excluded != nullptr && row.excluded[i] != 0) {
      row.values[i] = row.excluded[i] == cell_known ? known_[i] : finite_or_zero(row.prediction[i]);
    } else if (quant_codes[i] == rejected_quant_code && !take_exact(row.values[i])) {
      return false;
    }
  }
  return true;
}

template <class T>
void InterpolationDecoder<T>::scatter(const RectRows<T*>& rect, int64_t w, PhaseField<T>& field) {
  if (rect.first == nullptr) return;
  PhaseClass<T>& grid = field.finest();
  for (const auto& [cell, bits] : patches_) grid.values[static_cast<size_t>(cell)] = value_of_bits<T>(bits);
  for (int64_t z = 0; z < rect.size[2]; ++z) {
    for (int64_t y = 0; y < rect.size[1]; ++y) {
      const T* from = grid.values.data() + grid.offset(y, z);
      std::copy(from, from + rect.size[0], rect.row(y, z, w));
    }
  }
}

template class InterpolationEncoder<float>;
template class InterpolationEncoder<double>;
template class InterpolationDecoder<float>;
template class InterpolationDecoder<double>;
template Result<InterpolationHead<float>> read_interpolation_head<float>(ByteReader&, uint64_t, MayMerge);
template Result<InterpolationHead<double>> read_interpolation_head<double>(ByteReader&, uint64_t, MayMerge);

}  // namespace neve
