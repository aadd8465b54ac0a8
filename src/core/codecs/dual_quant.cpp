// SPDX-License-Identifier: BSD-3-Clause
// Codec `dual_quant`: quantize every value first, predict the integers with Lorenzo, Huffman-code the
// residuals (Zhang et al., "CEAZ: Accelerating Parallel I/O via Hardware-Algorithm Co-Design of Efficient and
// Adaptive Lossy Compression", arXiv:2106.13306; Tian et al., "cuSZ", PACT 2020).
//
// Because prediction works on the quantization codes themselves, it is exact integer arithmetic modulo 2^32:
// a decoded value is quant_code * step whatever was decoded before it, and the encoder checks its
// bound value by value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/codecs/quant_code_planes.hpp"
#include "core/codecs/residual_packer.hpp"
#include "core/codecs/row_blocks.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/stages/entropy/escapes.hpp"
#include "core/stages/entropy/low_bits.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/mask/special_values.hpp"
#include "core/stages/predict/axis_choice.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

namespace {

constexpr uint8_t axes_mask = 0x0f;
constexpr uint8_t flag_specials = 0x10;
constexpr uint8_t known_flags = axes_mask | flag_specials | zero_groups_flag | zero_runs_flag;
constexpr int max_shift = 24;

// How many of n quantization codes there are before the first `wanted`.
size_t codes_before(int32_t wanted, const int32_t* quant_codes, size_t n) {
  return static_cast<size_t>(std::find(quant_codes, quant_codes + n, wanted) - quant_codes);
}
// How many of the first are `like`; the first is.
size_t codes_like(int32_t like, const int32_t* quant_codes, size_t n) {
  const auto is_other = [&](int32_t quant_code) { return quant_code != like; };
  return static_cast<size_t>(std::find_if(quant_codes, quant_codes + n, is_other) - quant_codes);
}

template <class T>
class Encoder {
 public:
  Encoder(const SectionSource<T>& source, const ComponentSpec& spec, const AxisChoice& choice)
      : source_(source),
        quantizer_(make_quantizer<T>(spec)),
        rules_(spec, quantizer_),
        choice_(choice),
        packer_(source.held, choice_.shift),
        takes_rows_(rules_.are_of_kernels() && packer_.takes_rows()) {
    quantizer_.origin = choice_.origin;
  }

  SectionDraft run() {
    for (const auto& rect : source_.rects) encode_rect(rect);
    packer_.flush();
    return finish();
  }

 private:
  void encode_rect(const RectRows<const T*>& rect) {
    QuantCodePlanes planes(rect.size, choice_.axes);
    visit_planes(rect.size, [&](int64_t z, int64_t w) {
      for (int64_t y = 0; y < rect.size[1];) {
        const int64_t done = encode_rows(rect, planes, y, z, w);
        y += done;
        if (done > 0) continue;
        encode_row(rect, planes, y, z, w);
        ++y;
      }
    });
  }

  // Rows from y on, while they have ordinary values alone. Returns how many.
  int64_t encode_rows(const RectRows<const T*>& rect, QuantCodePlanes& planes, int64_t y, int64_t z,
                      int64_t w) {
    const auto width = static_cast<size_t>(rect.size[0]);
    if (!takes_rows_ || had_specials_ || !rect.left_out.empty() || width > pack_block) return 0;
    const RowBlock<const T> block = rows_of(rect, planes, choice_.axes, y, z, w, max_block_values / width);
    const size_t done = packer_.add_rows(block, quantizer_, stats_);
    had_specials_ = done < block.rows;
    held_ += done * width;
    return static_cast<int64_t>(done);
  }

