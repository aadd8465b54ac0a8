// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/residual_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "core/bits/ordered_words.hpp"
#include "core/kernels/word_kernels.hpp"
#include "core/stages/entropy/bit_io.hpp"
#include "core/stages/entropy/book_choice.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

namespace {

// Books by context. More do not pay; a book and its table cost as much as some thousand symbols.
constexpr size_t most_contexts = 8;
constexpr uint64_t cells_per_context = 1 << 13;

constexpr int longest = 64;
constexpr size_t neighbourhoods = 2 * longest + 1;  // sums of two bit lengths
using ContextOf = std::array<uint8_t, neighbourhoods>;

// Words below 4 are symbols as they are; others: four to a length (WordKernels::classify).
constexpr int head_bits = 3;  // of longer words the symbol tells so many: the top bit and the two below

// The bits below the head, of symbols from 4 on.
constexpr unsigned raw_bits_of_symbol(unsigned symbol) { return (symbol - 4) >> 2; }
constexpr uint8_t length_of_symbol(unsigned symbol) {
  return static_cast<uint8_t>(symbol < 4 ? std::min(symbol, 2U) : (symbol >> 2) + 2);
}

// What the encoder knows of each cell, kept for the thread's next section.
struct CellClasses {
  RawVector<uint8_t> symbols, lengths, near, by_context;

  void resize(size_t cells) {
    for (RawVector<uint8_t>* each : {&symbols, &lengths, &near, &by_context}) each->resize(cells);
  }
};
constexpr uint8_t excluded_mark = 255;  // in place of a neighbourhood
static_assert(excluded_mark >= neighbourhoods && excluded_mark < symbol_count);

// The residuals' low bits, least significant bit first.
template <class U>
class RawBitSink {
 public:
  explicit RawBitSink(std::byte* at) : at_(at) {}

  // count is below the word's bits less the head's. Writes up to 8 bytes past the end.
  void put(U word, unsigned count) {
    const uint64_t value = word & ((U{1} << count) - 1);
    uint64_t bits = bits_ | value << held_;
    const unsigned total = held_ + count;
    std::memcpy(at_, &bits, sizeof bits);
    at_ += total / 8;
    // Only of 64-bit words can more be there than a buffer holds.
    bits_ = sizeof(U) == 8 && total >= 64 ? value >> (64 - held_) : bits >> (total & ~7U);
    held_ = total & 7;
  }
  // The end of what was written.
  std::byte* finish() {
    std::memcpy(at_, &bits_, 1);
    return at_ + (held_ > 0 ? 1 : 0);
  }

