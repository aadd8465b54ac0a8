// SPDX-License-Identifier: BSD-3-Clause
// The kernels of row_portable.cpp once per instruction set. simd.cpp chooses.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/kernels/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/row_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/kernels/vector_ops-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve {
namespace HWY_NAMESPACE {
namespace {

// As many values as the widest vectors take: 16 of float32, 8 of float64.
template <class T>
using WideLanes = hn::CappedTag<T, 64 / sizeof(T)>;
template <class D>
using CodeLanes = hn::Rebind<int32_t, D>;

// Rows go through vectors of 4, 8 or 16 quantization codes; where those are shorter (float64 in 128 bits),
// step by step.
template <class T>
constexpr bool HasRowVectors() {
  return hn::MaxLanes(CodeLanes<WideLanes<T>>()) >= 4;
}

// What moves where in vectors of 16.
namespace lanes_of_16 {
constexpr int32_t rotated[16] = {15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
constexpr int32_t last[16] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
constexpr int32_t fours_before[16] = {0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 11, 11, 11, 11};
constexpr int32_t seventh[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
constexpr int32_t is_first[16] = {1};
constexpr int32_t is_in_odd_four[16] = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
constexpr int32_t is_in_upper_half[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
}  // namespace lanes_of_16

// Quantization codes moved across the lanes of a vector.
template <class D>
class LaneMoves {
  using V = hn::VFromD<D>;
  static constexpr size_t lanes = hn::MaxLanes(D());
  static_assert(lanes == 4 || lanes == 8 || lanes == 16);

 public:
  // Vectors shorter than 16 have no tables.
  LaneMoves() {
    if constexpr (lanes == 16) {
      rotated_ = Table(lanes_of_16::rotated);
      last_ = Table(lanes_of_16::last);
      fours_before_ = Table(lanes_of_16::fours_before);
      seventh_ = Table(lanes_of_16::seventh);
      first_ = Where(lanes_of_16::is_first);
      odd_fours_ = Where(lanes_of_16::is_in_odd_four);
      upper_half_ = Where(lanes_of_16::is_in_upper_half);
    }
  }
  // The elements one to the left: `before`'s last, then all of `v` but its last.
  HWY_INLINE V Left(V v, V before) const {
    const D d;
    if constexpr (lanes == 16) {
      return hn::IfThenElse(first_, hn::TableLookupLanes(before, rotated_),
                            hn::TableLookupLanes(v, rotated_));
    } else if constexpr (lanes == 8) {
      return hn::CombineShiftRightBytes<12>(d, v, hn::ConcatLowerUpper(d, v, before));
    } else {
      return hn::CombineShiftRightBytes<12>(d, v, before);
    }
  }
  HWY_INLINE V Last(V v) const {
    const D d;
    if constexpr (lanes == 16) {
      return hn::TableLookupLanes(v, last_);
    } else if constexpr (lanes == 8) {
      const auto last = hn::Broadcast<3>(v);  // of each 128 bits
      return hn::ConcatUpperUpper(d, last, last);
    } else {
      return hn::Broadcast<3>(v);
    }
  }
  HWY_INLINE V PrefixSum(V v) const {
    const D d;
    v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
    v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
    if constexpr (lanes == 8) v = hn::Add(v, hn::ConcatLowerLower(d, hn::Broadcast<3>(v), hn::Zero(d)));
    if constexpr (lanes == 16) {
      v = hn::Add(v, hn::IfThenElseZero(odd_fours_, hn::TableLookupLanes(v, fours_before_)));
      v = hn::Add(v, hn::IfThenElseZero(upper_half_, hn::TableLookupLanes(v, seventh_)));
    }
    return v;
  }

 private:
  static HWY_INLINE auto Table(const int32_t (&from)[16]) { return hn::SetTableIndices(D(), from); }
  using Indices = decltype(Table(lanes_of_16::rotated));
  static HWY_INLINE auto Where(const int32_t (&is_there)[16]) {
    return hn::Ne(hn::LoadU(D(), is_there), hn::Zero(D()));
  }
  using MaskOf = hn::Mask<D>;

  Indices rotated_, last_, fours_before_, seventh_;
  MaskOf first_, odd_fours_, upper_half_;
};

// What prediction along the row adds to its first quantization code.
HWY_INLINE uint32_t CarryInto(const int32_t* quant_codes, const NeighbourRows& around) {
  return static_cast<uint32_t>(quant_codes[-1]) - portable::neighbour_sum(around, -1);
}

// The first `count` values, and `other` in the lanes behind them.
template <class D, class T>
HWY_INLINE hn::VFromD<D> LoadFirst(D d, const T* values, size_t count, hn::VFromD<D> other) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const auto is_first = hn::FirstN(d, count);
  return hn::IfThenElse(is_first, hn::MaskedLoad(is_first, d, values), other);
#else
  HWY_ALIGN T first[hn::MaxLanes(d)];
  hn::Store(other, d, first);
  std::memcpy(first, values, count * sizeof(T));
  return hn::Load(d, first);
#endif
}

template <class D, class T>
HWY_INLINE void StoreFirst(hn::VFromD<D> v, D d, size_t count, T* values) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, values);
#else
  HWY_ALIGN T first[hn::MaxLanes(d)];
  hn::Store(v, d, first);
  std::memcpy(values, first, count * sizeof(T));
#endif
}

template <class T>
void QuantizeRow(const T* values, size_t n, const Quantizer<T>& q, int32_t* quant_codes,
                 QuantizeStats<T>& stats) {
  if constexpr (sizeof(T) == 4) {
    kernels().quantize_f32(values, n, q, quant_codes, stats);
  } else {
    kernels().quantize_f64(values, n, q, quant_codes, stats);
  }
}

// Streams have no center.
template <class Symbol>
constexpr bool has_center = sizeof(Symbol) == 1;

// Codes rows in vectors of D. Whether values were rejected is looked at once, behind each row.
template <class D, class Symbol, int kCount, bool kAlongX>
class RowCoder {
  using T = hn::TFromD<D>;
  using DI = CodeLanes<D>;
  using DU = hn::RebindToUnsigned<DI>;
  using V = hn::VFromD<D>;
  using VI = hn::VFromD<DI>;
  static constexpr size_t lanes = hn::MaxLanes(D());

