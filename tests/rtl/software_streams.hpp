// SPDX-License-Identifier: BSD-3-Clause
// Streams of software's encoder, for what decodes them.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/stream.hpp"

namespace neve::rtl {

// Of blocks and chunks so small that a few thousand values make several.
inline StreamOptions options(std::vector<uint64_t> shape, double bound) {
  StreamOptions o;
  o.shape = std::move(shape);
  o.bound = {BoundMode::abs, bound};
  o.block_values = 1024;
  o.chunk_bytes = uint64_t{1} << 14;
  o.for_engine = true;
  return o;
}

inline Bytes encode(const StreamOptions& options, const std::vector<float>& values) {
  auto encoder = StreamEncoder::create(options);
  EXPECT_TRUE(encoder.ok()) << encoder.status().message();
  EXPECT_TRUE(encoder->push(values.data(), values.size()).ok());
  EXPECT_TRUE(encoder->finish().ok());
  const auto bytes = encoder->output();
  return {bytes.begin(), bytes.end()};
}

}  // namespace neve::rtl
