// SPDX-License-Identifier: BSD-3-Clause
// Codec `axis_passes`: prediction from coarse to fine along one axis at a time
// (stages/predict/axis_passes.hpp), quantization codes in Huffman codes, runs of zeros as digits of their
// lengths.
//
// Unlike dual_quant it predicts from decoded values and rounds what prediction leaves, so that at loose
// bounds its residuals are not mostly the rounding of the lattice. All cells of a pass are independent, so it
// runs at dual_quant's speed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/codecs/section_codec.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/kernels/axis_kernels.hpp"
#include "core/kernels/interpolation_rows.hpp"
#include "core/kernels/portable.hpp"
#include "core/select/axis_pass_choice.hpp"
#include "core/stages/entropy/escapes.hpp"
#include "core/stages/lossless/exact_values.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/mask/special_values.hpp"
#include "core/stages/predict/anchor_lattice.hpp"
#include "core/stages/predict/axis_passes.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

namespace {

constexpr uint8_t flag_specials = 1;
constexpr uint8_t flag_zero_runs = 2;
constexpr uint8_t known_flags = flag_specials | flag_zero_runs;
// The escape that says that a listed value follows is rejected_quant_code: no residual is that.

template <class T>
T finite_or_zero(T prediction) {
  return std::isfinite(prediction) ? prediction : T{0};
}

// Cells [begin, end) of a row, which have no quantization code, become what predicts them.
template <class T>
void predict_excluded(const PassRow<T>& row, size_t begin, size_t end, T step) {
  static const std::vector<uint8_t> no_residuals(max_pass_row + row_padding, uint8_t{symbol_zero});
  T* const values = row.values + begin;
  axis_kernels(T{}).restore(no_residuals.data(), source_from(row.from, begin), step, end - begin, values);
  for (size_t i = 0; i < end - begin; ++i) values[i] = finite_or_zero(values[i]);
}

// --- model ----------------------------------------------------------------------------------------------

void write_model(const AxisPassModel& model, ByteWriter& out) {
  out.put(static_cast<uint8_t>(model.levels));
  unsigned order = 0;
  for (size_t k = 0; k < max_frame_dims; ++k) order |= unsigned{model.order[k]} << (2 * k);
  out.put(static_cast<uint8_t>(order));
  for (int l = 0; l < model.levels; ++l) out.put(model.linear[static_cast<size_t>(l)]);
}

Result<AxisPassModel> read_model(ByteReader& in) {
  AxisPassModel model;
  model.levels = in.get<uint8_t>();
  const unsigned order = in.get<uint8_t>();
  if (in.failed() || model.levels > max_pass_levels) {
    return corrupt(
        fmt::format("axis_passes section: {} levels, must be 0 to {}", model.levels, max_pass_levels));
  }
  unsigned seen = 0;
  for (size_t k = 0; k < max_frame_dims; ++k) {
    model.order[k] = static_cast<uint8_t>((order >> (2 * k)) & 3);
    seen |= 1U << model.order[k];
  }
  if (seen != 0x0f) {
    return corrupt(fmt::format("axis_passes section: order of directions 0x{:02x} is no permutation", order));
  }
  for (int l = 0; l < model.levels; ++l) {
    const auto linear = in.get<uint8_t>();
    if (in.failed() || linear > 0x0f) {
      return corrupt(fmt::format("axis_passes section: linear 0x{:02x} of level {} unknown", linear, l));
    }
    model.linear[static_cast<size_t>(l)] = linear;
  }
  return model;
}

// --- encoder --------------------------------------------------------------------------------------------

template <class T>
class Encoder {
 public:
  Encoder(const SectionSource<T>& source, const ComponentSpec& spec, const AxisPassModel& model)
      : source_(source),
        quantizer_(make_quantizer<T>(spec)),
        residuals_{quantizer_.step, quantizer_.inverse_step, quantizer_.tolerance},
        rules_(spec, quantizer_),
        model_(model),
        symbols_(take_symbols(source.held + row_padding)),
        quant_codes_(2 * max_pass_row + row_padding) {}

  SectionDraft run() {
    for (const auto& rect : source_.rects) {
      if (rect.cells() == 0) continue;
      AxisPassField<T> field(rect.size, model_.levels, row_weights_);
      gather(rect, field);
      code_anchors(field);
      field.run(model_, *this);
      if (source_.wants_restored) keep_restored(rect, field);
    }
    return finish();
  }

