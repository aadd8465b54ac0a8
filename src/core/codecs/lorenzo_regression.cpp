// SPDX-License-Identifier: BSD-3-Clause
// Codec `lorenzo_regression`: prediction blocks, each by Lorenzo or by linear regression, and linear-scaling
// quantization of what is left (SZ2: Liang et al., "Error-controlled lossy compression optimized for high
// compression ratios", 2018). Each rectangle is predicted alone and all share the section's codebooks:
// AMRIC's shared lossless encoding; the side of the blocks follows its equation 1 (Wang et al., "AMRIC: A
// Novel In Situ Lossy Compression Framework for Efficient I/O in Adaptive Mesh Refinement Applications", SC
// 2023).
//
// Prediction uses reconstructed values, so encoder and decoder do the same f64 operations in the same order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/codecs/rect_stack.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/kernels/portable.hpp"
#include "core/stages/entropy/escapes.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/mask/special_values.hpp"
#include "core/stages/predict/block_lorenzo.hpp"
#include "core/stages/predict/block_regression.hpp"
#include "core/stages/predict/residual_bits.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

namespace {

constexpr uint8_t flag_merged = 0x01;
constexpr uint8_t flag_specials = 0x10;
constexpr uint8_t known_flags = flag_merged | flag_specials | zero_groups_flag | zero_runs_flag;

constexpr int64_t max_block_cells = 6 * 6 * 6 * 6;
// What a coefficient takes, roughly; only choices depend on it.
constexpr double mean_bits_of_coefficient = 5;
// Quantization codes stay below: exact in f64, and far from int32's ends.
constexpr double quant_codes_end = 1 << 30;

// The side of prediction blocks in an array of `dims` used directions whose rectangles have `unit` as their
// longest side. In three directions and more AMRIC's equation 1; below, the sides that SZ3 uses.
int64_t prediction_side(int forced, int dims, int64_t unit) {
  if (forced != 0) return forced;
  if (dims == 1) return max_block_row;
  if (dims == 2) return 16;
  return unit < 64 && unit % 6 <= 2 ? 4 : 6;
}

enum class Held : uint8_t { ordinary, left_out, special };

// How values become numbers: in f64 whatever their type is, rounded to it once.
template <class T>
struct Dequantizer {
  double center;
  double step;

  double value(double prediction, double quant_code) const {
    return static_cast<double>(static_cast<T>(prediction + quant_code * step));
  }
  // What stands for an excluded cell in the predictions of others.
  double stand_in(double prediction) const {
    const double rounded = static_cast<double>(static_cast<T>(prediction));
    return std::isfinite(rounded) ? rounded : 0;
  }
  // What stands outside an array.
  double outside(int32_t base) const { return center + base * step; }
};

// Nearest integer, ties to even, of |v| < 2^51.
double nearest(double v) {
  constexpr double shift = 0x1.8p52;
  return (v + shift) - shift;
}

// A list of integers as differences, modulo 2^32, each from the one before.
struct DifferenceList {
  std::vector<int32_t> differences;
  int32_t last = 0;

  void add(int32_t value) {
    differences.push_back(static_cast<int32_t>(static_cast<uint32_t>(value) - static_cast<uint32_t>(last)));
    last = value;
  }
};

// What a block's cells need beside their values, in its order.
struct BlockCells {
  std::array<Held, max_block_cells> held;
  std::array<uint64_t, max_block_cells> bits;  // of special ones
  std::array<bool, max_block_cells> listed;    // special ones that stand in the list of values
};

enum class Rows { all, every_other };

// Calls visit(row, guide, row number) for rows of a block, in order, until it returns false. The guide is
// what the predictions of the row follow from before its cells are known: for Lorenzo the steps from cell to
// cell, for regression the predictions themselves.
template <int dims, bool regression, Rows rows, class Visit>
void visit_rows_of_block(double* block, const std::array<ptrdiff_t, max_frame_dims>& stride,
                         const StackBlock& extent, const RegressionPlane& plane, const Visit& visit) {
  double guide[max_block_row];
  int64_t number = 0;
  for (int64_t w = 0; w < extent.size[3]; ++w) {
    for (int64_t z = 0; z < extent.size[2]; ++z) {
      constexpr int64_t spacing = rows == Rows::all ? 1 : 2;
      for (int64_t y = rows == Rows::all ? 0 : (z + w) % 2; y < extent.size[1]; y += spacing, ++number) {
        double* row = block + y * stride[1] + z * stride[2] + w * stride[3];
        if constexpr (regression) {
          const double first = regression_row(plane, extent.size, y, z, w);
          double at = from_middle(0, extent.size[0]);
          for (int64_t x = 0; x < extent.size[0]; ++x, at += 1) guide[x] = first + plane.slope[0] * at;
        } else {
          lorenzo_steps<dims>(row, extent.size[0], stride, guide);
        }
        if (!visit(row, guide, number)) return;
      }
    }
  }
}

// Calls work.template operator()<dims>() with the number of used directions as a constant.
template <class Work>
void with_dims(int dims, const Work& work) {
  switch (dims) {
    case 1:
      return work.template operator()<1>();
    case 2:
      return work.template operator()<2>();
    case 3:
      return work.template operator()<3>();
    default:
      return work.template operator()<4>();
  }
}

// Calls work(block) for each prediction block of a stack in order, and keeps `layer` in step.
template <class Pointer, class Work>
bool visit_blocks(const RectStack<Pointer>& stack, int64_t side, BlockLayer& layer, const Work& work) {
  StackBlock block;
  Extents sides{1, 1, 1, 1};
  for (size_t d = 0; d <= stack.slowest(); ++d) sides[d] = side;
  const auto cut = [&](size_t d) { block.size[d] = std::min(sides[d], stack.size[d] - block.at[d]); };
  for (block.at[3] = 0; block.at[3] < stack.size[3]; block.at[3] += sides[3]) {
    cut(3);
    for (block.at[2] = 0; block.at[2] < stack.size[2]; block.at[2] += sides[2]) {
      cut(2);
      for (block.at[1] = 0; block.at[1] < stack.size[1]; block.at[1] += sides[1]) {
        cut(1);
        for (block.at[0] = 0; block.at[0] < stack.size[0]; block.at[0] += sides[0]) {
          cut(0);
          if (!work(block)) return false;
          if (stack.slowest() == 0) layer.advance();
        }
        if (stack.slowest() == 1) layer.advance();
      }
      if (stack.slowest() == 2) layer.advance();
    }
    if (stack.slowest() == 3) layer.advance();
  }
  return true;
}

template <class T>
class Encoder {
 public:
  Encoder(const SectionSource<T>& source, const ComponentSpec& spec)
      : source_(source),
        spec_(spec),
        rules_(spec, make_quantizer<T>(spec)),
        tolerance_(spec.bound_abs - spec.bound_abs * 0x1p-50) {
    const QuantizationGrid<T> grid = make_grid<T>(spec);
    dequantizer_ = {static_cast<double>(grid.center), static_cast<double>(grid.step)};
    inverse_step_ = 1 / dequantizer_.step;
    symbols_ = take_symbols(source.held);
  }

  SectionDraft run() {
    for (const auto& stack : make_stacks(source_.rects, spec_.tuning.merge_units)) encode_stack(stack);
    return finish();
  }

 private:
  using Stack = RectStack<const T*>;

  void encode_stack(const Stack& stack) {
    const int64_t side = prediction_side(spec_.tuning.block_cells, stack.dims, stack.unit);
    bases_.add(base_of(stack));
    layer_.start(stack.size, stack.dims, side, dequantizer_.outside(bases_.last));
    const RegressionSteps steps(dequantizer_.step, stack.dims, side);
    visit_blocks(stack, side, layer_, [&](const StackBlock& block) {
      encode_block(stack, block, steps);
      return true;
    });
  }

  bool is_special(T value) const { return rules_.is_special(value); }

  // The first ordinary value; any number would do, but this one makes the first residual small.
  int32_t base_of(const Stack& stack) const {
    for (const auto* rect : stack.rects) {
      for (int64_t r = 0; r < rect->rows(); ++r) {
        const T* row = rect->row(r);
        const uint8_t* skip = rect->left_out.empty() ? nullptr : rect->left_out.data() + r * rect->size[0];
        for (int64_t x = 0; x < rect->size[0]; ++x) {
          if ((skip != nullptr && skip[x] != 0) || is_special(row[x])) continue;
          const double base = nearest((static_cast<double>(row[x]) - dequantizer_.center) * inverse_step_);
          return std::abs(base) < quant_codes_end ? static_cast<int32_t>(base) : bases_.last;
        }
      }
    }
    return bases_.last;
  }

  void encode_block(const Stack& stack, const StackBlock& block, const RegressionSteps& steps) {
    double* values = layer_.block(block.at);
    const int64_t ordinary = gather(stack, block, values);
    const bool masked = ordinary != block.cells();
    std::optional<RegressionCode> code;
    if (ordinary > 0) code = choose(stack, block, ordinary, values, steps);
    modes_.push_back(code.has_value());
    RegressionPlane plane;
    if (code) {
      plane = regression_plane(*code, steps, dequantizer_.center);
      means_.add(code->mean);
      for (size_t d = 0; d < max_frame_dims; ++d) {
        if (block.size[d] > 1) slopes_[d].add(code->slope[d]);
      }
    }
    with_dims(stack.dims, [&]<int dims>() {
      if (masked) {
        code ? code_block<dims, true, true>(block, values, plane)
             : code_block<dims, false, true>(block, values, plane);
      } else {
        code ? code_block<dims, true, false>(block, values, plane)
             : code_block<dims, false, false>(block, values, plane);
      }
    });
  }

  // Puts the block's values where their reconstructions will stand. Returns how many cells are ordinary.
  int64_t gather(const Stack& stack, const StackBlock& block, double* values) {
    bool some_excluded = false;
    const auto& stride = layer_.stride();
    visit_segments(stack, block, [&](const StackSegment<const T*>& segment) {
      some_excluded |= segment.left_out != nullptr;
      if (some_excluded) return;
      const Extents& at = segment.at;
      double* row = values + at[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
      for (int64_t x = 0; x < segment.cells; ++x) {
        const T value = segment.first[x * segment.stride];
        some_excluded |= is_special(value);
        row[x] = static_cast<double>(value);
      }
    });
    return some_excluded ? gather_excluded(stack, block, values) : block.cells();
  }

  // The same where cells may be excluded: these repeat the value before, so that fits and estimates need not
  // know them.
  int64_t gather_excluded(const Stack& stack, const StackBlock& block, double* values) {
    const auto& stride = layer_.stride();
    double hold = values[-1];
    int64_t ordinary = 0;
    visit_segments(stack, block, [&](const StackSegment<const T*>& segment) {
      const Extents& at = segment.at;
      double* row = values + at[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
      const int64_t first = segment.number;
      for (int64_t x = 0; x < segment.cells; ++x) {
        auto& held = cells_.held[static_cast<size_t>(first + x)];
        if (segment.left_out != nullptr && segment.left_out[x] != 0) {
          held = Held::left_out;
          row[x] = hold;
          continue;
        }
        const T value = segment.first[x * segment.stride];
        held = is_special(value) ? Held::special : Held::ordinary;
        cells_.bits[static_cast<size_t>(first + x)] = portable::bits(value);
        if (held == Held::ordinary) {
          hold = static_cast<double>(value);
          ++ordinary;
        }
        row[x] = hold;
      }
    });
    return ordinary;
  }

  // Regression coefficients when regression promises fewer bits. SZ2 compares the mean errors of both, with
  // the noise added to Lorenzo's; in blocks of 4^3 cells the bits of the coefficients count as well.
  std::optional<RegressionCode> choose(const Stack& stack, const StackBlock& block, int64_t ordinary,
                                       double* values, const RegressionSteps& steps) {
    const auto coded = static_cast<double>(ordinary);
    double lorenzo = 0;
    with_dims(stack.dims, [&]<int dims>() { lorenzo = mean_error<dims, false>(block, values, {}); });
    // What quantization adds to a Lorenzo prediction, on average and in steps: the 0.5, 0.81, 1.22 and 1.79
    // bounds of SZ, of which six tenths remain where residuals are small and errors alike.
    constexpr std::array<double, max_frame_dims> noise{0.15, 0.243, 0.366, 0.537};
    const double added = noise[stack.slowest()];
    const double lorenzo_bits = coded * residual_bits(std::sqrt(lorenzo * lorenzo + added * added));
    double coefficient_bits = mean_bits_of_coefficient;
    for (const int64_t n : block.size) coefficient_bits += n > 1 ? mean_bits_of_coefficient : 0;
    if (!(coefficient_bits < lorenzo_bits)) return {};

    const auto code = fit_regression(values, layer_.stride(), block.size, steps, dequantizer_.center);
    if (!code) return {};
    const RegressionPlane plane = regression_plane(*code, steps, dequantizer_.center);
    const double regression_bits =
        coefficient_bits + coded * residual_bits(mean_error<1, true>(block, values, plane));
    if (!(regression_bits < lorenzo_bits)) return {};
    return code;
  }

  // The mean magnitude, in steps, by which predictions from the originals are off in half the rows.
  template <int dims, bool regression>
  double mean_error(const StackBlock& block, double* values, const RegressionPlane& plane) const {
    double error = 0;
    int64_t cells = 0;
    visit_rows_of_block<dims, regression, Rows::every_other>(
        values, layer_.stride(), block, plane, [&](const double* row, const double* guide, int64_t) {
          for (int64_t x = 0; x < block.size[0]; ++x) {
            error += std::abs((regression ? row[x] : row[x] - row[x - 1]) - guide[x]);
          }
          cells += block.size[0];
          return true;
        });
    return error * inverse_step_ / static_cast<double>(cells);
  }

  template <int dims, bool regression, bool masked>
  void code_block(const StackBlock& block, double* values, const RegressionPlane& plane) {
    const int64_t width = block.size[0];
    uint8_t* symbol = symbols_.data() + symbol_total_;
    uint64_t held = held_;
    visit_rows_of_block<dims, regression, Rows::all>(
        values, layer_.stride(), block, plane, [&](double* row, const double* guide, int64_t number) {
          double before = row[-1];
          for (int64_t x = 0; x < width; ++x) {
            const double prediction = regression ? guide[x] : before + guide[x];
            const auto cell = static_cast<size_t>(number * width + x);
            if (masked && cells_.held[cell] != Held::ordinary) {
              before = dequantizer_.stand_in(prediction);
              if (cells_.held[cell] == Held::special) add_special(held++, cells_.bits[cell], true, before);
              row[x] = before;
              continue;
            }
            const double value = row[x];
            const double scaled = (value - prediction) * inverse_step_;
            const double quant_code = nearest(scaled);
            const double restored = dequantizer_.value(prediction, quant_code);
            const double error = std::abs(restored - value);
            if (error <= tolerance_ && std::abs(quant_code) < quant_codes_end) {
              max_error_ = std::max(max_error_, error);
              const auto whole = static_cast<int32_t>(quant_code);
              const auto shifted = static_cast<uint32_t>(whole + symbol_zero);
              if (shifted - 1 < symbol_count - 1) {
                *symbol++ = static_cast<uint8_t>(shifted);
              } else {
                *symbol++ = symbol_escape;
                escapes_.push_back(whole);
              }
              before = restored;
            } else {
              before = dequantizer_.stand_in(prediction);
              add_special(held, portable::bits(static_cast<T>(value)), false, before);
            }
            ++held;
            row[x] = before;
          }
          return true;
        });
    symbol_total_ = static_cast<size_t>(symbol - symbols_.data());
    held_ = held;
  }

  // A listed finite value is at hand where the decoder predicts: it stands for itself.
  void add_special(uint64_t position, uint64_t bits, bool repeats, double& stand_in) {
    const size_t listed = specials_.listed.size();
    specials_.add(position, bits, repeats);
    ++(repeats ? special_cells_ : exact_cells_);
    if (specials_.listed.size() == listed) return;
    const T value = value_of_bits<T>(bits);
    if (std::isfinite(value)) stand_in = static_cast<double>(value);
  }

  SectionDraft finish() {
    SectionDraft draft;
    draft.codec = Codec::lorenzo_regression;
    draft.report.special_cells = special_cells_;
    draft.report.exact_cells = exact_cells_;
    draft.report.max_abs_error = max_error_;
    symbols_.resize(symbol_total_);
    draft.symbols = std::move(symbols_);

    uint8_t flags = spec_.tuning.merge_units ? flag_merged : 0;
    if (!specials_.runs.empty()) flags |= flag_specials;
    const bool has_runs = settle_symbols(draft, escapes_);
    if (has_runs) flags |= zero_runs_flag;
    ByteWriter before(draft.before);
    before.put(flags);
    before.put(static_cast<uint8_t>(spec_.tuning.block_cells));
    if ((flags & flag_specials) != 0) write_special_values(specials_, sizeof(T), before);
    Bytes modes((modes_.size() + 7) / 8);
    for (size_t b = 0; b < modes_.size(); ++b) modes[b / 8] |= static_cast<std::byte>(modes_[b] << (b % 8));
    write_packed(modes, before);
    write_escapes(bases_.differences, before);
    if (!means_.differences.empty()) {
      write_escapes(means_.differences, before);
      for (const DifferenceList& slopes : slopes_) write_escapes(slopes.differences, before);
    }
    if (has_runs) before.put_varint(draft.symbols.size());

    ByteWriter after(draft.after);
    write_escapes(escapes_, after);
    return draft;
  }

  const SectionSource<T>& source_;
  const ComponentSpec& spec_;
  ValueRules<T> rules_;
  double tolerance_;
  Dequantizer<T> dequantizer_{};
  double inverse_step_ = 0;
  BlockLayer layer_;
  BlockCells cells_;
  DifferenceList bases_;
  DifferenceList means_;
  std::array<DifferenceList, max_frame_dims> slopes_;
  std::vector<uint8_t> modes_;
  Symbols symbols_;
  size_t symbol_total_ = 0;
  std::vector<int32_t> escapes_;
  SpecialValues specials_;
  uint64_t held_ = 0;
  uint64_t special_cells_ = 0;
  uint64_t exact_cells_ = 0;
  double max_error_ = 0;
};

// Takes the values of a DifferenceList one by one.
class DifferenceReader {
 public:
  std::vector<int32_t> differences;

  // False when there is none left.
  bool next() {
    if (at_ == differences.size()) return false;
    value_ = static_cast<int32_t>(static_cast<uint32_t>(value_) + static_cast<uint32_t>(differences[at_++]));
    return true;
  }
  int32_t value() const { return value_; }

 private:
  size_t at_ = 0;
  int32_t value_ = 0;
};

// What a section holds, read and checked; what is left is arithmetic.
struct StoredSection {
  int side = 0;
  SpecialValues specials;
  Bytes modes;
  DifferenceReader bases;
  DifferenceReader means;
  std::array<DifferenceReader, max_frame_dims> slopes;
  Symbols symbols;
  std::vector<int32_t> escapes;
};

template <class T>
uint64_t count_blocks(const std::vector<RectStack<T*>>& stacks, int forced_side) {
  uint64_t sum = 0;
  for (const auto& stack : stacks) {
    const int64_t side = prediction_side(forced_side, stack.dims, stack.unit);
    int64_t blocks = 1;
    for (const int64_t n : stack.size) blocks *= (n + side - 1) / side;
    sum += static_cast<uint64_t>(blocks);
  }
  return sum;
}

template <class T>
class Decoder {
 public:
  Decoder(const ComponentInfo& info, const SectionTarget<T>& target)
      : target_(target), dequantizer_{info.center, info.step} {}

  Status run(ByteSpan bytes, const CodebookTable& shared) {
    NEVE_TRY(read_stored_section(bytes, shared));
    SpecialCursor cursor(s_.specials);
    cursor_ = &cursor;
    Status status;
    for (const auto& stack : stacks_) {
      if (decode_stack(stack)) continue;
      status = corrupt("lorenzo_regression section: fewer coefficients or escapes than its blocks use");
      break;
    }
    recycle_symbols(std::move(s_.symbols));
    return status;
  }

 private:
  using Stack = RectStack<T*>;

  Status read_stored_section(ByteSpan bytes, const CodebookTable& shared) {
    ByteReader in(bytes);
    const auto flags = in.get<uint8_t>();
    s_.side = in.get<uint8_t>();
    if (in.failed()) return corrupt("lorenzo_regression section: ends inside its first fields");
    const std::optional<Zeros> zeros = zeros_of(flags);
    if ((flags & ~known_flags) != 0 || !zeros) {
      return corrupt(fmt::format("lorenzo_regression section: unknown flags 0x{:02x}", flags));
    }
    if (s_.side != 0 && s_.side != 4 && s_.side != 6) {
      return corrupt(fmt::format("lorenzo_regression section: block side {}, must be 0, 4 or 6", s_.side));
    }
    stacks_ = make_stacks(target_.rects, (flags & flag_merged) != 0);
    const uint64_t held = target_.held;
    if ((flags & flag_specials) != 0) {
      NEVE_ASSIGN(s_.specials, read_special_values(in, sizeof(T), held));
    }
    const uint64_t blocks = count_blocks(stacks_, s_.side);
    NEVE_ASSIGN(s_.modes, read_packed(in, (blocks + 7) / 8));
    if (s_.modes.size() != (blocks + 7) / 8) {
      return corrupt(fmt::format("lorenzo_regression section: {} bytes of modes for {} blocks",
                                 s_.modes.size(), blocks));
    }
    NEVE_ASSIGN(s_.bases.differences, read_escapes(in, stacks_.size()));
    const bool has_regression =
        std::any_of(s_.modes.begin(), s_.modes.end(), [](std::byte b) { return b != std::byte{0}; });
    if (has_regression) {
      NEVE_ASSIGN(s_.means.differences, read_escapes(in, blocks));
      for (DifferenceReader& slopes : s_.slopes) {
        NEVE_ASSIGN(slopes.differences, read_escapes(in, blocks));
      }
    }
    const uint64_t ordinary = held - s_.specials.count();
    NEVE_ASSIGN(s_.symbols, read_symbols(in, shared, *zeros, ordinary));
    NEVE_ASSIGN(s_.escapes, read_escapes(in, ordinary));
    if (in.failed() || in.remaining() != 0) {
      return corrupt(fmt::format("lorenzo_regression section: {} bytes left over", in.remaining()));
    }
    return {};
  }

  // False: the section does not hold what the blocks need.
  bool decode_stack(const Stack& stack) {
    const int64_t side = prediction_side(s_.side, stack.dims, stack.unit);
    if (!s_.bases.next()) return false;
    // A stack nobody asked for is only counted: what comes behind it does not depend on its values.
    const bool wanted = std::any_of(stack.rects.begin(), stack.rects.end(),
                                    [](const RectRows<T*>* rect) { return rect->first != nullptr; });
    layer_.start(stack.size, stack.dims, side, dequantizer_.outside(s_.bases.value()));
    const bool some_left_out = std::any_of(stack.rects.begin(), stack.rects.end(),
                                           [](const RectRows<T*>* rect) { return !rect->left_out.empty(); });
    const RegressionSteps steps(dequantizer_.step, stack.dims, side);
    return visit_blocks(stack, side, layer_, [&](const StackBlock& block) {
      RegressionCode code;
      const bool regression = ((static_cast<unsigned>(s_.modes[block_ / 8]) >> (block_ % 8)) & 1) != 0;
      ++block_;
      if (regression && !read_coefficients(block, code)) return false;
      const bool masked = find_excluded(stack, block, some_left_out);
      if (!wanted) return pass_over();
      const RegressionPlane plane = regression_plane(code, steps, dequantizer_.center);
      double* values = layer_.block(block.at);
      bool enough = true;
      with_dims(stack.dims, [&]<int dims>() {
        if (masked) {
          enough = regression ? decode_block<dims, true, true>(block, values, plane)
                              : decode_block<dims, false, true>(block, values, plane);
        } else {
          enough = regression ? decode_block<dims, true, false>(block, values, plane)
                              : decode_block<dims, false, false>(block, values, plane);
        }
      });
      if (enough) scatter(stack, block, values, masked);
      return enough;
    });
  }

  bool read_coefficients(const StackBlock& block, RegressionCode& code) {
    if (!s_.means.next()) return false;
    code.mean = s_.means.value();
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (block.size[d] == 1) continue;
      if (!s_.slopes[d].next()) return false;
      code.slope[d] = s_.slopes[d].value();
    }
    return true;
  }

  // Works out which cells of the block are left out or special; false: none. Passes their positions.
  bool find_excluded(const Stack& stack, const StackBlock& block, bool some_left_out) {
    const auto cells = static_cast<uint64_t>(block.cells());
    uint64_t special_at = cursor_->next(held_at_);
    ordinary_ = cells;
    if (!some_left_out && special_at >= held_at_ + cells) {
      held_at_ += cells;
      return false;
    }
    visit_segments(stack, block, [&](const StackSegment<T*>& segment) {
      const int64_t first = segment.number;
      for (int64_t x = 0; x < segment.cells; ++x) {
        const auto cell = static_cast<size_t>(first + x);
        cells_.held[cell] = Held::left_out;
        if (segment.left_out == nullptr || segment.left_out[x] == 0) {
          cells_.held[cell] = Held::ordinary;
          if (held_at_ == special_at) {
            cells_.held[cell] = Held::special;
            cells_.bits[cell] = cursor_->bits(held_at_);
            cells_.listed[cell] = cursor_->is_listed();
            special_at = cursor_->next(held_at_ + 1);
          }
          ++held_at_;
        }
        ordinary_ -= cells_.held[cell] == Held::ordinary ? 0 : 1;
      }
    });
    return ordinary_ != cells;
  }

  bool pass_over() {
    const auto first = s_.symbols.begin() + static_cast<ptrdiff_t>(symbol_at_);
    escape_at_ += static_cast<size_t>(
        std::count(first, first + static_cast<ptrdiff_t>(ordinary_), static_cast<uint8_t>(symbol_escape)));
    symbol_at_ += ordinary_;
    return escape_at_ <= s_.escapes.size();
  }

  template <int dims, bool regression, bool masked>
  bool decode_block(const StackBlock& block, double* values, const RegressionPlane& plane) {
    const int64_t width = block.size[0];
    const uint8_t* symbol = s_.symbols.data() + symbol_at_;
    bool enough = true;
    visit_rows_of_block<dims, regression, Rows::all>(
        values, layer_.stride(), block, plane, [&](double* row, const double* guide, int64_t number) {
          double before = row[-1];
          for (int64_t x = 0; x < width; ++x) {
            const double prediction = regression ? guide[x] : before + guide[x];
            const auto cell = static_cast<size_t>(number * width + x);
            if (masked && cells_.held[cell] != Held::ordinary) {
              before = dequantizer_.stand_in(prediction);
              if (cells_.held[cell] == Held::special && cells_.listed[cell]) {
                const T value = value_of_bits<T>(cells_.bits[cell]);
                if (std::isfinite(value)) before = static_cast<double>(value);
              }
            } else {
              int32_t quant_code = *symbol++ - symbol_zero;
              if (quant_code == symbol_escape - symbol_zero) {
                if (escape_at_ == s_.escapes.size()) {
                  enough = false;
                  return false;
                }
                quant_code = s_.escapes[escape_at_++];
              }
              before = dequantizer_.value(prediction, quant_code);
            }
            row[x] = before;
          }
          return true;
        });
    symbol_at_ += ordinary_;
    return enough;
  }

  void scatter(const Stack& stack, const StackBlock& block, const double* values, bool masked) {
    const auto& stride = layer_.stride();
    visit_segments(stack, block, [&](const StackSegment<T*>& segment) {
      if (segment.first == nullptr) return;
      const Extents& at = segment.at;
      const double* row = values + at[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
      const int64_t first = segment.number;
      for (int64_t x = 0; x < segment.cells; ++x) {
        T value = static_cast<T>(row[x]);
        const auto cell = static_cast<size_t>(first + x);
        if (masked && cells_.held[cell] == Held::special) value = value_of_bits<T>(cells_.bits[cell]);
        segment.first[x * segment.stride] = value;
      }
    });
  }

  const SectionTarget<T>& target_;
  Dequantizer<T> dequantizer_;
  StoredSection s_;
  std::vector<Stack> stacks_;
  SpecialCursor* cursor_ = nullptr;
  BlockLayer layer_;
  BlockCells cells_;
  uint64_t ordinary_ = 0;  // of the block at hand
  uint64_t block_ = 0;
  uint64_t held_at_ = 0;
  size_t symbol_at_ = 0;
  size_t escape_at_ = 0;
};

}  // namespace

template <class T>
SectionDraft draft_lorenzo_regression(const SectionSource<T>& source, const ComponentSpec& spec) {
  return Encoder<T>(source, spec).run();
}

template <class T>
Status decode_lorenzo_regression(ByteSpan bytes, const ComponentInfo& info, const CodebookTable& shared,
                                 const SectionTarget<T>& target) {
  NEVE_TRY(usable_grid<T>(info, codec_name(Codec::lorenzo_regression)).status());
  return Decoder<T>(info, target).run(bytes, shared);
}

template SectionDraft draft_lorenzo_regression<float>(const SectionSource<float>&, const ComponentSpec&);
template SectionDraft draft_lorenzo_regression<double>(const SectionSource<double>&, const ComponentSpec&);
template Status decode_lorenzo_regression<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                                 const SectionTarget<float>&);
template Status decode_lorenzo_regression<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                                  const SectionTarget<double>&);

}  // namespace neve