 public:
  RowCoder(const Quantizer<T>& q, int32_t* escapes)
      : escapes_(escapes),
        quantizer_(q),
        center_(hn::Set(D(), q.center)),
        origin_(hn::Set(DI(), q.origin)),
        all_ok_(hn::Eq(hn::Zero(D()), hn::Zero(D()))),
        max_error_(hn::Zero(D())),
        before_(hn::Zero(DI())) {}

  // False: there are rejected values.
  HWY_INLINE bool Code(const T* HWY_RESTRICT values, size_t n, const NeighbourRows& around,
                       int32_t* HWY_RESTRICT quant_codes, Symbol* HWY_RESTRICT symbols) {
    const D d;
    const auto max_error_before = max_error_;
    const size_t escapes_before = escape_total_;
    if constexpr (kAlongX) before_ = hn::Set(DI(), static_cast<int32_t>(CarryInto(quant_codes, around)));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      __builtin_prefetch(values + i + prefetched_bytes / sizeof(T));
      CodeVector<false>(hn::LoadU(d, values + i), i, around, quant_codes, symbols, lanes);
    }
    if (i < n)
      CodeVector<true>(LoadFirst(d, values + i, n - i, center_), i, around, quant_codes, symbols, n - i);
    if (HWY_LIKELY(hn::AllTrue(d, all_ok_))) return true;
    max_error_ = max_error_before;
    escape_total_ = escapes_before;
    return false;
  }

  // Of rows without rejected values.
  T MaxError() const { return hn::GetLane(hn::MaxOfLanes(D(), max_error_)); }
  size_t EscapeTotal() const { return escape_total_; }

 private:
  // The values from i on; kIsEnd: of the lanes the first `count` alone count.
  template <bool kIsEnd>
  HWY_INLINE void CodeVector(V values, size_t i, const NeighbourRows& around,
                             int32_t* HWY_RESTRICT quant_codes, Symbol* HWY_RESTRICT symbols, size_t count) {
    const DI di;
    const DU du;
    const auto [whole, error, ok] = quantizer_.template Quantized<has_center<Symbol>>(values);
    all_ok_ = hn::And(all_ok_, ok);
    max_error_ = hn::Max(max_error_, error);
    const auto quant_code = has_center<Symbol> ? hn::Sub(whole, origin_) : whole;
    hn::StoreU(quant_code, di, quant_codes + i);
    const auto beside = hn::Sub(quant_code, NeighbourSum<kCount>(di, around, static_cast<ptrdiff_t>(i)));
    const auto residual = kAlongX ? hn::Sub(beside, moves_.Left(beside, before_)) : beside;
    before_ = beside;
    const auto symbol = hn::BitCast(du, hn::Add(residual, hn::Set(di, int32_t{SymbolsOf<Symbol>::zero})));
    auto is_direct = hn::Lt(hn::Sub(symbol, hn::Set(du, 1U)), hn::Set(du, SymbolsOf<Symbol>::count - 1));
    const hn::Rebind<Symbol, DI> ds;
    hn::StoreU(hn::TruncateTo(ds, hn::IfThenElseZero(is_direct, symbol)), ds, symbols + i);
    if constexpr (kIsEnd) is_direct = hn::Or(is_direct, hn::Not(hn::FirstN(du, count)));
    if (HWY_UNLIKELY(!hn::AllTrue(du, is_direct))) AddEscapes(residual, hn::Not(is_direct));
  }

