// SPDX-License-Identifier: BSD-3-Clause
// The codebook builder gives the codebook that software makes, bit for bit, in time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <tuple>

#include "Vcodebook_builder.h"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/symbol_coder.hpp"
#include "tests/rtl/clocked.hpp"
#include "tests/rtl/public_fields.hpp"

namespace {

using neve::stream::CodeTable;
using neve::stream::SymbolCounts;

constexpr uint32_t highest_count = (1U << 24) - 1;
constexpr size_t symbols = neve::wide_symbol_count;
constexpr int max_cycles = 8000;
constexpr int cycles_before_it_hangs = 100'000;

struct Built {
  CodeTable codes{};
  int entries = 0;
  int cycles = 0;
};

class Builder {
 public:
  Builder() : dut_(1) {
    dut_->rst = 1;
    dut_->start = 0;
    dut_.tick();
    dut_->rst = 0;
  }

  Built build(const SymbolCounts& counts) {
    Built built;
    dut_->start = 1;
    for (; built.cycles < cycles_before_it_hangs; ++built.cycles) {
      dut_.settle();
      const uint32_t asked = dut_->count_addr;
      dut_.tick();
      dut_->count_data = counts[asked];
      dut_->start = 0;
      if (dut_->entry_write != 0) {
        ++built.entries;
        built.codes.length[dut_->entry_addr] = static_cast<uint8_t>(dut_->entry_data >> 16);
        built.codes.code[dut_->entry_addr] = static_cast<uint16_t>(dut_->entry_data & 0xffff);
      }
      if (dut_->done != 0) break;
    }
    return built;
  }

