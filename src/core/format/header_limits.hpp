// SPDX-License-Identifier: BSD-3-Clause
// What the lists of a frame's header may claim: docs/format.md, "Limits of the lists". A header packs well,
// so a few bytes could list millions of boxes; these limits make bytes or values pay for what a reader does
// and holds. Writers stay inside them by storing a body as it is, or by leaving its boxes unarranged.
#pragma once

#include <algorithm>
#include <cstdint>

namespace neve {

// Bytes of a header without its checksum, and the frame's elements: what pays.
struct HeaderPayment {
  uint64_t header_bytes = 0;
  uint64_t elements = 0;
};

// What the body may unpack to.
inline constexpr uint64_t body_expansion_limit = 64;
inline constexpr uint64_t body_bytes_per_header_byte = 4;
inline constexpr uint64_t body_bytes_per_element = 2;
inline constexpr uint64_t body_free_bytes = uint64_t{1} << 20;

inline uint64_t body_limit(const HeaderPayment& paid) {
  const uint64_t by_values =
      body_bytes_per_header_byte * paid.header_bytes + body_bytes_per_element * paid.elements;
  return std::min(body_expansion_limit * paid.header_bytes, by_values) + body_free_bytes;
}

// Components and sections together: each is a record of its own in memory.
inline constexpr uint64_t free_records = uint64_t{1} << 12;
inline constexpr uint64_t header_bytes_per_record = 16;
inline constexpr uint64_t elements_per_record = 256;

inline uint64_t max_records(const HeaderPayment& paid) {
  return free_records + paid.header_bytes / header_bytes_per_record + paid.elements / elements_per_record;
}

// Shared codebooks, unpacked.
inline constexpr uint64_t free_codebook_bytes = uint64_t{1} << 17;
inline constexpr uint64_t codebook_bytes_per_header_byte = 2;

inline uint64_t max_codebook_bytes(const HeaderPayment& paid) {
  return free_codebook_bytes + codebook_bytes_per_header_byte * paid.header_bytes;
}

// Boxes and covered rectangles of a frame whose sections say their arrangements: a section may then have 2^21
// cells of them, and putting boxes in place takes memory for each.
inline constexpr uint64_t free_arranged_boxes = uint64_t{1} << 14;
inline constexpr uint64_t elements_per_arranged_box = 32;

inline uint64_t max_arranged_boxes(uint64_t elements) {
  return free_arranged_boxes + elements / elements_per_arranged_box;
}

}  // namespace neve
