// SPDX-License-Identifier: BSD-3-Clause
// A decoder lane in Verilator with the reader around it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "Vdecoder_lane.h"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/stream_format.hpp"
#include "rtl/model/engine_model.hpp"
#include "tests/rtl/clocked.hpp"
#include "tests/rtl/settings_port.hpp"
#include "tests/support/test_fields.hpp"

namespace neve::rtl {

inline constexpr uint64_t cycles_before_it_hangs = 400'000;
inline constexpr int max_load_cycles = 1200;  // behind a codebook's last length
inline constexpr int max_behind_ready = 24;   // values that leave after out_ready has gone

struct Pace {
  double given = 1;  // share of cycles in which codes and side stream are there
  double taken = 1;  // share of cycles in which values may leave
  uint64_t seed = 1;
};

// The reader around the lane.
class DecoderBench {
 public:
  explicit DecoderBench(const Pace& pace) : pace_(pace), random_(pace.seed), dut_(pace.seed) {}

  void decode(ByteSpan bytes) {
    const auto size = stream::header_bytes(bytes);
    ASSERT_TRUE(size.ok() && size->has_value());
    const auto header = stream::read_header(bytes.first(**size));
    ASSERT_TRUE(header.ok());
    bytes = bytes.subspan(**size);
    begin(*header);
    for (bool is_last = false; !is_last;) {
      const auto block = stream::read_block_header(bytes, *header);
      ASSERT_TRUE(block.ok());
      is_last = block->is_last;
      const size_t whole = stream::block_header_bytes + block->payload_bytes;
      if (block->values > 0) {
        decode_block(*header, *block, bytes.first(whole).subspan(stream::block_header_bytes));
        if (::testing::Test::HasFailure()) return;
      }
      bytes = bytes.subspan(whole);
    }
  }

  const std::vector<float>& values() const { return values_; }
  bool failed() { return dut_->failed != 0; }
  double bits_per_value() const {
    return static_cast<double>(code_bytes_) * 8 / static_cast<double>(values_.size());
  }
  double cycles_per_value() const {
    return static_cast<double>(block_cycles_) / static_cast<double>(values_.size());
  }

  // Hostile blocks: what the lane is given need not fit together.
  void begin(const stream::Header& header) {
    Vdecoder_lane& m = *dut_;
    m.rst = 1;
    m.load = 0;
    m.length_valid = 0;
    m.start = 0;
    m.code_valid = 0;
    m.side_valid = 0;
    m.takes_codebook = 0;
    m.out_ready = 0;
    end_limits(m.settings);
    m.dims = header.dims;
    m.line_last = header.line - 1;
    m.plane_last = header.lines_per_plane - 1;
    m.plane_values = header.line * header.lines_per_plane;
    for (int i = 0; i < 32; ++i) dut_.tick();
    m.rst = 0;
  }
  void set_step(double bound, double step, std::optional<double> fill) {
    const auto made = quantizer_settings(stream::stream_quantizer<float>(bound, step, fill));
    ASSERT_TRUE(made.ok()) << made.status().message();
    Vdecoder_lane& m = *dut_;
    settle();  // values under way are of the step before
    put_settings(m.settings, *made);
    for (uint32_t i = 0; i < made->limits.size(); ++i) {
      put_limit(m.settings, i, made->limits[i]);
      cycle(0);
    }
    end_limits(m.settings);
  }
  // The codebook of the next block. True if the lane takes it for a complete code.
  bool load(const stream::Codebook& codebook) {
    EXPECT_NE(dut_->load_ready, 0);
    dut_->load = 1;
    cycle(0);
    dut_->load = 0;
    has_new_codebook_ = true;
    for (size_t s = 0; s < codebook.length.size();) {
      dut_->length_valid = random_.uniform() < pace_.given;
      dut_->length = dut_->length_valid != 0 ? codebook.length[s] : 31;
      dut_.settle();
      const bool goes = dut_->length_valid != 0 && dut_->length_ready != 0;
      cycle(0);
      if (goes) ++s;
    }
    dut_->length_valid = 0;
    for (int i = 0; dut_->loaded == 0; ++i) {
      cycle(0);
      if (i > max_load_cycles) {
        ADD_FAILURE() << "a codebook that is not loaded";
        return false;
      }
    }
    return dut_->complete != 0;
  }
  // Words and halves as they come in a stream; until the lane says done.
  void run_block(uint32_t values, uint32_t symbols, bool restarts, ByteSpan codes, ByteSpan side) {
    codes_ = codes;
    code_bytes_ += codes.size();
    side_ = side;
    dut_->block_values = values;
    dut_->block_symbols = symbols;
    dut_->block_restart = restarts;
    dut_->code_bytes = static_cast<uint32_t>(codes.size());
    dut_->side_bytes = static_cast<uint32_t>(side.size());
    dut_->takes_codebook = has_new_codebook_;
    has_new_codebook_ = false;
    dut_->start = 1;
    limit_ = dut_.cycles() + cycles_before_it_hangs + 40 * uint64_t{values} * 64;
    const uint64_t before = dut_.cycles();
    cycle(pace_.given);
    dut_->start = 0;
    dut_->takes_codebook = 0;
    while (dut_->done == 0) {
      cycle(pace_.given);
      ASSERT_LT(dut_.cycles(), limit_) << "hangs";
    }
    block_cycles_ += dut_.cycles() - before;
  }
  size_t side_left() const { return side_.size(); }