  void encode_row(const RectRows<const T*>& rect, QuantCodePlanes& planes, int64_t y, int64_t z, int64_t w) {
    const int64_t width = rect.size[0];
    int32_t* quant_codes = planes.row(y, z, w);
    const T* values = rect.row(y, z, w);
    const NeighbourRows& around = planes.neighbours(y, z, w);
    const bool along_x = is_along_x(choice_.axes, y, z, w);
    const int64_t r = (w * rect.size[2] + z) * rect.size[1] + y;
    const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * width;
    // Excluded cells (left out, or special) cost no symbol: encoder and decoder both let them repeat the
    // quantization code before them, so that prediction finds something like the field there.
    int32_t hold = planes.before_row(y, z, w);
    visit_runs(left_out, static_cast<size_t>(width), [&](size_t begin, size_t end, bool is_left_out) {
      if (is_left_out) {
        std::fill(quant_codes + begin, quant_codes + end, hold);
        return;
      }
      for (size_t x = begin; x < end; x += pack_block) {
        hold = encode_held(values + x, std::min(pack_block, end - x), shifted(around, x), along_x, hold,
                           quant_codes + x);
      }
    });
  }

  // n held cells of a row. Returns what an excluded cell after them repeats.
  int32_t encode_held(const T* values, size_t n, const NeighbourRows& around, bool along_x, int32_t hold,
                      int32_t* quant_codes) {
    const bool is_row = takes_rows_ && !had_specials_;
    if (is_row && packer_.add_rows(one_row<const T>(values, n, around, along_x, quant_codes), quantizer_,
                                   stats_) == 1) {
      held_ += n;
      return quant_codes[n - 1];
    }
    stats_.rejected = 0;
    rules_.quantize(values, n, quantizer_, quant_codes, stats_);
    had_specials_ = stats_.rejected > 0;  // and what comes next probably has some
    if (had_specials_) return encode_with_specials(values, n, around, along_x, hold, quant_codes);
    pack(quant_codes, around, along_x, n);
    held_ += n;
    return quant_codes[n - 1];
  }

  // Some of them have no quantization code: run by run of those that have, and of those that do not.
  int32_t encode_with_specials(const T* values, size_t n, const NeighbourRows& around, bool along_x,
                               int32_t hold, int32_t* quant_codes) {
    for (size_t x = 0; x < n;) {
      const size_t coded_end = x + codes_before(rejected_quant_code, quant_codes + x, n - x);
      if (coded_end > x) {
        pack(quant_codes + x, shifted(around, x), along_x, coded_end - x);
        held_ += coded_end - x;
        x = coded_end;
        hold = quant_codes[x - 1];
      }
      const size_t special_end = x + codes_like(rejected_quant_code, quant_codes + x, n - x);
      add_specials(values + x, special_end - x);
      std::fill(quant_codes + x, quant_codes + special_end, hold);
      x = special_end;
    }
    return hold;
  }

  void add_specials(const T* values, size_t n) {
    for (size_t x = 0; x < n;) {
      const size_t same = values_alike(values + x, n - x);
      const bool repeats = rules_.is_special(values[x]);
      if (repeats) {
        specials_.add_run(held_, same, portable::bits(values[x]));
      } else {
        for (size_t i = 0; i < same; ++i) specials_.add(held_ + i, portable::bits(values[x]), false);
      }
      (repeats ? special_cells_ : exact_cells_) += same;
      held_ += same;
      x += same;
    }
  }

  void pack(const int32_t* quant_codes, const NeighbourRows& around, bool along_x, size_t n) {
    kernels().predict(quant_codes, around, along_x, n, packer_.room());
    packer_.commit(n);
  }

  SectionDraft finish() {
    SectionDraft draft;
    draft.codec = Codec::dual_quant;
    draft.report.special_cells = special_cells_;
    draft.report.exact_cells = exact_cells_;
    draft.report.max_abs_error = static_cast<double>(stats_.max_error);
    draft.symbols = packer_.take_symbols();

    uint8_t flags = choice_.axes;
    if (!specials_.runs.empty()) flags |= flag_specials;
    std::vector<int32_t> escapes = packer_.take_escapes();
    const bool has_runs = settle_symbols(draft, escapes);
    if (has_runs) flags |= zero_runs_flag;
    ByteWriter before(draft.before);
    before.put(flags);
    before.put(choice_.shift);
    before.put_signed_varint(choice_.origin);
    if ((flags & flag_specials) != 0) write_special_values(specials_, sizeof(T), before);
    if (has_runs) before.put_varint(draft.symbols.size());

    ByteWriter after(draft.after);
    write_escapes(escapes, after);
    after.put_bytes(packer_.take_low_bits());
    return draft;
  }

