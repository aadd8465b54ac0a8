// SPDX-License-Identifier: BSD-3-Clause
// The codebook writer's bytes are those of write_codebook().
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "Vcodebook_writer.h"
#include "core/stream/codebook.hpp"
#include "tests/rtl/clocked.hpp"

namespace {

using neve::stream::Codebook;

constexpr int max_cycles = 2100;

class Writer {
 public:
  Writer() : dut_(1) {
    dut_->rst = 1;
    dut_->start = 0;
    dut_.tick();
    dut_->rst = 0;
  }

  // Empty when it does not end in time.
  neve::Bytes write(const Codebook& codebook) {
    neve::Bytes bytes;
    dut_->start = 1;
    for (int cycle = 0; cycle < max_cycles; ++cycle) {
      dut_.settle();
      const uint32_t asked = dut_->length_addr;
      dut_.tick();
      dut_->length_data = codebook.length[asked];
      dut_->start = 0;
      if (dut_->word_valid != 0) {
        const uint32_t word = dut_->word_data;
        bytes.resize(bytes.size() + sizeof word);
        std::memcpy(bytes.data() + bytes.size() - sizeof word, &word, sizeof word);
      }
      if (dut_->done == 0) continue;
      for (size_t i = dut_->byte_count; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte{0});
      EXPECT_EQ((dut_->byte_count + 3U) / 4, bytes.size() / 4);
      bytes.resize(dut_->byte_count);
      return bytes;
    }
    return {};
  }

 private:
  neve::rtl::Clocked<Vcodebook_writer> dut_;
};

void check(Writer& writer, const Codebook& codebook) {
  neve::Bytes expected;
  write_codebook(codebook, expected);
  EXPECT_EQ(writer.write(codebook), expected);
}

TEST(CodebookWriter, OfflineCodebooks) {
  Writer writer;
  for (const Codebook& codebook : neve::stream::offline_codebooks()) check(writer, codebook);
}

TEST(CodebookWriter, NoneOneAndTwoSymbols) {
  Writer writer;
  check(writer, {});
  for (const size_t a : {0, 1, 511, 512, 1022, 1023}) {
    for (const size_t b : {0, 1, 513, 1023}) {
      Codebook codebook;
      codebook.length[a] = 1;
      check(writer, codebook);
      codebook.length[b] = 1;
      check(writer, codebook);
    }
  }
}

// Whatever the lengths: the bytes say them, and are read back.
TEST(CodebookWriter, AnyLengths) {
  Writer writer;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    neve::stream::SymbolCounts counts{};
    const unsigned present = 1 + random() % 100;
    for (uint32_t& count : counts) {
      if (random() % 100 < present) count = random() >> (8 + random() % 24);
    }
    const Codebook codebook = neve::stream::make_codebook(counts);
    check(writer, codebook);
    if (codebook == Codebook{}) continue;
    const neve::Bytes bytes = writer.write(codebook);
    neve::ByteReader in{neve::ByteSpan(bytes)};
    const neve::Result<Codebook> read = neve::stream::read_codebook(in);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, codebook);
    // Lengths that no tree has.
    Codebook wild;
    for (uint8_t& length : wild.length)
      length = static_cast<uint8_t>(random() % 100 < present ? random() % 17 : 0);
    check(writer, wild);
  }
}

}  // namespace