 private:
  uint64_t bits_ = 0;
  unsigned held_ = 0;  // below 8 between calls
  std::byte* at_;
};

// Calls visit(row begin, length of the row above or null) for each row of the grid. Rows follow one another
// as in memory; the last row of a plane counts as above the first of the next.
template <class Visit>
void for_each_row(const Extents& size, const Visit& visit) {
  const int64_t rows = size[1] * size[2] * size[3];
  for (int64_t r = 0; r < rows; ++r) visit(r * size[0], r > 0);
}

// The neighbourhood of cell i of a row whose lengths start at `own`.
inline unsigned neighbourhood(const uint8_t* own, int64_t i, int64_t width, bool has_above) {
  if (i == 0) return has_above ? 2U * own[-width] : 0U;
  return unsigned{own[i - 1]} + (has_above ? own[i - width] : own[i - 1]);
}

// Lengths and neighbourhoods of a grid's cells; symbols are there.
void find_neighbourhoods(const Extents& size, const uint8_t* excluded, CellClasses& classes, size_t offset) {
  const auto width = static_cast<size_t>(size[0]);
  const size_t total = width * static_cast<size_t>(size[1] * size[2] * size[3]);
  const uint8_t* const symbols = classes.symbols.data() + offset;
  uint8_t* const lengths = classes.lengths.data() + offset;
  uint8_t* const near = classes.near.data() + offset;
  for (size_t i = 0; i < total; ++i) lengths[i] = length_of_symbol(symbols[i]);
  if (excluded != nullptr) {
    for_each_row(size, [&](int64_t row, bool has_above) {
      for (int64_t i = 0; i < size[0]; ++i) {
        const unsigned n = neighbourhood(lengths + row, i, size[0], has_above);
        near[row + i] = excluded[row + i] != 0 ? excluded_mark : static_cast<uint8_t>(n);
        if (excluded[row + i] != 0) lengths[row + i] = static_cast<uint8_t>(n / 2);
      }
    });
    return;
  }
  near[0] = 0;
  for (size_t i = 1; i < std::min(width, total); ++i) near[i] = static_cast<uint8_t>(2 * lengths[i - 1]);
  // As if rows were one, without branches; then the first cells of rows.
  for (size_t i = width; i < total; ++i) {
    near[i] = static_cast<uint8_t>(lengths[i - 1] + lengths[i - width]);
  }
  for (size_t i = width; i < total; i += width) near[i] = static_cast<uint8_t>(2 * lengths[i - width]);
}

enum class SymbolCoding : uint8_t { huffman = 0, zstd = 1 };

// Where one symbol is most of all, a bit for each is too much and repeats are long: then zstd may win.
constexpr double zstd_trial_share = 0.8;

void write_symbols(std::span<const uint8_t> symbols, ByteWriter& out) {
  const Histogram histogram = count_symbols(symbols);
  Bytes coded;
  ByteWriter huffman(coded);
  const auto books = write_books(std::span(&histogram, 1), {}, nullptr, huffman);
  const uint32_t most = *std::max_element(histogram.begin(), histogram.end());
  if (most > zstd_trial_share * static_cast<double>(symbols.size())) {
    Bytes packed;
    ByteWriter zstd(packed);
    const Status written = write_coded(ByteCoder::zstd, std::as_bytes(symbols), zstd);
    if (written.ok() && packed.size() < coded.size() + coded_bits(books[0], histogram) / 8) {
      out.put(SymbolCoding::zstd);
      out.put_bytes(packed);
      return;
    }
  }
  huffman_encode(symbols, books, {}, huffman);
  out.put(SymbolCoding::huffman);
  out.put_bytes(coded);
}

Status read_symbols(ByteReader& in, std::span<uint8_t> symbols) {
  const auto coding = in.get<SymbolCoding>();
  if (in.failed() || coding > SymbolCoding::zstd) {
    return corrupt(fmt::format("residual classes: coding {} of symbols unknown", static_cast<int>(coding)));
  }
  if (coding == SymbolCoding::zstd) {
    NEVE_ASSIGN(const Bytes bytes, read_coded(ByteCoder::zstd, in, symbols.size()));
    std::memcpy(symbols.data(), bytes.data(), bytes.size());
    return {};
  }
  NEVE_ASSIGN(const BookSet books, read_books(in, {}, symbols.size()));
  return huffman_decode(in, books.books, books.block_book, symbols);
}

}  // namespace

