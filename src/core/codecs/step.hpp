// SPDX-License-Identifier: BSD-3-Clause
// A step of a series: pieces of one shape, and samples of them. Places of samples follow from the shape
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/select/step_print.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

struct Step {
  DType dtype = DType::f32;
  std::span<const uint64_t> shape;  // of a piece
  size_t pieces = 0;
  const std::function<const void*(size_t)>& piece;

  uint64_t piece_values() const;
  uint64_t raw_bytes() const { return pieces * piece_values() * dtype_bytes(dtype); }
};

StepPrint print_of(const Step& step);

// A block of a piece of a step, in memory of its own.
struct StepPart {
  std::vector<uint64_t> shape;
  std::vector<std::byte> values;
};

// How much of a step its parts are: one byte in so many, within limits; all of a step that is no larger than
// twice the least. Compact ones have neighbours along all axes in few values, others whole rows.
struct PartSize {
  uint64_t one_in, least_bytes, most_bytes;
  bool is_compact = false;
};
inline constexpr uint64_t small_step = 768 << 10;
inline constexpr PartSize small_parts{128, 16 << 10, 128 << 10, true}, usual_parts{16, 96 << 10, 1 << 20},
    large_parts{4, 512 << 10, 1 << 20};
// Parts by which methods are compared.
std::vector<StepPart> parts_of(const Step& step, PartSize size);
// Whether these are all of the step in one piece.
bool is_whole(const Step& step, const std::vector<StepPart>& parts);

}  // namespace neve
