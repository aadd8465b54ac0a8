// SPDX-License-Identifier: BSD-3-Clause
// The kernels of stream_portable.cpp once per instruction set. simd.cpp chooses.
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

// Quantization codes of as many values as Lanes<T> takes.
template <class T>
using QuantCodeLanes = hn::Rebind<int32_t, Lanes<T>>;

// Rows go through 128- or 256-bit vectors of quantization codes; where those are shorter (float64 in 128
// bits), step by step.
template <class T>
constexpr bool HasRowVectors() {
  constexpr size_t lanes = hn::MaxLanes(QuantCodeLanes<T>());
  return lanes == 4 || lanes == 8;
}

// The elements one to the left: `before`'s last, then all of `v` but its last.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V LeftNeighbours(D d, V v, V before) {
  if constexpr (hn::MaxLanes(d) == 8) {
    return hn::CombineShiftRightBytes<12>(d, v, hn::ConcatLowerUpper(d, v, before));
  } else {
    return hn::CombineShiftRightBytes<12>(d, v, before);
  }
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V BroadcastLast(D d, V v) {
  const auto last = hn::Broadcast<3>(v);  // of each 128 bits
  if constexpr (hn::MaxLanes(d) == 8) {
    return hn::ConcatUpperUpper(d, last, last);
  } else {
    return last;
  }
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V PrefixSum(D d, V v) {
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
  if constexpr (hn::MaxLanes(d) == 8) {
    v = hn::Add(v, hn::ConcatLowerLower(d, hn::Broadcast<3>(v), hn::Zero(d)));
  }
  return v;
}

// What prediction along the row adds to the quantization code at 0.
uint32_t CarryInto(const int32_t* quant_codes, const NeighbourRows& around) {
  return static_cast<uint32_t>(quant_codes[-1]) - portable::neighbour_sum(around, -1);
}

// Whether all is well is looked at once, behind the row.
template <class T, int kCount>
bool CodeRow(const T* HWY_RESTRICT values, size_t n, const Quantizer<T>& q, const NeighbourRows& around,
             int32_t* HWY_RESTRICT quant_codes, uint16_t* HWY_RESTRICT symbols, QuantizeStats<T>& stats) {
  const Lanes<T> d;
  const QuantCodeLanes<T> di;
  const hn::Rebind<uint16_t, QuantCodeLanes<T>> d16;
  const size_t lanes = hn::Lanes(d);
  const VectorQuantizer<T> quantizer(q);
  const auto zero = hn::Set(di, static_cast<int32_t>(wide_symbol_zero));
  const auto symbol_mask = hn::Set(d16, static_cast<uint16_t>(wide_symbol_count - 1));
  auto max_error = hn::Zero(d);
  auto all_ok = hn::Eq(max_error, max_error);
  auto min_symbol = symbol_mask;
  auto before = hn::Set(di, static_cast<int32_t>(CarryInto(quant_codes, around)));
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto [quant_code, error, ok] = quantizer.template Quantized<false>(hn::LoadU(d, values + i));
    all_ok = hn::And(all_ok, ok);
    max_error = hn::Max(max_error, error);
    hn::StoreU(quant_code, di, quant_codes + i);
    const auto beside = hn::Sub(quant_code, NeighbourSum<kCount>(di, around, static_cast<ptrdiff_t>(i)));
    const auto residual = hn::Sub(beside, LeftNeighbours(di, beside, before));
    before = beside;
    // What is below saturates to 0, the escape; what is above becomes it.
    const auto any = hn::DemoteTo(d16, hn::Add(residual, zero));
    const auto symbol = hn::IfThenElseZero(hn::Eq(hn::And(any, symbol_mask), any), any);
    min_symbol = hn::Min(min_symbol, symbol);
    hn::StoreU(symbol, d16, symbols + i);
  }
  if (HWY_UNLIKELY(!hn::AllTrue(d, all_ok))) {
    // There is a rejected value.
    if constexpr (sizeof(T) == 4) {
      kernels().quantize_f32(values, n, q, quant_codes, stats);
    } else {
      kernels().quantize_f64(values, n, q, quant_codes, stats);
    }
    return false;
  }
  const T row_max = hn::GetLane(hn::MaxOfLanes(d, max_error));
  if (row_max > stats.max_error) stats.max_error = row_max;
  bool has_escape = !hn::AllFalse(d16, hn::Eq(min_symbol, hn::Zero(d16)));
  for (; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    quant_codes[at] = portable::quantize_one(values[i], q, stats);
    const uint32_t residual = static_cast<uint32_t>(quant_codes[at]) - portable::neighbour_sum(around, at) -
                              static_cast<uint32_t>(quant_codes[at - 1]) +
                              portable::neighbour_sum(around, at - 1);
    const uint32_t symbol = residual + wide_symbol_zero;
    const bool is_direct = symbol - 1 < wide_symbol_count - 1;
    symbols[i] = is_direct ? static_cast<uint16_t>(symbol) : wide_symbol_escape;
    has_escape |= !is_direct;
  }
  return has_escape;
}

template <class T, int kCount>
bool RestoreRow(const uint16_t* HWY_RESTRICT symbols, size_t n, const NeighbourRows& around, T step,
                int32_t* HWY_RESTRICT quant_codes, T* HWY_RESTRICT values) {
  const Lanes<T> d;
  const QuantCodeLanes<T> di;
  const hn::Rebind<uint16_t, QuantCodeLanes<T>> d16;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(di, static_cast<int32_t>(wide_symbol_zero));
  const auto escape = hn::Set(d16, uint16_t{wide_symbol_escape});
  const auto vstep = hn::Set(d, step);
  uint32_t sum = CarryInto(quant_codes, around);
  auto carry = hn::Set(di, static_cast<int32_t>(sum));
  auto any_escape = hn::Zero(d16);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto symbol = hn::LoadU(d16, symbols + i);
    any_escape = hn::Or(any_escape, hn::VecFromMask(d16, hn::Eq(symbol, escape)));
    const auto part = PrefixSum(di, hn::Sub(hn::PromoteTo(di, symbol), zero));
    const auto quant_code =
        hn::Add(hn::Add(part, carry), NeighbourSum<kCount>(di, around, static_cast<ptrdiff_t>(i)));
    carry = hn::Add(carry, BroadcastLast(di, part));
    hn::StoreU(quant_code, di, quant_codes + i);
    hn::StoreU(hn::Add(hn::Mul(FromI32(d, quant_code), vstep), hn::Zero(d)), d, values + i);
  }
  bool has_escape = !hn::AllFalse(d16, hn::MaskFromVec(any_escape));
  sum = static_cast<uint32_t>(hn::GetLane(carry));
  for (; i < n; ++i) {
    has_escape |= symbols[i] == wide_symbol_escape;
    sum += uint32_t{symbols[i]} - static_cast<uint32_t>(wide_symbol_zero);
    quant_codes[i] = static_cast<int32_t>(sum + portable::neighbour_sum(around, static_cast<ptrdiff_t>(i)));
    values[i] = portable::dequantize_one(quant_codes[i], 0, T{0}, step);
  }
  return has_escape;
}

template <class T>
bool Code(const T* values, size_t n, const Quantizer<T>& q, const NeighbourRows& around, int32_t* quant_codes,
          uint16_t* symbols, QuantizeStats<T>& stats) {
  if constexpr (HasRowVectors<T>()) {
    switch (around.count) {
      case 0:
        return CodeRow<T, 0>(values, n, q, around, quant_codes, symbols, stats);
      case 1:
        return CodeRow<T, 1>(values, n, q, around, quant_codes, symbols, stats);
      default:
        return CodeRow<T, 3>(values, n, q, around, quant_codes, symbols, stats);
    }
  } else {
    return code_row_by_steps(kernels(), values, n, q, around, quant_codes, symbols, stats);
  }
}

template <class T>
bool Restore(const uint16_t* symbols, size_t n, const NeighbourRows& around, T step, int32_t* quant_codes,
             T* values) {
  if constexpr (HasRowVectors<T>()) {
    switch (around.count) {
      case 0:
        return RestoreRow<T, 0>(symbols, n, around, step, quant_codes, values);
      case 1:
        return RestoreRow<T, 1>(symbols, n, around, step, quant_codes, values);
      default:
        return RestoreRow<T, 3>(symbols, n, around, step, quant_codes, values);
    }
  } else {
    return restore_row_by_steps(kernels(), symbols, n, around, step, quant_codes, values);
  }
}

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
  const hn::CappedTag<uint8_t, 32> d8;
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
  HWY_ALIGN uint64_t quads[8];
  HWY_ALIGN uint64_t lengths[8];
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
    for (size_t k = 0; k < 2 * quads_in_half; k += 2) {
      const uint64_t both = lengths[k] + lengths[k + 1];
      if (HWY_LIKELY(both <= 56)) {
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
  static const StreamKernels table{{Code<float>, Restore<float>},
                                   {Code<double>, Restore<double>},
                                   PutNarrow<uint8_t>,
                                   PutNarrow<uint16_t>,
                                   DecodeFour,
                                   AddCosts,
                                   Crc32};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif
