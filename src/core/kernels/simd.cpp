// SPDX-License-Identifier: BSD-3-Clause
// The kernels of portable.cpp once per instruction set, by Google Highway. The table is chosen here and not
// by Highway's own dispatcher: its run-time library would have to travel with the HDF5 plugin.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/kernels/interpolation_rows.hpp"
#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/simd_targets.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/kernels/targets.hpp"
#include "core/kernels/word_rows.hpp"
#include "core/kernels/x86_features.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/kernels/vector_ops-inl.hpp"

// One-lane vectors would be the portable kernels again, more slowly.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void Quantize(const T* HWY_RESTRICT values, size_t n, const Quantizer<T>& q,
              int32_t* HWY_RESTRICT quant_codes, QuantizeStats<T>& stats) {
  const Lanes<T> d;
  const hn::Rebind<int32_t, Lanes<T>> di;
  const size_t lanes = hn::Lanes(d);
  const VectorQuantizer<T> quantizer(q);
  const auto origin = hn::Set(di, q.origin);
  auto max_error = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    const auto [quant_code, error, ok] = quantizer(value);
    max_error = hn::Max(max_error, hn::IfThenElseZero(ok, error));
    if (HWY_LIKELY(hn::AllTrue(d, ok))) {
      hn::StoreU(hn::Sub(quant_code, origin), di, quant_codes + i);
    } else {
      stats.rejected += lanes - hn::CountTrue(d, ok);
      HWY_ALIGN int32_t lane_quant_codes[8];
      HWY_ALIGN T lane_ok[8];
      hn::Store(hn::Sub(quant_code, origin), di, lane_quant_codes);
      hn::Store(hn::IfThenElseZero(ok, hn::Set(d, T{1})), d, lane_ok);
      for (size_t k = 0; k < lanes; ++k)
        quant_codes[i + k] = lane_ok[k] != 0 ? lane_quant_codes[k] : rejected_quant_code;
    }
  }
  const T row_max = hn::GetLane(hn::MaxOfLanes(d, max_error));
  if (row_max > stats.max_error) stats.max_error = row_max;
  for (; i < n; ++i) quant_codes[i] = portable::quantize_one(values[i], q, stats);
}

void QuantizeF32(const float* v, size_t n, const Quantizer<float>& q, int32_t* out,
                 QuantizeStats<float>& stats) {
  Quantize(v, n, q, out, stats);
}
void QuantizeF64(const double* v, size_t n, const Quantizer<double>& q, int32_t* out,
                 QuantizeStats<double>& stats) {
  Quantize(v, n, q, out, stats);
}

template <class T>
void Dequantize(const int32_t* HWY_RESTRICT quant_codes, size_t n, int32_t origin, T center, T step,
                T* HWY_RESTRICT values) {
  const Lanes<T> d;
  const hn::Rebind<int32_t, Lanes<T>> di;
  const size_t lanes = hn::Lanes(d);
  const auto vstep = hn::Set(d, step);
  const auto vcenter = hn::Set(d, center);
  const auto vorigin = hn::Set(di, origin);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::Mul(FromI32(d, hn::Add(hn::LoadU(di, quant_codes + i), vorigin)), vstep), vcenter),
               d, values + i);
  }
  for (; i < n; ++i) values[i] = portable::dequantize_one(quant_codes[i], origin, center, step);
}
void DequantizeF32(const int32_t* q, size_t n, int32_t origin, float center, float step, float* out) {
  Dequantize(q, n, origin, center, step, out);
}
void DequantizeF64(const int32_t* q, size_t n, int32_t origin, double center, double step, double* out) {
  Dequantize(q, n, origin, center, step, out);
}

template <int kCount, bool kAlongX>
void PredictRow(const int32_t* HWY_RESTRICT quant_codes, const NeighbourRows& around, size_t n,
                int32_t* HWY_RESTRICT residual) {
  const I32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const auto at = static_cast<ptrdiff_t>(i);
    auto value = hn::Sub(hn::LoadU(d, quant_codes + at), NeighbourSum<kCount>(d, around, at));
    if constexpr (kAlongX) {
      value = hn::Sub(value,
                      hn::Sub(hn::LoadU(d, quant_codes + at - 1), NeighbourSum<kCount>(d, around, at - 1)));
    }
    hn::StoreU(value, d, residual + i);
  }
}

