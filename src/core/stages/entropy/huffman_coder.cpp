// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/huffman_coder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/threads/scratch.hpp"

namespace neve {

namespace {

// Code in the low half, its length above.
using CodeTable = std::array<uint32_t, symbol_count>;

CodeTable make_code_table(const Codebook& codebook) {
  const auto codes = canonical_codes(codebook);
  CodeTable table;
  for (size_t s = 0; s < symbol_count; ++s) table[s] = codes[s] | uint32_t{codebook.length[s]} << 16;
  return table;
}

struct BitSink {
  uint64_t bits = 0;
  unsigned held = 0;  // below 8 between groups
  std::byte* at = nullptr;

  void put(uint32_t entry) {
    bits |= uint64_t{entry & 0xffff} << held;
    held += entry >> 16;
  }
  void flush() {
    std::memcpy(at, &bits, 8);
    at += held >> 3;
    bits >>= held & ~7U;
    held &= 7;
  }
};

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
    sink.flush();
  }
  for (; i < n; ++i) {
    sink.put(table[symbols[i]]);
    sink.flush();
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

// Neighbours that have one codebook.
struct CodebookRun {
  size_t codebook = 0;
  size_t count = 0;
};

// From symbol `at` on; none behind `end`.
CodebookRun run_at(std::span<const uint8_t> block_codebook, size_t at, size_t end) {
  if (block_codebook.empty() || at >= end) return {0, end - at};
  size_t block = at / codebook_block_symbols;
  const uint8_t codebook = block_codebook[block];
  while ((block + 1) * codebook_block_symbols < end && block_codebook[block + 1] == codebook) ++block;
  return {codebook, std::min((block + 1) * codebook_block_symbols, end) - at};
}

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
    local.flush();
    put_pair((word >> 32) & 0xffff);
    put_pair(word >> 48);
    local.flush();
  }
  sink = local;
  encode_run(sink, symbols + i, n - i, table);
}

constexpr size_t table_entries = size_t{1} << max_code_bits;
constexpr uint64_t table_mask = table_entries - 1;

// Up to two symbols decoded by one look-up.
struct PairEntry {
  uint8_t symbol[2];
  uint8_t bits;
  uint8_t count;
};
static_assert(sizeof(PairEntry) == 4);

struct DecodeTable {
  std::array<PairEntry, table_entries> pair;
  std::array<uint16_t, table_entries> single;  // symbol | length << 8: where exactly one is wanted
};

void make_decode_table(const Codebook& codebook, DecodeTable& table) {
  const auto codes = canonical_codes(codebook);
  const auto used =
      std::count_if(codebook.length.begin(), codebook.length.end(), [](uint8_t l) { return l > 0; });
  // Entries that begin with a symbol's code are as far apart as there are codes of its length. A codebook of
  // one symbol is incomplete: that gets every entry, so that no look-up is undefined.
  const auto visit_symbols = [&](const auto& visit) {
    for (size_t s = 0; s < symbol_count; ++s) {
      const unsigned length = codebook.length[s];
      if (length > 0) visit(s, length, used == 1 ? 0 : codes[s], used == 1 ? 1 : size_t{1} << length);
    }
  };
  visit_symbols([&](size_t s, unsigned length, size_t first, size_t stride) {
    const auto entry = static_cast<uint16_t>(s | length << 8);
    for (size_t at = first; at < table_entries; at += stride) table.single[at] = entry;
  });
  visit_symbols([&](size_t s, unsigned length, size_t first, size_t stride) {
    // What follows the code counts up from 0 along its entries.
    size_t behind = 0;
    for (size_t at = first; at < table_entries; at += stride, ++behind) {
      const unsigned second = table.single[used == 1 ? 0 : behind];
      const unsigned both = length + (second >> 8);
      const bool two = both <= max_code_bits;
      table.pair[at] = {{static_cast<uint8_t>(s), static_cast<uint8_t>(second)},
                        static_cast<uint8_t>(two ? both : length),
                        static_cast<uint8_t>(two ? 2 : 1)};
    }
  });
}

struct BitSource {
  const std::byte* at = nullptr;
  const std::byte* end = nullptr;
  uint64_t bits = 0;
  unsigned held = 0;
  uint64_t invented_bits = 0;  // zeros given out past the end

  bool can_refill_fast() const { return end - at >= 8; }
  // 56 bits or more afterwards (Giesen, "Reading bits in far too many ways", variant 4).
  void refill_fast() {
    uint64_t word;
    std::memcpy(&word, at, 8);
    bits |= word << held;
    at += (63 - held) >> 3;
    held |= 56;
  }
  void refill() {
    if (can_refill_fast()) return refill_fast();
    while (held <= 56) {
      if (at < end) {
        bits |= static_cast<uint64_t>(*at++) << held;
      } else {
        invented_bits += 8;
      }
      held += 8;
    }
  }
  void skip(unsigned n) {
    bits >>= n;
    held -= n;
  }
  // Whether more was consumed than there was.
  bool overrun() const { return invented_bits > held; }
};

// Look-ups that a full buffer (56 bits) pays for.
constexpr int lookups_per_refill = 56 / max_code_bits;

void decode_rest(BitSource& source, const DecodeTable& table, uint8_t* out, const uint8_t* out_end) {
  while (out < out_end) {
    source.refill();
    for (int k = 0; k < lookups_per_refill && out < out_end; ++k) {
      const unsigned e = table.single[source.bits & table_mask];
      *out++ = static_cast<uint8_t>(e);
      source.skip(e >> 8);
    }
  }
}

struct BitStreamRun {
  BitSource* source;
  const DecodeTable* table;
  uint8_t* out;
  uint8_t* out_end;
};

// One look-up in bit stream k; the two bytes are written whether or not the second one counts.
#define NEVE_DECODE_PAIR(k)                             \
  do {                                                  \
    const PairEntry e = table##k[bits##k & table_mask]; \
    std::memcpy(out##k, e.symbol, 2);                   \
    out##k += e.count;                                  \
    bits##k >>= e.bits;                                 \
    held##k -= e.bits;                                  \
  } while (false)
#define NEVE_REFILL(k)            \
  do {                            \
    uint64_t word;                \
    std::memcpy(&word, at##k, 8); \
    bits##k |= word << held##k;   \
    at##k += (63 - held##k) >> 3; \
    held##k |= 56;                \
  } while (false)
#define NEVE_LOAD(k)                                           \
  const PairEntry* const table##k = run[k].table->pair.data(); \
  uint8_t* out##k = run[k].out;                                \
  uint8_t* const stop##k = run[k].out_end - margin;            \
  const std::byte* at##k = run[k].source->at;                  \
  const std::byte* const last##k = run[k].source->end - 8;     \
  uint64_t bits##k = run[k].source->bits;                      \
  unsigned held##k = run[k].source->held
#define NEVE_STORE(k)            \
  run[k].source->at = at##k;     \
  run[k].source->bits = bits##k; \
  run[k].source->held = held##k; \
  decode_rest(*run[k].source, *run[k].table, out##k, run[k].out_end)

// Four bit streams side by side, so that their chains of look-ups overlap. The state must live in
// registers, hence the macros: an array of structs is spilled by the compilers we use.
void decode_four(const std::array<BitStreamRun, interleaved_bit_streams>& run) {
  constexpr ptrdiff_t margin = 2 * lookups_per_refill;
  const bool long_enough = std::all_of(run.begin(), run.end(), [](const BitStreamRun& r) {
    return r.out_end - r.out >= margin && r.source->can_refill_fast();
  });
  if (!long_enough) {
    for (const BitStreamRun& r : run) decode_rest(*r.source, *r.table, r.out, r.out_end);
    return;
  }
  NEVE_LOAD(0);
  NEVE_LOAD(1);
  NEVE_LOAD(2);
  NEVE_LOAD(3);
  while (out0 <= stop0 && out1 <= stop1 && out2 <= stop2 && out3 <= stop3 && at0 <= last0 && at1 <= last1 &&
         at2 <= last2 && at3 <= last3) {
    NEVE_REFILL(0);
    NEVE_REFILL(1);
    NEVE_REFILL(2);
    NEVE_REFILL(3);
    for (int k = 0; k < lookups_per_refill; ++k) {
      NEVE_DECODE_PAIR(0);
      NEVE_DECODE_PAIR(1);
      NEVE_DECODE_PAIR(2);
      NEVE_DECODE_PAIR(3);
    }
  }
  NEVE_STORE(0);
  NEVE_STORE(1);
  NEVE_STORE(2);
  NEVE_STORE(3);
}
#undef NEVE_DECODE_PAIR
#undef NEVE_REFILL
#undef NEVE_LOAD
#undef NEVE_STORE

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
  thread_local std::array<PairCodes, max_codebooks> pairs;
  std::vector<CodeTable> tables;
  for (const Codebook& codebook : codebooks) tables.push_back(make_code_table(codebook));
  const size_t part = symbols_per_bit_stream(symbols.size());
  const size_t streams = bit_stream_count(symbols.size());
  coded.resize(symbols.size() * max_code_bits / 8 + streams * 2 * sizeof(uint64_t));
  const bool by_pairs = symbols.size() >= codebooks.size() * pair_codes_min_symbols;
  for (size_t k = 0; by_pairs && k < codebooks.size(); ++k) pairs[k].fill(tables[k]);
  BitSink sink;
  sink.at = coded.data();
  for (size_t s = 0; s < streams; ++s) {
    const std::byte* const first_byte = sink.at;
    const size_t begin = std::min(s * part, symbols.size());
    const size_t end = std::min(begin + part, symbols.size());
    for (size_t at = begin; at < end;) {
      const CodebookRun run = run_at(block_codebook, at, end);
      if (by_pairs) {
        encode_run(sink, symbols.data() + at, run.count, pairs[run.codebook], tables[run.codebook]);
      } else {
        encode_run(sink, symbols.data() + at, run.count, tables[run.codebook]);
      }
      at += run.count;
    }
    sink.flush();
    if (sink.held > 0) ++sink.at;
    sink.bits = 0;
    sink.held = 0;
    out.put_varint(static_cast<uint64_t>(sink.at - first_byte));
  }
  out.put_bytes(ByteSpan(coded.data(), static_cast<size_t>(sink.at - coded.data())));
}

Status huffman_decode(ByteReader& in, std::span<const Codebook> codebooks,
                      std::span<const uint8_t> block_codebook, std::span<uint8_t> symbols) {
  const size_t streams = bit_stream_count(symbols.size());
  const size_t part = symbols_per_bit_stream(symbols.size());
  std::array<uint64_t, interleaved_bit_streams> bytes{};
  std::array<BitSource, interleaved_bit_streams> sources;
  for (size_t s = 0; s < streams; ++s) bytes[s] = in.get_varint();
  for (size_t s = 0; s < streams; ++s) {
    const ByteSpan stream = in.get_bytes(bytes[s]);
    sources[s].at = stream.data();
    sources[s].end = stream.data() + stream.size();
  }
  if (in.failed()) return corrupt("symbol streams: run past the end of their section");

  std::vector<DecodeTable> tables(codebooks.size());
  for (size_t b = 0; b < codebooks.size(); ++b) make_decode_table(codebooks[b], tables[b]);
  const auto begin_of = [&](size_t s, size_t first) { return std::min(s * part + first, symbols.size()); };
  const auto left_of = [&](size_t s, size_t first) {
    const size_t begin = begin_of(s, first);
    return run_at(block_codebook, begin, std::max(begin, std::min((s + 1) * part, symbols.size())));
  };
  for (size_t first = 0; first < part;) {
    std::array<CodebookRun, interleaved_bit_streams> left{};
    size_t step = part - first;
    for (size_t s = 0; s < streams; ++s) {
      left[s] = left_of(s, first);
      // A stream that has ended holds up none of the others.
      if (left[s].count > 0) step = std::min(step, left[s].count);
    }
    const auto run_of = [&](size_t s) {
      uint8_t* const out = symbols.data() + begin_of(s, first);
      return BitStreamRun{&sources[s], &tables[left[s].codebook], out, out + std::min(step, left[s].count)};
    };
    if (streams == interleaved_bit_streams) {
      decode_four({run_of(0), run_of(1), run_of(2), run_of(3)});
    } else {
      const BitStreamRun r = run_of(0);
      decode_rest(*r.source, *r.table, r.out, r.out_end);
    }
    first += step;
  }
  for (size_t s = 0; s < streams; ++s) {
    if (sources[s].overrun()) {
      return corrupt(fmt::format("symbol stream {}: {} bytes end before its symbols do", s, bytes[s]));
    }
  }
  return {};
}

}  // namespace neve
