// SPDX-License-Identifier: BSD-3-Clause
// Huffman codes, escapes, zero groups and the mask: there and back, and refusing what is not theirs.
#include <gtest/gtest.h>

#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/entropy/escapes.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "core/stages/entropy/zero_groups.hpp"
#include "core/stages/mask/special_values.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

std::vector<uint8_t> geometric_symbols(size_t n, int spread, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> symbols(n);
  for (auto& s : symbols) {
    int at = 0;
    while (at < 127 && random.below(spread + 1) != 0) ++at;
    s = static_cast<uint8_t>(random.below(2) != 0 ? 128 + at : 128 - at);
  }
  return symbols;
}

void round_trip_by(const CodebookChoice& choice, const std::vector<uint8_t>& symbols) {
  Bytes bytes;
  ByteWriter out(bytes);
  const auto codebooks = write_codebooks(choice.codebooks, choice.block_codebook, nullptr, out);
  huffman_encode(symbols, codebooks, choice.block_codebook, out);
  ByteReader in(bytes);
  const auto set = read_codebooks(in, {}, symbols.size());
  ASSERT_TRUE(set.ok()) << set.status().message();
  std::vector<uint8_t> back(symbols.size());
  const Status status = huffman_decode(in, set->codebooks, set->block_codebook, back);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(symbols, back);
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_FALSE(in.failed());
}

void round_trip(const std::vector<uint8_t>& symbols) {
  const CountedCodebook one(count_symbols(symbols));
  round_trip_by(choose_codebooks(symbols, one), symbols);
  const GroupCounts counts = count_groups(symbols);
  EXPECT_EQ(counts.all, one.histogram);
  round_trip_by(choose_group_codebooks(counts, symbols.size(), one), symbols);
}

TEST(Huffman, RoundTripsOfEverySize) {
  for (size_t n = 1; n < 70; ++n) round_trip(geometric_symbols(n, 3, n));
  for (const size_t n : {1023UL, 1024UL, 1025UL, 4096UL, 100000UL}) {
    for (const int spread : {1, 5, 60}) round_trip(geometric_symbols(n, spread, n));
  }
}

TEST(Huffman, RoundTripOfOneSymbolAndOfAll) {
  round_trip(std::vector<uint8_t>(5000, 77));
  std::vector<uint8_t> all(256 * 20);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  round_trip(all);
}

TEST(Huffman, SeveralCodebooksSuitACalmAndARoughHalf) {
  auto symbols = geometric_symbols(40000, 1, 1);
  const auto rough = geometric_symbols(40000, 40, 2);
  symbols.insert(symbols.end(), rough.begin(), rough.end());
  const CountedCodebook one(count_symbols(symbols));
  const auto bits_of = [](const CodebookChoice& choice) {
    uint64_t bits = 0;
    for (const CountedCodebook& codebook : choice.codebooks) bits += codebook.bits;
    return bits;
  };
  const CodebookChoice by_block = choose_codebooks(symbols, one);
  ASSERT_EQ(by_block.codebooks.size(), max_codebooks);
  EXPECT_LT(bits_of(by_block), one.bits * 9 / 10);
  const CodebookChoice by_group = choose_group_codebooks(count_groups(symbols), symbols.size(), one);
  ASSERT_EQ(by_group.codebooks.size(), 2U);
  EXPECT_LT(bits_of(by_group), one.bits * 9 / 10);
  round_trip(symbols);
}

TEST(Huffman, LengthsStayWithinTheLimitAndFillTheCodeSpace) {
  // Fibonacci counts make the deepest possible tree.
  Histogram histogram{};
  uint32_t a = 1;
  uint32_t b = 1;
  for (size_t s = 0; s < 40; ++s) {
    histogram[s] = a;
    const uint32_t next = a + b;
    a = b;
    b = next;
  }
  const Codebook codebook = make_codebook(histogram);
  uint32_t kraft = 0;
  for (const uint8_t length : codebook.length) {
    EXPECT_LE(length, max_code_bits);
    if (length > 0) kraft += 1U << (max_code_bits - length);
  }
  EXPECT_EQ(kraft, 1U << max_code_bits);
}

TEST(Huffman, RefusesLengthsThatAreNoPrefixCode) {
  Codebook codebook;
  codebook.length[1] = codebook.length[2] = codebook.length[3] = 1;
  Bytes bytes;
  ByteWriter out(bytes);
  write_codebook(codebook, out);
  ByteReader in(bytes);
  const auto read = read_codebook(in);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::corrupt);
  EXPECT_NE(read.status().message().find("3 symbols"), std::string::npos) << read.status().message();
}