  // Of AxisPassField: quantizes a row in place and packs what is not excluded.
  bool code(const PassRow<T>& row) {
    if (pending_ >= max_pass_row) pack();
    int32_t* quant_codes = quant_codes_.data() + pending_;
    if (row.excluded != nullptr) return code_with_exclusions(row, quant_codes);
    if (row.count == 1) return code_one(row, quant_codes);
    const size_t rejected_before = stats_.rejected;
    axis_kernels(T{}).code(row.values, row.from, residuals_, row.count, quant_codes, stats_);
    pending_ += row.count;
    if (stats_.rejected == rejected_before) return true;
    for (size_t i = 0; i < row.count; ++i) {
      if (quant_codes[i] == rejected_quant_code) exact_.push_back(row.values[i]);
    }
    return true;
  }

 private:
  // The kernel for one cell: rows have such at their ends.
  bool code_one(const PassRow<T>& row, int32_t* quant_codes) {
    const T prediction = predict_one(row.from, 0);
    const T value = row.values[0];
    rows::quantize(row.values, &prediction, residuals_, 1, quant_codes);
    ++pending_;
    if (*quant_codes == rejected_quant_code) {
      exact_.push_back(value);
    } else {
      stats_.worst[0] = std::max(stats_.worst[0], std::abs(value - row.values[0]));
    }
    return true;
  }

  // Most rows have none.
  bool has_special(const T* row, int64_t count) const {
    if (axis_kernels(T{}).has_special(row, static_cast<size_t>(count), quantizer_.has_fill, quantizer_.fill))
      return true;
    return rules_.has_more() &&
           std::any_of(row, row + count, [&](T value) { return rules_.is_special(value); });
  }

  // Deals the rows out. Exclusions are known of all rows once there is one.
  void gather(const RectRows<const T*>& rect, AxisPassField<T>& field) {
    const int64_t width = rect.size[0];
    std::vector<uint8_t> excluded(static_cast<size_t>(width));
    bool has_excluded = false;
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t r) {
      const T* row = rect.row(y, z, w);
      field.put_values(y, z, w, row);
      const uint8_t* left_out = rect.left_out_in_row(r);
      if (left_out == nullptr && !has_special(row, width)) {
        held_ += static_cast<uint64_t>(width);
        return true;
      }
      if (!has_excluded) field.allow_exclusions();
      has_excluded = true;
      visit_runs(left_out, excluded.size(), [&](size_t begin, size_t end, bool is_left_out) {
        if (is_left_out) {
          std::fill(excluded.begin() + static_cast<ptrdiff_t>(begin),
                    excluded.begin() + static_cast<ptrdiff_t>(end), uint8_t{1});
        } else {
          exclude_specials(row + begin, end - begin, excluded.data() + begin);
        }
      });
      field.put_exclusions(y, z, w, excluded.data());
      return true;
    });
  }

  // Of held cells.
  void exclude_specials(const T* values, size_t n, uint8_t* excluded) {
    for (size_t x = 0; x < n; ++x) excluded[x] = rules_.is_special(values[x]) ? 1 : 0;
    visit_runs(excluded, n, [&](size_t begin, size_t end, bool is_special) {
      for (size_t x = begin; is_special && x < end;) {
        const size_t same = values_alike(values + x, end - x);
        specials_.add_run(held_ + x, same, portable::bits(values[x]));
        x += same;
      }
    });
    held_ += n;
  }

  void code_anchors(AxisPassField<T>& field) {
    AnchorLattice lattice(field.anchor_size(), anchor_before_);
    const uint8_t* excluded = field.anchor_exclusions();
    QuantizeStats<T> stats;
    T* anchors = field.anchors();
    lattice.visit([&](size_t i, int32_t predicted) {
      const auto value_of = [&](int32_t quant_code) {
        return portable::dequantize_one(quant_code, 0, quantizer_.center, quantizer_.step);
      };
      if (excluded != nullptr && excluded[i] != 0) {
        anchors[i] = finite_or_zero(value_of(predicted));
        return predicted;
      }
      if (pending_ >= max_pass_row) pack();
      const int32_t found = portable::quantize_one(anchors[i], quantizer_, stats);
      const auto residual =
          static_cast<int32_t>(static_cast<uint32_t>(found) - static_cast<uint32_t>(predicted));
      if (found == rejected_quant_code || residual == rejected_quant_code) {
        exact_.push_back(anchors[i]);
        quant_codes_[pending_++] = rejected_quant_code;
        return predicted;
      }
      quant_codes_[pending_++] = residual;
      anchors[i] = value_of(found);
      return found;
    });
    anchor_before_ = lattice.first();
    stats_.worst[0] = std::max(stats_.worst[0], stats.max_error);
  }

  // quant_codes_ become symbols.
  void pack() {
    if (escapes_.size() < escape_total_ + pending_ + row_padding) {
      escapes_.resize(std::max(2 * escapes_.size(), escape_total_ + pending_ + row_padding));
    }
    escape_total_ += kernels().pack(quant_codes_.data(), pending_, 0, symbols_.data() + symbol_total_,
                                    escapes_.data() + escape_total_);
    symbol_total_ += pending_;
    pending_ = 0;
  }

  // Excluded cells take their prediction, and what is coded moves together.
  bool code_with_exclusions(const PassRow<T>& row, int32_t* quant_codes) {
    originals_.assign(row.values, row.values + row.count);
    AxisStats<T> of_all;  // which says nothing: excluded cells may hold anything
    axis_kernels(T{}).code(row.values, row.from, residuals_, row.count, quant_codes, of_all);
    size_t coded = 0;
    visit_runs(row.excluded, row.count, [&](size_t begin, size_t end, bool is_excluded) {
      if (is_excluded) {
        predict_excluded(row, begin, end, residuals_.step);
        return;
      }
      T worst = 0;
      for (size_t i = begin; i < end; ++i) {
        worst = std::max(worst, std::abs(originals_[i] - row.values[i]));
        if (quant_codes[i] == rejected_quant_code) exact_.push_back(row.values[i]);
      }
      stats_.worst[0] = std::max(stats_.worst[0], worst);
      std::copy(quant_codes + begin, quant_codes + end, quant_codes + coded);
      coded += end - begin;
    });
    pending_ += coded;
    return true;
  }

  SectionDraft finish() {
    pack();
    SectionDraft draft;
    draft.codec = Codec::axis_passes;
    draft.report.special_cells = specials_.count();
    draft.report.exact_cells = exact_.size();
    draft.report.max_abs_error = static_cast<double>(stats_.max_error());
    symbols_.resize(symbol_total_);
    escapes_.resize(escape_total_);
    draft.symbols = std::move(symbols_);
    draft.restored = std::move(restored_);
    const bool has_runs = settle_symbols(draft, escapes_);

    ByteWriter before(draft.before);
    uint8_t flags = has_runs ? flag_zero_runs : uint8_t{0};
    if (!specials_.runs.empty()) flags |= flag_specials;
    before.put(flags);
    if ((flags & flag_specials) != 0) write_special_values(specials_, sizeof(T), before);
    write_model(model_, before);
    before.put_varint(exact_.size());
    write_exact_values(std::as_bytes(std::span(exact_)), sizeof(T), before);
    if (has_runs) before.put_varint(draft.symbols.size());
    ByteWriter after(draft.after);
    write_escapes(escapes_, after);
    return draft;
  }

  // What a decoder makes of the rectangle.
  void keep_restored(const RectRows<const T*>& rect, const AxisPassField<T>& field) {
    if (restored_.empty()) {
      size_t cells = 0;
      for (const auto& each : source_.rects) cells += static_cast<size_t>(each.cells());
      restored_ = take_values<uint64_t>((cells * sizeof(T) + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    }
    T* row = reinterpret_cast<T*>(restored_.data()) + restored_cells_;
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t) {
      field.get_values(y, z, w, row);
      const T* values = rect.row(y, z, w);
      if (!specials_.runs.empty() && has_special(values, rect.size[0])) {
        for (int64_t x = 0; x < rect.size[0]; ++x) row[x] = rules_.is_special(values[x]) ? values[x] : row[x];
      }
      row += rect.size[0];
      return true;
    });
    restored_cells_ += static_cast<size_t>(rect.cells());
  }

  const SectionSource<T>& source_;
  Quantizer<T> quantizer_;
  ResidualQuantizer<T> residuals_;
  ValueRules<T> rules_;
  AxisPassModel model_;
  RowWeights<T> row_weights_;
  Symbols symbols_;
  size_t symbol_total_ = 0;
  std::vector<int32_t> escapes_;
  size_t escape_total_ = 0;
  RawVector<int32_t> quant_codes_;  // that wait to be packed: short rows one by one would waste the kernel
  size_t pending_ = 0;
  std::vector<T> originals_;  // of a row with exclusions
  RawVector<uint64_t> restored_;
  size_t restored_cells_ = 0;
  SpecialValues specials_;
  std::vector<T> exact_;
  uint64_t held_ = 0;          // cells gathered so far
  int32_t anchor_before_ = 0;  // quantization code of the first anchor of the rectangle before
  AxisStats<T> stats_;
};

