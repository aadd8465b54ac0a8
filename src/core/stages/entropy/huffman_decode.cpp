// SPDX-License-Identifier: BSD-3-Clause
// Interleaved bit streams back into symbols: four lanes side by side, each with the codebook of its block.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "core/kernels/code_lanes.hpp"
#include "core/stages/entropy/codebook_runs.hpp"
#include "core/stages/entropy/huffman_coder.hpp"

namespace neve {

namespace {

static_assert(SymbolLookups::bits == max_code_bits);

// What the next bits stand for: one symbol, and up to three at once.
struct DecodeTable {
  std::array<uint16_t, size_t{1} << max_code_bits> single;   // symbol | length << 8
  std::array<uint32_t, size_t{1} << max_code_bits> several;  // as SymbolLookups has them
};

void fill_single(const Codebook& codebook, unsigned longest, DecodeTable& table) {
  const auto codes = canonical_codes(codebook);
  const auto used =
      std::count_if(codebook.length.begin(), codebook.length.end(), [](uint8_t l) { return l > 0; });
  for (size_t s = 0; s < symbol_count; ++s) {
    const unsigned length = codebook.length[s];
    if (length == 0) continue;
    // Entries that begin with a symbol's code are as far apart as there are codes of its length. A codebook
    // of one symbol is incomplete: that gets every entry, so that no look-up is undefined.
    const size_t stride = used == 1 ? 1 : size_t{1} << length;
    const auto entry = static_cast<uint16_t>(s | length << 8);
    for (size_t at = used == 1 ? 0 : codes[s]; at < size_t{1} << longest; at += stride)
      table.single[at] = entry;
  }
}

// One symbol a look-up: soon filled in, for few symbols.
void fill_with_one(unsigned longest, DecodeTable& table) {
  for (size_t at = 0; at < size_t{1} << longest; ++at) {
    const uint32_t one = table.single[at];
    table.several[at] = (one & 0xff) | (one >> 8 | 1U << SymbolLookups::count_shift)
                                           << SymbolLookups::bits_shift;
  }
}

// Bits past those looked up are unknown: what was found there counts only if it does not need them.
void fill_several(unsigned longest, DecodeTable& table) {
  for (size_t at = 0; at < size_t{1} << longest; ++at) {
    const unsigned first = table.single[at], first_bits = first >> 8;
    const unsigned second = table.single[at >> first_bits], two_bits = first_bits + (second >> 8);
    const unsigned third = table.single[at >> two_bits], three_bits = two_bits + (third >> 8);
    const bool has_two = two_bits <= longest, has_three = three_bits <= longest;
    const unsigned bits = has_three ? three_bits : has_two ? two_bits : first_bits;
    const unsigned count = has_three ? 3 : has_two ? 2 : 1;
    table.several[at] = (first & 0xff) | (second & 0xff) << 8 | (third & 0xff) << 16 |
                        (bits | count << SymbolLookups::count_shift) << SymbolLookups::bits_shift;
  }
}

// Of the codebooks of one stream of symbols, of one size, by their longest code; used again by the next.
class DecodeTables {
 public:
  void fill(std::span<const Codebook> codebooks, size_t symbol_total) {
    longest_ = 1;
    for (const Codebook& codebook : codebooks)
      longest_ =
          std::max<unsigned>(longest_, *std::max_element(codebook.length.begin(), codebook.length.end()));
    for (size_t b = 0; b < codebooks.size(); ++b) {
      fill_single(codebooks[b], longest_, tables_[b]);
      if (symbol_total < several_min_symbols * codebooks.size()) {
        fill_with_one(longest_, tables_[b]);
      } else {
        fill_several(longest_, tables_[b]);
      }
    }
  }
  uint64_t mask() const { return (uint64_t{1} << longest_) - 1; }
  const DecodeTable& operator[](size_t codebook) const { return tables_[codebook]; }

 private:
  // For fewer of a codebook it takes longer to fill in look-ups of several than they save.
  static constexpr size_t several_min_symbols = 12288;

  unsigned longest_ = 0;
  std::array<DecodeTable, max_codebooks> tables_;
};

// A bit stream, and the part of the symbols that it holds.
class BitStream {
 public:
  BitStream(ByteSpan bytes, std::span<const uint8_t> block_codebook, std::span<uint8_t> symbols, size_t begin,
            size_t end)
      : bytes_(bytes), block_codebook_(block_codebook), symbols_(symbols), at_(begin), end_(end) {
    next_run();
  }

  bool is_done() const { return at_ == end_; }
  // More was taken than there is.
  bool is_overrun() const { return bit_ > 8 * uint64_t{bytes_.size()}; }

  // Turns of four look-ups that are safe without looking at the ends of bytes and run.
  ptrdiff_t safe_turns() const {
    const auto bytes_left = static_cast<ptrdiff_t>(bytes_.size()) - static_cast<ptrdiff_t>(bit_ / 8);
    const auto symbols_left = static_cast<ptrdiff_t>(run_end_ - at_);
    return std::min((bytes_left - code_lanes::margin_bytes) / code_lanes::bytes_per_turn,
                    (symbols_left - code_lanes::margin_symbols) / code_lanes::symbols_per_turn);
  }
  SymbolLane lane(const DecodeTables& tables) const {
    return {bytes_.data() + bit_ / 8, code_lanes::top >> bit_ % 8, symbols_.data() + at_,
            tables[codebook_].several.data()};
  }
  void moved_to(const SymbolLane& lane) {
    at_ = static_cast<size_t>(lane.out - symbols_.data());
    bit_ = 8 * static_cast<uint64_t>(lane.at - bytes_.data()) + code_lanes::taken_bits(lane);
  }

  // The rest of a run, symbol by symbol; past the end of the bytes there are zeros.
  void finish_run(const DecodeTables& tables) {
    const uint16_t* const single = tables[codebook_].single.data();
    const uint64_t mask = tables.mask();
    uint8_t* const out = symbols_.data();
    size_t at = at_;
    while (at < run_end_) {
      uint64_t bits = peek();
      unsigned taken = 0;
      for (; at < run_end_ && taken + max_code_bits <= min_peeked_bits; ++at) {
        const unsigned entry = single[bits & mask];
        out[at] = static_cast<uint8_t>(entry);
        bits >>= entry >> 8;
        taken += entry >> 8;
      }
      bit_ += taken;
    }
    at_ = at;
    next_run();
  }

 private:
  static constexpr unsigned min_peeked_bits = 57;

  uint64_t peek() const {
    const uint64_t byte = bit_ / 8;
    uint64_t bits = 0;
    if (byte < bytes_.size())
      std::memcpy(&bits, bytes_.data() + byte, std::min<uint64_t>(sizeof bits, bytes_.size() - byte));
    return bits >> bit_ % 8;
  }
  void next_run() {
    const CodebookRun run = run_at(block_codebook_, at_, end_);
    codebook_ = run.codebook;
    run_end_ = at_ + run.count;
  }

  ByteSpan bytes_;
  std::span<const uint8_t> block_codebook_;
  std::span<uint8_t> symbols_;
  size_t at_, end_;  // symbols
  size_t run_end_ = 0;
  size_t codebook_ = 0;
  uint64_t bit_ = 0;
};

// All of them side by side. One that is done lets another's symbols be decoded twice.
class FourBitStreams {
 public:
  FourBitStreams(std::span<BitStream> streams, const DecodeTables& tables)
      : streams_(streams), tables_(tables) {}

  void decode() {
    while (true) {
      BitStream* first = nullptr;  // that is not done
      ptrdiff_t turns = max_turns;
      for (BitStream& stream : streams_) {
        while (!stream.is_done() && stream.safe_turns() <= 0) stream.finish_run(tables_);
        if (stream.is_done()) continue;
        turns = std::min(turns, stream.safe_turns());
        if (first == nullptr) first = &stream;
      }
      if (first == nullptr) return;
      run(turns, *first);
    }
  }

 private:
  // What is written twice stays in the first cache.
  static constexpr ptrdiff_t max_turns = 64;

  void run(ptrdiff_t turns, const BitStream& other) {
    const auto lane_of = [&](size_t s) {
      if (!streams_[s].is_done()) return streams_[s].lane(tables_);
      SymbolLane lane = other.lane(tables_);
      lane.out = unwanted_.data();
      return lane;
    };
    std::array<SymbolLane, interleaved_bit_streams> lanes{lane_of(0), lane_of(1), lane_of(2), lane_of(3)};
    kernels().stream->decode_symbols(lanes.data(), turns, tables_.mask());
    for (size_t s = 0; s < lanes.size(); ++s) {
      if (!streams_[s].is_done()) streams_[s].moved_to(lanes[s]);
    }
  }

  std::span<BitStream> streams_;
  const DecodeTables& tables_;
  std::array<uint8_t, max_turns * code_lanes::symbols_per_turn + code_lanes::margin_symbols> unwanted_;
};

}  // namespace

Status huffman_decode(ByteReader& in, std::span<const Codebook> codebooks,
                      std::span<const uint8_t> block_codebook, std::span<uint8_t> symbols) {
  const size_t stream_total = bit_stream_count(symbols.size());
  const size_t part = symbols_per_bit_stream(symbols.size());
  std::array<uint64_t, interleaved_bit_streams> bytes{};
  for (size_t s = 0; s < stream_total; ++s) bytes[s] = in.get_varint();
  std::vector<BitStream> streams;
  for (size_t s = 0; s < stream_total; ++s) {
    const size_t begin = std::min(s * part, symbols.size());
    streams.emplace_back(in.get_bytes(bytes[s]), block_codebook, symbols, begin,
                         std::min(begin + part, symbols.size()));
  }
  if (in.failed()) return corrupt("symbol streams: run past the end of their section");

  thread_local DecodeTables tables;
  tables.fill(codebooks, symbols.size());
  if (stream_total == interleaved_bit_streams) FourBitStreams(streams, tables).decode();
  for (size_t s = 0; s < stream_total; ++s) {
    while (!streams[s].is_done()) streams[s].finish_run(tables);
    if (streams[s].is_overrun()) {
      return corrupt(fmt::format("symbol stream {}: {} bytes end before its symbols do", s, bytes[s]));
    }
  }
  return {};
}

}  // namespace neve
