// SPDX-License-Identifier: BSD-3-Clause
// Symbols into interleaved bit streams.
#include "core/stages/entropy/huffman_coder.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/kernels/stream_kernels.hpp"
#include "core/stages/entropy/codebook_runs.hpp"
#include "core/stages/entropy/narrow_codes.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

namespace {

// Code in the low half, its length above.
using CodeTable = std::array<uint32_t, symbol_count>;

void put(BitSink& sink, uint32_t entry) {
  sink.bits |= uint64_t{entry & 0xffff} << sink.held;
  sink.held += entry >> 16;
}
void flush(BitSink& sink) {
  std::memcpy(sink.at, &sink.bits, 8);
  sink.at += sink.held >> 3;
  sink.bits >>= sink.held & ~7U;
  sink.held &= 7;
}

// Four codes of at most 12 bits and 7 bits left over fit a 64-bit buffer.
constexpr size_t symbols_per_flush = 4;
static_assert(symbols_per_flush * max_code_bits + 7 <= 64);

void encode_run(BitSink& sink, const uint8_t* symbols, size_t n, const CodeTable& table) {
  size_t i = 0;
  for (; i + symbols_per_flush <= n; i += symbols_per_flush) {
    // Pairs first: only one shift by the running length is left in the chain from symbol to symbol.
    const uint64_t a = table[symbols[i]];
    const uint64_t b = table[symbols[i + 1]];
    const uint64_t c = table[symbols[i + 2]];
    const uint64_t d = table[symbols[i + 3]];
    const auto a_bits = static_cast<unsigned>(a >> 16);
    const auto c_bits = static_cast<unsigned>(c >> 16);
    const auto ab_bits = a_bits + static_cast<unsigned>(b >> 16);
    const uint64_t ab = (a & 0xffff) | (b & 0xffff) << a_bits;
    const uint64_t cd = (c & 0xffff) | (d & 0xffff) << c_bits;
    sink.bits |= (ab | cd << ab_bits) << sink.held;
    sink.held += ab_bits + c_bits + static_cast<unsigned>(d >> 16);
    flush(sink);
  }
  for (; i < n; ++i) {
    put(sink, table[symbols[i]]);
    flush(sink);
  }
}

// Codes of two symbols at once, by both as a 16-bit number: 24 bits of code, their length above. Only pairs
// of used symbols are filled in.
class PairCodes {
 public:
  static constexpr unsigned length_shift = 24;
  static constexpr uint32_t code_mask = (1U << length_shift) - 1;
  static_assert(2 * max_code_bits <= length_shift);

  void fill(const CodeTable& table) {
    entries_.resize(size_t{1} << 16);
    for (size_t first = 0; first < symbol_count; ++first) {
      const uint32_t first_bits = table[first] >> 16;
      if (first_bits == 0) continue;
      for (size_t second = 0; second < symbol_count; ++second) {
        const uint32_t second_bits = table[second] >> 16;
        if (second_bits == 0) continue;
        const uint32_t code = (table[first] & 0xffff) | (table[second] & 0xffff) << first_bits;
        entries_[first | second << 8] = code | (first_bits + second_bits) << length_shift;
      }
    }
  }
  uint32_t operator[](uint64_t pair) const { return entries_[pair]; }

 private:
  RawVector<uint32_t> entries_;
};

// Below this filling the pair codes costs more than they save.
constexpr size_t pair_codes_min_symbols = size_t{1} << 17;

void encode_run(BitSink& sink, const uint8_t* symbols, size_t n, const PairCodes& pairs,
                const CodeTable& table) {
  BitSink local = sink;  // the compiler keeps a local in registers
  const auto put_pair = [&](uint64_t pair) {
    const uint32_t entry = pairs[pair];
    local.bits |= uint64_t{entry & PairCodes::code_mask} << local.held;
    local.held += entry >> PairCodes::length_shift;
  };
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    std::memcpy(&word, symbols + i, 8);
    put_pair(word & 0xffff);
    put_pair((word >> 16) & 0xffff);
    flush(local);
    put_pair((word >> 32) & 0xffff);
    put_pair(word >> 48);
    flush(local);
  }
  sink = local;
  encode_run(sink, symbols + i, n - i, table);
}

// A codebook's codes in the form that takes the least time for so many symbols.
class Encoder {
 public:
  void set(const Codebook& codebook, bool has_many_symbols) {
    const auto codes = canonical_codes(codebook);
    for (size_t s = 0; s < symbol_count; ++s) table_[s] = codes[s] | uint32_t{codebook.length[s]} << 16;
    narrow_ = narrow_codes(codes, codebook.length);
    has_pairs_ = has_many_symbols && !narrow_.is_worthwhile;
    if (has_pairs_) pairs_.fill(table_);
  }

  void encode(BitSink& sink, const uint8_t* symbols, size_t n) const {
    if (has_pairs_) return encode_run(sink, symbols, n, pairs_, table_);
    if (narrow_.is_worthwhile) {
      const auto put_narrow = kernels().stream->put_narrow_u8;
      // Where the kernel stops, a group has a symbol without a narrow code.
      constexpr size_t group = 32;
      while (n >= group) {
        const size_t taken = put_narrow(symbols, n, narrow_, sink);
        const size_t one_by_one = std::min(group, n - taken);
        encode_run(sink, symbols + taken, one_by_one, table_);
        symbols += taken + one_by_one;
        n -= taken + one_by_one;
      }
    }
    encode_run(sink, symbols, n, table_);
  }

 private:
  CodeTable table_;
  NarrowCodes narrow_;
  PairCodes pairs_;
  bool has_pairs_ = false;
};

}  // namespace

size_t bit_stream_count(size_t symbol_total) {
  return symbol_total < interleave_min_symbols ? 1 : interleaved_bit_streams;
}

size_t symbols_per_bit_stream(size_t symbol_total) {
  const size_t streams = bit_stream_count(symbol_total);
  const size_t share = (symbol_total + streams - 1) / streams;
  return (share + codebook_block_symbols - 1) / codebook_block_symbols * codebook_block_symbols;
}

void huffman_encode(std::span<const uint8_t> symbols, std::span<const Codebook> codebooks,
                    std::span<const uint8_t> block_codebook, ByteWriter& out) {
  thread_local RawVector<std::byte> coded;
  thread_local std::array<Encoder, max_codebooks> encoders;
  const size_t part = symbols_per_bit_stream(symbols.size());
  const size_t streams = bit_stream_count(symbols.size());
  coded.resize(symbols.size() * max_code_bits / 8 + streams * 2 * sizeof(uint64_t));
  const bool has_many_symbols = symbols.size() >= codebooks.size() * pair_codes_min_symbols;
  for (size_t k = 0; k < codebooks.size(); ++k) encoders[k].set(codebooks[k], has_many_symbols);
  BitSink sink;
  sink.at = coded.data();
  for (size_t s = 0; s < streams; ++s) {
    const std::byte* const first_byte = sink.at;
    const size_t begin = std::min(s * part, symbols.size());
    const size_t end = std::min(begin + part, symbols.size());
    for (size_t at = begin; at < end;) {
      const CodebookRun run = run_at(block_codebook, at, end);
      encoders[run.codebook].encode(sink, symbols.data() + at, run.count);
      at += run.count;
    }
    flush(sink);
    if (sink.held > 0) ++sink.at;
    sink.bits = 0;
    sink.held = 0;
    out.put_varint(static_cast<uint64_t>(sink.at - first_byte));
  }
  out.put_bytes(ByteSpan(coded.data(), static_cast<size_t>(sink.at - coded.data())));
}

}  // namespace neve
