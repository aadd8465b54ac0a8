// SPDX-License-Identifier: BSD-3-Clause
// Rows from values to symbols and back: every instruction set does what the steps one after the other do.
#include "core/kernels/row_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/kernels/portable.hpp"
#include "core/kernels/targets.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

// What a row holds beside values near the line.
enum class Content { near, far, special };

constexpr size_t block_rows = 3;

// Rows of a plane, and the planes of quantization codes that predict them.
template <class T>
struct Rows {
  size_t width;
  ptrdiff_t code_stride, value_stride;
  Quantizer<T> quantizer{};
  std::vector<T> values;
  std::vector<std::vector<int32_t>> before;
  NeighbourRows around{};
  std::array<ptrdiff_t, 7> around_strides{};
  RowBlock<const T> block;

  Rows(size_t n, uint8_t count, bool along_x, Content content, bool has_center)
      : width(n),
        code_stride(static_cast<ptrdiff_t>(n + 2 * row_padding)),
        value_stride(static_cast<ptrdiff_t>(n + 5)) {
    Random random(n + count);
    const T center = has_center ? T(5.5) : T{0};
    quantizer = {has_center ? 3 : 0, center, T(0.05), 1 / T(0.05), T(0.0251), T(-9), has_center};
    values.resize(static_cast<size_t>(value_stride) * block_rows);
    for (T& v : values) v = center + static_cast<T>((random.uniform() - 0.5) * 2);
    T* const last = values.data() + 2 * value_stride;
    if (content != Content::near) values[n / 2] = last[n - 1] = center + T(900);
    if (content == Content::special) last[n - 1] = std::numeric_limits<T>::quiet_NaN();
    if (content == Content::special) last[n / 3] = has_center ? T(-9) : -T{0};
    block.values = values.data();
    block.value_stride = value_stride;
    block.width = n;
    block.rows = block_rows;
    block.code_stride = code_stride;
    block.along_x = along_x;
    around.count = count;
    block.around = &around;
    block.around_strides = &around_strides;
    for (size_t r = 0; r < count; ++r) {
      before.emplace_back(static_cast<size_t>(code_stride) * block_rows);
      for (int32_t& q : before.back()) q = static_cast<int32_t>(random.below(30)) - 15;
      around.rows[r] = before.back().data() + row_padding;
      around_strides[r] = r % 2 == 0 ? code_stride : 0;
    }
  }
  Rows(const Rows&) = delete;  // `block` points into it
  Rows& operator=(const Rows&) = delete;

  std::vector<int32_t> codes() const {
    return std::vector<int32_t>(static_cast<size_t>(code_stride) * block_rows, 17);
  }
};

// What lies between rows is padding.
std::vector<int32_t> without_padding(const std::vector<int32_t>& codes, size_t width, size_t rows) {
  std::vector<int32_t> held;
  for (size_t r = 0; r < rows; ++r) {
    const auto begin = codes.begin() + static_cast<ptrdiff_t>(r * (width + 2 * row_padding) + row_padding);
    held.insert(held.end(), begin, begin + static_cast<ptrdiff_t>(width));
  }
  return held;
}

template <class Symbol>
struct Coded {
  std::vector<int32_t> quant_codes;
  std::vector<Symbol> symbols;
  std::vector<int32_t> escapes;
  double max_error = 0;
  size_t rejected = 0;
  size_t done = 0;
};

template <class T, class Symbol>
Coded<Symbol> code(const RowKernels<T, Symbol>& k, const Rows<T>& rows) {
  Coded<Symbol> c;
  std::vector<int32_t> codes = rows.codes();
  const size_t values = block_rows * rows.width;
  c.symbols.assign(values + row_padding, 0);
  c.escapes.assign(values + row_padding, 0);
  RowBlock<const T> block = rows.block;
  block.quant_codes = codes.data() + row_padding;
  QuantizeStats<T> stats;
  size_t escapes = 0;
  c.done = k.code(block, rows.quantizer, c.symbols.data(), c.escapes.data(), escapes, stats);
  c.symbols.resize(c.done * rows.width);
  c.escapes.resize(escapes);
  c.quant_codes = without_padding(codes, rows.width, std::min(c.done + 1, block_rows));
  c.max_error = static_cast<double>(stats.max_error);
  c.rejected = stats.rejected;
  return c;
}