TEST(Huffman, RefusesBitStreamsThatEndEarly) {
  const auto symbols = geometric_symbols(3000, 20, 1);
  const std::vector<Codebook> codebooks{CountedCodebook(count_symbols(symbols)).codebook};
  Bytes bytes;
  ByteWriter out(bytes);
  huffman_encode(symbols, codebooks, {}, out);
  // Take bytes off the last bit stream and say so in its size: the last of four varints of two bytes.
  Bytes shorter(bytes.begin(), bytes.end() - 100);
  ByteReader sizes(bytes);
  std::array<uint64_t, 4> stream{};
  for (auto& s : stream) s = sizes.get_varint();
  ASSERT_EQ(sizes.position(), 8U);
  stream[3] -= 100;
  Bytes head;
  ByteWriter head_out(head);
  for (const uint64_t s : stream) head_out.put_varint(s);
  ASSERT_EQ(head.size(), 8U);
  std::copy(head.begin(), head.end(), shorter.begin());
  ByteReader in(shorter);
  std::vector<uint8_t> back(symbols.size());
  const Status status = huffman_decode(in, codebooks, {}, back);
  EXPECT_EQ(status.code(), Code::corrupt) << status.message();
}

TEST(Escapes, RoundTripOfEveryMagnitude) {
  std::vector<int32_t> escapes{0, 1, -1, INT32_MAX, INT32_MIN};
  for (int b = 0; b < 31; ++b) {
    escapes.push_back(1 << b);
    escapes.push_back(-(1 << b));
  }
  Bytes bytes;
  ByteWriter out(bytes);
  write_escapes(escapes, out);
  ByteReader in(bytes);
  const auto back = read_escapes(in, escapes.size());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, escapes);
  ByteReader again(bytes);
  EXPECT_EQ(read_escapes(again, escapes.size() - 1).status().code(), Code::corrupt);
}

// As frames have them that were written before there were runs.
struct ZeroGroups {
  Bytes bitmap;
  std::vector<uint8_t> kept;
};
ZeroGroups with_zero_groups(const std::vector<uint8_t>& symbols) {
  ZeroGroups groups;
  for (size_t begin = 0; begin < symbols.size(); begin += zero_group_symbols) {
    const size_t group = begin / zero_group_symbols;
    const auto first = symbols.begin() + static_cast<ptrdiff_t>(begin);
    const auto last =
        symbols.begin() + static_cast<ptrdiff_t>(std::min(symbols.size(), begin + zero_group_symbols));
    if (group % 8 == 0) groups.bitmap.push_back(std::byte{0});
    if (std::all_of(first, last, [](uint8_t s) { return s == symbol_zero; })) continue;
    groups.bitmap.back() |= static_cast<std::byte>(1U << (group % 8));
    groups.kept.insert(groups.kept.end(), first, last);
  }
  return groups;
}

TEST(ZeroGroups, AreStillRead) {
  Random random(3);
  for (const size_t n : {1UL, 15UL, 16UL, 17UL, 1000UL}) {
    std::vector<uint8_t> symbols(n, 128);
    for (size_t k = 0; k < n / 20; ++k)
      symbols[static_cast<size_t>(random.below(static_cast<int64_t>(n)))] = 130;
    const ZeroGroups groups = with_zero_groups(symbols);
    const auto kept = kept_symbols(groups.bitmap, n);
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(*kept, groups.kept.size());
    const Symbols back = restore_zero_groups(groups.bitmap, groups.kept, n);
    EXPECT_TRUE(std::equal(back.begin(), back.end(), symbols.begin(), symbols.end()));
    EXPECT_FALSE(kept_symbols(groups.bitmap, n + 200).ok());
  }
}

TEST(SpecialValues, RoundTripWithMorePatternsThanTheTableHolds) {
  SpecialValues specials;
  Random random(9);
  uint64_t at = 0;
  for (int k = 0; k < 400; ++k) {
    at += 1 + static_cast<uint64_t>(random.below(3));
    specials.add(at, 0x7fc00000U + static_cast<uint64_t>(random.below(30)), random.below(4) != 0);
  }
  Bytes bytes;
  ByteWriter out(bytes);
  write_special_values(specials, 4, out);
  ByteReader in(bytes);
  const auto back = read_special_values(in, 4, at + 1);
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->runs.size(), specials.runs.size());
  EXPECT_EQ(back->listed, specials.listed);
  EXPECT_EQ(back->patterns, specials.patterns);
  for (size_t r = 0; r < back->runs.size(); ++r) {
    EXPECT_EQ(back->runs[r].begin, specials.runs[r].begin);
    EXPECT_EQ(back->runs[r].count, specials.runs[r].count);
    EXPECT_EQ(back->runs[r].pattern, specials.runs[r].pattern);
  }
  ByteReader again(bytes);
  EXPECT_EQ(read_special_values(again, 4, at).status().code(), Code::corrupt);
}

}  // namespace
}  // namespace neve
