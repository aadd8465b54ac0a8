// SPDX-License-Identifier: BSD-3-Clause
#include "stages/entropy/residual_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "stages/entropy/bit_io.hpp"
#include "stages/entropy/book_choice.hpp"
#include "stages/entropy/huffman_coder.hpp"
#include "stages/lossless/byte_coder.hpp"
#include "stages/lossless/ordered_words.hpp"
#include "threads/scratch.hpp"

namespace neve {

namespace {

// Books by context. More do not pay; a book and its table cost as much as some thousand symbols.
constexpr size_t most_contexts = 8;
constexpr uint64_t cells_per_context = 1 << 13;

constexpr int longest = 64;
constexpr size_t neighbourhoods = 2 * longest + 1;  // sums of two bit lengths
using ContextOf = std::array<uint8_t, neighbourhoods>;

// Words below 4 are symbols as they are; others: four to a length.
template <class U>
constexpr uint8_t bit_length(U word) {
  return static_cast<uint8_t>(std::bit_width(word));
}
constexpr int plain_bits = 2;  // lengths up to this have no raw bits and are symbols as they are
constexpr int head_bits = 3;   // of longer words the symbol tells so many: the top bit and the two below

template <class U>
uint8_t symbol_of(U word, int length) {
  if (length <= plain_bits) return static_cast<uint8_t>(word);
  const int raw = length - head_bits;
  return static_cast<uint8_t>(4 + (raw << 2) + static_cast<int>((word >> raw) & 3));
}
constexpr int raw_bits_of_symbol(unsigned symbol) {
  return symbol < 8 ? 0 : static_cast<int>(symbol - 4) >> 2;
}
constexpr int length_of_symbol(unsigned symbol) {
  return symbol < 4 ? std::bit_width(symbol) : (static_cast<int>(symbol - 4) >> 2) + head_bits;
}

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

enum class SymbolCoding : uint8_t { huffman = 0, zstd = 1 };

// Where one symbol is most of all, a bit for each is too much and repeats are long: then zstd may win.
constexpr double zstd_trial_share = 0.8;

void write_symbols(const Symbols& symbols, ByteWriter& out) {
  const Histogram histogram = count_symbols(symbols);
  Bytes coded;
  ByteWriter huffman(coded);
  const auto books = write_books(std::span(&histogram, 1), {}, nullptr, huffman);
  const uint32_t most = *std::max_element(histogram.begin(), histogram.end());
  if (most > zstd_trial_share * static_cast<double>(symbols.size())) {
    Bytes packed;
    ByteWriter zstd(packed);
    const Status written = write_coded(ByteCoder::zstd, std::as_bytes(std::span(symbols)), zstd);
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

Status read_symbols(ByteReader& in, Symbols& symbols) {
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
  for (const ResidualGrid<U>& grid : grids) cells += static_cast<size_t>(grid.cells());
  RawVector<uint8_t> lengths(cells);
  std::array<uint64_t, neighbourhoods> seen{};
  uint64_t coded = 0;
  uint8_t* grid_lengths = lengths.data();
  for (const ResidualGrid<U>& grid : grids) {
    const int64_t width = grid.size[0];
    const int64_t total = grid.cells();
    for (int64_t i = 0; i < total; ++i) grid_lengths[i] = bit_length(grid.residuals[i]);
    for_each_row(grid.size, [&](int64_t row, bool has_above) {
      uint8_t* const own = grid_lengths + row;
      const uint8_t* const skip = grid.excluded == nullptr ? nullptr : grid.excluded + row;
      for (int64_t i = 0; i < width; ++i) {
        const unsigned near = neighbourhood(own, i, width, has_above);
        if (skip != nullptr && skip[i] != 0) {
          own[i] = static_cast<uint8_t>(near / 2);
          continue;
        }
        ++seen[near];
        ++coded;
      }
    });
    grid_lengths += total;
  }

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

  std::array<Symbols, most_contexts> symbols;
  std::array<uint8_t*, most_contexts> next{};
  for (size_t k = 0; k < contexts; ++k) {
    symbols[k] = Symbols(count[k]);
    next[k] = symbols[k].data();
  }
  Bytes raw_bytes;
  raw_bytes.reserve(cells * sizeof(U));
  BitWriter raw(raw_bytes);
  grid_lengths = lengths.data();
  for (const ResidualGrid<U>& grid : grids) {
    const int64_t width = grid.size[0];
    for_each_row(grid.size, [&](int64_t row, bool has_above) {
      const uint8_t* const own = grid_lengths + row;
      const uint8_t* const skip = grid.excluded == nullptr ? nullptr : grid.excluded + row;
      const U* const residuals = grid.residuals + row;
      for (int64_t i = 0; i < width; ++i) {
        if (skip != nullptr && skip[i] != 0) continue;
        const int length = own[i];
        *next[context_of[neighbourhood(own, i, width, has_above)]]++ = symbol_of(residuals[i], length);
        raw.put(residuals[i], static_cast<unsigned>(std::max(0, length - head_bits)));
      }
    });
    grid_lengths += grid.cells();
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
  raw.finish();
  out.put_varint(raw_bytes.size());
  out.put_bytes(raw_bytes);
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
  std::array<Symbols, most_contexts> symbols;
  std::array<const uint8_t*, most_contexts> next{};
  std::array<const uint8_t*, most_contexts> end{};
  uint64_t declared = 0;
  for (size_t k = 0; k < contexts; ++k) {
    const uint64_t count = in.get_varint();
    if (in.failed() || count > wanted - declared) {
      return corrupt(fmt::format("residual classes: context {} has {} of {} symbols", k, count, wanted));
    }
    declared += count;
    symbols[k] = Symbols(count);
    if (count > 0) NEVE_TRY(read_symbols(in, symbols[k]));
    next[k] = symbols[k].data();
    end[k] = next[k] + count;
  }
  const uint64_t raw_size = in.get_varint();
  BitReader raw(in.get_bytes(raw_size));
  if (in.failed() || declared != wanted) {
    return corrupt(fmt::format("residual classes: {} symbols for {} values", declared, wanted));
  }

  size_t most_cells = 0;
  for (const ResidualGrid<U>& grid : grids)
    most_cells = std::max(most_cells, static_cast<size_t>(grid.cells()));
  RawVector<uint8_t> lengths(most_cells);
  bool is_damaged = false;
  for (const ResidualGrid<U>& grid : grids) {
    const int64_t width = grid.size[0];
    for_each_row(grid.size, [&](int64_t row, bool has_above) {
      uint8_t* const own = lengths.data() + row;
      const uint8_t* const skip = grid.excluded == nullptr ? nullptr : grid.excluded + row;
      U* const residuals = grid.residuals + row;
      for (int64_t i = 0; i < width; ++i) {
        const unsigned near = neighbourhood(own, i, width, has_above);
        if (skip != nullptr && skip[i] != 0) {
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
        own[i] = static_cast<uint8_t>(length_of_symbol(symbol));
        if (symbol < 4) {
          residuals[i] = static_cast<U>(symbol);
          continue;
        }
        if (own[i] > word_bits<U>) {
          is_damaged = true;
          own[i] = 0;
          residuals[i] = 0;
          continue;
        }
        const int low = raw_bits_of_symbol(symbol);
        residuals[i] = static_cast<U>((U{4} | ((symbol - 4) & 3)) << low) |
                       static_cast<U>(raw.get(static_cast<unsigned>(low)));
      }
    });
  }
  if (is_damaged || !raw.is_at_end()) {
    return corrupt("residual classes: the symbols or the raw bits do not make up the values");
  }
  return {};
}

template void encode_residuals<uint32_t>(std::span<const ResidualGrid<uint32_t>>, ByteWriter&);
template void encode_residuals<uint64_t>(std::span<const ResidualGrid<uint64_t>>, ByteWriter&);
template Status decode_residuals<uint32_t>(ByteReader&, std::span<const ResidualGrid<uint32_t>>);
template Status decode_residuals<uint64_t>(ByteReader&, std::span<const ResidualGrid<uint64_t>>);

}  // namespace neve
