// SPDX-License-Identifier: BSD-3-Clause
// Every instruction set gives the bytes of the portable kernels.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/targets.hpp"
#include "kernels/word_kernels.hpp"
#include "tests/unit/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

template <class T>
std::vector<T> hard_values(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(n);
  for (T& v : values) {
    const int64_t kind = random.below(8);
    if (kind == 0) {
      v = test::special_values<T>()[static_cast<size_t>(
          random.below(static_cast<int64_t>(test::special_values<T>().size())))];
    } else if (kind == 1) {
      v = static_cast<T>(static_cast<double>(random.below(2001) - 1000) * 0.01);  // near halves of steps
    } else {
      v = static_cast<T>((random.uniform() - 0.5) * 20);
    }
  }
  return values;
}

template <class T>
void compare_quantize() {
  for (const Kernels* table : supported_kernels()) {
    for (const size_t n : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{31}, size_t{1000}}) {
      for (const bool has_fill : {false, true}) {
        for (const T center : {T{0}, T(3.25)}) {
          const auto values = hard_values<T>(n, n);
          const Quantizer<T> q{17, center, T(0.02), 1 / T(0.02), T(0.00999), T(-999), has_fill};
          std::vector<int32_t> expected(n), found(n);
          QuantizeStats<T> expected_stats, found_stats;
          std::vector<T> expected_values(n), found_values(n);
          T expected_range[2], found_range[2];
          const auto run = [&](const Kernels& k, int32_t* quanta, QuantizeStats<T>& stats, T* back,
                               T* range) {
            if constexpr (sizeof(T) == 4) {
              k.quantize_f32(values.data(), n, q, quanta, stats);
              k.dequantize_f32(quanta, n, 17, center, q.step, back);
              k.range_f32(values.data(), n, has_fill, q.fill, range, range + 1);
            } else {
              k.quantize_f64(values.data(), n, q, quanta, stats);
              k.dequantize_f64(quanta, n, 17, center, q.step, back);
              k.range_f64(values.data(), n, has_fill, q.fill, range, range + 1);
            }
          };
          run(portable_kernels(), expected.data(), expected_stats, expected_values.data(), expected_range);
          run(*table, found.data(), found_stats, found_values.data(), found_range);
          EXPECT_EQ(expected, found) << table->name << " n=" << n;
          EXPECT_EQ(expected_values, found_values) << table->name;
          EXPECT_EQ(expected_stats.rejected, found_stats.rejected) << table->name;
          EXPECT_EQ(expected_stats.max_error, found_stats.max_error) << table->name;
          EXPECT_EQ(expected_range[0], found_range[0]) << table->name;
          EXPECT_EQ(expected_range[1], found_range[1]) << table->name;
        }
      }
    }
  }
}

TEST(Kernels, QuantizeLikePortable) {
  compare_quantize<float>();
  compare_quantize<double>();
}

TEST(Kernels, PredictAndUnpredictLikePortableAndInverse) {
  Random random(5);
  for (const Kernels* table : supported_kernels()) {
    for (const size_t n : {size_t{1}, size_t{3}, size_t{8}, size_t{17}, size_t{300}}) {
      std::vector<std::vector<int32_t>> rows(8, std::vector<int32_t>(n + 2 * row_padding));
      for (auto& row : rows) {
        for (size_t i = row_padding; i < row_padding + n; ++i) row[i] = static_cast<int32_t>(random.next());
      }
      for (const uint8_t count : {uint8_t{0}, uint8_t{1}, uint8_t{3}, uint8_t{7}}) {
        for (const bool along_x : {false, true}) {
          NeighbourRows around{};
          around.count = count;
          for (size_t r = 0; r < count; ++r) around.rows[r] = rows[r + 1].data() + row_padding;
          const int32_t* quanta = rows[0].data() + row_padding;
          std::vector<int32_t> expected(n + row_padding), found(n + row_padding), back(n + 2 * row_padding);
          portable_kernels().predict(quanta, around, along_x, n, expected.data());
          table->predict(quanta, around, along_x, n, found.data());
          table->unpredict(found.data(), around, along_x, n, back.data() + row_padding);
          for (size_t i = 0; i < n; ++i) {
            ASSERT_EQ(expected[i], found[i]) << table->name << " count " << int{count} << " i " << i;
            ASSERT_EQ(quanta[i], back[row_padding + i])
                << table->name << " count " << int{count} << " i " << i;
          }
        }
      }
    }
  }
}

TEST(Kernels, PackAndUnpackLikePortableAndInverse) {
  Random random(6);
  for (const Kernels* table : supported_kernels()) {
    for (const int shift : {0, 1, 9, 24}) {
      for (const size_t n : {size_t{1}, size_t{8}, size_t{100}, size_t{4096}}) {
        std::vector<int32_t> residuals(n + row_padding);
        for (auto& r : residuals) {
          r = static_cast<int32_t>(random.next()) >> random.below(32);
          r = static_cast<int32_t>(static_cast<uint32_t>(r) >> shift << shift);
        }
        std::vector<uint8_t> expected(n + row_padding), found(n + row_padding);
        std::vector<int32_t> expected_escapes(n + row_padding), found_escapes(n + row_padding),
            back(n + row_padding);
        const size_t expected_used =
            portable_kernels().pack(residuals.data(), n, shift, expected.data(), expected_escapes.data());
        const size_t used = table->pack(residuals.data(), n, shift, found.data(), found_escapes.data());
        ASSERT_EQ(expected_used, used) << table->name;
        ASSERT_TRUE(
            std::equal(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(n), found.begin()));
        ASSERT_TRUE(std::equal(expected_escapes.begin(),
                               expected_escapes.begin() + static_cast<ptrdiff_t>(used),
                               found_escapes.begin()));
        const auto escapes = std::span<const int32_t>(found_escapes).first(used);
        ASSERT_EQ(used, table->unpack(found.data(), n, shift, escapes, back.data())) << table->name;
        ASSERT_TRUE(
            std::equal(residuals.begin(), residuals.begin() + static_cast<ptrdiff_t>(n), back.begin()));
        if (used > 0) {
          EXPECT_EQ(SIZE_MAX, table->unpack(found.data(), n, shift, escapes.first(used - 1), back.data()))
              << table->name;
        }
      }
    }
  }
}