// A prefix sum within 128-bit blocks of four, one block at a time: the chain is an add and a broadcast.
template <int kCount, bool kAlongX>
void UnpredictRow(const int32_t* HWY_RESTRICT residual, const NeighbourRows& around, size_t n,
                  int32_t* HWY_RESTRICT quant_codes) {
  if constexpr (kAlongX) {
    const hn::CappedTag<int32_t, 4> d;
    static_assert(hn::MaxLanes(d) == 4);
    auto carry = hn::Zero(d);
    for (size_t i = 0; i < n; i += 4) {
      auto v = hn::LoadU(d, residual + i);
      v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
      v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
      const auto sum = hn::Add(v, carry);
      carry = hn::Broadcast<3>(sum);
      hn::StoreU(hn::Add(sum, NeighbourSum<kCount>(d, around, static_cast<ptrdiff_t>(i))), d,
                 quant_codes + i);
    }
  } else {
    const I32 d;
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, residual + i);
      hn::StoreU(hn::Add(v, NeighbourSum<kCount>(d, around, static_cast<ptrdiff_t>(i))), d, quant_codes + i);
    }
  }
}

void Predict(const int32_t* quant_codes, const NeighbourRows& around, bool along_x, size_t n,
             int32_t* residual) {
  switch (around.count * 2 + along_x) {
    case 0:
      return PredictRow<0, false>(quant_codes, around, n, residual);
    case 1:
      return PredictRow<0, true>(quant_codes, around, n, residual);
    case 2:
      return PredictRow<1, false>(quant_codes, around, n, residual);
    case 3:
      return PredictRow<1, true>(quant_codes, around, n, residual);
    case 6:
      return PredictRow<3, false>(quant_codes, around, n, residual);
    case 7:
      return PredictRow<3, true>(quant_codes, around, n, residual);
    case 14:
      return PredictRow<7, false>(quant_codes, around, n, residual);
    default:
      return PredictRow<7, true>(quant_codes, around, n, residual);
  }
}

void Unpredict(const int32_t* residual, const NeighbourRows& around, bool along_x, size_t n,
               int32_t* quant_codes) {
  switch (around.count * 2 + along_x) {
    case 0:
      return UnpredictRow<0, false>(residual, around, n, quant_codes);
    case 1:
      return UnpredictRow<0, true>(residual, around, n, quant_codes);
    case 2:
      return UnpredictRow<1, false>(residual, around, n, quant_codes);
    case 3:
      return UnpredictRow<1, true>(residual, around, n, quant_codes);
    case 6:
      return UnpredictRow<3, false>(residual, around, n, quant_codes);
    case 7:
      return UnpredictRow<3, true>(residual, around, n, quant_codes);
    case 14:
      return UnpredictRow<7, false>(residual, around, n, quant_codes);
    default:
      return UnpredictRow<7, true>(residual, around, n, quant_codes);
  }
}

size_t Pack(const int32_t* HWY_RESTRICT residual, size_t n, int shift, uint8_t* HWY_RESTRICT symbols,
            int32_t* HWY_RESTRICT escapes) {
  const I32 d;
  const hn::Rebind<uint8_t, I32> d8;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(d, symbol_zero);
  const auto low = hn::Set(d, 1 - symbol_zero);
  const auto high = hn::Set(d, 255 - symbol_zero);
  size_t used = 0;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::ShiftRightSame(hn::LoadU(d, residual + i), shift);
    const auto direct = hn::Eq(value, hn::Min(hn::Max(value, low), high));
    const auto symbol = hn::IfThenElseZero(direct, hn::Add(value, zero));
    hn::StoreU(hn::DemoteTo(d8, symbol), d8, symbols + i);
    if (HWY_UNLIKELY(!hn::AllTrue(d, direct))) {
      HWY_ALIGN int32_t lane_values[8];
      hn::Store(value, d, lane_values);
      for (size_t k = 0; k < lanes; ++k) {
        escapes[used] = lane_values[k];
        used += symbols[i + k] == symbol_escape;
      }
    }
  }
  return used + portable_kernels().pack(residual + i, n - i, shift, symbols + i, escapes + used);
}

size_t Unpack(const uint8_t* HWY_RESTRICT symbols, size_t n, int shift, std::span<const int32_t> escapes,
              int32_t* HWY_RESTRICT residual) {
  const I32 d;
  const hn::Rebind<uint8_t, I32> d8;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(d, symbol_zero);
  size_t used = 0;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto symbol = hn::PromoteTo(d, hn::LoadU(d8, symbols + i));
    hn::StoreU(hn::ShiftLeftSame(hn::Sub(symbol, zero), shift), d, residual + i);
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Eq(symbol, hn::Zero(d))))) {
      for (size_t k = 0; k < lanes; ++k) {
        if (symbols[i + k] != symbol_escape) continue;
        if (used == escapes.size()) return SIZE_MAX;
        residual[i + k] = static_cast<int32_t>(static_cast<uint32_t>(escapes[used++]) << shift);
      }
    }
  }
  const size_t rest =
      portable_kernels().unpack(symbols + i, n - i, shift, escapes.subspan(used), residual + i);
  return rest == SIZE_MAX ? SIZE_MAX : used + rest;
}

size_t PackWide(const int32_t* HWY_RESTRICT residual, size_t n, uint16_t* HWY_RESTRICT symbols) {
  const I32 d;
  const hn::Rebind<uint16_t, I32> d16;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(d, static_cast<int32_t>(wide_symbol_zero));
  const auto low = hn::Set(d, 1 - static_cast<int32_t>(wide_symbol_zero));
  const auto high = hn::Set(d, static_cast<int32_t>(wide_symbol_count - 1 - wide_symbol_zero));
  auto direct_total = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, residual + i);
    const auto direct = hn::Eq(value, hn::Min(hn::Max(value, low), high));
    hn::StoreU(hn::DemoteTo(d16, hn::IfThenElseZero(direct, hn::Add(value, zero))), d16, symbols + i);
    direct_total = hn::Sub(direct_total, hn::VecFromMask(d, direct));
  }
  const auto direct = static_cast<size_t>(hn::GetLane(hn::SumOfLanes(d, direct_total)));
  return i - direct + portable_kernels().pack_wide(residual + i, n - i, symbols + i);
}

size_t UnpackWide(const uint16_t* HWY_RESTRICT symbols, size_t n, int32_t* HWY_RESTRICT residual) {
  const I32 d;
  const hn::Rebind<uint16_t, I32> d16;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Set(d, static_cast<int32_t>(wide_symbol_zero));
  auto escape_total = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto symbol = hn::PromoteTo(d, hn::LoadU(d16, symbols + i));
    hn::StoreU(hn::Sub(symbol, zero), d, residual + i);
    escape_total = hn::Sub(escape_total, hn::VecFromMask(d, hn::Eq(symbol, hn::Zero(d))));
  }
  const auto escapes = static_cast<size_t>(hn::GetLane(hn::SumOfLanes(d, escape_total)));
  return escapes + portable_kernels().unpack_wide(symbols + i, n - i, residual + i);
}

template <class T>
void Range(const T* HWY_RESTRICT values, size_t n, bool has_fill, T fill, T* min, T* max) {
  const Lanes<T> d;
  const hn::RebindToUnsigned<Lanes<T>> du;
  const size_t lanes = hn::Lanes(d);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto highest = hn::Set(d, std::numeric_limits<T>::max());
  const auto lowest = hn::Set(d, std::numeric_limits<T>::lowest());
  const auto vfill = hn::Set(du, portable::bits(fill));
  auto lo = highest;
  auto hi = lowest;
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    __builtin_prefetch(values + i + prefetched_bytes / sizeof(T));
    const auto value = hn::LoadU(d, values + i);
    auto counts = hn::Lt(hn::Abs(value), infinity);
    if (has_fill) counts = hn::AndNot(hn::RebindMask(d, hn::Eq(hn::BitCast(du, value), vfill)), counts);
    lo = hn::Min(lo, hn::IfThenElse(counts, value, highest));
    hi = hn::Max(hi, hn::IfThenElse(counts, value, lowest));
  }
  T row_lo = hn::GetLane(hn::MinOfLanes(d, lo));
  T row_hi = hn::GetLane(hn::MaxOfLanes(d, hi));
  for (; i < n; ++i) portable::extend_range(values[i], has_fill, fill, row_lo, row_hi);
  *min = row_lo;
  *max = row_hi;
}
void RangeF32(const float* v, size_t n, bool has_fill, float fill, float* lo, float* hi) {
  Range(v, n, has_fill, fill, lo, hi);
}
void RangeF64(const double* v, size_t n, bool has_fill, double fill, double* lo, double* hi) {
  Range(v, n, has_fill, fill, lo, hi);
}

