// SPDX-License-Identifier: BSD-3-Clause
// Steps that several vector kernels share; compiled once per target by whoever includes it.
#if defined(NEVE_KERNELS_VECTOR_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEVE_KERNELS_VECTOR_OPS_INL
#undef NEVE_KERNELS_VECTOR_OPS_INL
#else
#define NEVE_KERNELS_VECTOR_OPS_INL
#endif

#include <hwy/highway.h>

#include "core/kernels/kernels.hpp"
#include "core/kernels/portable.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// How far ahead of the values that a row's loop is at memory is asked for: processors themselves do not look
// across pages.
constexpr size_t prefetched_bytes = 2048;

// Eight elements at most: rows of small boxes are often eight cells long.
template <class T>
using Lanes = hn::CappedTag<T, 8>;
using I32 = hn::CappedTag<int32_t, 8>;

// Lanes where |scaled| is quant_code_limit or more, or NaN, are not used.
template <class D>
HWY_INLINE auto NearestI32(D, hn::VFromD<D> scaled) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::NearestInt(scaled);
  } else {
    return hn::DemoteTo(hn::Rebind<int32_t, D>(), hn::Round(scaled));
  }
}

template <class D, class VI>
HWY_INLINE hn::VFromD<D> FromI32(D d, VI quant_codes) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ConvertTo(d, quant_codes);
  } else {
    return hn::PromoteTo(d, quant_codes);
  }
}

// portable::quantize_one on vectors.
template <class T, class D = Lanes<T>>
class VectorQuantizer {
  using DI = hn::Rebind<int32_t, D>;
  using DU = hn::RebindToUnsigned<D>;
  using V = hn::VFromD<D>;
  using VU = hn::VFromD<DU>;

 public:
  explicit VectorQuantizer(const Quantizer<T>& q)
      : inverse_step_(hn::Set(D(), q.inverse_step)),
        step_(hn::Set(D(), q.step)),
        center_(hn::Set(D(), q.center)),
        tolerance_(hn::Set(D(), q.tolerance)),
        limit_(hn::Set(D(), static_cast<T>(quant_code_limit))),
        negative_zero_(hn::Set(DU(), portable::BitsOf<T>{1} << (8 * sizeof(T) - 1))),
        // Without a fill value the comparison repeats that of -0.
        fill_(q.has_fill ? hn::Set(DU(), portable::bits(q.fill)) : negative_zero_) {}

  struct Result {
    hn::VFromD<DI> quant_code;  // before the origin is taken off
    V error;
    hn::Mask<D> ok;  // false: rejected
  };
  HWY_INLINE Result operator()(V value) const { return Quantized<true>(value); }
  // Without a center that is not 0 two operations fewer: what they would change is the sign of a 0.
  template <bool kHasCenter>
  HWY_INLINE Result Quantized(V value) const {
    const D d;
    const DU du;
    const auto scaled = hn::Mul(kHasCenter ? hn::Sub(value, center_) : value, inverse_step_);
    const auto fits = hn::Lt(hn::Abs(scaled), limit_);
    const auto quant_code = NearestI32(d, scaled);
    const auto restored = hn::Mul(FromI32(d, quant_code), step_);
    const auto decoded = kHasCenter ? hn::Add(restored, center_) : restored;
    const auto error = hn::Abs(hn::Sub(value, decoded));
    const auto bits = hn::BitCast(du, value);
    const auto special = hn::RebindMask(d, hn::Or(hn::Eq(bits, negative_zero_), hn::Eq(bits, fill_)));
    return {quant_code, error, hn::And(hn::AndNot(special, hn::Le(error, tolerance_)), fits)};
  }

 private:
  V inverse_step_;
  V step_;
  V center_;
  V tolerance_;
  V limit_;
  VU negative_zero_;
  VU fill_;
};

// Signs as in portable::neighbour_sum.
template <int kCount, class D>
HWY_INLINE hn::VFromD<D> NeighbourSum(D d, const NeighbourRows& around, ptrdiff_t i) {
  const auto row = [&](int r) { return hn::LoadU(d, around.rows[r] + i); };
  if constexpr (kCount == 0) return hn::Zero(d);
  if constexpr (kCount == 1) return row(0);
  if constexpr (kCount == 3) return hn::Sub(hn::Add(row(0), row(1)), row(2));
  if constexpr (kCount == 7) {
    const auto plus = hn::Add(hn::Add(row(0), row(1)), hn::Add(row(3), row(6)));
    return hn::Sub(plus, hn::Add(row(2), hn::Add(row(4), row(5))));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neve
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target guard
