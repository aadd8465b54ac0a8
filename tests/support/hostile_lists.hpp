// SPDX-License-Identifier: BSD-3-Clause
// A frame for each list of a header or a section, with as many entries as are asked for: packed further than
// any encoder packs, under right checksums.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/hostile_frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve::test {

struct HostileList {
  std::string name;
  std::function<Bytes(int64_t entries)> make;
};

inline Bytes constant_section(float value = 1) {
  Bytes bytes;
  ByteWriter(bytes).put(value);
  return bytes;
}

// Behind what the component leaves out: no cell of it is kept.
inline Bytes covered_constant_section() {
  Bytes bytes;
  ByteWriter out(bytes);
  out.put_varint(0);
  out.put(1.0F);
  return bytes;
}

inline void put_constant_sections(HostileFrame& frame, int64_t count) {
  for (int64_t s = 0; s < count; ++s) frame.put_section(Codec::constant, constant_section());
}

inline int64_t small_tiles(int64_t cells) { return (cells + (1 << 16) - 1) >> 16; }

inline Bytes end_frame(HostileFrame& frame, bool drops_covered, const Bytes& section, int64_t sections = 1) {
  frame.put_components(drops_covered);
  frame.put_codebooks(0, {});
  for (int64_t s = 0; s < sections; ++s) frame.put_section(Codec::constant, section);
  return frame.finish();
}

inline Bytes tiny_boxes(int64_t boxes, int ndim, int64_t far) {
  HostileFrame frame(DType::f32, ndim, 1, static_cast<uint64_t>(boxes));
  for (int64_t b = 0; b < boxes; ++b) {
    const int64_t step = b == 0 ? 0 : b % 2 == 0 ? far : far > 1 ? -far : 1;
    frame.put_box({step, step, step, step}, {1, 1, 1, 1});
  }
  return end_frame(frame, false, constant_section(), small_tiles(boxes));
}

// Every fourth box lies anywhere, so that bytes pay for as many boxes as they can.
inline Bytes noisy_boxes(int64_t boxes) {
  HostileFrame frame(DType::f32, 1, 1, static_cast<uint64_t>(boxes));
  Random random(1);
  for (int64_t b = 0; b < boxes; ++b) {
    const int64_t step = b % 4 == 0 ? random.below(64) : 1;
    frame.put_box({step, 0, 0, 0}, {1, 1, 1, 1});
  }
  return end_frame(frame, false, constant_section(), small_tiles(boxes));
}

inline Bytes tiny_boxes_in_place(int64_t boxes, Arrangement arrangement, uint8_t unit) {
  HostileFrame frame(DType::f32, 3, 1, static_cast<uint64_t>(boxes));
  frame.arranged();
  for (int64_t b = 0; b < boxes; ++b) {
    const int64_t far = b % 3 == 0 ? 1000 : b % 3 == 1 ? -997 : 5;
    frame.put_box({far, -far, far, 0}, {1, 1, 1, 1});
  }
  frame.put_components(false);
  frame.put_codebooks(0, {});
  const int64_t tiles = (boxes + (1 << 21) - 1) >> 21;
  for (int64_t t = 0; t < tiles; ++t) {
    frame.put_section(Codec::constant, constant_section(), arrangement, unit);
  }
  return frame.finish();
}

// So many boxes of one cell as may be arranged, beside boxes that pay for them.
inline Bytes arranged_at_the_limit(int64_t cells, Arrangement arrangement, uint8_t unit) {
  const int64_t tiny = (1 << 14) - 64;
  HostileFrame frame(DType::f32, 3, 1, static_cast<uint64_t>(cells + tiny));
  frame.arranged();
  for (int64_t b = 0; b < tiny; ++b) frame.put_box({2, 3, b % 5, 0}, {1, 1, 1, 1});
  frame.put_box({9, 9, 9, 0}, {cells, 1, 1, 1});
  frame.put_components(false);
  frame.put_codebooks(0, {});
  for (int s = 0; s < 1; ++s) frame.put_section(Codec::constant, constant_section(), arrangement, unit);
  return frame.finish();
}

inline Bytes same_rectangle(int64_t rects) {
  constexpr int64_t side = 128;
  HostileFrame frame(DType::f32, 3, 1, side * side * side);
  frame.put_box({0, 0, 0, 0}, {side, side, side, 1}, static_cast<uint64_t>(rects));
  for (int64_t r = 0; r < rects; ++r) frame.put_rect({0, 0, 0, 0}, {side, side, side, 1});
  return end_frame(frame, true, covered_constant_section());
}

inline Bytes one_cell_rectangles(int64_t rects) {
  HostileFrame frame(DType::f32, 1, 1, static_cast<uint64_t>(2 * rects));
  frame.put_box({0, 0, 0, 0}, {2 * rects, 1, 1, 1}, static_cast<uint64_t>(rects));
  for (int64_t r = 0; r < rects; ++r) frame.put_rect({2 * r, 0, 0, 0}, {1, 1, 1, 1});
  const int64_t tiles = 2 * rects > (1 << 21) ? 2 * rects >> 21 : 1;
  return end_frame(frame, true, covered_constant_section(), tiles);
}

inline Bytes rectangles_beside_a_split_range(int64_t rects) {
  const int64_t cells = int64_t{1} << 38;
  HostileFrame frame(DType::f32, 3, 1, 1 << 16);
  frame.split(static_cast<uint64_t>(cells / 2), 1 << 16);
  frame.put_box({0, 0, 0, 0}, {1 << 13, 1 << 13, 1 << 12, 1}, static_cast<uint64_t>(rects));
  for (int64_t r = 0; r < rects; ++r) frame.put_rect({0, 0, 0, 0}, {1, 1 << 13, 1, 1});
  return end_frame(frame, true, covered_constant_section());
}

inline Bytes components_of_one_cell(int64_t components) {
  HostileFrame frame(DType::f32, 1, static_cast<int>(components), static_cast<uint64_t>(components));
  frame.put_box({0, 0, 0, 0}, {1, 1, 1, 1});
  return end_frame(frame, false, constant_section(), components);
}

inline Bytes many_codebooks(int64_t codebooks) {
  HostileFrame frame(DType::f32, 1, 1, 100);
  frame.put_box({0, 0, 0, 0}, {100, 1, 1, 1});
  frame.put_components(false);
  frame.put_codebooks(static_cast<uint64_t>(codebooks), {std::byte{7}, std::byte{7}, std::byte{1}});
  put_constant_sections(frame, 1);
  return frame.finish();
}

inline Bytes kept_cells(int64_t cells) {
  HostileFrame frame(DType::f32, 1, 1, static_cast<uint64_t>(cells));
  frame.put_box({0, 0, 0, 0}, {cells, 1, 1, 1}, 1);
  frame.put_rect({0, 0, 0, 0}, {cells, 1, 1, 1});
  Bytes section;
  ByteWriter out(section);
  out.put_varint(static_cast<uint64_t>(cells));
  write_packed(Bytes(static_cast<size_t>(cells)), out);
  out.put(1.0F);
  return end_frame(frame, true, section);
}

// Each other value is a run of one special value.
inline Bytes special_runs(int64_t runs) {
  HostileFrame frame(DType::f32, 1, 1, static_cast<uint64_t>(runs));
  frame.put_box({0, 0, 0, 0}, {runs, 1, 1, 1});
  frame.put_components(false);
  frame.put_codebooks(0, {});
  Bytes section;
  ByteWriter out(section);
  out.put(uint8_t{16});  // specials
  out.put(uint8_t{0});
  out.put_signed_varint(0);
  out.put(uint8_t{1});
  out.put(std::numeric_limits<float>::quiet_NaN());
  out.put_varint(static_cast<uint64_t>(runs));
  Bytes list;
  for (int64_t r = 0; r < runs; ++r) {
    list.push_back(std::byte{0});
    list.push_back(std::byte{16});
  }
  write_packed(list, out);
  out.put_varint(0);
  for (int plane = 0; plane < 4; ++plane) write_raw({}, out);
  out.put_varint(0);  // escapes
  frame.put_section(Codec::dual_quant, section);
  return frame.finish();
}

// A table of many values for a section of one, as often as there are components.
inline Bytes rank_tables(int64_t components) {
  HostileFrame frame(DType::f64, 1, static_cast<int>(components), static_cast<uint64_t>(components));
  frame.put_box({0, 0, 0, 0}, {1, 1, 1, 1});
  frame.put_components(false);
  frame.put_codebooks(0, {});
  const Bytes table((size_t{1} << 16) * sizeof(double));
  Bytes packed(ZSTD_compressBound(table.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), table.data(), table.size(), 3));
  Bytes section;
  ByteWriter out(section);
  out.put(uint8_t{19});
  out.put_varint(1 << 16);
  out.put_varint(packed.size());
  out.put_bytes(packed);
  for (int64_t c = 0; c < components; ++c) frame.put_section(Codec::lossless, section);
  return frame.finish();
}

// A row of cells one behind another along y: rows of one cell, predicted along all axes.
inline Bytes rows_of_one_cell(int64_t rows) {
  HostileFrame frame(DType::f32, 3, 1, static_cast<uint64_t>(rows));
  frame.put_box({0, 0, 0, 0}, {1, rows / 2, 2, 1});
  frame.put_components(false);
  frame.put_codebooks(0, {});
  Bytes section;
  ByteWriter out(section);
  out.put(uint8_t{15 | 32});  // all axes; groups of zeros only
  out.put(uint8_t{0});
  out.put_signed_varint(0);
  write_packed(Bytes(static_cast<size_t>(((rows + 15) / 16 + 7) / 8)), out);
  out.put_varint(0);  // escapes
  frame.put_section(Codec::dual_quant, section);
  return frame.finish();
}

inline std::vector<HostileList> hostile_lists() {
  return {
      {"boxes in a row", [](int64_t n) { return tiny_boxes(n, 1, 1); }},
      {"boxes that pack by three quarters", noisy_boxes},
      {"boxes far apart", [](int64_t n) { return tiny_boxes(n, 3, 1 << 20); }},
      {"boxes in place", [](int64_t n) { return tiny_boxes_in_place(n, Arrangement::in_place, 0); }},
      {"boxes in place at the limit",
       [](int64_t n) { return arranged_at_the_limit(n, Arrangement::in_place, 0); }},
      {"unit blocks at the limit",
       [](int64_t n) { return arranged_at_the_limit(n, Arrangement::linear, 8); }},
      {"a cluster at the limit", [](int64_t n) { return arranged_at_the_limit(n, Arrangement::cluster, 8); }},
      {"one covered rectangle again and again", same_rectangle},
      {"covered rectangles of one cell", one_cell_rectangles},
      {"covered rectangles of a cut box", rectangles_beside_a_split_range},
      {"components", [](int64_t n) { return components_of_one_cell(std::min<int64_t>(n, 65535)); }},
      {"codebooks", many_codebooks},
      {"kept cells", kept_cells},
      {"special runs", special_runs},
      {"rank tables", [](int64_t n) { return rank_tables(std::min<int64_t>(n / 256, 65535)); }},
      {"rows of one cell", rows_of_one_cell},
  };
}

}  // namespace neve::test
