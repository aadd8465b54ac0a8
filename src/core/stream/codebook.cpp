// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/codebook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/stages/entropy/bit_io.hpp"
#include "core/stages/entropy/code_lengths.hpp"

namespace neve::stream {

namespace {

constexpr size_t zero = wide_symbol_zero;
constexpr size_t last_symbol = wide_symbol_count - 1;

// First and last symbol with a code.
std::pair<size_t, size_t> used_span(const Codebook& codebook) {
  size_t first = 0;
  while (first < last_symbol && codebook.length[first] == 0) ++first;
  size_t last = last_symbol;
  while (last > first && codebook.length[last] == 0) --last;
  return {first, last};
}

// How a length is written, by the one before it: the bits, and how many.
struct LengthCode {
  uint32_t bits;
  unsigned count;
};
LengthCode length_code(unsigned length, unsigned before) {
  if (length == before) return {0b0, 1};
  if (length == before + 1) return {0b001, 3};
  if (length + 1 == before) return {0b101, 3};
  return {0b11 | length << 2, 7};
}

constexpr unsigned symbol_bits = 10;
constexpr unsigned length_bits = 5;

// Four tables: equal symbols in a row would wait for each other's counter.
void count_each(std::span<const uint16_t> symbols, SymbolCounts& counts) {
  static thread_local std::array<SymbolCounts, 4> part;
  for (SymbolCounts& p : part) p.fill(0);
  const size_t n = symbols.size();
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    uint64_t four;
    std::memcpy(&four, symbols.data() + i, sizeof four);
    ++part[0][four & 0xffff];
    ++part[1][(four >> 16) & 0xffff];
    ++part[2][(four >> 32) & 0xffff];
    ++part[3][four >> 48];
  }
  for (; i < n; ++i) ++part[0][symbols[i]];
  for (size_t s = 0; s < wide_symbol_count; ++s)
    counts[s] += part[0][s] + part[1][s] + part[2][s] + part[3][s];
}

// The 64 symbols around 0 in pairs, which halves the counters to be moved; several tables, as above.
class PairCounts {
 public:
  static constexpr size_t step = 8;  // symbols

  // Counts whole steps until they no longer pay: where every fourth holds a symbol outside. Returns how many
  // symbols.
  size_t add(std::span<const uint16_t> symbols, SymbolCounts& counts) {
    constexpr size_t part = 128 * step;
    size_t outside = 0;
    size_t i = 0;
    for (; i + part <= symbols.size() && outside < part / step / 4; i += part) {
      outside = 0;
      for (size_t k = 0; k < part; k += step) {
        uint64_t low;
        uint64_t high;
        std::memcpy(&low, symbols.data() + i + k, sizeof low);
        std::memcpy(&high, symbols.data() + i + k + 4, sizeof high);
        // Where a symbol is below `first` its own 16 bits are large, whatever is borrowed above them.
        low -= first * each;
        high -= first * each;
        if (((low | high) & (0xffff - (side - 1)) * each) == 0) [[likely]] {
          low |= low >> 10;
          high |= high >> 10;
          ++pairs_[0][low & last_pair];
          ++pairs_[1][(low >> 32) & last_pair];
          ++pairs_[2][high & last_pair];
          ++pairs_[3][(high >> 32) & last_pair];
        } else {
          ++outside;
          for (size_t s = 0; s < step; ++s) ++counts[symbols[i + k + s]];
        }
      }
    }
    return i;
  }

  void settle(SymbolCounts& counts) {
    for (size_t high = 0; high < side; ++high) {
      uint32_t total = 0;
      for (size_t low = 0; low < side; ++low) {
        const size_t pair = high * side + low;
        const uint32_t count = pairs_[0][pair] + pairs_[1][pair] + pairs_[2][pair] + pairs_[3][pair];
        counts[first + low] += count;
        total += count;
      }
      counts[first + high] += total;
    }
    for (std::array<uint32_t, side * side>& table : pairs_) table.fill(0);
  }

 private:
  static constexpr size_t side = 64;
  static constexpr uint64_t first = zero - side / 2;
  static constexpr uint64_t each = 0x0001000100010001;
  static constexpr size_t last_pair = side * side - 1;

  std::array<std::array<uint32_t, side * side>, 4> pairs_{};
};

// Below this many symbols summing up the pairs costs more than they save.
constexpr size_t pairs_min_symbols = 32 * wide_symbol_count;

}  // namespace

void count_symbols(std::span<const uint16_t> symbols, SymbolCounts& counts) {
  if (symbols.size() < 8 * wide_symbol_count) {
    // Two tables, of which one need not be cleared.
    SymbolCounts other{};
    size_t i = 0;
    for (; i + 2 <= symbols.size(); i += 2) {
      ++counts[symbols[i]];
      ++other[symbols[i + 1]];
    }
    if (i < symbols.size()) ++counts[symbols[i]];
    for (size_t s = 0; s < wide_symbol_count; ++s) counts[s] += other[s];
    return;
  }
  size_t counted = 0;
  if (symbols.size() >= pairs_min_symbols) {
    static thread_local PairCounts of_thread;
    PairCounts& pairs = of_thread;
    counted = pairs.add(symbols, counts);
    pairs.settle(counts);
  }
  if (counted < symbols.size()) count_each(symbols.subspan(counted), counts);
}

// CEAZ's algorithm 1: residuals fall off on both sides of 0, so symbols of equal magnitude are compared with
// each other only. As printed it leaves the escape at the end of the table, where no magnitude puts it; here
// it goes in by its count, on the same pass.
size_t approximate_order(const SymbolCounts& counts, std::array<uint16_t, wide_symbol_count>& ascending) {
  std::array<uint16_t, wide_symbol_count> descending;
  size_t used = 0;
  bool escape_waits = counts[wide_symbol_escape] > 0;
  const auto put = [&](size_t symbol) {
    if (counts[symbol] == 0) return;
    if (escape_waits && counts[wide_symbol_escape] >= counts[symbol]) {
      descending[used++] = wide_symbol_escape;
      escape_waits = false;
    }
    descending[used++] = static_cast<uint16_t>(symbol);
  };
  put(zero);
  for (size_t k = 1; zero + k <= last_symbol; ++k) {
    const bool is_left_first = counts[zero - k] > counts[zero + k];
    put(is_left_first ? zero - k : zero + k);
    put(is_left_first ? zero + k : zero - k);
  }
  if (escape_waits) descending[used++] = wide_symbol_escape;
  std::reverse_copy(descending.begin(), descending.begin() + static_cast<ptrdiff_t>(used), ascending.begin());
  return used;
}

namespace {

Codebook huffman_codebook(const SymbolCounts& counts, std::span<const uint16_t> ascending) {
  Codebook codebook;
  huffman_lengths(counts, ascending, max_wide_code_bits, codebook.length);
  return codebook;
}

uint64_t total_bits(const Codebook& codebook, const SymbolCounts& counts) {
  return coded_bits(codebook, counts) + 8 * codebook_bytes(codebook);
}

}  // namespace

Codebook make_codebook(const SymbolCounts& counts, SymbolOrder order) {
  std::array<uint16_t, wide_symbol_count> found;
  const std::span<uint16_t> ascending(found.data(), approximate_order(counts, found));
  const Codebook nearly = huffman_codebook(counts, ascending);
  if (order == SymbolOrder::pipeline) return nearly;
  // (What sorting leaves of the order of equal counts are runs of equal lengths, which take a bit each.)
  std::stable_sort(ascending.begin(), ascending.end(),
                   [&](uint16_t a, uint16_t b) { return counts[a] < counts[b]; });
  const Codebook exact = huffman_codebook(counts, ascending);
  return total_bits(exact, counts) < total_bits(nearly, counts) ? exact : nearly;
}

uint64_t coded_bits(const Codebook& codebook, const SymbolCounts& counts) {
  uint64_t bits = 0;
  uint32_t without_code = 0;
  for (size_t s = 0; s < wide_symbol_count; ++s) {
    bits += uint64_t{counts[s]} * codebook.length[s];
    without_code |= codebook.length[s] == 0 ? counts[s] : 0;
  }
  return without_code == 0 ? bits : UINT64_MAX;
}

void write_codebook(const Codebook& codebook, Bytes& out) {
  const auto [first, last] = used_span(codebook);
  BitWriter bits(out);
  bits.put(first, symbol_bits);
  bits.put(last, symbol_bits);
  unsigned before = 0;
  for (size_t s = first; s <= last; ++s) {
    const LengthCode code = length_code(codebook.length[s], before);
    bits.put(code.bits, code.count);
    before = codebook.length[s];
  }
  bits.finish();
}

uint64_t codebook_bytes(const Codebook& codebook) {
  const auto [first, last] = used_span(codebook);
  uint64_t bits = 2 * symbol_bits;
  unsigned before = 0;
  for (size_t s = first; s <= last; ++s) {
    bits += length_code(codebook.length[s], before).count;
    before = codebook.length[s];
  }
  return (bits + 7) / 8;
}

Result<Codebook> read_codebook(ByteReader& in) {
  // The bits say themselves where they end; no codebook is longer than this.
  constexpr size_t longest_bytes = (2 * symbol_bits + 7 * wide_symbol_count + 7) / 8;
  ByteReader ahead = in;
  const ByteSpan rest = ahead.get_bytes(std::min(in.remaining(), longest_bytes));
  BitReader bits(rest);
  uint64_t taken = 2 * symbol_bits;
  const size_t first = bits.get(symbol_bits);
  const size_t last = bits.get(symbol_bits);
  if (first > last) {
    return corrupt(fmt::format("codebook: first symbol {} above last symbol {}", first, last));
  }
  Codebook codebook;
  unsigned length = 0;
  for (size_t s = first; s <= last; ++s, ++taken) {
    if (bits.get(1) != 0) {
      taken += 2;
      if (bits.get(1) != 0) {
        length = static_cast<unsigned>(bits.get(length_bits));
        taken += length_bits - 1;
      } else {
        length += bits.get(1) == 0 ? 1U : ~0U;
      }
    }
    if (length > max_wide_code_bits) {
      return corrupt(fmt::format("codebook: symbol {} has a code of {} bits, at most {}", s,
                                 static_cast<int>(length), max_wide_code_bits));
    }
    codebook.length[s] = static_cast<uint8_t>(length);
  }
  in.get_bytes((taken + 7) / 8);
  if (in.failed()) return corrupt("codebook: ends before its last symbol");
  NEVE_TRY(require_complete_code(codebook.length, max_wide_code_bits));
  return codebook;
}

}  // namespace neve::stream
