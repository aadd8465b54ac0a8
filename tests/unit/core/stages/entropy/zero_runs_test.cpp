// SPDX-License-Identifier: BSD-3-Clause
// Runs of zeros as digits: there and back, what they save, and damaged ones.
#include "core/stages/entropy/zero_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "core/stages/entropy/codebook_choice.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

Symbols with_zeros(size_t count, double share, uint64_t seed) {
  test::Random random(seed);
  Symbols symbols(count);
  for (uint8_t& symbol : symbols) {
    symbol =
        random.uniform() < share ? uint8_t{symbol_zero} : static_cast<uint8_t>(random.below(symbol_count));
  }
  return symbols;
}

std::vector<int32_t> escapes_of(const Symbols& symbols) {
  std::vector<int32_t> escapes;
  for (const uint8_t symbol : symbols) {
    if (symbol == symbol_escape) escapes.push_back(static_cast<int32_t>(1000 + escapes.size()));
  }
  return escapes;
}

// The residuals that symbols and escapes stand for.
std::vector<int32_t> residuals_of(std::span<const uint8_t> symbols, std::span<const int32_t> escapes) {
  std::vector<int32_t> residuals;
  for (const uint8_t symbol : symbols) {
    int32_t residual = int32_t{symbol} - symbol_zero;
    if (symbol == symbol_escape) {
      residual = escapes.front();
      escapes = escapes.subspan(1);
    }
    residuals.push_back(residual);
  }
  EXPECT_TRUE(escapes.empty());
  return residuals;
}

void expect_there_and_back(const Symbols& symbols) {
  const std::vector<int32_t> escapes = escapes_of(symbols);
  const auto runs = worthwhile_zero_runs(symbols, escapes);
  if (!runs) return;
  EXPECT_EQ(runs->counts.all, count_symbols(runs->symbols));
  const auto back = restore_zero_runs(runs->symbols, symbols.size());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(residuals_of(std::span(*back).first(symbols.size()), runs->escapes),
            residuals_of(symbols, escapes));
}

TEST(ZeroRuns, ThereAndBack) {
  for (const size_t count : {0, 1, 7, 8, 9, 63, 64, 65, 130, 5000}) {
    for (const double share : {0.0, 0.5, 0.9, 0.99, 1.0})
      expect_there_and_back(with_zeros(count, share, count));
  }
}

TEST(ZeroRuns, EveryLengthOfARun) {
  for (size_t run = 1; run < 1200; ++run) {
    Symbols symbols(run + 2, uint8_t{symbol_zero});
    symbols.front() = 77;
    symbols.back() = 3;  // the symbol of a digit
    expect_there_and_back(symbols);
  }
}

TEST(ZeroRuns, TakeLessThanABitAValue) {
  const Symbols symbols = with_zeros(1 << 16, 0.98, 3);
  const auto runs = worthwhile_zero_runs(symbols, escapes_of(symbols));
  ASSERT_TRUE(runs.has_value());
  EXPECT_LT(coded_bits(make_codebook(runs->counts.all), runs->counts.all), symbols.size() / 2);
}

TEST(ZeroRuns, FewZerosStayAsTheyAre) {
  const Symbols symbols = with_zeros(1 << 12, 0.2, 4);
  EXPECT_FALSE(worthwhile_zero_runs(symbols, escapes_of(symbols)).has_value());
}

TEST(ZeroRuns, ManyZerosInShortRunsStayAsTheyAre) {
  Symbols symbols = with_zeros(1 << 12, 1, 5);
  for (size_t i = 0; i < symbols.size(); i += 3) symbols[i] = 77;  // two in a row, of each length of words
  for (const size_t count : {symbols.size(), symbols.size() - 1, symbols.size() - 5}) {
    const auto some = std::span(symbols).first(count);
    EXPECT_FALSE(worthwhile_zero_runs(some, {}).has_value());
  }
}

TEST(ZeroRuns, DamageIsRefused) {
  const Symbols all_digits(300, uint8_t{last_digit_symbol});  // as long a run as there can be
  EXPECT_FALSE(restore_zero_runs(all_digits, 1 << 21).ok());
  EXPECT_FALSE(restore_zero_runs(Symbols{77}, 0).ok());
  EXPECT_FALSE(restore_zero_runs(Symbols{77}, 2).ok());
  EXPECT_FALSE(restore_zero_runs(Symbols{symbol_zero, 77}, 1).ok());
  EXPECT_FALSE(restore_zero_runs(Symbols{}, 1).ok());
  EXPECT_TRUE(restore_zero_runs(Symbols{}, 0).ok());
}

}  // namespace
}  // namespace neve