template <class U>
void encode_residuals(std::span<const ResidualGrid<U>> grids, ByteWriter& out) {
  size_t cells = 0;
  bool has_excluded = false;
  for (const ResidualGrid<U>& grid : grids) {
    cells += static_cast<size_t>(grid.cells());
    has_excluded = has_excluded || grid.excluded != nullptr;
  }
  thread_local CellClasses classes;
  classes.resize(cells);
  size_t offset = 0;
  for (const ResidualGrid<U>& grid : grids) {
    word_kernels(U{}).classify(grid.residuals, static_cast<size_t>(grid.cells()),
                               classes.symbols.data() + offset);
    find_neighbourhoods(grid.size, grid.excluded, classes, offset);
    offset += static_cast<size_t>(grid.cells());
  }
  Histogram seen = count_symbols(classes.near);
  const uint64_t coded = cells - seen[excluded_mark];
  seen[excluded_mark] = 0;

  // Contexts of equal weight, from calm to rough.
  const size_t contexts = std::clamp<size_t>(coded / cells_per_context, 1, most_contexts);
  ContextOf context_of{};
  std::array<uint64_t, most_contexts> count{};
  uint64_t below = 0;
  for (size_t n = 0; n < neighbourhoods; ++n) {
    context_of[n] = static_cast<uint8_t>(
        std::min<uint64_t>(contexts - 1, below * contexts / std::max<uint64_t>(coded, 1)));
    count[context_of[n]] += seen[n];
    below += seen[n];
  }

  std::array<uint8_t*, most_contexts> next{};
  std::array<std::span<const uint8_t>, most_contexts> symbols;
  uint8_t* begin = classes.by_context.data();
  for (size_t k = 0; k < contexts; ++k) {
    next[k] = begin;
    symbols[k] = {begin, count[k]};
    begin += count[k];
  }
  thread_local RawVector<std::byte> raw;
  raw.resize(cells * sizeof(U) + sizeof(uint64_t));
  RawBitSink<U> sink(raw.data());
  offset = 0;
  for (const ResidualGrid<U>& grid : grids) {
    const auto total = static_cast<size_t>(grid.cells());
    const uint8_t* const near = classes.near.data() + offset;
    const uint8_t* const symbol = classes.symbols.data() + offset;
    const uint8_t* const length = classes.lengths.data() + offset;
    const U* const residuals = grid.residuals;
    const auto deal = [&]<bool may_be_excluded>() {
      RawBitSink<U> local = sink;  // the compiler keeps a local in registers
      for (size_t i = 0; i < total; ++i) {
        if (may_be_excluded && near[i] == excluded_mark) continue;
        *next[context_of[near[i]]]++ = symbol[i];
        local.put(residuals[i], length[i] - std::min<unsigned>(length[i], head_bits));
      }
      sink = local;
    };
    if (has_excluded) {
      deal.template operator()<true>();
    } else {
      deal.template operator()<false>();
    }
    offset += total;
  }

  out.put(static_cast<uint8_t>(contexts));
  // Where each context but the first begins among the neighbourhoods.
  for (size_t k = 1; k < contexts; ++k) {
    out.put(
        static_cast<uint8_t>(std::lower_bound(context_of.begin(), context_of.end(), k) - context_of.begin()));
  }
  for (size_t k = 0; k < contexts; ++k) {
    out.put_varint(count[k]);
    if (count[k] > 0) write_symbols(symbols[k], out);
  }
  const size_t raw_bytes = static_cast<size_t>(sink.finish() - raw.data());
  out.put_varint(raw_bytes);
  out.put_bytes(ByteSpan(raw.data(), raw_bytes));
}

template <class U>
Status decode_residuals(ByteReader& in, std::span<const ResidualGrid<U>> grids) {
  const auto contexts = in.get<uint8_t>();
  if (in.failed() || contexts < 1 || contexts > most_contexts) {
    return corrupt(
        fmt::format("residual classes: {} contexts, 1 to {} are allowed", contexts, most_contexts));
  }
  ContextOf context_of{};
  unsigned begin_before = 0;
  for (unsigned k = 1; k < contexts; ++k) {
    const auto begin = in.get<uint8_t>();
    if (in.failed() || begin < begin_before || begin > neighbourhoods) {
      return corrupt(
          fmt::format("residual classes: context {} begins at {}, after {} and at most {} is allowed", k,
                      begin, begin_before, neighbourhoods));
    }
    for (size_t n = begin; n < neighbourhoods; ++n) context_of[n] = static_cast<uint8_t>(k);
    begin_before = begin;
  }
  uint64_t wanted = 0;
  for (const ResidualGrid<U>& grid : grids) {
    const auto cells = static_cast<uint64_t>(grid.cells());
    wanted += cells;
    if (grid.excluded != nullptr) {
      wanted -= static_cast<uint64_t>(
          std::count_if(grid.excluded, grid.excluded + cells, [](uint8_t e) { return e != 0; }));
    }
  }
  thread_local Symbols by_context;
  by_context.resize(wanted);
  std::array<const uint8_t*, most_contexts> next{};
  std::array<const uint8_t*, most_contexts> end{};
  uint64_t declared = 0;
  for (size_t k = 0; k < contexts; ++k) {
    const uint64_t count = in.get_varint();
    if (in.failed() || count > wanted - declared) {
      return corrupt(fmt::format("residual classes: context {} has {} of {} symbols", k, count, wanted));
    }
    const std::span<uint8_t> symbols(by_context.data() + declared, count);
    declared += count;
    if (count > 0) NEVE_TRY(read_symbols(in, symbols));
    next[k] = symbols.data();
    end[k] = symbols.data() + count;
  }
  const uint64_t raw_size = in.get_varint();
  BitReader raw(in.get_bytes(raw_size));
  if (in.failed() || declared != wanted) {
    return corrupt(fmt::format("residual classes: {} symbols for {} values", declared, wanted));
  }

  size_t most_cells = 0;
  for (const ResidualGrid<U>& grid : grids)
    most_cells = std::max(most_cells, static_cast<size_t>(grid.cells()));
  thread_local RawVector<uint8_t> lengths;
  lengths.resize(most_cells);
  bool is_damaged = false;
  for (const ResidualGrid<U>& grid : grids) {
    const int64_t width = grid.size[0];
    const auto read_row = [&]<bool may_be_excluded>(int64_t row, bool has_above) {
      uint8_t* const own = lengths.data() + row;
      const uint8_t* const skip = may_be_excluded ? grid.excluded + row : nullptr;
      U* const residuals = grid.residuals + row;
      BitReader bits = raw;  // the compiler keeps a local in registers
      for (int64_t i = 0; i < width; ++i) {
        const unsigned near = neighbourhood(own, i, width, has_above);
        if (may_be_excluded && skip[i] != 0) {
          own[i] = static_cast<uint8_t>(near / 2);
          residuals[i] = 0;
          continue;
        }
        const size_t k = context_of[near];
        if (next[k] == end[k]) {
          is_damaged = true;
          own[i] = 0;
          residuals[i] = 0;
          continue;
        }
        const unsigned symbol = *next[k]++;
        const uint8_t length = length_of_symbol(symbol);
        own[i] = length;
        if (symbol < 4) {
          residuals[i] = static_cast<U>(symbol);
          continue;
        }
        if (length > word_bits<U>) {
          is_damaged = true;
          own[i] = 0;
          residuals[i] = 0;
          continue;
        }
        const unsigned low = raw_bits_of_symbol(symbol);
        residuals[i] = static_cast<U>((U{4} | (symbol & 3)) << low) | static_cast<U>(bits.get(low));
      }
      raw = bits;
    };
    if (grid.excluded != nullptr) {
      for_each_row(grid.size,
                   [&](int64_t row, bool above) { read_row.template operator()<true>(row, above); });
    } else {
      for_each_row(grid.size,
                   [&](int64_t row, bool above) { read_row.template operator()<false>(row, above); });
    }
  }
  if (is_damaged || !raw.is_at_end()) {
    return corrupt("residual classes: the symbols or the raw bits do not make up the values");
  }
  return {};
}

template void encode_residuals<uint8_t>(std::span<const ResidualGrid<uint8_t>>, ByteWriter&);
template Status decode_residuals<uint8_t>(ByteReader&, std::span<const ResidualGrid<uint8_t>>);
template void encode_residuals<uint16_t>(std::span<const ResidualGrid<uint16_t>>, ByteWriter&);
template Status decode_residuals<uint16_t>(ByteReader&, std::span<const ResidualGrid<uint16_t>>);
template void encode_residuals<uint32_t>(std::span<const ResidualGrid<uint32_t>>, ByteWriter&);
template Status decode_residuals<uint32_t>(ByteReader&, std::span<const ResidualGrid<uint32_t>>);
template void encode_residuals<uint64_t>(std::span<const ResidualGrid<uint64_t>>, ByteWriter&);
template Status decode_residuals<uint64_t>(ByteReader&, std::span<const ResidualGrid<uint64_t>>);

}  // namespace neve