 private:
  neve::rtl::Clocked<Vcodebook_builder> dut_;
};

Built check(Builder& builder, const SymbolCounts& counts) {
  const Built built = builder.build(counts);
  EXPECT_LE(built.cycles, max_cycles);
  EXPECT_EQ(built.entries, static_cast<int>(symbols));
  CodeTable expected;
  make_code_table(neve::stream::make_codebook(counts), expected);
  EXPECT_EQ(built.codes.length, expected.length);
  EXPECT_EQ(built.codes.code, expected.code);
  return built;
}

// Two-sided, as residuals are: `width` steps to 1/e.
SymbolCounts laplace(double width, double total, std::mt19937& random) {
  SymbolCounts counts{};
  for (size_t s = 1; s < symbols; ++s) {
    const double distance = std::abs(static_cast<double>(s) - 512);
    const double mean = total / (2 * width) * std::exp(-distance / width);
    counts[s] =
        std::min<uint32_t>(highest_count, std::poisson_distribution<uint32_t>(std::min(mean, 1e7))(random));
  }
  return counts;
}

TEST(CodebookBuilder, NothingOneAndTwoSymbols) {
  Builder builder;
  check(builder, {});
  for (const size_t s : {size_t{0}, size_t{1}, size_t{512}, size_t{1023}}) {
    for (const uint32_t n : {1U, highest_count}) {
      SymbolCounts counts{};
      counts[s] = n;
      check(builder, counts);
      for (const size_t other : {size_t{0}, size_t{511}, size_t{513}, size_t{700}}) {
        SymbolCounts two = counts;
        two[other] = 5;
        check(builder, two);
      }
    }
  }
}

TEST(CodebookBuilder, AllEqualAndAllHighest) {
  Builder builder;
  for (const uint32_t n : {1U, 2U, 1000U, highest_count}) {
    SymbolCounts counts;
    counts.fill(n);
    check(builder, counts);
    counts[0] = 0;
    check(builder, counts);
    counts[512] = highest_count;
    check(builder, counts);
  }
}

// The deepest trees: lengths have to be cut, and what the cut costs to be found again.
TEST(CodebookBuilder, FibonacciCounts) {
  Builder builder;
  for (const size_t others : {size_t{0}, size_t{1}, size_t{20}, size_t{500}, size_t{980}}) {
    for (const bool both_sides : {false, true}) {
      SymbolCounts counts{};
      for (size_t s = 0; s < others; ++s) counts[1023 - s] = 1;
      uint32_t a = 1;
      uint32_t b = 1;
      for (size_t k = 33; k-- > 0;) {
        const size_t distance = both_sides ? (k + 1) / 2 : k;
        counts[k % 2 == 0 || !both_sides ? 512 + distance : 512 - distance] = a;
        std::tie(a, b) = std::pair{b, a + b};
      }
      check(builder, counts);
      counts[0] = 40;
      check(builder, counts);
    }
  }
}

TEST(CodebookBuilder, EscapeAtEveryRank) {
  Builder builder;
  std::mt19937 random(3);
  for (const uint32_t escapes : {1U, 10U, 300U, 5000U, 100'000U, highest_count}) {
    SymbolCounts counts = laplace(20, 200'000, random);
    counts[0] = escapes;
    check(builder, counts);
  }
}

TEST(CodebookBuilder, Residuals) {
  Builder builder;
  std::mt19937 random(1);
  for (const double width : {0.2, 1.0, 5.0, 30.0, 100.0, 1000.0}) {
    for (const double total : {1e2, 1e4, 1e6, 8e6}) {
      SymbolCounts counts = laplace(width, total, random);
      counts[0] = std::uniform_int_distribution<uint32_t>(0, 1000)(random);
      check(builder, counts);
    }
  }
}

// No shape at all, and a scale of its own for every symbol.
TEST(CodebookBuilder, AnyCounts) {
  Builder builder;
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    SymbolCounts counts{};
    const unsigned present = std::uniform_int_distribution<unsigned>(0, 99)(random);
    const unsigned max_bits = std::uniform_int_distribution<unsigned>(1, 24)(random);
    for (uint32_t& count : counts) {
      if (random() % 100 > present) continue;
      count = random() & ((1U << (1 + random() % max_bits)) - 1);
    }
    check(builder, counts);
  }
}

// Bits of an unlimited Huffman code over sorted counts: the sum of all merged weights.
uint64_t huffman_bits(const SymbolCounts& counts) {
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> weights;
  for (const uint32_t count : counts) {
    if (count > 0) weights.push(count);
  }
  if (weights.size() == 1) return weights.top();
  uint64_t bits = 0;
  while (weights.size() > 1) {
    uint64_t sum = weights.top();
    weights.pop();
    sum += weights.top();
    weights.pop();
    bits += sum;
    weights.push(sum);
  }
  return bits;
}

// Symbols of the public fields, predicted in one to three directions, whole and in parts: time, and what the
// code takes beyond Huffman's.
TEST(CodebookBuilder, PublicFields) {
  constexpr double max_excess = 0.01;
  std::vector<double> excess;
  std::vector<int> cycles;
  Builder builder;
  for (const char* name : neve::rtl::public_field_names) {
    const auto field = neve::rtl::public_field(name);
    if (!field) continue;
    const auto [low, high] = std::minmax_element(field->values.begin(), field->values.end());
    for (int dims = 1; dims <= 3; ++dims) {
      for (const double relative : {1e-2, 1e-3, 1e-4, 1e-5}) {
        neve::stream::Header header;
        header.dims = dims;
        header.line = dims > 1 ? static_cast<uint32_t>(field->shape[2]) : 0;
        header.lines_per_plane = dims > 2 ? static_cast<uint32_t>(field->shape[1]) : 0;
        header.block_values = 1U << 16;
        const double bound = relative * (double{*high} - double{*low});
        const neve::ValueRange range{*low, *high, false};
        neve::stream::Chunk<float> chunk(header, field->values.size());
        const double step = neve::stream::stream_step<float>(bound, range);
        chunk.restart(neve::stream::stream_quantizer<float>(bound, step, {}), true);
        chunk.add(field->values.data(), field->values.size());
        chunk.settle();
        std::vector<SymbolCounts> histograms{chunk.counts()};
        for (size_t b = 0; b < chunk.blocks().size(); b += 7) {
          histograms.emplace_back().fill(0);
          neve::stream::count_symbols(chunk.symbols(chunk.blocks()[b]), histograms.back());
        }
        for (const SymbolCounts& counts : histograms) {
          const Built built = check(builder, counts);
          neve::stream::Codebook codebook{built.codes.length};
          const auto optimal = static_cast<double>(huffman_bits(counts));
          excess.push_back(static_cast<double>(coded_bits(codebook, counts)) / optimal - 1);
          cycles.push_back(built.cycles);
        }
      }
    }
  }
  if (excess.empty()) GTEST_SKIP() << "no " << NEVE_SHARED_DATA << "/arrays: public fields not compared";
  std::sort(excess.begin(), excess.end());
  std::sort(cycles.begin(), cycles.end());
  const double p90 = excess[excess.size() * 9 / 10];
  EXPECT_LE(p90, max_excess);
  RecordProperty("histograms", static_cast<int>(excess.size()));
  RecordProperty("excess_median", fmt::format("{:.5f}", excess[excess.size() / 2]));
  RecordProperty("excess_p90", fmt::format("{:.5f}", p90));
  RecordProperty("excess_max", fmt::format("{:.5f}", excess.back()));
  RecordProperty("cycles_median", cycles[cycles.size() / 2]);
  RecordProperty("cycles_max", cycles.back());
}

// Every symbol occurs: as long as it gets but for repairs.
TEST(CodebookBuilder, MostCycles) {
  Builder builder;
  std::mt19937 random(4);
  int most = 0;
  for (int round = 0; round < 20; ++round) {
    SymbolCounts counts;
    for (uint32_t& count : counts) count = 1 + (random() & ((1U << (1 + random() % 24)) - 1)) / 2;
    most = std::max(most, check(builder, counts).cycles);
  }
  RecordProperty("cycles", most);
}

}  // namespace