// --- decoder --------------------------------------------------------------------------------------------

// The streams of a section, read and checked; what is left is arithmetic.
template <class T>
struct Streams {
  SpecialValues specials;
  AxisPassModel model;
  std::vector<T> exact;
  Symbols symbols;  // followed by row_padding elements
  std::vector<int32_t> escapes;
};

template <class T>
Result<Streams<T>> read_streams(ByteSpan bytes, uint64_t held, const CodebookTable& shared) {
  Streams<T> s;
  ByteReader in(bytes);
  const auto flags = in.get<uint8_t>();
  if (in.failed() || (flags & ~known_flags) != 0) {
    return corrupt(fmt::format("axis_passes section: unknown flags 0x{:02x}", flags));
  }
  if ((flags & flag_specials) != 0) {
    NEVE_ASSIGN(s.specials, read_special_values(in, sizeof(T), held));
  }
  NEVE_ASSIGN(s.model, read_model(in));
  const uint64_t ordinary = held - s.specials.count();
  const uint64_t exact = in.get_varint();
  if (in.failed() || exact > ordinary) {
    return corrupt(fmt::format("axis_passes section: {} exact values among {}", exact, ordinary));
  }
  NEVE_ASSIGN(const Bytes values, read_exact_values(in, exact, sizeof(T)));
  s.exact.resize(exact);
  if (exact > 0) std::memcpy(s.exact.data(), values.data(), values.size());
  NEVE_ASSIGN(s.symbols,
              read_symbols(in, shared, (flags & flag_zero_runs) != 0 ? Zeros::runs : Zeros::coded, ordinary));
  NEVE_ASSIGN(s.escapes, read_escapes(in, ordinary));
  if (in.failed() || in.remaining() != 0) {
    return corrupt(fmt::format("axis_passes section: {} bytes left over", in.remaining()));
  }
  return s;
}

template <class T>
class Decoder {
 public:
  Decoder(const Streams<T>& streams, const QuantizationGrid<T>& grid, const SectionTarget<T>& target)
      : s_(streams),
        grid_(grid),
        target_(target),
        cursor_(streams.specials),
        quant_codes_(max_pass_row + row_padding),
        spread_(max_pass_row + row_padding) {}

  // False: symbols, escapes or exact values are too few or too many.
  bool run() {
    for (const auto& rect : target_.rects) {
      if (rect.cells() == 0) continue;
      AxisPassField<T> field(rect.size, s_.model.levels, row_weights_);
      mark_excluded(rect, field);
      if (!decode_anchors(field) || !field.run(s_.model, *this)) return false;
      scatter(rect, field);
    }
    return symbol_at_ + row_padding == s_.symbols.size() && exact_at_ == s_.exact.size();
  }

  // Of AxisPassField.
  bool code(const PassRow<T>& row) {
    if (row.excluded != nullptr) return code_with_exclusions(row);
    if (row.count > s_.symbols.size() - row_padding - symbol_at_) return false;
    if (row.count == 1) {
      const uint8_t symbol = s_.symbols[symbol_at_];
      if (symbol == symbol_escape) return restore_escapes(row);
      ++symbol_at_;
      return restore_one(row, 0, int32_t{symbol} - symbol_zero);
    }
    const size_t escapes = axis_kernels(T{}).restore(s_.symbols.data() + symbol_at_, row.from, grid_.step,
                                                     row.count, row.values);
    if (escapes > 0) return restore_escapes(row);
    symbol_at_ += row.count;
    return true;
  }

 private:
  // A special value to be put over decoded cells, neighbours in a row.
  struct Patch {
    int64_t cell;
    int64_t count;
    uint64_t bits;
  };

  // A row whose symbols are not all that there is to know.
  bool restore_escapes(const PassRow<T>& row) {
    size_t escapes = 0;
    if (!unpack(row.count, escapes)) return false;
    for (size_t i = 0; i < row.count; ++i) {
      if (!restore_one(row, i, quant_codes_[i])) return false;
    }
    return true;
  }

