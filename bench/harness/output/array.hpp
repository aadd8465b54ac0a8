// SPDX-License-Identifier: BSD-3-Clause
// What the mini-apps write: arrays of which every rank holds a rectangular part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neve/types.hpp"

namespace neve::apps {

using Shape = std::vector<uint64_t>;  // slowest first
uint64_t value_count(const Shape& shape);

// The same on every rank.
struct ArraySpec {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  Shape chunk;                 // of chunked outputs; at most `shape`
  double bound_abs = 0;        // what a lossy output may be off by; integers never are
  std::optional<double> fill;  // Neve brings it back bit for bit
};

// A rank's: a count of 0 means none.
struct ArrayPart {
  ArraySpec spec;
  Shape start, count;
  const void* values = nullptr;

  uint64_t bytes() const { return value_count(count) * dtype_bytes(spec.dtype); }
};

// Where a rank's part of an array lies; a count of 0 means that it has none.
struct PartPlace {
  Shape start, count;
};

}  // namespace neve::apps
