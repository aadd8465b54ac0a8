// SPDX-License-Identifier: BSD-3-Clause
// The kernels of stream_portable.cpp once per instruction set. simd.cpp chooses.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/kernels/code_lanes.hpp"
#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/simd_targets.hpp"
#include "core/kernels/stream_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/stream_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/kernels/vector_ops-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve {
namespace HWY_NAMESPACE {
namespace {

// --- symbols to codes ------------------------------------------------------------------------------------

// Shifts by lane are one instruction from AVX2 on, and on Arm.
#if HWY_TARGET == HWY_SSE4
template <class Symbol>
size_t PutNarrow(const Symbol*, size_t, const NarrowCodes&, BitSink&) {
  return 0;
}
#else
// A look-up in 64 entries, as four in 16 of which only the right one gives anything.
template <class D>
class Table64 {
  using V = hn::VFromD<D>;

 public:
  explicit Table64(const std::array<uint8_t, 64>& entries)
      : part_{hn::LoadDup128(D(), entries.data()), hn::LoadDup128(D(), entries.data() + 16),
              hn::LoadDup128(D(), entries.data() + 32), hn::LoadDup128(D(), entries.data() + 48)} {}
  // `index[k]` is the index less 16 k, with the highest bit set outside 0..15.
  HWY_INLINE V operator()(const V (&index)[4]) const {
    const auto low =
        hn::Or(hn::TableLookupBytesOr0(part_[0], index[0]), hn::TableLookupBytesOr0(part_[1], index[1]));
    const auto high =
        hn::Or(hn::TableLookupBytesOr0(part_[2], index[2]), hn::TableLookupBytesOr0(part_[3], index[3]));
    return hn::Or(low, high);
  }