  HWY_INLINE void AddEscapes(VI residual, hn::Mask<DU> is_escape) {
    const DI di;
    if (escapes_ != nullptr)
      hn::CompressStore(residual, hn::RebindMask(di, is_escape), di, escapes_ + escape_total_);
    escape_total_ += hn::CountTrue(DU(), is_escape);
  }

  int32_t* escapes_;
  size_t escape_total_ = 0;
  VectorQuantizer<T, D> quantizer_;
  V center_;
  VI origin_;
  hn::Mask<D> all_ok_;
  V max_error_;
  VI before_;
  LaneMoves<DI> moves_;
};

template <class D, class Symbol, int kCount, bool kAlongX, class T = hn::TFromD<D>>
size_t CodeRows(const RowBlock<const T>& block, const Quantizer<T>& q, Symbol* symbols, int32_t* escapes,
                size_t& escape_total, QuantizeStats<T>& stats) {
  RowCoder<D, Symbol, kCount, kAlongX> coder(q, escapes);
  NeighbourRows moved{};
  const NeighbourRows* around = block.around;
  const T* values = block.values;
  int32_t* quant_codes = block.quant_codes;
  size_t done = 0;
  for (; done < block.rows; ++done) {
    if (HWY_UNLIKELY(!coder.Code(values, block.width, *around, quant_codes, symbols))) {
      QuantizeRow(values, block.width, q, quant_codes, stats);
      break;
    }
    if (done + 1 < block.rows) {
      move_down(block, *around, moved);
      around = &moved;
    }
    values += block.value_stride;
    quant_codes += block.code_stride;
    symbols += block.width;
  }
  escape_total = coder.EscapeTotal();
  stats.max_error = std::max(stats.max_error, coder.MaxError());
  return done;
}

// Restores rows in vectors of D.
template <class D, class Symbol, int kCount, bool kAlongX>
class RowRestorer {
  using T = hn::TFromD<D>;
  using DI = CodeLanes<D>;
  using DS = hn::Rebind<Symbol, DI>;
  using V = hn::VFromD<D>;
  using VI = hn::VFromD<DI>;
  static constexpr size_t lanes = hn::MaxLanes(D());

 public:
  explicit RowRestorer(const CodeValues<T>& code_values)
      : zero_(hn::Set(DI(), int32_t{SymbolsOf<Symbol>::zero})),
        origin_(hn::Set(DI(), code_values.origin)),
        step_(hn::Set(D(), code_values.step)),
        center_(hn::Set(D(), code_values.center)),
        carry_(hn::Zero(DI())) {}

  // False: there are fewer residuals than escapes.
  HWY_INLINE bool Restore(const Symbol* HWY_RESTRICT symbols, size_t n, const NeighbourRows& around,
                          int32_t* HWY_RESTRICT quant_codes, T* HWY_RESTRICT values, EscapeList& escapes) {
    const D d;
    const DI di;
    if constexpr (kAlongX) carry_ = hn::Set(di, static_cast<int32_t>(CarryInto(quant_codes, around)));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      __builtin_prefetch(values + i + prefetched_bytes / sizeof(T), 1);
      const auto symbol = hn::PromoteTo(di, hn::LoadU(DS(), symbols + i));
      auto residual = hn::Sub(symbol, zero_);
      if (HWY_UNLIKELY(!hn::AllFalse(di, hn::Eq(symbol, hn::Zero(di)))) &&
          !TakeEscapes(symbols + i, lanes, escapes, residual))
        return false;
      hn::StoreU(Values(residual, i, around, quant_codes), d, values + i);
    }
    if (i < n) {
      // What lies behind the row's end goes nowhere but into padding.
      auto residual = hn::Sub(hn::PromoteTo(di, hn::LoadU(DS(), symbols + i)), zero_);
      if (!TakeEscapes(symbols + i, n - i, escapes, residual)) return false;
      StoreFirst(Values(residual, i, around, quant_codes), d, n - i, values + i);
    }
    return true;
  }

 private:
  // Residuals of the escapes among the first n symbols.
  static bool TakeEscapes(const Symbol* symbols, size_t n, EscapeList& escapes, VI& residual) {
    const DI di;
    HWY_ALIGN int32_t of_lane[lanes];
    hn::Store(residual, di, of_lane);
    for (size_t k = 0; k < n; ++k) {
      if (symbols[k] != 0) continue;
      if (escapes.next == escapes.end) return false;
      of_lane[k] = *escapes.next++;
    }
    residual = hn::Load(di, of_lane);
    return true;
  }

