// SPDX-License-Identifier: BSD-3-Clause
// portable.cpp's arithmetic once per instruction set, by Google Highway: a vector holds neighbours of a row.
#include "bench/harness/noise/kernels.hpp"

// As src/core/kernels/simd.cpp, whose names choose among these.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/harness/noise/simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace neve::apps::noise {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, row_padding>;
using I = hn::Rebind<int32_t, F>;
using U = hn::Rebind<uint32_t, F>;
using VF = hn::VFromD<F>;
using VU = hn::VFromD<U>;

HWY_INLINE VF ToFloat(VU bits) { return hn::ConvertTo(F(), hn::BitCast(I(), bits)); }

HWY_INLINE VF Corner(VU h, VF x0, VF x1, VF x2, VF x3) {
  const F d;
  const U du;
  h = hn::Xor(h, hn::ShiftRight<16>(h));
  h = hn::Mul(h, hn::Set(du, mix1));
  h = hn::Xor(h, hn::ShiftRight<15>(h));
  h = hn::Mul(h, hn::Set(du, mix2));
  const VF g0 = ToFloat(h);
  const VF g1 = ToFloat(hn::ShiftLeft<8>(h));
  const VF g2 = ToFloat(hn::ShiftLeft<16>(h));
  const VF g3 = ToFloat(hn::Or(hn::ShiftLeft<24>(h), hn::Set(du, 0x00800000u)));
  const VF dot =
      hn::Add(hn::Add(hn::Mul(g0, x0), hn::Mul(g1, x1)), hn::Add(hn::Mul(g2, x2), hn::Mul(g3, x3)));
  const VF r2 = hn::Add(hn::Add(hn::Mul(x0, x0), hn::Mul(x1, x1)), hn::Add(hn::Mul(x2, x2), hn::Mul(x3, x3)));
  VF t = hn::Max(hn::Sub(hn::Set(d, radius2), r2), hn::Zero(d));
  t = hn::Mul(t, t);
  return hn::Mul(hn::Mul(t, t), dot);
}

// 1 where a coordinate comes after another.
HWY_INLINE hn::VFromD<I> After(VF first, VF second) {
  return hn::VecFromMask(I(), hn::RebindMask(I(), hn::Ge(first, second)));
}

void Fill(const Block& block, size_t first, size_t count, float* HWY_RESTRICT out) {
  const F d;
  const I di;
  const U du;
  constexpr auto back = static_cast<float>(unskew);
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += lanes) {
    // Exact: numbers within a block are small.
    const VF along = hn::Add(hn::Iota(d, 0.0f), hn::Set(d, static_cast<float>(first + i)));
    VU h = hn::Set(du, block.hash);
    const auto fraction = [&](int k) HWY_ATTR {
      const VF u = hn::Add(hn::Set(d, block.base[k]), hn::Mul(along, hn::Set(d, block.step[k])));
      const VF whole = hn::Floor(u);
      h = hn::Add(h, hn::Mul(hn::BitCast(du, hn::ConvertTo(di, whole)), hn::Set(du, prime[k])));
      return hn::Sub(u, whole);
    };
    const VF w0 = fraction(0), w1 = fraction(1), w2 = fraction(2), w3 = fraction(3);
    const VF shift = hn::Mul(hn::Add(hn::Add(w0, w1), hn::Add(w2, w3)), hn::Set(d, back));
    const VF x0 = hn::Sub(w0, shift), x1 = hn::Sub(w1, shift), x2 = hn::Sub(w2, shift),
             x3 = hn::Sub(w3, shift);
    // before[k]: each pair's mask (-1 or 0) counts for the one and, turned round, for the other.
    const auto m01 = After(w0, w1), m02 = After(w0, w2), m03 = After(w0, w3), m12 = After(w1, w2),
               m13 = After(w1, w3), m23 = After(w2, w3);
    const auto b0 = hn::Add(hn::Set(di, 3), hn::Add(hn::Add(m01, m02), m03));
    const auto b1 = hn::Add(hn::Set(di, 2), hn::Add(hn::Sub(m12, m01), m13));
    const auto b2 = hn::Add(hn::Set(di, 1), hn::Sub(hn::Sub(m23, m02), m12));
    const auto b3 = hn::Sub(hn::Sub(hn::Zero(di), m03), hn::Add(m13, m23));
    const auto inner = [&](int c) HWY_ATTR {
      const VF stay = hn::Set(d, static_cast<float>(c) * back);
      const VF go = hn::Set(d, static_cast<float>(c) * back - 1.0f);
      const auto limit = hn::Set(di, c);
      VU hc = h;
      const auto component = [&](hn::VFromD<I> before, VF x, uint32_t prime_of_axis) HWY_ATTR {
        const auto gone = hn::Gt(limit, before);
        hc = hn::Add(hc, hn::IfThenElseZero(hn::RebindMask(du, gone), hn::Set(du, prime_of_axis)));
        return hn::Add(x, hn::IfThenElse(hn::RebindMask(d, gone), go, stay));
      };
      const VF y0 = component(b0, x0, prime[0]), y1 = component(b1, x1, prime[1]),
               y2 = component(b2, x2, prime[2]), y3 = component(b3, x3, prime[3]);
      return Corner(hc, y0, y1, y2, y3);
    };
    VF value = Corner(h, x0, x1, x2, x3);
    value = hn::Add(value, inner(1));
    value = hn::Add(value, inner(2));
    value = hn::Add(value, inner(3));
    const VF last = hn::Set(d, 4 * back - 1.0f);
    const VU far = hn::Add(h, hn::Set(du, prime[0] + prime[1] + prime[2] + prime[3]));
    value = hn::Add(value,
                    Corner(far, hn::Add(x0, last), hn::Add(x1, last), hn::Add(x2, last), hn::Add(x3, last)));
    hn::StoreU(hn::Mul(value, hn::Set(d, scale)), d, out + i);
  }
}

}  // namespace

Target TargetHere();
Target TargetHere() { return {hwy::TargetName(HWY_TARGET), Fill}; }

}  // namespace HWY_NAMESPACE
}  // namespace neve::apps::noise
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace neve::apps::noise {

const std::vector<Target>& simd_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> found;
#if HWY_ARCH_X86_64
#if HWY_TARGETS & HWY_AVX3
    found.push_back(N_AVX3::TargetHere());
#endif
#if HWY_TARGETS & HWY_AVX2
    found.push_back(N_AVX2::TargetHere());
#endif
#if HWY_TARGETS & HWY_SSE4
    found.push_back(N_SSE4::TargetHere());
#endif
#elif HWY_STATIC_TARGET != HWY_SCALAR && HWY_STATIC_TARGET != HWY_EMU128
    found.push_back(HWY_STATIC_DISPATCH(TargetHere)());
#endif
    return found;
  }();
  return targets;
}

}  // namespace neve::apps::noise
#endif  // HWY_ONCE