 private:
  V part_[4];
};

// Codes of neighbours become one, twice: first two in 32 bits, then four in 64. What hangs from symbol to
// symbol is then one shift and one addition for eight of them.
//
// Long, but one loop: tables and masks that it needs stay in registers, and each part of it would take most
// of them as parameters.
template <class Symbol>
size_t PutNarrow(const Symbol* HWY_RESTRICT symbols, size_t n, const NarrowCodes& codes, BitSink& sink) {
  const hn::CappedTag<uint8_t, 64> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t half = hn::Lanes(d16);
  const size_t quads_in_half = half / 4;
  const auto first = hn::Set(d16, codes.first);
  const auto outside = hn::Set(d16, uint16_t{0xff});
  const auto far = hn::Set(d8, uint8_t{0x70});
  const auto index_bits = hn::Set(d8, uint8_t{0x8f});
  const auto nibble = hn::Set(d8, uint8_t{0x0f});
  const auto low_byte = hn::Set(d16, uint16_t{0x00ff});
  const auto low_half = hn::Set(d32, 0xffffU);
  const auto low_word = hn::Set(d64, uint64_t{0xffffffff});
  const Table64<decltype(d8)> low_table(codes.low);
  const Table64<decltype(d8)> high_table(codes.high_and_length);
  const auto load = [&](const Symbol* at) {
    if constexpr (sizeof(Symbol) == 1) {
      return hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, decltype(d16)>(), at));
    } else {
      return hn::LoadU(d16, at);
    }
  };
  HWY_ALIGN uint64_t quads[16];
  HWY_ALIGN uint64_t lengths[16];
  const auto join = [&](auto code16, auto length16, size_t at) {
    const auto code = hn::BitCast(d32, code16);
    const auto length = hn::BitCast(d32, length16);
    const auto first_length = hn::And(length, low_half);
    const auto pair = hn::Or(hn::And(code, low_half), hn::ShiftRight<16>(code) << first_length);
    const auto pair_length = hn::BitCast(d64, hn::Add(first_length, hn::ShiftRight<16>(length)));
    const auto pair64 = hn::BitCast(d64, pair);
    const auto first_pair_length = hn::And(pair_length, low_word);
    hn::Store(hn::Or(hn::And(pair64, low_word), hn::ShiftRight<32>(pair64) << first_pair_length), d64,
              quads + at);
    hn::Store(hn::Add(first_pair_length, hn::ShiftRight<32>(pair_length)), d64, lengths + at);
  };
  uint64_t bits = sink.bits;
  uint64_t held = sink.held;
  std::byte* at = sink.at;
  const auto flush = [&] {
    std::memcpy(at, &bits, 8);
    at += held >> 3;
    bits >>= held & ~uint64_t{7};
    held &= 7;
  };
  // What fits a word beside the bits that are held.
  constexpr uint64_t most_held = 56;
  const auto put_two = [&](size_t k, uint64_t both) {
    if (HWY_LIKELY(both <= most_held)) {
      bits |= (quads[k] | quads[k + 1] << lengths[k]) << held;
      held += both;
    } else {
      bits |= quads[k] << held;
      held += lengths[k];
      flush();
      bits |= quads[k + 1] << held;
      held += lengths[k + 1];
    }
    flush();
  };
  size_t i = 0;
  for (; i + 2 * half <= n; i += 2 * half) {
    // Both halves at once, as the low and the high byte of 16 bits.
    const auto a = hn::Min(hn::Sub(load(symbols + i), first), outside);
    const auto b = hn::Min(hn::Sub(load(symbols + i + half), first), outside);
    const auto index = hn::BitCast(d8, hn::Or(a, hn::ShiftLeft<8>(b)));
    const auto part = [&](uint8_t begin) {
      return hn::And(hn::SaturatedAdd(hn::Sub(index, hn::Set(d8, begin)), far), index_bits);
    };
    const hn::VFromD<decltype(d8)> parts[4] = {part(0), part(16), part(32), part(48)};
    const auto high_and_length = high_table(parts);
    const auto length = hn::And(high_and_length, nibble);
    if (HWY_UNLIKELY(!hn::AllFalse(d8, hn::Eq(length, hn::Zero(d8))))) break;
    const auto low16 = hn::BitCast(d16, low_table(parts));
    const auto high16 = hn::BitCast(d16, hn::AndNot(nibble, high_and_length));  // four bits too far up
    const auto length16 = hn::BitCast(d16, length);
    join(hn::Or(hn::And(low16, low_byte), hn::ShiftLeft<4>(hn::And(high16, low_byte))),
         hn::And(length16, low_byte), 0);
    join(hn::Or(hn::ShiftRight<8>(low16), hn::ShiftLeft<4>(hn::ShiftRight<8>(high16))),
         hn::ShiftRight<8>(length16), quads_in_half);
    for (size_t k = 0; k < 2 * quads_in_half; k += 4) {
      const uint64_t first_two = lengths[k] + lengths[k + 1], last_two = lengths[k + 2] + lengths[k + 3];
      if (HWY_LIKELY(first_two + last_two <= most_held)) {
        const uint64_t last = quads[k + 2] | quads[k + 3] << lengths[k + 2];
        bits |= (quads[k] | quads[k + 1] << lengths[k] | last << first_two) << held;
        held += first_two + last_two;
        flush();
      } else {
        put_two(k, first_two);
        put_two(k + 2, last_two);
      }
    }
  }
  sink.bits = bits;
  sink.held = static_cast<unsigned>(held);
  sink.at = at;
  return i;
}
#endif

// --- what codebooks cost ---------------------------------------------------------------------------------

void AddCosts(const uint32_t* HWY_RESTRICT counts, const uint8_t (*HWY_RESTRICT lengths)[compared_codebooks],
              size_t symbols, uint32_t* HWY_RESTRICT costs) {
  const hn::CappedTag<uint32_t, 8> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  size_t s = 0;
  for (; s + lanes <= symbols; s += lanes) {
    // Most symbols do not occur in a small chunk.
    if (hn::AllTrue(d, hn::Eq(hn::LoadU(d, counts + s), hn::Zero(d)))) continue;
    for (size_t b = 0; b < compared_codebooks; b += lanes) {
      auto sum = hn::LoadU(d, costs + b);
      for (size_t k = 0; k < lanes; ++k) {
        const auto length = hn::PromoteTo(d, hn::LoadU(d8, lengths[s + k] + b));
        sum = hn::Add(sum, hn::Mul(hn::Set(d, counts[s + k]), length));
      }
      hn::StoreU(sum, d, costs + b);
    }
  }
  portable_stream_kernels().add_costs(counts + s, lengths + s, symbols - s, costs);
}

// --- codes to symbols ------------------------------------------------------------------------------------

// Without lzcnt counting what was taken is a dozen micro-operations on some processors. All that have AVX2
// have it; supported_kernels() asks.
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
__attribute__((target("lzcnt")))
#endif
bool DecodeFour(CodeLane* lanes, ptrdiff_t turns, const CodeLookups& table) {
  return code_lanes::run_four(lanes, turns, table);
}

// Eight symbols that follow one another, each in a vector of counts of its own, of up to 255 vectors.
class EightCounts {
  using D = hn::CappedTag<uint8_t, 64>;
  using V = hn::VFromD<D>;

 public:
  explicit EightCounts(uint8_t first) : first_(first) {
    for (V& count : counts_) count = hn::Zero(D());
  }
  HWY_INLINE void Add(V symbols) {
    auto wanted = hn::Set(D(), first_);
    const auto one = hn::Set(D(), uint8_t{1});
    for (V& count : counts_) {
      count = hn::Sub(count, hn::VecFromMask(D(), hn::Eq(symbols, wanted)));
      wanted = hn::Add(wanted, one);
    }
  }
  void AddTo(uint16_t* counts) const {
    const hn::Repartition<uint64_t, D> d64;
    for (size_t k = 0; k < 8; ++k) {
      const auto sum = hn::GetLane(hn::SumOfLanes(d64, hn::SumsOf8(counts_[k])));
      counts[first_ + k] = static_cast<uint16_t>(counts[first_ + k] + sum);
    }
  }

 private:
  uint8_t first_;
  V counts_[8];
};

size_t CountNear(const uint8_t* HWY_RESTRICT symbols, size_t n, uint8_t first,
                 uint16_t* HWY_RESTRICT counts) {
  const hn::CappedTag<uint8_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  const auto begin = hn::Set(d, first), last = hn::Set(d, uint8_t{near_symbols - 1});
  size_t outside = 0;
  size_t i = 0;
  while (i + lanes <= n) {
    const size_t end = i + std::min((n - i) / lanes, size_t{255}) * lanes;
    EightCounts low(first), high(static_cast<uint8_t>(first + 8));
    for (size_t at = i; at < end; at += lanes) low.Add(hn::LoadU(d, symbols + at));
    for (size_t at = i; at < end; at += lanes) {
      const auto group = hn::LoadU(d, symbols + at);
      high.Add(group);
      const auto is_outside = hn::Gt(hn::Sub(group, begin), last);
      if (HWY_LIKELY(hn::AllFalse(d, is_outside))) continue;
      uint64_t places = 0;
      hn::StoreMaskBits(d, is_outside, reinterpret_cast<uint8_t*>(&places));
      for (; places != 0; places &= places - 1, ++outside)
        ++counts[symbols[at + static_cast<size_t>(__builtin_ctzll(places))]];
    }
    low.AddTo(counts);
    high.AddTo(counts);
    i = end;
  }
  return outside + portable_stream_kernels().count_near(symbols + i, n - i, first, counts);
}

uint32_t WeightedSum(const uint16_t* HWY_RESTRICT counts, const uint16_t* HWY_RESTRICT weights, size_t n) {
  const hn::CappedTag<int16_t, 32> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  const size_t lanes = hn::Lanes(d);
  const auto load = [&](const uint16_t* at)
                        HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const int16_t*>(at)); };
  auto even = hn::Zero(d32), odd = hn::Zero(d32);
  size_t s = 0;
  for (; s + lanes <= n; s += lanes)
    even = hn::ReorderWidenMulAccumulate(d32, load(counts + s), load(weights + s), even, odd);
  const auto sum = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(d32, hn::Add(even, odd))));
  return sum + portable_stream_kernels().weighted_sum(counts + s, weights + s, n - s);
}

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
__attribute__((target("lzcnt")))
#endif
void DecodeSymbols(SymbolLane* lanes, ptrdiff_t turns, uint64_t mask) {
  code_lanes::run_four(lanes, turns, mask);
}

// --- checksum --------------------------------------------------------------------------------------------

#if HWY_ARCH_X86
// Gopal et al., Fast CRC computation for generic polynomials using PCLMULQDQ (Intel, 2009): 64 bytes at a
// time are multiplied by x^512 and added to the next 64; what is left of that, 16 bytes that give the same
// remainder, goes through the table of zlib.
uint32_t Crc32(uint32_t before, const std::byte* bytes, size_t n) {
  const auto by_table = portable_stream_kernels().crc32;
  if (n < 32) return by_table(before, bytes, n);
  const hn::Full128<uint64_t> d;
  const auto load = [&](size_t at) { return hn::LoadU(d, reinterpret_cast<const uint64_t*>(bytes + at)); };
  // Bit-reflected x^(distance + 32) and x^(distance - 32) modulo the polynomial.
  alignas(16) constexpr uint64_t by_512[2] = {0x154442bd4, 0x1c6e41596};
  alignas(16) constexpr uint64_t by_128[2] = {0x1751997d0, 0x0ccaa009e};
  const auto fold = [](auto v, auto factors, auto next) {
    return hn::Xor(hn::Xor(hn::CLMulLower(v, factors), hn::CLMulUpper(v, factors)), next);
  };
  const auto k512 = hn::Load(d, by_512);
  const auto k128 = hn::Load(d, by_128);
  alignas(16) const uint64_t start[2] = {static_cast<uint32_t>(~before), 0};
  auto v0 = hn::Xor(load(0), hn::Load(d, start));
  size_t i = 16;
  if (n >= 64) {
    auto v1 = load(16);
    auto v2 = load(32);
    auto v3 = load(48);
    for (i = 64; i + 64 <= n; i += 64) {
      v0 = fold(v0, k512, load(i));
      v1 = fold(v1, k512, load(i + 16));
      v2 = fold(v2, k512, load(i + 32));
      v3 = fold(v3, k512, load(i + 48));
    }
    v0 = fold(fold(fold(v0, k128, v1), k128, v2), k128, v3);
  }
  for (; i + 16 <= n; i += 16) v0 = fold(v0, k128, load(i));
  alignas(16) std::array<std::byte, 16> rest;
  hn::Store(v0, d, reinterpret_cast<uint64_t*>(rest.data()));
  // zlib inverts what it is given: this is a register of 0.
  return by_table(by_table(UINT32_MAX, rest.data(), rest.size()), bytes + i, n - i);
}
#else
uint32_t Crc32(uint32_t before, const std::byte* bytes, size_t n) {
  return portable_stream_kernels().crc32(before, bytes, n);  // zlib knows the instructions of Arm
}
#endif

}  // namespace

const StreamKernels& StreamTable();
const StreamKernels& StreamTable() {
  static const StreamKernels table{.put_narrow_u8 = PutNarrow<uint8_t>,
                                   .put_narrow_u16 = PutNarrow<uint16_t>,
                                   .decode_four = DecodeFour,
                                   .decode_symbols = DecodeSymbols,
                                   .add_costs = AddCosts,
                                   .count_near = CountNear,
                                   .weighted_sum = WeightedSum,
                                   .crc32 = Crc32};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif
