// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/box_table.hpp"

#include <algorithm>

namespace neve {

namespace {

// So many boxes, or so many bytes, are walked at most to find one.
constexpr uint64_t boxes_per_mark = 64;
constexpr uint64_t bytes_per_mark = 4096;

}  // namespace

// A record: position as the difference from the box before, size, number of rectangles and their bytes, then
// the rectangles.
void BoxTable::add(const Rect& place) {
  close_box();
  if (index_.empty() || total_ - index_.back().number >= boxes_per_mark ||
      bytes_.size() - index_.back().byte >= bytes_per_mark) {
    index_.push_back({bytes_.size(), elements_, before_, static_cast<uint32_t>(total_)});
  }
  ByteWriter out(bytes_);
  for (int d = 0; d < ndim_; ++d) out.put_signed_varint(place.lo[d] - before_[d]);
  for (int d = 0; d < ndim_; ++d) out.put_varint(static_cast<uint64_t>(place.size[d]));
  before_ = place.lo;
  elements_ += static_cast<uint64_t>(place.cells()) * static_cast<uint64_t>(components_);
  ++total_;
  is_open_ = true;
}

void BoxTable::add_covered(const Rect& rect) {
  ByteWriter out(covered_);
  for (int d = 0; d < ndim_; ++d) out.put_varint(static_cast<uint64_t>(rect.lo[d]));
  for (int d = 0; d < ndim_; ++d) out.put_varint(static_cast<uint64_t>(rect.size[d]));
  ++covered_total_;
}

void BoxTable::close_box() {
  if (!is_open_) return;
  ByteWriter out(bytes_);
  out.put_varint(covered_total_);
  if (covered_total_ > 0) {
    out.put_varint(covered_.size());
    out.put_bytes(covered_);
  }
  covered_.clear();
  covered_total_ = 0;
  is_open_ = false;
}

void BoxTable::finish() {
  close_box();
  covered_ = {};
  bytes_.shrink_to_fit();
  index_.shrink_to_fit();
}

const BoxTable::Mark& BoxTable::mark_of_box(uint64_t number) const {
  const auto behind = std::upper_bound(index_.begin(), index_.end(), number,
                                       [](uint64_t n, const Mark& mark) { return n < mark.number; });
  return *(behind - 1);
}

BoxTable::Walk BoxTable::walk_from(const Mark& mark) const {
  Walk walk;
  walk.box.number = mark.number;
  walk.box.first_element = mark.first_element;
  walk.box.ndim_ = ndim_;
  read(walk, mark.byte, mark.before);
  return walk;
}

void BoxTable::read(Walk& walk, size_t byte, const Extents& before) const {
  ByteReader in(ByteSpan(bytes_).subspan(byte));
  BoxRecord& box = walk.box;
  for (int d = 0; d < ndim_; ++d) box.place.lo[d] = before[d] + in.get_signed_varint();
  for (int d = 0; d < ndim_; ++d) box.place.size[d] = static_cast<int64_t>(in.get_varint());
  box.covered = in.get_varint();
  box.covered_bytes_ = box.covered > 0 ? in.get_bytes(in.get_varint()) : ByteSpan();
  walk.next_byte = byte + in.position();
}

void BoxTable::next(Walk& walk) const {
  ++walk.box.number;
  walk.box.first_element += static_cast<uint64_t>(walk.box.cells()) * static_cast<uint64_t>(components_);
  const Extents before = walk.box.place.lo;
  read(walk, walk.next_byte, before);
}

BoxRecord BoxTable::at(uint64_t number) const {
  BoxRecord found;
  visit(number, 1, [&](const BoxRecord& box) { found = box; });
  return found;
}

uint64_t BoxTable::find(uint64_t first_element) const {
  if (first_element >= elements_) return total_;
  const auto behind = std::upper_bound(index_.begin(), index_.end(), first_element,
                                       [](uint64_t e, const Mark& mark) { return e < mark.first_element; });
  Walk walk = walk_from(*(behind - 1));
  while (walk.box.first_element < first_element) {
    if (walk.box.number + 1 == total_) return total_;
    next(walk);
  }
  return walk.box.first_element == first_element ? walk.box.number : total_;
}

}  // namespace neve
