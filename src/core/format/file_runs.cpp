// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/file_runs.hpp"

namespace neve {
namespace {

// More pairs of boxes than this are compared run by run.
constexpr size_t max_pairs = 256;

// Some common byte, by runs.
bool meet_somewhere(std::span<const FileBox> a, std::span<const FileBox> b) {
  RunCursor left(a), right(b);
  while (!left.is_done() && !right.is_done()) {
    const uint64_t begin = std::max(left.file(), right.file());
    left.skip_to(begin);
    right.skip_to(begin);
    if (left.is_done() || right.is_done()) return false;
    if (left.file() == begin && right.file() == begin) return true;
  }
  return false;
}

bool have_same_strides(const FileBox& a, const FileBox& b) {
  return std::ranges::equal(a.used(), b.used(), {}, &FileDirection::stride, &FileDirection::stride);
}

// Directions d and on, one slice of each beginning at a_first and b_first. Slices that begin a multiple of
// the stride apart are at the same place; there are few multiples under which they could meet.
bool slices_meet(const FileBox& a, uint64_t a_first, const FileBox& b, uint64_t b_first, int d) {
  if (d == a.ndim) return a_first < b_first + b.value_bytes && b_first < a_first + a.value_bytes;
  if (b_first < a_first) return slices_meet(b, b_first, a, a_first, d);
  const uint64_t stride = a.directions[d].stride, apart = b_first - a_first;
  // Slice i of `a` with slice j of `b`, where i - j is `shift` or one more.
  for (const uint64_t shift : {apart / stride, apart / stride + 1}) {
    if (shift >= a.directions[d].count) continue;
    if (slices_meet(a, a_first + shift * stride, b, b_first, d + 1)) return true;
  }
  return false;
}

}  // namespace

void RunCursor::enter(size_t box) {
  box_ = box;
  if (is_done()) return;
  now_ = merged(boxes_[box]);
  end_ = now_.end();
  run_bytes_ = now_.value_bytes;
  depth_ = now_.ndim;
  if (depth_ > 0 && now_.directions[depth_ - 1].stride == run_bytes_) {
    run_bytes_ *= now_.directions[--depth_].count;
  }
  uint64_t span = run_bytes_, packed = run_bytes_;
  for (int d = depth_ - 1; d >= 0; --d) {
    const auto [count, stride] = now_.directions[d];
    steps_[d] = {count, stride, span, packed};
    span += (count - 1) * stride;
    packed *= count;
  }
  find(now_.first);
}

// The first run of this box that ends behind `at`, which lies before the box's end.
void RunCursor::find(uint64_t at) {
  uint64_t file = now_.first, packed = before_;
  for (int d = 0; d < depth_; ++d) {
    const Step& step = steps_[d];
    const uint64_t slice = at >= file + step.span ? (at - file - step.span) / step.stride + 1 : 0;
    file += slice * step.stride;
    packed += slice * step.packed;
  }
  const uint64_t cut = at > file ? at - file : 0;
  file_ = file + cut;
  packed_ = packed + cut;
  bytes_ = run_bytes_ - cut;
}

void RunCursor::skip_to(uint64_t at) {
  if (is_done() || at <= file_) return;
  if (at < file_ + bytes_) {
    const uint64_t cut = at - file_;
    file_ += cut;
    packed_ += cut;
    bytes_ -= cut;
    return;
  }
  while (at >= end_) {
    before_ += boxes_[box_].bytes();
    enter(box_ + 1);
    if (is_done()) return;
  }
  find(at);
}

bool meet(const FileBox& a, const FileBox& b) {
  if (a.first >= b.end() || b.first >= a.end()) return false;
  if (have_same_strides(a, b)) return slices_meet(a, a.first, b, b.first, 0);
  return meet_somewhere({&a, 1}, {&b, 1});
}

bool meet(std::span<const FileBox> a, std::span<const FileBox> b) {
  if (a.empty() || b.empty()) return false;
  if (a.front().first >= b.back().end() || b.front().first >= a.back().end()) return false;
  if (a.size() * b.size() > max_pairs) return meet_somewhere(a, b);
  return std::ranges::any_of(a, [&](const FileBox& one) {
    return std::ranges::any_of(b, [&](const FileBox& other) { return meet(one, other); });
  });
}

}  // namespace neve