  const SectionSource<T>& source_;
  Quantizer<T> quantizer_;
  ValueRules<T> rules_;
  AxisChoice choice_;
  ResidualPacker packer_;
  QuantizeStats<T> stats_;
  SpecialValues specials_;
  bool takes_rows_;
  bool had_specials_ = false;
  uint64_t held_ = 0;
  uint64_t special_cells_ = 0;
  uint64_t exact_cells_ = 0;
};

// What a section holds, read and checked; what is left is arithmetic.
struct StoredSection {
  uint8_t axes = 0;
  int shift = 0;
  int32_t origin = 0;
  SpecialValues specials;
  Symbols symbols;
  std::vector<int32_t> escapes;
  ByteSpan low_bits;
};

Result<StoredSection> read_stored_section(ByteSpan bytes, size_t value_bytes, uint64_t held,
                                          const CodebookTable& shared) {
  StoredSection s;
  ByteReader in(bytes);
  const auto flags = in.get<uint8_t>();
  s.axes = flags & axes_mask;
  s.shift = in.get<uint8_t>();
  const int64_t origin = in.get_signed_varint();
  if (in.failed()) return corrupt("dual_quant section: ends inside its first fields");
  const std::optional<Zeros> zeros = zeros_of(flags);
  if ((flags & ~known_flags) != 0 || !zeros)
    return corrupt(fmt::format("dual_quant section: unknown flags 0x{:02x}", flags));
  if (s.shift > max_shift)
    return corrupt(fmt::format("dual_quant section: shift {} above {}", s.shift, max_shift));
  if (origin <= -quant_code_limit || origin >= quant_code_limit) {
    return corrupt(fmt::format("dual_quant section: origin {} not within +-{}", origin, quant_code_limit));
  }
  s.origin = static_cast<int32_t>(origin);
  if ((flags & flag_specials) != 0) {
    NEVE_ASSIGN(s.specials, read_special_values(in, value_bytes, held));
  }
  const uint64_t ordinary = held - s.specials.count();
  NEVE_ASSIGN(s.symbols, read_symbols(in, shared, *zeros, ordinary));
  NEVE_ASSIGN(s.escapes, read_escapes(in, ordinary));
  const uint64_t low_bytes = (ordinary * static_cast<uint64_t>(s.shift) + 7) / 8;
  s.low_bits = in.get_bytes(low_bytes);
  if (in.failed() || in.remaining() != 0) {
    return corrupt(fmt::format("dual_quant section: {} bytes of low bits expected, {} bytes left", low_bytes,
                               in.remaining()));
  }
  return s;
}

template <class T>
class Decoder {
 public:
  Decoder(const StoredSection& stored, const QuantizationGrid<T>& grid, const SectionTarget<T>& target)
      : s_(stored), grid_(grid), target_(target), cursor_(stored.specials) {}

  Status run() {
    for (const auto& rect : target_.rects) {
      if (rect.first == nullptr) {
        pass_over(rect);
      } else {
        NEVE_TRY(decode_rect(rect));
      }
    }
    return {};
  }

 private:
  // Advances past a rectangle nobody asked for: its predictions start anew, so only positions matter.
  void pass_over(const RectRows<T*>& rect) {
    const auto left_out =
        static_cast<uint64_t>(std::count(rect.left_out.begin(), rect.left_out.end(), uint8_t{1}));
    const uint64_t held = static_cast<uint64_t>(rect.cells()) - left_out;
    cursor_.next(held_at_);
    const uint64_t ordinary = held - cursor_.count(held_at_, held_at_ + held);
    const auto first = s_.symbols.begin() + static_cast<ptrdiff_t>(symbol_at_);
    escape_at_ += static_cast<size_t>(
        std::count(first, first + static_cast<ptrdiff_t>(ordinary), static_cast<uint8_t>(symbol_escape)));
    symbol_at_ += ordinary;
    held_at_ += held;
  }

  Status decode_rect(const RectRows<T*>& rect) {
    // Padding of a few cells' row would be many times the row.
    constexpr int64_t min_vector_row = 4;
    const bool is_narrow = rect.size[0] < min_vector_row;
    QuantCodePlanes planes(rect.size, s_.axes, is_narrow ? RowRoom::packed : RowRoom::padded);
    row_kernels_ = is_narrow ? &portable_kernels() : &kernels();
    const auto width = static_cast<size_t>(rect.size[0]);
    residuals_.resize(std::min(width, pack_block) + row_padding);
    bool had_enough = true;
    takes_rows_ = s_.shift == 0 && !is_narrow;
    visit_planes(rect.size, [&](int64_t z, int64_t w) {
      for (int64_t y = 0; had_enough && y < rect.size[1];) {
        const int64_t done = takes_rows_ && rect.left_out.empty() ? restore_rows(rect, planes, y, z, w) : 0;
        y += done;
        if (done > 0) continue;
        const int64_t r = (w * rect.size[2] + z) * rect.size[1] + y;
        had_enough = decode_row({rect.row(y, z, w), planes.row(y, z, w), planes.neighbours(y, z, w),
                                 is_along_x(s_.axes, y, z, w), width,
                                 rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0],
                                 planes.before_row(y, z, w)});
        ++y;
      }
    });
    if (had_enough) return {};
    return corrupt(
        fmt::format("dual_quant section: more escape symbols than its {} escapes", s_.escapes.size()));
  }

  struct Row {
    T* values;
    int32_t* quant_codes;
    const NeighbourRows& around;
    bool along_x;
    size_t width;
    const uint8_t* left_out;  // null: none is
    int32_t before;           // what an excluded cell at the row's start repeats
  };

  // Rows from y on, while they have ordinary values alone. Returns how many.
  int64_t restore_rows(const RectRows<T*>& rect, QuantCodePlanes& planes, int64_t y, int64_t z, int64_t w) {
    const auto width = static_cast<size_t>(rect.size[0]);
    const uint64_t ordinary = cursor_.next(held_at_) - held_at_;
    if (ordinary < width) return 0;
    return static_cast<int64_t>(restore(rows_of(rect, planes, s_.axes, y, z, w, ordinary / width)));
  }

  // Returns how many rows are done: fewer only where there are fewer escapes than escape symbols.
  size_t restore(const RowBlock<T>& block) {
    EscapeList escapes{s_.escapes.data() + escape_at_, s_.escapes.data() + s_.escapes.size()};
    const size_t done = row_kernels<T, uint8_t>().restore(block, {s_.origin, grid_.center, grid_.step},
                                                          s_.symbols.data() + symbol_at_, escapes);
    escape_at_ = static_cast<size_t>(escapes.next - s_.escapes.data());
    symbol_at_ += done * block.width;
    held_at_ += done * block.width;
    return done;
  }

  // False: there are fewer escapes than escape symbols.
  bool decode_row(const Row& row) {
    int32_t hold = row.before;
    bool had_enough = true;
    visit_runs(row.left_out, row.width, [&](size_t begin, size_t end, bool is_left_out) {
      if (is_left_out) {
        std::fill(row.quant_codes + begin, row.quant_codes + end, hold);
        std::fill(row.values + begin, row.values + end,
                  portable::dequantize_one(hold, s_.origin, grid_.center, grid_.step));
        return;
      }
      for (size_t x = begin; had_enough && x < end;) {
        const uint64_t special = cursor_.next(held_at_) - held_at_;
        const auto coded = static_cast<size_t>(std::min<uint64_t>({special, end - x, pack_block}));
        if (coded == 0) {
          x += put_specials(row, x, end - x, hold);
          continue;
        }
        had_enough = decode_run(row, x, coded);
        x += coded;
        hold = row.quant_codes[x - 1];
      }
    });
    return had_enough;
  }

