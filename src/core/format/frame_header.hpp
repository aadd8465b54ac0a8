// SPDX-License-Identifier: BSD-3-Clause
// The header of a frame: what it holds and where its sections are. docs/format.md is the contract.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/format/box_table.hpp"
#include "core/format/regions.hpp"
#include "core/stages/entropy/huffman_code.hpp"
#include "neve/frame.hpp"

namespace neve {

inline constexpr uint16_t frame_version = 1;
inline constexpr size_t frame_prefix_bytes = 40;
inline constexpr size_t max_array_rank = 32;
// Sizes a reader accepts; a writer stays far below. They keep products of sizes inside 64 bits.
inline constexpr uint64_t max_elements = uint64_t{1} << 40;
// Most a box may lie from 0 in any direction.
inline constexpr int64_t max_box_position = int64_t{1} << 40;
inline constexpr int64_t max_coarser_ratio = 1024;

struct SectionEntry {
  Codec codec = Codec::constant;
  SectionArrangement arrangement;  // linear without unit blocks unless the header has_arrangements
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

// What a writer puts into a header.
struct FrameHeader {
  DType dtype = DType::f64;
  FrameLayout layout;
  bool has_arrangements = false;  // each section says its own, and tiles are large
  // Finer cells that a cell of the next coarser level has in each direction; there when a section is nested.
  std::optional<Extents> coarser_ratio;
  std::vector<ComponentInfo> components;
  std::vector<Codebook> codebooks;
  std::vector<SectionEntry> sections;
};

// What a reader makes of it.
struct ParsedHeader {
  DType dtype = DType::f64;
  FrameShape shape;
  bool has_arrangements = false;
  std::optional<Extents> coarser_ratio;
  uint64_t boxes = 0;
  uint64_t held_elements = 0;
  std::vector<ComponentInfo> components;
  std::vector<SectionEntry> sections;
  TileSpans tiles{{}, TileRule::small};
  uint64_t header_bytes = 0;
  uint64_t frame_bytes = 0;
  // Empty unless asked for.
  BoxTable box_table;
  CodebookTable codebooks;
};

// Whether rectangles lie inside their box, and do not hold more cells than it has.
class CoveredCheck {
 public:
  // `box`: its number, for errors.
  CoveredCheck(const Extents& size, uint64_t box) : size_(size), box_(box), left_(Rect{{}, size}.cells()) {}
  // Errors: corrupt.
  Status add(const Rect& rect);

 private:
  Extents size_;
  uint64_t box_;
  int64_t left_;
};

// Layouts that a frame can have. Errors: usage.
Status check_layout(const FrameLayout& layout);

// Errors: failure when the header is too large for its field.
Result<Bytes> serialize_header(const FrameHeader& header);

enum class KeepBoxes { no, yes };

// Without boxes it takes less memory. Errors: corrupt.
Result<ParsedHeader> parse_header(ByteSpan frame, KeepBoxes keep);

}  // namespace neve
