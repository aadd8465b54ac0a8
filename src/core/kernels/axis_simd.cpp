// SPDX-License-Identifier: BSD-3-Clause
// The kernels of axis_portable.cpp once per instruction set. Rows are short: their ends are vectors, too.
#include <limits>

#include "core/kernels/axis_kernels.hpp"
#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/axis_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "core/kernels/vector_ops-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve {
namespace HWY_NAMESPACE {
namespace {

// has_own: weights cell by cell.
template <class T, bool has_own>
class VectorSource {
  using D = Lanes<T>;
  using V = hn::VFromD<D>;

 public:
  explicit VectorSource(const AxisSource<T>& from)
      : from_(from),
        a_(hn::Set(D(), from.weights[0])),
        b_(hn::Set(D(), from.weights[1])),
        c_(hn::Set(D(), from.weights[2])),
        d_(hn::Set(D(), from.weights[3])) {}
  HWY_INLINE V operator()(size_t i) const {
    const auto near = hn::Add(part(0, a_, from_.a, i), part(1, b_, from_.b, i));
    return hn::Add(hn::Add(near, part(2, c_, from_.c, i)), part(3, d_, from_.d, i));
  }

 private:
  HWY_INLINE V part(size_t k, V weight, const T* values, size_t i) const {
    const D d;
    const auto value = hn::LoadU(d, values + i);
    if constexpr (!has_own) return hn::Mul(weight, value);
    const auto own = hn::LoadU(d, from_.of_each[k] + i);
    return hn::IfThenElseZero(hn::Ne(own, hn::Zero(d)), hn::Mul(own, value));
  }

  const AxisSource<T>& from_;
  V a_, b_, c_, d_;
};

// The whole of a row in vectors: cells behind its end are read, and written as they were.
template <class T, bool has_own>
void CodeBy(T* values, const AxisSource<T>& from, const ResidualQuantizer<T>& q, size_t n,
            int32_t* HWY_RESTRICT quant_codes, AxisStats<T>& stats) {
  const Lanes<T> d;
  const hn::Rebind<int32_t, Lanes<T>> di;
  const size_t lanes = hn::Lanes(d);
  const VectorSource<T, has_own> source(from);
  const auto inverse_step = hn::Set(d, q.inverse_step);
  const auto step = hn::Set(d, q.step);
  const auto tolerance = hn::Set(d, q.tolerance);
  const auto limit = hn::Set(d, static_cast<T>(residual_limit));
  const auto below = hn::Neg(limit);
  const auto rejected = hn::Set(d, static_cast<T>(rejected_quant_code));
  auto max_error = hn::Load(d, stats.worst.data());
  size_t i = 0;
  const auto code = [&](auto is_own) {
    __builtin_prefetch(values + i + prefetched_bytes / sizeof(T), 1);
    const auto value = hn::LoadU(d, values + i);
    const auto predicted = source(i);
    auto scaled = hn::Mul(hn::Sub(value, predicted), inverse_step);
    scaled = hn::IfThenElse(hn::Lt(scaled, limit), scaled, limit);
    scaled = hn::IfThenElse(hn::Gt(scaled, below), scaled, below);
    const auto rounded = hn::Round(scaled);
    // As the decoder has it: a whole number has no -0.
    const auto quant_code = NearestI32(d, rounded);
    const auto decoded = hn::Add(predicted, hn::Mul(FromI32(d, quant_code), step));
    const auto error = hn::Abs(hn::Sub(value, decoded));
    const auto fits = hn::And(hn::Le(error, tolerance), hn::Lt(hn::Abs(rounded), limit));
    const auto ok = hn::And(fits, is_own);
    max_error = hn::Max(max_error, hn::IfThenElseZero(ok, error));
    hn::StoreU(hn::IfThenElse(ok, decoded, value), d, values + i);
    hn::StoreU(quant_code, di, quant_codes + i);
    const auto failed = hn::AndNot(fits, is_own);
    if (HWY_UNLIKELY(!hn::AllFalse(d, failed))) {
      stats.rejected += hn::CountTrue(d, failed);
      // rejected_quant_code is a power of two: exact in float, too.
      hn::StoreU(NearestI32(d, hn::IfThenElse(failed, rejected, rounded)), di, quant_codes + i);
    }
  };
  const auto all = hn::FirstN(d, lanes);
  for (; i + lanes <= n; i += lanes) code(all);
  if (i < n) code(hn::FirstN(d, n - i));
  hn::Store(max_error, d, stats.worst.data());
}

template <class T>
void Code(T* values, const AxisSource<T>& from, const ResidualQuantizer<T>& q, size_t n, int32_t* quant_codes,
          AxisStats<T>& stats) {
  if (from.of_each[0] == nullptr) return CodeBy<T, false>(values, from, q, n, quant_codes, stats);
  CodeBy<T, true>(values, from, q, n, quant_codes, stats);
}

template <class T, bool has_own>
size_t RestoreBy(const uint8_t* HWY_RESTRICT symbols, const AxisSource<T>& from, T step, size_t n,
                 T* values) {
  const Lanes<T> d;
  const hn::Rebind<int32_t, Lanes<T>> di;
  const hn::Rebind<uint8_t, Lanes<T>> d8;
  const size_t lanes = hn::Lanes(d);
  const VectorSource<T, has_own> source(from);
  const auto vstep = hn::Set(d, step);
  const auto zero = hn::Set(di, symbol_zero);
  auto escapes = hn::Zero(di);
  size_t i = 0;
  const auto restored = [&](auto symbol) {
    return hn::Add(source(i), hn::Mul(FromI32(d, hn::Sub(symbol, zero)), vstep));
  };
  for (; i + lanes <= n; i += lanes) {
    const auto symbol = hn::PromoteTo(di, hn::LoadU(d8, symbols + i));
    escapes = hn::Sub(escapes, hn::VecFromMask(di, hn::Eq(symbol, hn::Zero(di))));
    hn::StoreU(restored(symbol), d, values + i);
  }
  if (i < n) {
    const auto symbol = hn::PromoteTo(di, hn::LoadU(d8, symbols + i));
    const auto is_escape = hn::And(hn::Eq(symbol, hn::Zero(di)), hn::FirstN(di, n - i));
    escapes = hn::Sub(escapes, hn::VecFromMask(di, is_escape));
    const auto behind = hn::LoadU(d, values + i);
    hn::StoreU(hn::IfThenElse(hn::FirstN(d, n - i), restored(symbol), behind), d, values + i);
  }
  return static_cast<size_t>(hn::GetLane(hn::SumOfLanes(di, escapes)));
}

template <class T>
size_t Restore(const uint8_t* symbols, const AxisSource<T>& from, T step, size_t n, T* values) {
  return from.of_each[0] == nullptr ? RestoreBy<T, false>(symbols, from, step, n, values)
                                    : RestoreBy<T, true>(symbols, from, step, n, values);
}

template <class T>
bool HasSpecial(const T* HWY_RESTRICT row, size_t n, bool has_fill, T fill) {
  const Lanes<T> d;
  const hn::RebindToUnsigned<Lanes<T>> du;
  const size_t lanes = hn::Lanes(d);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto negative_zero = hn::Set(du, portable::bits(T{-0.0}));
  const auto marked = has_fill ? hn::Set(du, portable::bits(fill)) : negative_zero;
  auto found = hn::Zero(du);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, row + i);
    const auto bits = hn::BitCast(du, value);
    const auto not_finite = hn::Not(hn::Lt(hn::Abs(value), infinity));
    const auto is_one = hn::Or(hn::Eq(bits, negative_zero), hn::Eq(bits, marked));
    found = hn::Or(found, hn::VecFromMask(du, hn::Or(hn::RebindMask(du, not_finite), is_one)));
  }
  return !hn::AllFalse(du, hn::Ne(found, hn::Zero(du))) ||
         portable_axis_kernels(T{}).has_special(row + i, n - i, has_fill, fill);
}

template <class T>
void Split(const T* HWY_RESTRICT row, size_t n, T* HWY_RESTRICT even, T* HWY_RESTRICT odd) {
  const Lanes<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; 2 * (i + lanes) <= n; i += lanes) {
    __builtin_prefetch(row + 2 * i + prefetched_bytes / sizeof(T));
    hn::VFromD<Lanes<T>> first, second;
    hn::LoadInterleaved2(d, row + 2 * i, first, second);
    hn::StoreU(first, d, even + i);
    hn::StoreU(second, d, odd + i);
  }
  portable_axis_kernels(T{}).split(row + 2 * i, n - 2 * i, even + i, odd + i);
}

template <class T>
void Join(const T* HWY_RESTRICT even, const T* HWY_RESTRICT odd, size_t n, T* HWY_RESTRICT row) {
  const Lanes<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; 2 * (i + lanes) <= n; i += lanes) {
    __builtin_prefetch(row + 2 * i + prefetched_bytes / sizeof(T), 1);
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, row + 2 * i);
  }
  portable_axis_kernels(T{}).join(even + i, odd + i, n - 2 * i, row + 2 * i);
}

template <class T>
constexpr AxisKernels<T> axis_table{Code<T>, Restore<T>, HasSpecial<T>, Split<T>, Join<T>};

}  // namespace

const AxisKernels<float>& AxisTable(float);
const AxisKernels<double>& AxisTable(double);
const AxisKernels<float>& AxisTable(float) { return axis_table<float>; }
const AxisKernels<double>& AxisTable(double) { return axis_table<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif
