// SPDX-License-Identifier: BSD-3-Clause
// A lane in Verilator with what an engine does around it, compared with stream::Chunk, which is what Neve's
// encoder makes blocks with: symbols by their codes, counts and side stream, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

#include "Vlane.h"
#include "core/stream/chunk.hpp"
#include "core/stream/symbol_coder.hpp"
#include "rtl/model/engine_model.hpp"
#include "tests/rtl/clocked.hpp"
#include "tests/rtl/settings_port.hpp"
#include "tests/support/test_fields.hpp"

namespace neve::rtl {

// As Vlane is built.
inline constexpr unsigned lane_words = 4;

struct LaneCase {
  int dims = 1;
  uint32_t line = 0;
  uint32_t lines_per_plane = 0;
  uint32_t block_values = 1024;
  uint32_t restart_blocks = 0;
  double bound = 1e-3;
  std::optional<double> step;  // where it is not the one that Neve's encoder takes
  std::optional<double> fill;
  double offered = 1;  // share of cycles with a value at the input
  double taken = 1;    // share of cycles in which output may be taken
  uint64_t seed = 1;
};

// What an engine does around a lane, and the comparison.
class LaneBench {
 public:
  LaneBench(const LaneCase& c, const std::vector<float>& values)
      : case_(c), values_(values), random_(c.seed), lane_(c.seed), chunk_(header(c), values.size()) {
    ValueRange range;
    for (const float v : values) {
      if (!std::isfinite(v) || std::abs(v) > 1e6F) continue;
      range.min = range.empty ? v : std::min<double>(range.min, v);
      range.max = range.empty ? v : std::max<double>(range.max, v);
      range.empty = false;
    }
    const double step = c.step.value_or(stream::stream_step<float>(c.bound, range));
    const Quantizer<float> quantizer = stream::stream_quantizer<float>(c.bound, step, c.fill);
    chunk_.restart_every(c.restart_blocks);
    chunk_.restart(quantizer, true);
    chunk_.add(values.data(), values.size());
    chunk_.settle();
    configure(quantizer);
  }