  bool code_with_exclusions(const PassRow<T>& row) {
    const auto coded = static_cast<size_t>(std::count(row.excluded, row.excluded + row.count, uint8_t{0}));
    if (coded > s_.symbols.size() - row_padding - symbol_at_) return false;
    const uint8_t* next = s_.symbols.data() + symbol_at_;
    visit_runs(row.excluded, row.count, [&](size_t begin, size_t end, bool is_excluded) {
      if (is_excluded) {
        std::fill(spread_.begin() + static_cast<ptrdiff_t>(begin),
                  spread_.begin() + static_cast<ptrdiff_t>(end), uint8_t{symbol_zero});
      } else {
        std::copy(next, next + (end - begin), spread_.begin() + static_cast<ptrdiff_t>(begin));
        next += end - begin;
      }
    });
    if (axis_kernels(T{}).restore(spread_.data(), row.from, grid_.step, row.count, row.values) > 0)
      return restore_escapes_beside_exclusions(row, coded);
    symbol_at_ += coded;
    visit_runs(row.excluded, row.count, [&](size_t begin, size_t end, bool is_excluded) {
      for (size_t i = begin; is_excluded && i < end; ++i) row.values[i] = finite_or_zero(row.values[i]);
    });
    return true;
  }

  bool restore_escapes_beside_exclusions(const PassRow<T>& row, size_t coded) {
    size_t escapes = 0;
    if (!unpack(coded, escapes)) return false;
    const int32_t* next = quant_codes_.data();
    bool is_complete = true;
    visit_runs(row.excluded, row.count, [&](size_t begin, size_t end, bool is_excluded) {
      if (is_excluded) return predict_excluded(row, begin, end, grid_.step);
      for (size_t i = begin; i < end; ++i) is_complete = is_complete && restore_one(row, i, *next++);
    });
    return is_complete;
  }

  bool restore_one(const PassRow<T>& row, size_t i, int32_t quant_code) {
    if (quant_code == rejected_quant_code) return take_exact(row.values[i]);
    row.values[i] = predict_one(row.from, i) + static_cast<T>(quant_code) * grid_.step;
    return true;
  }

  // The next `count` residuals into quant_codes_.
  bool unpack(size_t count, size_t& escapes) {
    if (count > s_.symbols.size() - row_padding - symbol_at_) return false;
    escapes = kernels().unpack(s_.symbols.data() + symbol_at_, count, 0,
                               std::span(s_.escapes).subspan(escape_at_), quant_codes_.data());
    if (escapes == SIZE_MAX) return false;
    symbol_at_ += count;
    escape_at_ += escapes;
    return true;
  }

  bool take_exact(T& value) {
    if (exact_at_ == s_.exact.size()) return false;
    // What is predicted from must be finite.
    value = s_.exact[exact_at_++];
    return std::isfinite(value);
  }