TEST(Kernels, PackWideAndUnpackWideLikePortable) {
  Random random(8);
  for (const Kernels* table : supported_kernels()) {
    for (const size_t n : {size_t{1}, size_t{8}, size_t{100}, size_t{4096}}) {
      std::vector<int32_t> residuals(n + row_padding), back(n + row_padding);
      for (auto& r : residuals) r = static_cast<int32_t>(random.next()) >> random.below(32);
      residuals[0] = 511;
      residuals[n / 2] = -512;
      std::vector<uint16_t> expected(n + row_padding), found(n + row_padding);
      const size_t escapes = portable_kernels().pack_wide(residuals.data(), n, expected.data());
      EXPECT_EQ(escapes, table->pack_wide(residuals.data(), n, found.data())) << table->name;
      expected.resize(n);
      found.resize(n);
      EXPECT_EQ(expected, found) << table->name;
      EXPECT_EQ(static_cast<ptrdiff_t>(escapes),
                std::count(expected.begin(), expected.end(), wide_symbol_escape));
      found.resize(n + row_padding);
      EXPECT_EQ(escapes, table->unpack_wide(found.data(), n, back.data())) << table->name;
      for (size_t i = 0; i < n; ++i) {
        if (found[i] != wide_symbol_escape) {
          ASSERT_EQ(residuals[i], back[i]) << table->name;
        }
      }
    }
  }
}

template <class U>
std::vector<U> hard_words(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<U> words(n);
  for (U& word : words) {
    word = static_cast<U>(random.next()) >> random.below(static_cast<int64_t>(8 * sizeof(U)));
    const int64_t kind = random.below(8);
    if (kind == 0) word = U{1} << random.below(static_cast<int64_t>(8 * sizeof(U)));  // a new length begins
    if (kind == 1) word = (U{2} << random.below(static_cast<int64_t>(8 * sizeof(U)))) - 1;
    if (kind == 2) word = static_cast<U>(random.below(5));
    if (kind == 3) word = ~word;
  }
  return words;
}

template <class U>
void compare_words(const WordKernels<U>& expected, const WordKernels<U>& found, const char* name) {
  for (const size_t n : {size_t{1}, size_t{2}, size_t{7}, size_t{16}, size_t{33}, size_t{1000}}) {
    SCOPED_TRACE(std::string(name) + ", " + std::to_string(n) + " words");
    const auto words = hard_words<U>(n + 1, n);
    const U* const own = words.data() + 1;  // the word before is read by fold_steps
    const auto same = [&](auto element, const auto& run) {
      std::vector<decltype(element)> a(n), b(n);
      run(expected, a.data());
      run(found, b.data());
      EXPECT_EQ(a, b);
      return b;
    };
    const auto ordered = same(U{}, [&](const auto& k, U* out) { k.order(own, n, out); });
    std::vector<U> back(ordered);
    found.unorder(back.data(), n, back.data());
    EXPECT_TRUE(std::equal(back.begin(), back.end(), own));
    std::vector<std::vector<U>> rows;
    std::array<const U*, 7> around{};
    for (size_t r = 0; r < around.size(); ++r) rows.push_back(hard_words<U>(n, 100 + r));
    for (size_t r = 0; r < around.size(); ++r) around[r] = rows[r].data();
    for (const size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{7}})
      same(U{}, [&](const auto& k, U* out) { k.differ(own, around.data(), count, n, out); });
    same(U{}, [&](const auto& k, U* out) { k.fold(own, n, out); });
    same(U{}, [&](const auto& k, U* out) { k.fold_steps(own, n, out); });
    same(uint32_t{}, [&](const auto& k, uint32_t* out) { k.hash(own, n, out); });
    const auto symbols = same(uint8_t{}, [&](const auto& k, uint8_t* out) { k.classify(own, n, out); });
    for (size_t i = 0; i < n; ++i) {
      const int length = std::bit_width(own[i]);
      const U symbol = length <= 2 ? own[i] : U(4 * (length - 2)) + ((own[i] >> (length - 3)) & 3);
      ASSERT_EQ(symbols[i], symbol) << own[i];
    }
  }
}

TEST(Kernels, WordsLikePortable) {
  for (const Kernels* table : supported_kernels()) {
    compare_words<uint32_t>(*portable_kernels().words_u32, *table->words_u32, table->name);
    compare_words<uint64_t>(*portable_kernels().words_u64, *table->words_u64, table->name);
  }
}

}  // namespace
}  // namespace neve