  void run() {
    while (taken_ < chunk_.blocks().size()) {
      cycle();
      ASSERT_LT(lane_.cycles(), limit_) << "hangs: block " << taken_ << " of " << chunk_.blocks().size();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(sent_, values_.size());
    for (int i = 0; i < 64; ++i) {
      cycle();
      EXPECT_EQ(lane_->packed_valid, 0);
    }
    EXPECT_EQ(lane_->empty, 1);
  }

  uint64_t input_cycles() const { return last_in_ - first_in_ + 1; }

 private:
  static stream::Header header(const LaneCase& c) {
    stream::Header h;
    h.dims = c.dims;
    h.line = c.line;
    h.lines_per_plane = c.lines_per_plane;
    h.block_values = c.block_values;
    return h;
  }

  void configure(const Quantizer<float>& quantizer) {
    const Result<QuantizerSettings> made = quantizer_settings(quantizer);
    ASSERT_TRUE(made.ok()) << made.status().message();
    const QuantizerSettings& s = *made;
    Vlane& m = *lane_;
    m.rst = 1;
    put_settings(m.settings, s);
    m.dims = case_.dims;
    m.line_last = case_.line - 1;
    m.plane_last = case_.lines_per_plane - 1;
    const uint64_t plane = uint64_t{case_.line} * case_.lines_per_plane;
    const uint64_t farthest =
        case_.restart_blocks > 0 ? uint64_t{case_.restart_blocks} * case_.block_values : values_.size();
    m.plane_values = case_.dims == 3 && plane < farthest ? static_cast<uint32_t>(plane) : 0;
    m.in_valid = 0;
    m.block_valid = 0;
    m.count_read = 0;
    m.counts_taken = 0;
    m.codebook_valid = 0;
    m.table_write = 0;
    m.packed_taken = 0;
    m.packed_read = 1;
    m.codes_read = 0;
    m.side_read = 0;
    for (uint32_t i = 0; i < s.limits.size(); ++i) {
      put_limit(m.settings, i, s.limits[i]);
      lane_.tick();
    }
    end_limits(m.settings);
    for (int i = 0; i < 64; ++i) lane_.tick();
    m.rst = 0;
    m.count_read = 1;
    m.count_clear_all = 1;
    for (uint32_t a = 0; a < wide_symbol_count; ++a) {
      m.count_addr = a;
      lane_.tick();
    }
    m.count_read = 0;
    m.count_clear_all = 0;
    lane_.tick();
    limit_ = lane_.cycles() + 20000 +
             static_cast<uint64_t>(static_cast<double>(values_.size() + chunk_.side_bytes() + 8192) * 8 /
                                   std::min(case_.offered, case_.taken));
  }

  void cycle() {
    drive_blocks();
    drive_values();
    drive_counts();
    drive_output();
    lane_.settle();
    const bool block_goes = lane_->block_valid != 0 && lane_->block_ready != 0;
    const bool value_goes = lane_->in_valid != 0 && lane_->in_ready != 0;
    if (value_goes) {
      if (sent_ == 0) first_in_ = lane_.cycles();
      last_in_ = lane_.cycles();
    }
    lane_.tick();
    if (block_goes) ++dealt_;
    if (value_goes) {
      ++sent_;
      holds_ = false;
    }
  }

  void drive_blocks() {
    const auto& blocks = chunk_.blocks();
    lane_->block_valid = dealt_ < blocks.size();
    if (dealt_ == blocks.size()) return;
    const uint64_t begin = dealt_ * uint64_t{case_.block_values};
    lane_->block_values = blocks[dealt_].values;
    lane_->block_restart = blocks[dealt_].restarts;
    lane_->block_x = case_.dims > 1 ? begin % case_.line : 0;
    lane_->block_y = case_.dims == 3   ? begin / case_.line % case_.lines_per_plane
                     : case_.dims == 2 ? begin / case_.line % 65536
                                       : 0;
  }

  void drive_values() {
    if (!holds_) holds_ = sent_ < values_.size() && random_.uniform() < case_.offered;
    lane_->in_valid = holds_;
    lane_->in_data = static_cast<uint32_t>(random_.next());
    if (holds_) lane_->in_data = std::bit_cast<uint32_t>(values_[sent_]);
  }

  // The round manager: counts, a codebook, its table into the bank not in use.
  void drive_counts() {
    lane_->counts_taken = 0;
    lane_->codebook_valid = 0;
    switch (step_) {
      case Step::idle:
        if (lane_->counted == 0) break;
        expected_.fill(0);
        stream::count_symbols(chunk_.symbols(chunk_.blocks()[loaded_]), expected_);
        EXPECT_EQ(lane_->counted_side_bytes, chunk_.blocks()[loaded_].side_bytes) << "block " << loaded_;
        at_ = 0;
        step_ = Step::read;
        [[fallthrough]];
      case Step::read:
        if (at_ > 1) {
          ASSERT_EQ(lane_->count_data, expected_[at_ - 2]) << "symbol " << at_ - 2 << " of block " << loaded_;
        }
        lane_->count_read = at_ < wide_symbol_count;
        lane_->count_addr = at_ % wide_symbol_count;
        if (at_++ <= wide_symbol_count) break;
        lane_->counts_taken = 1;
        at_ = 0;
        step_ = Step::load;
        break;
      case Step::load:
        if (lane_->codebook_pending != 0) break;  // of the block before
        if (at_ == 0) make_table();
        lane_->table_write = at_ < wide_symbol_count;
        lane_->table_bank = loaded_ % 2;
        lane_->table_addr = at_ % wide_symbol_count;
        lane_->table_entry = static_cast<uint32_t>(table_.length[at_ % wide_symbol_count]) << 16 |
                             table_.code[at_ % wide_symbol_count];
        if (at_++ < wide_symbol_count) break;
        lane_->codebook_valid = 1;
        lane_->codebook_bank = loaded_ % 2;
        tables_.push_back(table_);
        ++loaded_;
        step_ = Step::idle;
        break;
    }
  }

  // Codebooks of all kinds, whether they suit or not: an offline one, one of the block's own, and one with
  // longest codes for what occurs.
  void make_table() {
    stream::Codebook codebook = stream::offline_codebooks()[loaded_ % stream::offline_codebooks().size()];
    if (loaded_ % 3 == 1) codebook = stream::make_codebook(expected_);
    if (loaded_ % 3 == 2) {
      stream::SymbolCounts inverted;
      for (size_t s = 0; s < inverted.size(); ++s) inverted[s] = expected_[s] > 0 ? 1 : 1000;
      codebook = stream::make_codebook(inverted);
    }
    stream::make_code_table(codebook, table_);
  }

  void drive_output() {
    // What was asked for in the cycle before is there in this one only.
    if (lane_->codes_read != 0) {
      for (uint32_t w = 0; w < lane_words; ++w) append(codes_, lane_->codes_data[w], 4);
    }
    if (lane_->side_read != 0) {
      append(side_, lane_->side_value, 4);
      ++entries_;
      if (lane_->side_special != 0) append(side_, lane_->side_run, 2);
    }
    lane_->packed_taken = 0;
    lane_->codes_read = 0;
    lane_->side_read = 0;
    if (random_.uniform() >= case_.taken) return;
    if (!takes_) {
      if (lane_->packed_valid == 0) return;
      takes_ = true;
      begin_block();
    } else if (codes_.size() < code_bytes_) {
      lane_->codes_read = 1;
    } else if (side_.size() < side_bytes_) {
      lane_->side_read = 1;
    } else {
      end_block();
    }
  }

  void begin_block() {
    const auto& block = chunk_.blocks()[taken_];
    EXPECT_EQ(lane_->packed_values, block.values) << "block " << taken_;
    EXPECT_EQ(lane_->packed_symbols, block.symbols) << "block " << taken_;
    EXPECT_EQ(lane_->packed_side_bytes, block.side_bytes) << "block " << taken_;
    code_bytes_ = lane_->packed_code_bytes;
    side_bytes_ = lane_->packed_side_bytes;
    codes_.clear();
    side_.clear();
    entries_ = 0;
  }

  void end_block() {
    const auto& block = chunk_.blocks()[taken_];
    std::vector<std::byte> codes(stream::coded_bytes_limit(block.symbols));
    codes.resize(stream::encode_symbols(chunk_.symbols(block), tables_.front(), codes.data()));
    tables_.pop_front();
    ASSERT_EQ(code_bytes_, codes.size()) << "block " << taken_;
    EXPECT_TRUE(std::equal(codes.begin(), codes.end(), codes_.begin())) << "codes of block " << taken_;
    EXPECT_EQ(lane_->packed_entries, entries_) << "block " << taken_;
    const ByteSpan side = chunk_.side(block);
    ASSERT_EQ(side_.size(), side.size()) << "block " << taken_;
    EXPECT_TRUE(std::equal(side.begin(), side.end(), side_.begin())) << "side stream of block " << taken_;
    lane_->packed_taken = 1;
    ++taken_;
    takes_ = false;
  }

  static void append(std::vector<std::byte>& out, uint32_t word, int bytes) {
    for (int b = 0; b < bytes; ++b) out.push_back(static_cast<std::byte>(word >> (8 * b)));
  }

  LaneCase case_;
  const std::vector<float>& values_;
  test::Random random_;
  Clocked<Vlane> lane_;
  stream::Chunk<float> chunk_;
  uint64_t limit_ = 0;

  size_t dealt_ = 0;
  size_t sent_ = 0;
  bool holds_ = false;
  uint64_t first_in_ = 0;
  uint64_t last_in_ = 0;

  enum class Step { idle, read, load } step_ = Step::idle;
  size_t at_ = 0;
  size_t loaded_ = 0;
  stream::SymbolCounts expected_{};
  stream::CodeTable table_;
  std::deque<stream::CodeTable> tables_;

  bool takes_ = false;
  size_t taken_ = 0;
  size_t code_bytes_ = 0;
  size_t side_bytes_ = 0;
  size_t entries_ = 0;
  std::vector<std::byte> codes_;
  std::vector<std::byte> side_;
};

}  // namespace neve::rtl
