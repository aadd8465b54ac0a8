// SPDX-License-Identifier: BSD-3-Clause
// The codebook writer's bytes are those of write_book().
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "Vcodebook_writer.h"
#include "core/stream/codebook.hpp"
#include "tests/rtl/clocked.hpp"

namespace {

using neve::stream::Book;

constexpr int most_cycles = 2100;

class Writer {
 public:
  Writer() : dut_(1) {
    dut_->rst = 1;
    dut_->start = 0;
    dut_.tick();
    dut_->rst = 0;
  }

  // Empty when it does not end in time.
  neve::Bytes write(const Book& book) {
    neve::Bytes bytes;
    dut_->start = 1;
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      dut_.settle();
      const uint32_t asked = dut_->length_addr;
      dut_.tick();
      dut_->length_data = book.length[asked];
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

void check(Writer& writer, const Book& book) {
  neve::Bytes expected;
  write_book(book, expected);
  EXPECT_EQ(writer.write(book), expected);
}

TEST(CodebookWriter, OfflineBooks) {
  Writer writer;
  for (const Book& book : neve::stream::offline_books()) check(writer, book);
}

TEST(CodebookWriter, NoneOneAndTwoSymbols) {
  Writer writer;
  check(writer, {});
  for (const size_t a : {0, 1, 511, 512, 1022, 1023}) {
    for (const size_t b : {0, 1, 513, 1023}) {
      Book book;
      book.length[a] = 1;
      check(writer, book);
      book.length[b] = 1;
      check(writer, book);
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
    const Book book = neve::stream::make_book(counts);
    check(writer, book);
    if (book == Book{}) continue;
    const neve::Bytes bytes = writer.write(book);
    neve::ByteReader in{neve::ByteSpan(bytes)};
    const neve::Result<Book> read = neve::stream::read_book(in);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, book);
    // Lengths that no tree has.
    Book wild;
    for (uint8_t& length : wild.length)
      length = static_cast<uint8_t>(random() % 100 < present ? random() % 17 : 0);
    check(writer, wild);
  }
}

}  // namespace