 private:
  void decode_block(const stream::Header& header, const stream::BlockHeader& block, ByteSpan payload) {
    ByteReader in(payload);
    if (block.has_step) {
      const auto bound = in.get<double>();
      const auto step = in.get<double>();
      set_step(bound, step, header.fill);
    }
    if (block.codebook == CodebookKind::rebuilt) {
      const auto codebook = stream::read_codebook(in);
      ASSERT_TRUE(codebook.ok());
      EXPECT_TRUE(load(*codebook));
    } else if (block.codebook == CodebookKind::offline) {
      EXPECT_TRUE(load(stream::offline_codebooks()[block.offline_codebook]));
    }
    const ByteSpan codes = in.get_bytes(in.remaining() - block.side_bytes);
    const ByteSpan side = in.get_bytes(block.side_bytes);
    run_block(block.values, block.symbols, block.restarts, codes, side);
    EXPECT_FALSE(failed());
    EXPECT_EQ(side_left(), 0U);
    settle();
  }

  void settle() {
    for (int i = 0; i < 2 * max_behind_ready; ++i) cycle(0);
  }

  void cycle(double given) {
    Vdecoder_lane& m = *dut_;
    uint32_t word = static_cast<uint32_t>(random_.next());
    uint16_t half = static_cast<uint16_t>(random_.next());
    m.code_valid = !codes_.empty() && random_.uniform() < given;
    m.side_valid = !side_.empty() && random_.uniform() < given;
    const size_t word_bytes = std::min(sizeof word, codes_.size());
    if (m.code_valid != 0) std::memcpy(&word, codes_.data(), word_bytes);
    if (m.side_valid != 0) std::memcpy(&half, side_.data(), sizeof half);
    m.code_word = word;
    m.side_half = half;
    m.out_ready = random_.uniform() < pace_.taken;
    behind_ready_ = m.out_ready != 0 ? 0 : behind_ready_ + 1;
    dut_.settle();
    const bool takes_word = m.code_valid != 0 && m.code_ready != 0;
    const bool takes_half = m.side_valid != 0 && m.side_ready != 0;
    dut_.tick();
    if (takes_word) codes_ = codes_.subspan(word_bytes);
    if (takes_half) side_ = side_.subspan(sizeof half);
    if (m.out_valid == 0) return;
    EXPECT_LE(behind_ready_, max_behind_ready);
    values_.push_back(std::bit_cast<float>(m.out_value));
  }

  Pace pace_;
  test::Random random_;
  Clocked<Vdecoder_lane> dut_;
  ByteSpan codes_;
  ByteSpan side_;
  bool has_new_codebook_ = false;
  int behind_ready_ = 0;
  uint64_t limit_ = 0;
  uint64_t block_cycles_ = 0;
  uint64_t code_bytes_ = 0;
  std::vector<float> values_;
};

}  // namespace neve::rtl