  HWY_INLINE V Values(VI residual, size_t i, const NeighbourRows& around, int32_t* HWY_RESTRICT quant_codes) {
    const D d;
    const DI di;
    auto quant_code = residual;
    if constexpr (kAlongX) {
      const auto part = moves_.PrefixSum(quant_code);
      quant_code = hn::Add(part, carry_);
      carry_ = hn::Add(carry_, moves_.Last(part));
    }
    quant_code = hn::Add(quant_code, NeighbourSum<kCount>(di, around, static_cast<ptrdiff_t>(i)));
    hn::StoreU(quant_code, di, quant_codes + i);
    return hn::Add(hn::Mul(FromI32(d, hn::Add(quant_code, origin_)), step_), center_);
  }

  VI zero_, origin_;
  V step_, center_;
  VI carry_;
  LaneMoves<DI> moves_;
};

template <class D, class Symbol, int kCount, bool kAlongX, class T = hn::TFromD<D>>
size_t RestoreRows(const RowBlock<T>& block, const CodeValues<T>& code_values, const Symbol* symbols,
                   EscapeList& escapes) {
  RowRestorer<D, Symbol, kCount, kAlongX> restorer(code_values);
  NeighbourRows moved{};
  const NeighbourRows* around = block.around;
  T* values = block.values;
  int32_t* quant_codes = block.quant_codes;
  for (size_t r = 0; r < block.rows; ++r) {
    if (HWY_UNLIKELY(!restorer.Restore(symbols, block.width, *around, quant_codes, values, escapes)))
      return r;
    if (r + 1 < block.rows) {
      move_down(block, *around, moved);
      around = &moved;
    }
    values += block.value_stride;
    quant_codes += block.code_stride;
    symbols += block.width;
  }
  return block.rows;
}

// Rows of 8 values are common, and half of a vector of 16.
constexpr size_t short_row = 8;
template <class T>
using ShortLanes = hn::CappedTag<T, short_row>;

// Calls call(tag of lanes, number of rows, whether along the row) with what the compiler has to know.
template <class Value, class Call>
HWY_INLINE auto ForRows(const RowBlock<Value>& block, const Call& call) {
  using T = std::remove_const_t<Value>;
  const auto by_count = [&](auto d, auto is_along_x) HWY_ATTR {
    switch (block.around->count) {
      case 0:
        return call(d, std::integral_constant<int, 0>(), is_along_x);
      case 1:
        return call(d, std::integral_constant<int, 1>(), is_along_x);
      case 3:
        return call(d, std::integral_constant<int, 3>(), is_along_x);
      default:
        return call(d, std::integral_constant<int, 7>(), is_along_x);
    }
  };
  const auto by_lanes = [&](auto is_along_x) HWY_ATTR {
    return block.width <= short_row ? by_count(ShortLanes<T>(), is_along_x)
                                    : by_count(WideLanes<T>(), is_along_x);
  };
  return block.along_x ? by_lanes(std::true_type()) : by_lanes(std::false_type());
}

template <class T, class Symbol>
size_t Code(const RowBlock<const T>& block, const Quantizer<T>& q, Symbol* symbols, int32_t* escapes,
            size_t& escape_total, QuantizeStats<T>& stats) {
  if constexpr (HasRowVectors<T>()) {
    return ForRows(block, [&](auto d, auto count, auto is_along_x) HWY_ATTR {
      return CodeRows<decltype(d), Symbol, count.value, is_along_x.value>(block, q, symbols, escapes,
                                                                          escape_total, stats);
    });
  } else {
    return code_rows_by_steps(kernels(), block, q, symbols, escapes, escape_total, stats);
  }
}

template <class T, class Symbol>
size_t Restore(const RowBlock<T>& block, const CodeValues<T>& code_values, const Symbol* symbols,
               EscapeList& escapes) {
  if constexpr (HasRowVectors<T>()) {
    return ForRows(block, [&](auto d, auto count, auto is_along_x) HWY_ATTR {
      return RestoreRows<decltype(d), Symbol, count.value, is_along_x.value>(block, code_values, symbols,
                                                                             escapes);
    });
  } else {
    return restore_rows_by_steps(kernels(), block, code_values, symbols, escapes);
  }
}

}  // namespace

const AllRowKernels& RowTable();
const AllRowKernels& RowTable() {
  static const AllRowKernels table{{Code<float, uint8_t>, Restore<float, uint8_t>},
                                   {Code<float, uint16_t>, Restore<float, uint16_t>},
                                   {Code<double, uint8_t>, Restore<double, uint8_t>},
                                   {Code<double, uint16_t>, Restore<double, uint16_t>}};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif
