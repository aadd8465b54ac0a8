// SPDX-License-Identifier: BSD-3-Clause
// The decision unit chooses as stream::Codebooks, chunk after chunk, under every rule; the offline tables
// hold the offline codebooks.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "Vcodebook_choice.h"
#include "Voffline_entries.h"
#include "core/stream/codebook_choice.hpp"
#include "tests/rtl/clocked.hpp"

namespace {

using neve::CodebookKind;
using neve::CodebookRule;
using neve::stream::Codebook;
using neve::stream::CodebookChoice;
using neve::stream::Codebooks;
using neve::stream::SymbolCounts;

constexpr int max_cycles = 5400;
constexpr uint32_t not_open = UINT32_MAX;
constexpr double fixed_point = 1 << 16;
constexpr double chi_keep = 5.18;
constexpr double chi_offline = 9.69;

class Unit {
 public:
  explicit Unit(CodebookRule rule) : dut_(1) {
    dut_->rst = 1;
    dut_->start = 0;
    dut_.tick();
    dut_->rst = 0;
    dut_->rule = static_cast<uint8_t>(rule);
    dut_->chi_keep = static_cast<uint32_t>(std::lround(chi_keep * fixed_point));
    dut_->chi_offline = static_cast<uint32_t>(std::lround(chi_offline * fixed_point));
  }

  // False when it does not end in time.
  bool choose(const SymbolCounts& counts, const Codebook* kept, const Codebook* rebuilt) {
    dut_->has_kept = kept != nullptr ? 1 : 0;
    dut_->has_rebuilt = rebuilt != nullptr ? 1 : 0;
    dut_->rebuilt_bytes = static_cast<uint16_t>(rebuilt != nullptr ? neve::stream::codebook_bytes(*rebuilt)
                                                                   : random_() & 0xffff);
    dut_->start = 1;
    for (int cycle = 0; cycle < max_cycles; ++cycle) {
      dut_.settle();
      const uint32_t asked = dut_->count_addr;
      dut_.tick();
      dut_->start = 0;
      dut_->count_data = counts[asked];
      // Where there is no codebook its lengths may be anything.
      dut_->kept_length = kept != nullptr ? kept->length[asked] : random_() % 32;
      dut_->rebuilt_length = rebuilt != nullptr ? rebuilt->length[asked] : random_() % 32;
      if (dut_->done != 0) return true;
    }
    return false;
  }
  Vcodebook_choice* operator->() { return dut_.operator->(); }

 private:
  neve::rtl::Clocked<Vcodebook_choice> dut_;
  std::mt19937 random_{5};
};

// Residuals of a field that changes its mind from chunk to chunk, sometimes a little and sometimes all of it.
class Field {
 public:
  explicit Field(unsigned seed) : random_(seed) {}

  SymbolCounts next() {
    const unsigned change = random_() % 6;
    if (change == 0) width_ = std::exp(std::uniform_real_distribution<>(-2, 5)(random_));
    if (change < 3) width_ *= std::uniform_real_distribution<>(0.8, 1.25)(random_);
    if (change == 4) total_ = std::exp(std::uniform_real_distribution<>(0, 15)(random_));
    SymbolCounts counts{};
    for (size_t s = 1; s < counts.size(); ++s) {
      const double distance = std::abs(static_cast<double>(s) - 512);
      const double mean = total_ / (1 + 2 * width_) * std::exp(-distance / width_);
      counts[s] = std::poisson_distribution<uint32_t>(mean)(random_);
    }
    if (random_() % 2 == 0) counts[0] = static_cast<uint32_t>(random_() % 1000);
    return counts;
  }

