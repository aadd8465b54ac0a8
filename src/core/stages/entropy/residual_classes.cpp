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
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

namespace {

// Codebooks by context. More do not pay; a codebook and its table cost as much as some thousand symbols.
constexpr size_t max_contexts = 8;
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
  const CountedCodebook counted(count_symbols(symbols));
  Bytes coded;
  ByteWriter huffman(coded);
  const auto codebooks = write_codebooks(std::span(&counted, 1), {}, nullptr, huffman);
  const uint32_t most = *std::max_element(counted.histogram.begin(), counted.histogram.end());
  if (most > zstd_trial_share * static_cast<double>(symbols.size())) {
    Bytes packed;
    ByteWriter zstd(packed);
    const Status written = write_coded(ByteCoder::zstd, std::as_bytes(symbols), zstd);
    if (written.ok() && packed.size() < coded.size() + counted.bits / 8) {
      out.put(SymbolCoding::zstd);
      out.put_bytes(packed);
      return;
    }
  }
  huffman_encode(symbols, codebooks, {}, huffman);
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
  NEVE_ASSIGN(const CodebookSet set, read_codebooks(in, {}, symbols.size()));
  return huffman_decode(in, set.codebooks, set.block_codebook, symbols);
}

// Which context codes a symbol, by the neighbourhood of its cell.
struct ContextTable {
  size_t contexts = 1;
  ContextOf of{};
};

// Contexts of equal weight, from calm to rough. `seen` counts the coded cells of each neighbourhood.
ContextTable balance_contexts(const Histogram& seen, uint64_t coded) {
  ContextTable table;
  table.contexts = std::clamp<size_t>(coded / cells_per_context, 1, max_contexts);
  uint64_t below = 0;
  for (size_t n = 0; n < neighbourhoods; ++n) {
    table.of[n] = static_cast<uint8_t>(
        std::min<uint64_t>(table.contexts - 1, below * table.contexts / std::max<uint64_t>(coded, 1)));
    below += seen[n];
  }
  return table;
}

// The number of contexts, and where each but the first begins among the neighbourhoods.
void write_contexts(const ContextTable& table, ByteWriter& out) {
  out.put(static_cast<uint8_t>(table.contexts));
  for (size_t k = 1; k < table.contexts; ++k) {
    out.put(static_cast<uint8_t>(std::lower_bound(table.of.begin(), table.of.end(), k) - table.of.begin()));
  }
}

Result<ContextTable> read_contexts(ByteReader& in) {
  ContextTable table;
  table.contexts = in.get<uint8_t>();
  if (in.failed() || table.contexts < 1 || table.contexts > max_contexts) {
    return corrupt(
        fmt::format("residual classes: {} contexts, 1 to {} are allowed", table.contexts, max_contexts));
  }
  unsigned begin_before = 0;
  for (size_t k = 1; k < table.contexts; ++k) {
    const auto begin = in.get<uint8_t>();
    if (in.failed() || begin < begin_before || begin > neighbourhoods) {
      return corrupt(
          fmt::format("residual classes: context {} begins at {}, after {} and at most {} is allowed", k,
                      begin, begin_before, neighbourhoods));
    }
    for (size_t n = begin; n < neighbourhoods; ++n) table.of[n] = static_cast<uint8_t>(k);
    begin_before = begin;
  }
  return table;
}

// --- encoder --------------------------------------------------------------------------------------------

// Symbols, lengths and neighbourhoods of all grids' cells, one grid after another.
template <class U>
void classify_cells(std::span<const ResidualGrid<U>> grids, CellClasses& classes) {
  size_t cells = 0;
  for (const ResidualGrid<U>& grid : grids) cells += static_cast<size_t>(grid.cells());
  classes.resize(cells);
  size_t offset = 0;
  for (const ResidualGrid<U>& grid : grids) {
    word_kernels(U{}).classify(grid.residuals, static_cast<size_t>(grid.cells()),
                               classes.symbols.data() + offset);
    find_neighbourhoods(grid.size, grid.excluded, classes, offset);
    offset += static_cast<size_t>(grid.cells());
  }
}

// Where each context's next symbol goes.
using DealtTo = std::array<uint8_t*, max_contexts>;

// Deals the symbols of a grid, whose cells start at `offset`, to their contexts, and low bits to the sink.
template <bool may_be_excluded, class U>
void deal_symbols(const ResidualGrid<U>& grid, const CellClasses& classes, size_t offset,
                  const ContextOf& context_of, DealtTo& next, RawBitSink<U>& sink) {
  const auto total = static_cast<size_t>(grid.cells());
  const uint8_t* const near = classes.near.data() + offset;
  const uint8_t* const symbol = classes.symbols.data() + offset;
  const uint8_t* const length = classes.lengths.data() + offset;
  RawBitSink<U> local = sink;  // the compiler keeps a local in registers
  for (size_t i = 0; i < total; ++i) {
    if (may_be_excluded && near[i] == excluded_mark) continue;
    *next[context_of[near[i]]]++ = symbol[i];
    local.put(grid.residuals[i], length[i] - std::min<unsigned>(length[i], head_bits));
  }
  sink = local;
}

// --- decoder --------------------------------------------------------------------------------------------

// Symbols that are still to be taken, by context.
struct SymbolQueues {
  std::array<const uint8_t*, max_contexts> next{};
  std::array<const uint8_t*, max_contexts> end{};
};

// `storage` is resized to hold the symbols, of which there must be `wanted`.
Result<SymbolQueues> read_queues(ByteReader& in, size_t contexts, uint64_t wanted, Symbols& storage) {
  storage.resize(wanted);
  SymbolQueues queues;
  uint64_t declared = 0;
  for (size_t k = 0; k < contexts; ++k) {
    const uint64_t count = in.get_varint();
    if (in.failed() || count > wanted - declared) {
      return corrupt(fmt::format("residual classes: context {} has {} of {} symbols", k, count, wanted));
    }
    const std::span<uint8_t> symbols(storage.data() + declared, count);
    declared += count;
    if (count > 0) NEVE_TRY(read_symbols(in, symbols));
    queues.next[k] = symbols.data();
    queues.end[k] = symbols.data() + count;
  }
  if (declared != wanted) {
    return corrupt(fmt::format("residual classes: {} symbols for {} values", declared, wanted));
  }
  return queues;
}

template <class U>
uint64_t coded_cells(std::span<const ResidualGrid<U>> grids) {
  uint64_t coded = 0;
  for (const ResidualGrid<U>& grid : grids) {
    const auto cells = static_cast<uint64_t>(grid.cells());
    coded += cells;
    if (grid.excluded == nullptr) continue;
    coded -= static_cast<uint64_t>(
        std::count_if(grid.excluded, grid.excluded + cells, [](uint8_t e) { return e != 0; }));
  }
  return coded;
}

// What is left to be read of the residuals, in the order of the cells.
struct ResidualReader {
  ContextOf context_of{};
  SymbolQueues queues;
  BitReader raw;
  bool is_damaged = false;

  // One symbol and its low bits; 0 where there is none, or its word is too long. `length` becomes its own.
  template <class U>
  U take(unsigned near, BitReader& bits, uint8_t& length) {
    length = 0;
    const size_t k = context_of[near];
    if (queues.next[k] == queues.end[k]) {
      is_damaged = true;
      return 0;
    }
    const unsigned symbol = *queues.next[k]++;
    const uint8_t found = length_of_symbol(symbol);
    if (symbol < 4) {
      length = found;
      return static_cast<U>(symbol);
    }
    if (found > word_bits<U>) {
      is_damaged = true;
      return 0;
    }
    length = found;
    const unsigned low = raw_bits_of_symbol(symbol);
    return static_cast<U>(static_cast<U>((U{4} | (symbol & 3)) << low) | static_cast<U>(bits.get(low)));
  }