  void mark_excluded(const RectRows<T*>& rect, AxisPassField<T>& field) {
    patches_.clear();
    const int64_t cells = rect.cells();
    const auto left_out =
        static_cast<int64_t>(std::count(rect.left_out.begin(), rect.left_out.end(), uint8_t{1}));
    const uint64_t held_end = held_ + static_cast<uint64_t>(cells - left_out);
    if (left_out == 0 && cursor_.next(held_) >= held_end) {
      held_ = held_end;
      return;
    }
    field.allow_exclusions();
    const auto width = static_cast<size_t>(rect.size[0]);
    std::vector<uint8_t> excluded(width);
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t r) {
      const int64_t first = r * rect.size[0];
      visit_runs(rect.left_out.empty() ? nullptr : rect.left_out.data() + first, width,
                 [&](size_t begin, size_t end, bool is_left_out) {
                   std::fill(excluded.begin() + static_cast<ptrdiff_t>(begin),
                             excluded.begin() + static_cast<ptrdiff_t>(end),
                             is_left_out ? uint8_t{1} : uint8_t{0});
                   if (!is_left_out)
                     mark_specials(first + static_cast<int64_t>(begin), end - begin, excluded.data() + begin);
                 });
      field.put_exclusions(y, z, w, excluded.data());
      return true;
    });
  }

  // Of n held cells from number `cell` on.
  void mark_specials(int64_t cell, size_t n, uint8_t* excluded) {
    const uint64_t end = held_ + n;
    for (uint64_t at = cursor_.next(held_); at < end; at = cursor_.next(at)) {
      const uint64_t run_end = cursor_.is_listed() ? at + 1 : std::min(cursor_.run_end(), end);
      std::fill(excluded + (at - held_), excluded + (run_end - held_), uint8_t{1});
      patches_.push_back(
          {cell + static_cast<int64_t>(at - held_), static_cast<int64_t>(run_end - at), cursor_.bits(at)});
      at = run_end;
    }
    held_ = end;
  }

  bool decode_anchors(AxisPassField<T>& field) {
    AnchorLattice lattice(field.anchor_size(), anchor_before_);
    const uint8_t* excluded = field.anchor_exclusions();
    T* anchors = field.anchors();
    bool is_complete = true;
    lattice.visit([&](size_t i, int32_t predicted) {
      const auto value_of = [&](int32_t quant_code) {
        return portable::dequantize_one(quant_code, 0, grid_.center, grid_.step);
      };
      size_t escapes = 0;
      if (excluded != nullptr && excluded[i] != 0) {
        anchors[i] = finite_or_zero(value_of(predicted));
        return predicted;
      }
      is_complete = is_complete && unpack(1, escapes);
      if (!is_complete) return predicted;
      const int32_t residual = quant_codes_[0];
      if (residual == rejected_quant_code) {
        is_complete = take_exact(anchors[i]);
        return predicted;
      }
      const auto quant_code =
          static_cast<int32_t>(static_cast<uint32_t>(predicted) + static_cast<uint32_t>(residual));
      anchors[i] = value_of(quant_code);
      return quant_code;
    });
    anchor_before_ = lattice.first();
    return is_complete;
  }

  void scatter(const RectRows<T*>& rect, const AxisPassField<T>& field) {
    if (rect.first == nullptr) return;
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t) {
      field.get_values(y, z, w, rect.row(y, z, w));
      return true;
    });
    for (const Patch& patch : patches_) {
      std::fill_n(rect.row(patch.cell / rect.size[0]) + patch.cell % rect.size[0], patch.count,
                  value_of_bits<T>(patch.bits));
    }
  }

  RowWeights<T> row_weights_;
  const Streams<T>& s_;
  QuantizationGrid<T> grid_;
  const SectionTarget<T>& target_;
  SpecialCursor cursor_;
  std::vector<Patch> patches_;
  RawVector<int32_t> quant_codes_;  // of a row
  RawVector<uint8_t> spread_;       // symbols of a row with exclusions, and between them none
  size_t symbol_at_ = 0;
  size_t escape_at_ = 0;
  size_t exact_at_ = 0;
  uint64_t held_ = 0;
  int32_t anchor_before_ = 0;
};

}  // namespace

template <class T>
SectionDraft draft_axis_passes(const SectionSource<T>& source, const ComponentSpec& spec) {
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  return draft_axis_passes_by(source, spec,
                              choose_axis_passes(source, quantizer, ValueRules<T>(spec, quantizer)).model);
}

template <class T>
SectionDraft draft_axis_passes_by(const SectionSource<T>& source, const ComponentSpec& spec,
                                  const AxisPassModel& model) {
  return Encoder<T>(source, spec, model).run();
}

template <class T>
Status decode_axis_passes(ByteSpan bytes, const ComponentInfo& info, const CodebookTable& shared,
                          const SectionTarget<T>& target) {
  NEVE_ASSIGN(const QuantizationGrid<T> grid, usable_grid<T>(info, codec_name(Codec::axis_passes)));
  NEVE_ASSIGN(Streams<T> streams, read_streams<T>(bytes, target.held, shared));
  const bool is_complete = Decoder<T>(streams, grid, target).run();
  recycle_symbols(std::move(streams.symbols));
  if (!is_complete) return corrupt("axis_passes section: its symbols do not make up its values");
  return {};
}

template SectionDraft draft_axis_passes<float>(const SectionSource<float>&, const ComponentSpec&);
template SectionDraft draft_axis_passes<double>(const SectionSource<double>&, const ComponentSpec&);
template SectionDraft draft_axis_passes_by<float>(const SectionSource<float>&, const ComponentSpec&,
                                                  const AxisPassModel&);
template SectionDraft draft_axis_passes_by<double>(const SectionSource<double>&, const ComponentSpec&,
                                                   const AxisPassModel&);
template Status decode_axis_passes<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<float>&);
template Status decode_axis_passes<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                           const SectionTarget<double>&);

}  // namespace neve