template <class T, class Symbol>
void compare_restored(const RowKernels<T, Symbol>& k, const Rows<T>& rows, const Coded<Symbol>& coded) {
  std::vector<Symbol> symbols = coded.symbols;
  symbols.resize(symbols.size() + row_padding, Symbol{0});  // an escape behind the last row is none of it
  std::vector<int32_t> codes = rows.codes();
  std::vector<T> back(rows.values.size(), T(-77));
  RowBlock<T> block;
  block.values = back.data();
  block.value_stride = rows.value_stride;
  block.width = rows.width;
  block.rows = block_rows;
  block.quant_codes = codes.data() + row_padding;
  block.code_stride = rows.code_stride;
  block.around = rows.block.around;
  block.around_strides = rows.block.around_strides;
  block.along_x = rows.block.along_x;
  const Quantizer<T>& q = rows.quantizer;
  EscapeList escapes{coded.escapes.data(), coded.escapes.data() + coded.escapes.size()};
  ASSERT_EQ(k.restore(block, {q.origin, q.center, q.step}, symbols.data(), escapes), block_rows);
  EXPECT_EQ(escapes.next, escapes.end);
  EXPECT_EQ(without_padding(codes, rows.width, block_rows), coded.quant_codes);
  for (size_t r = 0; r < block_rows; ++r) {
    const T* const row = back.data() + static_cast<ptrdiff_t>(r) * rows.value_stride;
    for (size_t x = 0; x < rows.width; ++x) {
      const int32_t quant_code = coded.quant_codes[r * rows.width + x];
      ASSERT_EQ(row[x], portable::dequantize_one(quant_code, q.origin, q.center, q.step)) << r << ' ' << x;
    }
    if (r + 1 < block_rows) {
      EXPECT_EQ(row[rows.width], T(-77));
    }
  }
  if (coded.escapes.empty()) return;
  EscapeList too_few{coded.escapes.data(), coded.escapes.data() + coded.escapes.size() - 1};
  EXPECT_EQ(k.restore(block, {q.origin, q.center, q.step}, symbols.data(), too_few), block_rows - 1);
}

template <class T, class Symbol>
void compare_block(const Kernels& table, const Rows<T>& rows, Content content) {
  const Coded<Symbol> expected = code(portable_row_kernels().of<T, Symbol>(), rows);
  const RowKernels<T, Symbol>& kernels = table.rows->of<T, Symbol>();
  const Coded<Symbol> found = code(kernels, rows);
  EXPECT_EQ(found.done, content == Content::special ? block_rows - 1 : block_rows);
  EXPECT_EQ(expected.done, found.done);
  EXPECT_EQ(expected.quant_codes, found.quant_codes);
  EXPECT_EQ(expected.rejected, found.rejected);
  EXPECT_EQ(content == Content::special, found.rejected > 0);
  EXPECT_EQ(expected.max_error, found.max_error);
  EXPECT_EQ(expected.symbols, found.symbols);
  EXPECT_EQ(expected.escapes, found.escapes);
  EXPECT_EQ(content != Content::near, !found.escapes.empty());
  if (content != Content::special) compare_restored(kernels, rows, found);
}

template <class T, class Symbol>
void compare_blocks(bool has_center) {
  for (const Kernels* table : supported_kernels()) {
    for (const size_t n : {size_t{1}, size_t{3}, size_t{7}, size_t{8}, size_t{16}, size_t{29}, size_t{48},
                           size_t{256}, size_t{1000}}) {
      for (const uint8_t count : {uint8_t{0}, uint8_t{1}, uint8_t{3}, uint8_t{7}}) {
        for (const bool along_x : {false, true}) {
          for (const Content content : {Content::near, Content::far, Content::special}) {
            SCOPED_TRACE(std::string(table->name) + " n=" + std::to_string(n) + " rows " +
                         std::to_string(count) + (along_x ? " along x" : "") + " content " +
                         std::to_string(static_cast<int>(content)));
            compare_block<T, Symbol>(*table, Rows<T>(n, count, along_x, content, has_center), content);
          }
        }
      }
    }
  }
}

TEST(RowKernels, OfFramesLikePortable) {
  compare_blocks<float, uint8_t>(true);
  compare_blocks<double, uint8_t>(true);
}

TEST(RowKernels, OfStreamsLikePortable) {
  compare_blocks<float, uint16_t>(false);
  compare_blocks<double, uint16_t>(false);
}

}  // namespace
}  // namespace neve
