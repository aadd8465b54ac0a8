// SPDX-License-Identifier: BSD-3-Clause
// The first bytes of a frame, and the flags of its header: docs/format.md, "Prefix".
#pragma once

#include <array>
#include <cstdint>

#include "core/format/frame_header.hpp"

namespace neve {

inline constexpr std::array<char, 4> frame_magic{'N', 'E', 'V', 'E'};
inline constexpr uint8_t arrangement_linear = 0;
inline constexpr uint8_t arrangement_per_section = 1;
inline constexpr uint8_t flag_split = 1;
inline constexpr uint8_t flag_array = 2;
inline constexpr uint8_t flag_nested = 4;
inline constexpr uint8_t component_has_fill = 1;
inline constexpr uint8_t component_drops_covered = 2;

struct FramePrefix {
  std::array<char, 4> magic;
  uint16_t version;
  uint8_t dtype;
  uint8_t ndim;
  uint32_t header_bytes;
  uint8_t arrangement;
  uint8_t flags;
  uint16_t components;
  uint64_t frame_bytes;
  uint64_t element_count;
  uint32_t boxes;
  uint32_t sections;
};
static_assert(sizeof(FramePrefix) == frame_prefix_bytes);

inline bool is_box_position(int64_t lo) { return lo >= -max_box_position && lo <= max_box_position; }

}  // namespace neve