  // The n cells from x on, which are held and ordinary.
  bool decode_run(const Row& row, size_t x, size_t n) {
    const NeighbourRows beside = shifted(row.around, x);
    int32_t* const quant_codes = row.quant_codes + x;
    T* const values = row.values + x;
    if (takes_rows_) return restore(one_row(values, n, beside, row.along_x, quant_codes)) == 1;
    held_at_ += n;
    if (!unpack(n)) return false;
    if (row.along_x && x > 0) {  // what prediction along x adds to the first residual
      residuals_[0] =
          static_cast<int32_t>(static_cast<uint32_t>(residuals_[0]) + static_cast<uint32_t>(quant_codes[-1]) -
                               portable::neighbour_sum(beside, -1));
    }
    row_kernels_->unpredict(residuals_.data(), beside, row.along_x, n, quant_codes);
    dequantize(quant_codes, n, s_.origin, grid_, values);
    return true;
  }

  // The run of special values that begins at x, as far as it goes within n cells. Returns how far.
  size_t put_specials(const Row& row, size_t x, size_t n, int32_t hold) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(cursor_.run_end() - held_at_, n));
    std::fill(row.quant_codes + x, row.quant_codes + x + count, hold);
    if (cursor_.is_listed()) {
      for (size_t i = 0; i < count; ++i) row.values[x + i] = value_of_bits<T>(cursor_.bits(held_at_ + i));
    } else {
      std::fill_n(row.values + x, count, value_of_bits<T>(cursor_.bits(held_at_)));
    }
    held_at_ += count;
    return count;
  }

  // The next n residuals into residuals_; false when there are fewer escapes than escape symbols.
  bool unpack(size_t n) {
    const auto escapes = std::span(s_.escapes).subspan(escape_at_);
    const size_t used =
        kernels().unpack(s_.symbols.data() + symbol_at_, n, s_.shift, escapes, residuals_.data());
    if (used == SIZE_MAX) return false;
    if (s_.shift > 0) restore_low_bits(s_.low_bits, symbol_at_, s_.shift, std::span(residuals_).first(n));
    escape_at_ += used;
    symbol_at_ += n;
    return true;
  }

  const StoredSection& s_;
  QuantizationGrid<T> grid_;
  const SectionTarget<T>& target_;
  SpecialCursor cursor_;
  const Kernels* row_kernels_ = nullptr;
  bool takes_rows_ = false;
  std::vector<int32_t> residuals_;
  size_t symbol_at_ = 0;
  size_t escape_at_ = 0;
  uint64_t held_at_ = 0;
};

}  // namespace

template <class T>
SectionDraft draft_dual_quant(const SectionSource<T>& source, const ComponentSpec& spec) {
  return draft_dual_quant_along(source, spec, choose_axes(source, make_quantizer<T>(spec)));
}

template <class T>
SectionDraft draft_dual_quant_along(const SectionSource<T>& source, const ComponentSpec& spec,
                                    const AxisChoice& choice) {
  return Encoder<T>(source, spec, choice).run();
}

template <class T>
Status decode_dual_quant(ByteSpan bytes, const ComponentInfo& info, const CodebookTable& shared,
                         const SectionTarget<T>& target) {
  NEVE_ASSIGN(const QuantizationGrid<T> grid, usable_grid<T>(info, codec_name(Codec::dual_quant)));
  NEVE_ASSIGN(StoredSection stored, read_stored_section(bytes, sizeof(T), target.held, shared));
  Status status = Decoder<T>(stored, grid, target).run();
  recycle_symbols(std::move(stored.symbols));
  return status;
}

template SectionDraft draft_dual_quant<float>(const SectionSource<float>&, const ComponentSpec&);
template SectionDraft draft_dual_quant<double>(const SectionSource<double>&, const ComponentSpec&);
template SectionDraft draft_dual_quant_along<float>(const SectionSource<float>&, const ComponentSpec&,
                                                    const AxisChoice&);
template SectionDraft draft_dual_quant_along<double>(const SectionSource<double>&, const ComponentSpec&,
                                                     const AxisChoice&);
template Status decode_dual_quant<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<float>&);
template Status decode_dual_quant<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<double>&);

}  // namespace neve
