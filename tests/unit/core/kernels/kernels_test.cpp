// SPDX-License-Identifier: BSD-3-Clause
// Every instruction set gives the bytes of the portable kernels.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/kernels/targets.hpp"
#include "core/kernels/word_kernels.hpp"
#include "core/kernels/x86_features.hpp"
#include "tests/support/test_fields.hpp"

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
          const auto run = [&](const Kernels& k, int32_t* quant_codes, QuantizeStats<T>& stats, T* back,
                               T* range) {
            if constexpr (sizeof(T) == 4) {
              k.quantize_f32(values.data(), n, q, quant_codes, stats);
              k.dequantize_f32(quant_codes, n, 17, center, q.step, back);
              k.range_f32(values.data(), n, has_fill, q.fill, range, range + 1);
            } else {
              k.quantize_f64(values.data(), n, q, quant_codes, stats);
              k.dequantize_f64(quant_codes, n, 17, center, q.step, back);
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
          const int32_t* quant_codes = rows[0].data() + row_padding;
          std::vector<int32_t> expected(n + row_padding), found(n + row_padding), back(n + 2 * row_padding);
          portable_kernels().predict(quant_codes, around, along_x, n, expected.data());
          table->predict(quant_codes, around, along_x, n, found.data());
          table->unpredict(found.data(), around, along_x, n, back.data() + row_padding);
          for (size_t i = 0; i < n; ++i) {
            ASSERT_EQ(expected[i], found[i]) << table->name << " count " << int{count} << " i " << i;
            ASSERT_EQ(quant_codes[i], back[row_padding + i])
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

TEST(Kernels, CountsLikePortable) {
  Random random(6);
  for (const int64_t spread : {1, 9, 16, 40, 256}) {
    std::vector<uint8_t> symbols(30000);
    for (uint8_t& s : symbols) s = static_cast<uint8_t>(128 - spread / 2 + random.below(spread));
    for (const Kernels* table : supported_kernels()) {
      for (const size_t n : {size_t{0}, size_t{1}, size_t{63}, size_t{200}, size_t{2048}, symbols.size()}) {
        std::array<uint16_t, 256> expected{}, found{};
        expected[130] = found[130] = 5;  // counts are added to
        size_t outside = 0;
        for (size_t i = 0; i < n; ++i) {
          ++expected[symbols[i]];
          outside += symbols[i] < 120 || symbols[i] >= 136 ? 1 : 0;
        }
        EXPECT_EQ(table->stream->count_near(symbols.data(), n, 120, found.data()), outside) << table->name;
        EXPECT_EQ(found, expected) << table->name << ' ' << n << ' ' << spread;
      }
    }
  }
}

TEST(Kernels, WeightedSumsLikePortable) {
  Random random(5);
  std::array<uint16_t, 256> counts{}, weights{};
  for (uint16_t& count : counts) count = static_cast<uint16_t>(random.below(2049));
  for (uint16_t& weight : weights) weight = static_cast<uint16_t>(random.below(129));
  for (const Kernels* table : supported_kernels()) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{15}, size_t{40}, counts.size()}) {
      uint32_t expected = 0;
      for (size_t s = 0; s < n; ++s) expected += uint32_t{counts[s]} * weights[s];
      EXPECT_EQ(table->stream->weighted_sum(counts.data(), weights.data(), n), expected) << table->name;
    }
  }
}

// Codes of 1 to 12 bits: what the kernel puts is what putting them one after the other does.
template <class Symbol>
void compare_put_narrow(size_t (*put)(const Symbol*, size_t, const NarrowCodes&, BitSink&),
                        const char* name) {
  NarrowCodes codes;
  codes.first = 100;
  Random random(3);
  std::array<uint16_t, NarrowCodes::symbols> code{};
  for (size_t k = 0; k < codes.low.size(); ++k) {
    const auto length = static_cast<unsigned>(1 + k % NarrowCodes::max_bits);
    code[k] = static_cast<uint16_t>(random.next() & ((1U << length) - 1));
    codes.low[k] = static_cast<uint8_t>(code[k]);
    codes.high_and_length[k] = static_cast<uint8_t>(code[k] >> 8 << 4 | length);
  }
  codes.high_and_length[20] = 0;  // has no narrow code
  for (const size_t outside : {size_t{1000}, size_t{0}, size_t{170}}) {
    for (const Symbol stranger : {Symbol{99}, Symbol{164}, Symbol{120}, Symbol{0}, Symbol{255}}) {
      std::vector<Symbol> symbols(1000);
      for (Symbol& s : symbols) {
        do s = static_cast<Symbol>(100 + random.below(64));
        while (s == 120);
      }
      if (outside < symbols.size()) symbols[outside] = stranger;
      std::vector<std::byte> found(4000), expected(4000);
      BitSink sink{5, 3, found.data()};
      const size_t taken = put(symbols.data(), symbols.size(), codes, sink);
      ASSERT_LE(taken, outside) << name;
      std::memcpy(sink.at, &sink.bits, 8);
      uint64_t at = 3;
      expected[0] = std::byte{5};
      for (size_t i = 0; i < taken; ++i) {
        const auto k = static_cast<size_t>(symbols[i] - 100);
        for (unsigned bit = 0; bit < codes.high_and_length[k] % 16U; ++bit, ++at) {
          if ((code[k] >> bit & 1) != 0) expected[at / 8] |= std::byte{1} << at % 8;
        }
      }
      EXPECT_EQ(at, static_cast<uint64_t>(sink.at - found.data()) * 8 + sink.held) << name;
      found.resize(at / 8 + 1);
      expected.resize(at / 8 + 1);
      EXPECT_EQ(expected, found) << name << " taken " << taken;
    }
  }
}

TEST(Kernels, NarrowCodesLikeOneAfterTheOther) {
  for (const Kernels* table : supported_kernels()) {
    compare_put_narrow<uint8_t>(table->stream->put_narrow_u8, table->name);
    compare_put_narrow<uint16_t>(table->stream->put_narrow_u16, table->name);
  }
}

TEST(Kernels, Crc32LikeZlib) {
  std::vector<std::byte> bytes(1000);
  Random random(9);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  const auto* digits = reinterpret_cast<const std::byte*>("123456789");
  for (const Kernels* table : supported_kernels()) {
    EXPECT_EQ(0xcbf43926U, table->stream->crc32(0, digits, 9)) << table->name;
    for (const size_t n : {size_t{0}, size_t{127}, size_t{128}, size_t{129}, size_t{255}, size_t{999}}) {
      for (const uint32_t before : {0U, 0xdeadbeefU}) {
        EXPECT_EQ(portable_stream_kernels().crc32(before, bytes.data() + 1, n),
                  table->stream->crc32(before, bytes.data() + 1, n))
            << table->name << " n=" << n;
      }
    }
  }
}

#if defined(__x86_64__)
// Ours is asked without Highway's run-time library.
TEST(Kernels, InstructionSetsAreThoseThatHighwayFinds) {
  __builtin_cpu_init();
  EXPECT_EQ(can_run_sse4(), (hwy::SupportedTargets() & HWY_SSE4) != 0);
  EXPECT_EQ(can_run_avx2(), (hwy::SupportedTargets() & HWY_AVX2) != 0);
  EXPECT_EQ(can_run_avx3(), (hwy::SupportedTargets() & HWY_AVX3) != 0);
}
#endif

}  // namespace
}  // namespace neve
