// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/low_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

// In pieces of any size, and back in others.
TEST(LowBits, ComeBackWhateverThePieces) {
  for (const int shift : {0, 1, 3, 7, 8, 13, 24}) {
    Random random(static_cast<uint64_t>(shift) + 1);
    std::vector<int32_t> residuals(1000);
    for (int32_t& r : residuals) r = static_cast<int32_t>(random.next());
    LowBitWriter writer(shift, residuals.size());
    for (size_t i = 0; i < residuals.size();) {
      const auto n = std::min<size_t>(static_cast<size_t>(1 + random.below(40)), residuals.size() - i);
      writer.add(std::span(residuals).subspan(i, n));
      i += n;
    }
    const Bytes bytes = writer.take();
    ASSERT_EQ(bytes.size(), (residuals.size() * static_cast<size_t>(shift) + 7) / 8);
    const uint32_t mask = (uint32_t{1} << shift) - 1;
    for (size_t i = 0; i < residuals.size();) {
      const auto n = std::min<size_t>(static_cast<size_t>(1 + random.below(70)), residuals.size() - i);
      std::vector<int32_t> back(n);
      restore_low_bits(bytes, i, shift, back);
      for (size_t k = 0; k < n; ++k)
        ASSERT_EQ(static_cast<uint32_t>(back[k]), static_cast<uint32_t>(residuals[i + k]) & mask)
            << shift << ' ' << i + k;
      i += n;
    }
  }
}

}  // namespace
}  // namespace neve
