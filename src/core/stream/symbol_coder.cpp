// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/symbol_coder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/kernels/code_lanes.hpp"
#include "core/stages/entropy/code_lengths.hpp"
#include "core/stages/entropy/narrow_codes.hpp"

namespace neve::stream {

void make_code_table(const Codebook& codebook, CodeTable& table) {
  table.length = codebook.length;
  canonical_codes(codebook.length, max_wide_code_bits, table.code);
  table.narrow = narrow_codes(table.code, table.length);
}

namespace {

void encode_run(const uint16_t* symbols, size_t n, const CodeTable& table, BitSink& sink) {
  std::byte* at = sink.at;
  uint64_t bits = sink.bits;
  unsigned held = sink.held;
  const auto flush = [&] {
    std::memcpy(at, &bits, 8);
    at += held >> 3;
    bits >>= held & ~7U;
    held &= 7;
  };
  const uint16_t* const code = table.code.data();
  const uint8_t* const length = table.length.data();
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    uint64_t four;
    std::memcpy(&four, symbols + i, 8);
    const size_t a = four & 0xffff;
    const size_t b = (four >> 16) & 0xffff;
    const size_t c = (four >> 32) & 0xffff;
    const size_t d = four >> 48;
    const unsigned ab_bits = unsigned{length[a]} + length[b];
    const unsigned cd_bits = unsigned{length[c]} + length[d];
    const uint64_t ab = code[a] | uint64_t{code[b]} << length[a];
    const uint64_t cd = code[c] | uint64_t{code[d]} << length[c];
    // Four codes of 16 bits and what is held may pass 64 bits: seldom.
    if (ab_bits + cd_bits <= 56) [[likely]] {
      bits |= (ab | cd << ab_bits) << held;
      held += ab_bits + cd_bits;
    } else {
      bits |= ab << held;
      held += ab_bits;
      flush();
      bits |= cd << held;
      held += cd_bits;
    }
    flush();
  }
  for (; i < n; ++i) {
    bits |= uint64_t{code[symbols[i]]} << held;
    held += length[symbols[i]];
    flush();
  }
  sink = {bits, held, at};
}

}  // namespace

size_t encode_symbols(std::span<const uint16_t> symbols, const CodeTable& table, std::byte* out) {
  BitSink sink{0, 0, out};
  const uint16_t* next = symbols.data();
  size_t left = symbols.size();
  if (table.narrow.is_worthwhile) {
    // Where the kernel stops, a group has a symbol without a narrow code.
    constexpr size_t group = 32;
    const auto put_narrow = kernels().stream->put_narrow_u16;
    while (left >= group) {
      const size_t taken = put_narrow(next, left, table.narrow, sink);
      const size_t one_by_one = std::min(group, left - taken);
      encode_run(next + taken, one_by_one, table, sink);
      next += taken + one_by_one;
      left -= taken + one_by_one;
    }
  }
  encode_run(next, left, table, sink);
  return static_cast<size_t>(sink.at - out) + (sink.held > 0 ? 1 : 0);
}

DecodeTable::DecodeTable(const Codebook& codebook) {
  std::array<uint16_t, wide_symbol_count> codes;
  canonical_codes(codebook.length, max_wide_code_bits, codes);
  constexpr unsigned bits = CodeLookups::bits;
  struct Short {
    uint16_t symbol = 0;
    uint16_t length = 0;
  };
  std::vector<Short> single(several_.size());
  // Where the look-ups of longer codes begin that share their first bits.
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> longer_begin(several_.size(), none);
  for (size_t s = 0; s < wide_symbol_count; ++s) {
    const unsigned length = codebook.length[s];
    ++count_[length];
    if (length == 0) continue;
    if (length <= bits) {
      for (size_t at = codes[s]; at < single.size(); at += size_t{1} << length) {
        single[at] = {static_cast<uint16_t>(s), static_cast<uint16_t>(length)};
      }
      continue;
    }
    uint32_t& begin = longer_begin[codes[s] % CodeLookups::entries];
    if (begin == none) {
      begin = static_cast<uint32_t>(longer_.size());
      longer_.resize(longer_.size() + CodeLookups::longer_entries);
    }
    for (size_t at = codes[s] >> bits; at < CodeLookups::longer_entries; at += size_t{1} << (length - bits)) {
      longer_[begin + at] = static_cast<uint32_t>(s) | length << 16;
    }
  }
  count_[0] = 0;
  for (size_t length = 1; length <= max_wide_code_bits; ++length) {
    first_[length] = (first_[length - 1] + count_[length - 1]) << 1;
    offset_[length] = offset_[length - 1] + count_[length - 1];
  }
  std::array<uint32_t, max_wide_code_bits + 1> next = offset_;
  for (size_t s = 0; s < wide_symbol_count; ++s) {
    if (codebook.length[s] > 0) symbols_[next[codebook.length[s]]++] = static_cast<uint16_t>(s);
  }
  // What no code begins with, in a codebook of one symbol, leads to none.
  const auto no_code_begin = static_cast<uint32_t>(longer_.size());
  longer_.resize(longer_.size() + CodeLookups::longer_entries);
  for (size_t at = 0; at < several_.size(); ++at) {
    uint64_t entry = 0;
    unsigned used = 0;
    uint64_t count = 0;
    for (; count < 3; ++count) {
      const Short one = single[at >> used];
      // Bits past those looked up are unknown: what was found there counts only if it does not need them.
      if (one.length == 0 || used + one.length > bits) break;
      entry |= uint64_t{one.symbol} << (16 * count);
      used += one.length;
    }
    if (count == 0) entry = longer_begin[at] == none ? no_code_begin : longer_begin[at];
    several_[at] = entry | (used | count << 8) << CodeLookups::several_shift;
  }
}

DecodeTable::One DecodeTable::one(uint64_t next) const {
  static_assert(max_wide_code_bits == 16);
  // The first bit becomes the highest, as canonical codes count.
  const uint32_t forward = reverse_16_bits(static_cast<uint32_t>(next & 0xffff));
  for (unsigned length = 1; length <= max_wide_code_bits; ++length) {
    const uint32_t nth = (forward >> (max_wide_code_bits - length)) - first_[length];
    if (nth < count_[length]) return {symbols_[offset_[length] + nth], static_cast<uint16_t>(length)};
  }
  return {0, 0};
}

namespace {

// What a turn may take and give: all codes long; three symbols each.
constexpr ptrdiff_t turn_bytes = code_lanes::lookups_per_refill * max_wide_code_bits / 8;
constexpr ptrdiff_t turn_symbols = 3 * code_lanes::lookups_per_refill;

CodeLane start_lane(const SymbolBlock& block) {
  return {block.codes.data(), code_lanes::top, block.symbols.data()};
}

// Turns that are safe without looking at the ends.
ptrdiff_t safe_turns(const CodeLane& lane, const SymbolBlock& block) {
  const std::byte* const end = block.codes.data() + block.codes.size();
  const uint16_t* const out_end = block.symbols.data() + block.symbols.size();
  // Before the first refill of a turn up to 8 bytes may have been taken already.
  return std::min((end - lane.at - 16) / turn_bytes, (out_end - lane.out) / turn_symbols);
}

const char* const no_code = "codes of a block: bits that are no code";

// The rest, one symbol at a time.
Status finish(const CodeLane& lane, const SymbolBlock& block, const DecodeTable& table) {
  uint64_t at = static_cast<uint64_t>(lane.at - block.codes.data()) * 8 + code_lanes::taken_bits(lane);
  const uint64_t end = block.codes.size() * 8;
  uint16_t* const out_end = block.symbols.data() + block.symbols.size();
  for (uint16_t* out = lane.out; out < out_end; ++out) {
    uint32_t next = 0;
    if (const uint64_t byte = at / 8; byte < block.codes.size()) {
      std::memcpy(&next, block.codes.data() + byte, std::min<size_t>(sizeof next, block.codes.size() - byte));
    }
    const DecodeTable::One one = table.one(next >> at % 8);
    if (one.bits == 0) return corrupt(no_code);
    *out = one.symbol;
    at += one.bits;
    if (at > end) return corrupt("codes of a block: they end before the symbols do");
  }
  if (end - at >= 8) return corrupt("codes of a block: bytes left over after the last symbol");
  return {};
}

Status decode_four(std::span<const SymbolBlock> blocks, const DecodeTable& table) {
  std::array<CodeLane, 4> lanes;
  for (size_t k = 0; k < lanes.size(); ++k) lanes[k] = start_lane(blocks[k]);
  while (true) {
    ptrdiff_t turns = PTRDIFF_MAX;
    for (size_t k = 0; k < lanes.size(); ++k) turns = std::min(turns, safe_turns(lanes[k], blocks[k]));
    if (turns <= 0) break;
    if (!kernels().stream->decode_four(lanes.data(), turns, table.lookups())) return corrupt(no_code);
  }
  for (size_t k = 0; k < lanes.size(); ++k) NEVE_TRY(finish(lanes[k], blocks[k], table));
  return {};
}

Status decode_one(const SymbolBlock& block, const DecodeTable& table) {
  CodeLane lane = start_lane(block);
  for (ptrdiff_t turns = safe_turns(lane, block); turns > 0; turns = safe_turns(lane, block)) {
    if (!code_lanes::run_one(lane, turns, table.lookups())) return corrupt(no_code);
  }
  return finish(lane, block, table);
}

}  // namespace

Status decode_symbols(std::span<const SymbolBlock> blocks, const DecodeTable& table) {
  if (blocks.size() == decode_side_by_side) return decode_four(blocks, table);
  for (const SymbolBlock& block : blocks) NEVE_TRY(decode_one(block, table));
  return {};
}

}  // namespace neve::stream
