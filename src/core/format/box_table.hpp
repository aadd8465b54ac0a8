// SPDX-License-Identifier: BSD-3-Clause
// The boxes of a parsed frame, packed as its header lists them: a box of a few cells must not take more
// memory than its values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/frame.hpp"

namespace neve {

// One box of a table. Looks into the table.
struct BoxRecord {
  uint32_t number = 0;
  uint64_t first_element = 0;  // of the box in the frame
  Rect place;                  // in the level's index space
  uint64_t covered = 0;        // how many rectangles

  int64_t cells() const { return place.cells(); }
  // Calls visit(rectangle), relative to the box.
  template <class Visit>
  void visit_covered(const Visit& visit) const {
    ByteReader in(covered_bytes_);
    for (uint64_t r = 0; r < covered; ++r) visit(read_rect(in));
  }

 private:
  friend class BoxTable;
  Rect read_rect(ByteReader& in) const {
    Rect rect;
    for (int d = 0; d < ndim_; ++d) rect.lo[d] = static_cast<int64_t>(in.get_varint());
    for (int d = 0; d < ndim_; ++d) rect.size[d] = static_cast<int64_t>(in.get_varint());
    return rect;
  }
  int ndim_ = 0;
  ByteSpan covered_bytes_;
};

class BoxTable {
 public:
  explicit BoxTable(int ndim = 1, int components = 1) : ndim_(ndim), components_(components) {}

  // The next box; the rectangles that follow are its own.
  void add(const Rect& place);
  void add_covered(const Rect& rect);
  // No more boxes follow.
  void finish();

  uint64_t size() const { return total_; }
  uint64_t elements() const { return elements_; }
  uint64_t memory_bytes() const { return bytes_.capacity() + index_.capacity() * sizeof(Mark); }

  // Calls visit(box) for boxes first to first + count - 1.
  template <class Visit>
  void visit(uint64_t first, uint64_t count, const Visit& visit) const {
    if (count == 0) return;
    Walk walk = walk_from(mark_of_box(first));
    while (walk.box.number < first) next(walk);
    for (; count > 0; --count) {
      visit(static_cast<const BoxRecord&>(walk.box));
      if (count > 1) next(walk);
    }
  }
  BoxRecord at(uint64_t number) const;
  // The box that begins at that element; size() where none does.
  uint64_t find(uint64_t first_element) const;

 private:
  // Where walking may begin.
  struct Mark {
    uint64_t byte = 0;
    uint64_t first_element = 0;
    Extents before{0, 0, 0, 0};
    uint32_t number = 0;
  };
  struct Walk {
    BoxRecord box;
    size_t next_byte = 0;
  };

  const Mark& mark_of_box(uint64_t number) const;
  Walk walk_from(const Mark& mark) const;
  // To the box behind.
  void next(Walk& walk) const;
  void read(Walk& walk, size_t byte, const Extents& before) const;
  void close_box();

  int ndim_;
  int components_;
  uint64_t total_ = 0;
  uint64_t elements_ = 0;
  Bytes bytes_;
  std::vector<Mark> index_;
  Extents before_{0, 0, 0, 0};
  // Of the box that is being added.
  Bytes covered_;
  uint64_t covered_total_ = 0;
  bool is_open_ = false;
};

}  // namespace neve