 private:
  std::mt19937 random_;
  double width_ = 3;
  double total_ = 2e5;
};

bool is_near_threshold(double chi) {
  constexpr double resolution = 2 / fixed_point + 1 / fixed_point;
  return std::abs(chi - chi_keep) < resolution || std::abs(chi - chi_offline) < resolution;
}

class Choices : public ::testing::TestWithParam<CodebookRule> {};

TEST_P(Choices, AreThoseOfSoftware) {
  const CodebookRule rule = GetParam();
  std::map<std::pair<CodebookKind, neve::CodebookReason>, int> taken;
  Unit unit(rule);
  for (unsigned stream = 0; stream < 12; ++stream) {
    Codebooks codebooks(rule, chi_keep, chi_offline);
    Field field(stream);
    Codebook in_force;
    bool has_codebook = false;
    for (int chunk = 0; chunk < 30; ++chunk) {
      const SymbolCounts counts = field.next();
      const CodebookChoice expected = codebooks.choose(counts);
      const Codebook built = neve::stream::make_codebook(counts);
      ASSERT_TRUE(unit.choose(counts, has_codebook ? &in_force : nullptr, &built));
      if (rule == CodebookRule::chi && is_near_threshold(expected.chi)) {
        // Sigma of both has moved on; what was chosen need not be the same.
      } else {
        ASSERT_EQ(unit->kind, static_cast<int>(expected.kind)) << "chi " << expected.chi;
      }
      EXPECT_EQ(unit->offline_codebook, expected.offline_codebook);
      EXPECT_EQ(unit->offline_bits, expected.offline_bits);
      const uint64_t kept_bits = has_codebook ? coded_bits(in_force, counts) : UINT64_MAX;
      EXPECT_EQ(unit->kept_bits, std::min<uint64_t>(kept_bits, not_open));
      EXPECT_EQ(unit->rebuilt_bits, expected.rebuilt_bits == 0 ? not_open : expected.rebuilt_bits);
      ++taken[{expected.kind, expected.reason}];
      codebooks.take(expected);
      if (expected.kind == CodebookKind::rebuilt) in_force = built;
      if (expected.kind == CodebookKind::offline)
        in_force = neve::stream::offline_codebooks()[expected.offline_codebook];
      has_codebook = true;
    }
  }
  // Every way that leads to a decision has been gone.
  using Reason = neve::CodebookReason;
  const auto seen = [&](CodebookKind kind, Reason reason) { return taken.count({kind, reason}) > 0; };
  switch (rule) {
    case CodebookRule::always:
      EXPECT_TRUE(seen(CodebookKind::rebuilt, Reason::rule));
      break;
    case CodebookRule::never:
      EXPECT_TRUE(seen(CodebookKind::offline, Reason::first));
      EXPECT_TRUE(seen(CodebookKind::kept, Reason::rule));
      break;
    case CodebookRule::chi:
      EXPECT_TRUE(seen(CodebookKind::offline, Reason::first));
      EXPECT_TRUE(seen(CodebookKind::offline, Reason::large_change));
      EXPECT_TRUE(seen(CodebookKind::kept, Reason::small_change));
      EXPECT_TRUE(seen(CodebookKind::rebuilt, Reason::missing_code));
      EXPECT_TRUE(seen(CodebookKind::rebuilt, Reason::change));
      EXPECT_TRUE(seen(CodebookKind::offline, Reason::change));  // too few symbols
      break;
    case CodebookRule::exact_cost:
      EXPECT_TRUE(seen(CodebookKind::kept, Reason::fewest_bytes));
      EXPECT_TRUE(seen(CodebookKind::rebuilt, Reason::fewest_bytes));
      EXPECT_TRUE(seen(CodebookKind::offline, Reason::fewest_bytes));
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Choices,
                         ::testing::Values(CodebookRule::exact_cost, CodebookRule::chi, CodebookRule::always,
                                           CodebookRule::never),
                         [](const auto& rule) { return std::string(codebook_rule_name(rule.param)); });

TEST(CodebookChoice, NoRebuiltCodebookOnOffer) {
  Field field(99);
  for (const CodebookRule rule : {CodebookRule::exact_cost, CodebookRule::chi, CodebookRule::always}) {
    Unit unit(rule);
    for (int chunk = 0; chunk < 20; ++chunk) {
      ASSERT_TRUE(unit.choose(field.next(), nullptr, nullptr));
      EXPECT_EQ(unit->kind, static_cast<int>(CodebookKind::offline));
      EXPECT_EQ(unit->rebuilt_bits, not_open);
      EXPECT_EQ(unit->kept_bits, not_open);
    }
  }
}

// The first and the last of equal costs.
TEST(CodebookChoice, Ties) {
  Unit unit(CodebookRule::exact_cost);
  SymbolCounts counts{};
  counts[512] = 30'000;
  const Codebook kept = neve::stream::offline_codebooks()[0];
  ASSERT_TRUE(unit.choose(counts, &kept, nullptr));
  EXPECT_EQ(unit->kept_bits, unit->offline_bits);
  EXPECT_EQ(unit->kind, static_cast<int>(CodebookKind::kept));
  EXPECT_EQ(unit->offline_codebook, 0);
  SymbolCounts none{};
  ASSERT_TRUE(unit.choose(none, nullptr, nullptr));
  EXPECT_EQ(unit->offline_bits, 0U);
  EXPECT_EQ(unit->offline_codebook, 0);
}

TEST(OfflineEntries, AreTheOfflineCodebooks) {
  neve::rtl::Clocked<Voffline_entries> dut(1);
  for (size_t b = 0; b < neve::stream::offline_codebooks().size(); ++b) {
    neve::stream::CodeTable codes;
    make_code_table(neve::stream::offline_codebooks()[b], codes);
    for (size_t s = 0; s < neve::wide_symbol_count; ++s) {
      dut->codebook = static_cast<uint8_t>(b);
      dut->symbol = static_cast<uint16_t>(s);
      dut.tick();
      ASSERT_EQ(dut->entry, static_cast<uint32_t>(codes.length[s]) << 16 | codes.code[s]) << b << ' ' << s;
    }
  }
}

}  // namespace