// The loops of interpolation_rows.hpp, compiled for this target.
template <class T>
struct Interpolation {
  static void Axis(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, const T* HWY_RESTRICT c,
                   const T* HWY_RESTRICT d, const T* HWY_RESTRICT weights, size_t n, T* HWY_RESTRICT out) {
    rows::axis(a, b, c, d, weights, n, out);
  }
  static void AddTaps(const T* const* taps, const T* HWY_RESTRICT weights, size_t count,
                      const T* HWY_RESTRICT base, size_t n, T* HWY_RESTRICT sum) {
    rows::add_taps(taps, weights, count, base, n, sum);
  }
  static void Estimate(const T* HWY_RESTRICT above, const T* HWY_RESTRICT here, const T* HWY_RESTRICT below,
                       T scale, size_t n, T* HWY_RESTRICT out) {
    rows::estimate(above, here, below, scale, n, out);
  }
  static void Blend(const T* const* predictions, const T* const* estimates, int experts, size_t n,
                    T* HWY_RESTRICT out) {
    rows::blend(predictions, estimates, experts, n, out);
  }
  // By hand: compilers do not see through the mix of conditions and widths.
  static void Quantize(T* HWY_RESTRICT values, const T* HWY_RESTRICT prediction,
                       const ResidualQuantizer<T>& q, size_t n, int32_t* HWY_RESTRICT quant_codes) {
    const Lanes<T> d;
    const hn::Rebind<int32_t, Lanes<T>> di;
    const size_t lanes = hn::Lanes(d);
    const auto inverse_step = hn::Set(d, q.inverse_step);
    const auto step = hn::Set(d, q.step);
    const auto tolerance = hn::Set(d, q.tolerance);
    const auto limit = hn::Set(d, static_cast<T>(residual_limit));
    const auto below = hn::Neg(limit);
    const auto rejected = hn::Set(d, static_cast<T>(rejected_quant_code));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const auto value = hn::LoadU(d, values + i);
      const auto predicted = hn::LoadU(d, prediction + i);
      auto scaled = hn::Mul(hn::Sub(value, predicted), inverse_step);
      scaled = hn::IfThenElse(hn::Lt(scaled, limit), scaled, limit);
      scaled = hn::IfThenElse(hn::Gt(scaled, below), scaled, below);
      const auto rounded = hn::Round(scaled);
      const auto decoded = hn::Add(predicted, hn::Mul(rounded, step));
      const auto error = hn::Abs(hn::Sub(value, decoded));
      const auto ok = hn::And(hn::Le(error, tolerance), hn::Lt(hn::Abs(rounded), limit));
      hn::StoreU(hn::IfThenElse(ok, decoded, value), d, values + i);
      // rejected_quant_code is a power of two: exact in float, too.
      hn::StoreU(NearestI32(d, hn::IfThenElse(ok, rounded, rejected)), di, quant_codes + i);
    }
    rows::quantize(values + i, prediction + i, q, n - i, quant_codes + i);
  }
  static void Reconstruct(const int32_t* HWY_RESTRICT quant_codes, const T* HWY_RESTRICT prediction, T step,
                          size_t n, T* HWY_RESTRICT values) {
    rows::reconstruct(quant_codes, prediction, step, n, values);
  }
  static void Errors(const T* HWY_RESTRICT values, const T* HWY_RESTRICT prediction, T inverse_step, size_t n,
                     T* HWY_RESTRICT out) {
    rows::errors(values, prediction, inverse_step, n, out);
  }
  static void AddMagnitudes(const uint8_t* HWY_RESTRICT magnitudes, unsigned weight, size_t n,
                            uint16_t* HWY_RESTRICT sum) {
    rows::add_magnitudes(magnitudes, weight, n, sum);
  }
  static constexpr InterpolationKernels<T> Table() {
    return {Axis, AddTaps, Estimate, Blend, Quantize, Reconstruct, Errors, AddMagnitudes};
  }
};

NEVE_WORD_KERNELS

}  // namespace

const StreamKernels& StreamTable();          // stream_simd.cpp
const AllRowKernels& RowTable();             // row_simd.cpp
const AxisKernels<float>& AxisTable(float);  // axis_simd.cpp
const AxisKernels<double>& AxisTable(double);
const Kernels& Table();
const Kernels& Table() {
  static const Kernels table{hwy::TargetName(HWY_TARGET),
                             QuantizeF32,
                             QuantizeF64,
                             DequantizeF32,
                             DequantizeF64,
                             Predict,
                             Unpredict,
                             Pack,
                             Unpack,
                             PackWide,
                             UnpackWide,
                             RangeF32,
                             RangeF64,
                             Interpolation<float>::Table(),
                             Interpolation<double>::Table(),
                             &Words<uint8_t>::table,
                             &Words<uint16_t>::table,
                             &Words<uint32_t>::table,
                             &Words<uint64_t>::table,
                             &StreamTable(),
                             &RowTable(),
                             &AxisTable(float{}),
                             &AxisTable(double{})};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace neve {

std::vector<const Kernels*> supported_kernels() {
  std::vector<const Kernels*> tables;
#if HWY_ARCH_X86_64
  __builtin_cpu_init();
#if HWY_TARGETS & HWY_AVX3
  if (can_run_avx3()) tables.push_back(&N_AVX3::Table());
#endif
#if HWY_TARGETS & HWY_AVX2
  if (can_run_avx2()) tables.push_back(&N_AVX2::Table());
#endif
#if HWY_TARGETS & HWY_SSE4
  if (can_run_sse4()) tables.push_back(&N_SSE4::Table());
#endif
#elif HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128
  tables.push_back(&HWY_STATIC_DISPATCH(Table)());  // NEON on AArch64
#endif
  tables.push_back(&portable_kernels());
  return tables;
}

}  // namespace neve
#endif  // HWY_ONCE
