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
#include "core/codecs/section_codec.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/kernels/portable.hpp"
#include "core/stages/entropy/escapes.hpp"
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

// Residuals wait until there are this many: packing short rows one by one would waste the kernel.
constexpr size_t pack_block = 4096;

// The first row of a rectangle has nothing before it in the differenced directions: it is differenced along x
// even when the others are not.
bool is_along_x(uint8_t axes, int64_t y, int64_t z, int64_t w) {
  if ((axes & 1) != 0 || axes == 0) return (axes & 1) != 0;
  const bool behind = ((axes & 2) != 0 && y > 0) || ((axes & 4) != 0 && z > 0) || ((axes & 8) != 0 && w > 0);
  return !behind;
}

// The rows from cell x on.
NeighbourRows shifted(NeighbourRows around, size_t x) {
  for (int k = 0; k < around.count; ++k) around.rows[k] += x;
  return around;
}

// Collects residuals of ordinary values and turns them into symbols, escapes and raw low bits.
class ResidualPacker {
 public:
  ResidualPacker(uint64_t max_values, int shift)
      : shift_(shift), symbols_(neve::take_symbols(max_values + row_padding)) {}

  // Room for n residuals behind those pending; n is at most pack_block.
  int32_t* room() {
    if (pending_ >= pack_block) flush();
    return residuals_.data() + pending_;
  }
  void commit(size_t n) { pending_ += n; }
  void flush() {
    if (escapes_.size() < escape_total_ + pending_ + row_padding) {
      escapes_.resize(std::max(2 * escapes_.size(), escape_total_ + pending_ + row_padding));
    }
    escape_total_ += kernels().pack(residuals_.data(), pending_, shift_, symbols_.data() + symbol_total_,
                                    escapes_.data() + escape_total_);
    if (shift_ > 0) append_low_bits();
    symbol_total_ += pending_;
    pending_ = 0;
  }
  Symbols take_symbols() {
    symbols_.resize(symbol_total_);
    return std::move(symbols_);
  }
  std::vector<int32_t> take_escapes() {
    escapes_.resize(escape_total_);
    return std::move(escapes_);
  }
  const Bytes& finish_low_bits() {
    for (; low_held_ > 0; low_held_ -= std::min(low_held_, 8U)) {
      low_bits_.push_back(static_cast<std::byte>(low_));
      low_ >>= 8;
    }
    return low_bits_;
  }

 private:
  void append_low_bits() {
    const uint32_t mask = (uint32_t{1} << shift_) - 1;
    for (size_t i = 0; i < pending_; ++i) {
      low_ |= uint64_t{static_cast<uint32_t>(residuals_[i]) & mask} << low_held_;
      low_held_ += static_cast<unsigned>(shift_);
      if (low_held_ >= 32) {
        const auto word = static_cast<uint32_t>(low_);
        const auto* bytes = reinterpret_cast<const std::byte*>(&word);
        low_bits_.insert(low_bits_.end(), bytes, bytes + sizeof word);
        low_ >>= 32;
        low_held_ -= 32;
      }
    }
  }

  int shift_;
  std::vector<int32_t> residuals_ = std::vector<int32_t>(2 * pack_block + row_padding);
  size_t pending_ = 0;
  Symbols symbols_;
  size_t symbol_total_ = 0;
  std::vector<int32_t> escapes_;
  size_t escape_total_ = 0;
  Bytes low_bits_;
  uint64_t low_ = 0;
  unsigned low_held_ = 0;
};

template <class T>
class Encoder {
 public:
  Encoder(const SectionSource<T>& source, const ComponentSpec& spec, const AxisChoice& choice)
      : source_(source),
        quantizer_(make_quantizer<T>(spec)),
        rules_(spec, quantizer_),
        choice_(choice),
        packer_(source.held, choice_.shift) {
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
    const auto width = static_cast<size_t>(rect.size[0]);
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t r) {
      int32_t* quant_codes = planes.row(y, z, w);
      const T* values = rect.row(y, z, w);
      const NeighbourRows around = planes.neighbours(y, z, w);
      const bool along_x = is_along_x(choice_.axes, y, z, w);
      const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      // Excluded cells (left out, or special) cost no symbol: encoder and decoder both let them repeat the
      // quantization code before them, so that prediction finds something like the field there.
      int32_t hold = planes.before_row(y, z, w);
      visit_runs(left_out, width, [&](size_t begin, size_t end, bool is_left_out) {
        if (is_left_out) {
          std::fill(quant_codes + begin, quant_codes + end, hold);
        } else {
          hold = encode_held(values + begin, end - begin, shifted(around, begin), along_x, hold,
                             quant_codes + begin);
        }
      });
      return true;
    });
  }

  // n held cells of a row. Returns what an excluded cell after them repeats.
  int32_t encode_held(const T* values, size_t n, const NeighbourRows& around, bool along_x, int32_t hold,
                      int32_t* quant_codes) {
    const size_t rejected_before = stats_.rejected;
    rules_.quantize(values, n, quantizer_, quant_codes, stats_);
    const bool has_specials = stats_.rejected != rejected_before;
    if (has_specials) {
      hold = fill_specials(values, n, hold, quant_codes);
    } else {
      held_ += n;
      hold = quant_codes[n - 1];
    }
    pack_run(quant_codes, around, along_x, n, has_specials);
    return hold;
  }

  int32_t fill_specials(const T* values, size_t n, int32_t hold, int32_t* quant_codes) {
    is_special_.resize(n);
    for (size_t x = 0; x < n; ++x, ++held_) {
      is_special_[x] = quant_codes[x] == rejected_quant_code;
      if (is_special_[x] != 0) add_special(values[x]);
      if (is_special_[x] == 0) hold = quant_codes[x];
      quant_codes[x] = hold;
    }
    return hold;
  }

  void add_special(T value) {
    const bool repeats = rules_.is_special(value);
    specials_.add(held_, portable::bits(value), repeats);
    ++(repeats ? special_cells_ : exact_cells_);
  }

  void pack_run(const int32_t* quant_codes, const NeighbourRows& around, bool along_x, size_t width,
                bool has_specials) {
    for (size_t x = 0; x < width; x += pack_block) {
      const size_t n = std::min(pack_block, width - x);
      int32_t* residuals = packer_.room();
      kernels().predict(quant_codes + x, shifted(around, x), along_x, n, residuals);
      size_t kept = n;
      if (has_specials) {
        kept = 0;
        for (size_t i = 0; i < n; ++i) {
          residuals[kept] = residuals[i];
          kept += is_special_[x + i] == 0;
        }
      }
      packer_.commit(kept);
    }
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
    after.put_bytes(packer_.finish_low_bits());
    return draft;
  }

  const SectionSource<T>& source_;
  Quantizer<T> quantizer_;
  ValueRules<T> rules_;
  AxisChoice choice_;
  ResidualPacker packer_;
  QuantizeStats<T> stats_;
  SpecialValues specials_;
  std::vector<uint8_t> is_special_;
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
  // A special value to be put over the decoded row.
  struct Patch {
    size_t x;
    uint64_t bits;
  };

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
    const Kernels& row_kernels = is_narrow ? portable_kernels() : kernels();
    const auto width = static_cast<size_t>(rect.size[0]);
    residuals_.resize(width + row_padding);
    const bool had_enough = visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t r) {
      const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      const uint64_t held =
          left_out == nullptr
              ? width
              : width - static_cast<uint64_t>(std::count(left_out, left_out + width, uint8_t{1}));
      const bool has_special = cursor_.next(held_at_) < held_at_ + held;
      int32_t* quant_codes = planes.row(y, z, w);
      const NeighbourRows around = planes.neighbours(y, z, w);
      const bool along_x = is_along_x(s_.axes, y, z, w);
      const uint64_t specials = has_special ? cursor_.count(held_at_, held_at_ + held) : 0;
      if (!unpack(held - specials)) return false;
      T* out = rect.row(y, z, w);
      int32_t* residuals = residuals_.data();
      int32_t hold = planes.before_row(y, z, w);
      visit_runs(left_out, width, [&](size_t begin, size_t end, bool is_left_out) {
        if (is_left_out) {
          std::fill(quant_codes + begin, quant_codes + end, hold);
          std::fill(out + begin, out + end,
                    portable::dequantize_one(hold, s_.origin, grid_.center, grid_.step));
          return;
        }
        const size_t n = end - begin;
        const NeighbourRows beside = shifted(around, begin);
        // What prediction along x adds to the residual of the run's first cell.
        const uint32_t carry = along_x && begin > 0 ? static_cast<uint32_t>(quant_codes[begin - 1]) -
                                                          portable::neighbour_sum(beside, -1)
                                                    : 0;
        if (has_special) {
          residuals +=
              decode_specials(residuals, beside, along_x, n, carry, hold, quant_codes + begin, out + begin);
        } else {
          if (begin > 0) residuals[0] = static_cast<int32_t>(static_cast<uint32_t>(residuals[0]) + carry);
          row_kernels.unpredict(residuals, beside, along_x, n, quant_codes + begin);
          dequantize(quant_codes + begin, n, s_.origin, grid_, out + begin);
          residuals += n;
          held_at_ += n;
        }
        hold = quant_codes[end - 1];
      });
      return true;
    });
    if (had_enough) return {};
    return corrupt(
        fmt::format("dual_quant section: more escape symbols than its {} escapes", s_.escapes.size()));
  }

  // The next n residuals into residuals_; false when there are fewer escapes than escape symbols.
  bool unpack(size_t n) {
    const auto escapes = std::span(s_.escapes).subspan(escape_at_);
    const size_t used =
        kernels().unpack(s_.symbols.data() + symbol_at_, n, s_.shift, escapes, residuals_.data());
    if (used == SIZE_MAX) return false;
    if (s_.shift > 0) add_low_bits(n);
    escape_at_ += used;
    symbol_at_ += n;
    return true;
  }

  void add_low_bits(size_t n) {
    const auto shift = static_cast<unsigned>(s_.shift);
    const uint64_t mask = (uint64_t{1} << shift) - 1;
    uint64_t bit = symbol_at_ * shift;
    for (size_t i = 0; i < n; ++i, bit += shift) {
      uint64_t word = 0;
      const size_t at = bit / 8;
      std::memcpy(&word, s_.low_bits.data() + at, std::min<size_t>(8, s_.low_bits.size() - at));
      residuals_[i] |= static_cast<int32_t>((word >> (bit % 8)) & mask);
    }
  }

  // n held cells of a row, some of them special. Returns how many residuals they used.
  size_t decode_specials(const int32_t* residuals, const NeighbourRows& around, bool along_x, size_t n,
                         uint32_t sum_before, int32_t hold, int32_t* quant_codes, T* out) {
    patches_.clear();
    size_t used = 0;
    uint64_t special_at = cursor_.next(held_at_);
    for (size_t x = 0; x < n; ++x, ++held_at_) {
      const uint32_t neighbours = portable::neighbour_sum(around, static_cast<ptrdiff_t>(x));
      if (held_at_ == special_at) {
        patches_.push_back({x, cursor_.bits(held_at_)});
        special_at = cursor_.next(held_at_ + 1);
      } else {
        const uint32_t sum = (along_x ? sum_before : 0) + static_cast<uint32_t>(residuals[used++]);
        hold = static_cast<int32_t>(sum + neighbours);
      }
      quant_codes[x] = hold;
      sum_before = static_cast<uint32_t>(hold) - neighbours;
    }
    dequantize(quant_codes, n, s_.origin, grid_, out);
    for (const Patch& p : patches_) out[p.x] = value_of_bits<T>(p.bits);
    return used;
  }

  const StoredSection& s_;
  QuantizationGrid<T> grid_;
  const SectionTarget<T>& target_;
  SpecialCursor cursor_;
  std::vector<Patch> patches_;
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