  // The row of a grid that begins at cell `row`. `lengths` are those of the grid's cells.
  template <bool may_be_excluded, class U>
  void read_row(const ResidualGrid<U>& grid, int64_t row, bool has_above, uint8_t* lengths) {
    const int64_t width = grid.size[0];
    uint8_t* const own = lengths + row;
    U* const residuals = grid.residuals + row;
    BitReader bits = raw;  // the compiler keeps a local in registers
    for (int64_t i = 0; i < width; ++i) {
      const unsigned near = neighbourhood(own, i, width, has_above);
      if (may_be_excluded && grid.excluded[row + i] != 0) {
        own[i] = static_cast<uint8_t>(near / 2);
        residuals[i] = 0;
      } else {
        residuals[i] = take<U>(near, bits, own[i]);
      }
    }
    raw = bits;
  }
};

}  // namespace

template <class U>
void encode_residuals(std::span<const ResidualGrid<U>> grids, ByteWriter& out) {
  thread_local CellClasses classes;
  classify_cells(grids, classes);
  const size_t cells = classes.near.size();
  const Histogram seen = count_symbols(classes.near);
  const ContextTable table = balance_contexts(seen, cells - seen[excluded_mark]);

  std::array<size_t, max_contexts> count{};
  for (size_t n = 0; n < neighbourhoods; ++n) count[table.of[n]] += seen[n];
  std::array<std::span<const uint8_t>, max_contexts> symbols;
  DealtTo next{};
  uint8_t* begin = classes.by_context.data();
  for (size_t k = 0; k < table.contexts; ++k) {
    next[k] = begin;
    symbols[k] = {begin, count[k]};
    begin += count[k];
  }
  thread_local RawVector<std::byte> raw;
  raw.resize(cells * sizeof(U) + sizeof(uint64_t));
  RawBitSink<U> sink(raw.data());
  size_t offset = 0;
  for (const ResidualGrid<U>& grid : grids) {
    const auto deal = grid.excluded != nullptr ? deal_symbols<true, U> : deal_symbols<false, U>;
    deal(grid, classes, offset, table.of, next, sink);
    offset += static_cast<size_t>(grid.cells());
  }

  write_contexts(table, out);
  for (size_t k = 0; k < table.contexts; ++k) {
    out.put_varint(symbols[k].size());
    if (!symbols[k].empty()) write_symbols(symbols[k], out);
  }
  const size_t raw_bytes = static_cast<size_t>(sink.finish() - raw.data());
  out.put_varint(raw_bytes);
  out.put_bytes(ByteSpan(raw.data(), raw_bytes));
}

template <class U>
Status decode_residuals(ByteReader& in, std::span<const ResidualGrid<U>> grids) {
  NEVE_ASSIGN(const ContextTable table, read_contexts(in));
  thread_local Symbols by_context;
  NEVE_ASSIGN(const SymbolQueues queues, read_queues(in, table.contexts, coded_cells(grids), by_context));
  const uint64_t raw_size = in.get_varint();
  ResidualReader reader{table.of, queues, BitReader(in.get_bytes(raw_size))};
  if (in.failed()) {
    return corrupt(fmt::format("residual classes: {} bytes of raw bits are missing", raw_size));
  }

  size_t max_cells = 0;
  for (const ResidualGrid<U>& grid : grids)
    max_cells = std::max(max_cells, static_cast<size_t>(grid.cells()));
  thread_local RawVector<uint8_t> lengths;
  lengths.resize(max_cells);
  for (const ResidualGrid<U>& grid : grids) {
    for_each_row(grid.size, [&](int64_t row, bool has_above) {
      if (grid.excluded != nullptr) {
        reader.read_row<true>(grid, row, has_above, lengths.data());
      } else {
        reader.read_row<false>(grid, row, has_above, lengths.data());
      }
    });
  }
  if (reader.is_damaged || !reader.raw.is_at_end()) {
    return corrupt("residual classes: the symbols or the raw bits do not match the values");
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
