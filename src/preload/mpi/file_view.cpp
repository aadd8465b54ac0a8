// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/file_view.hpp"

#include <algorithm>

#include "parallel/transfer/file_blocks.hpp"

namespace neve::pmpi {
namespace {

// Of a filetype. What has more is no list that an index should repeat.
constexpr size_t max_boxes = size_t{1} << 16;
constexpr uint64_t max_line_bytes = uint64_t{1} << 30;  // of a run

bool append_line(uint64_t first, uint64_t bytes, std::vector<FileBox>& out) {
  if (first > max_file_bytes || bytes > max_file_bytes - first) return false;
  const uint64_t whole = bytes / max_line_bytes;
  if (whole > 0) append_box(line_box(first, max_line_bytes, whole), out);
  const uint64_t rest = bytes % max_line_bytes;
  if (rest > 0) append_box(line_box(first + whole * max_line_bytes, static_cast<uint32_t>(rest), 1), out);
  return true;
}

}  // namespace

uint64_t bytes_of_box_before(const FileBox& box, uint64_t place) {
  uint64_t before = 0, first = box.first, slice_bytes = box.bytes(), span = box.span_bytes();
  for (const FileDirection& direction : box.used()) {
    span -= (direction.count - 1) * direction.stride;
    slice_bytes /= direction.count;
    if (place < first + span) {
      if (place <= first) return before;
      continue;
    }
    const uint64_t whole = std::min(direction.count, (place - first - span) / direction.stride + 1);
    before += whole * slice_bytes;
    if (whole == direction.count) return before;
    first += whole * direction.stride;
  }
  return place > first ? before + std::min<uint64_t>(place - first, box.value_bytes) : before;
}

std::optional<FileView> FileView::of(MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype) {
  FileView view;
  MPI_Count bytes = 0;
  auto tile = boxes_of(filetype, max_boxes);
  if (!tile || displacement < 0 || MPI_Type_size_x(element, &bytes) != MPI_SUCCESS || bytes < 0) return {};
  view.displacement_ = static_cast<uint64_t>(displacement);
  view.element_bytes_ = static_cast<uint64_t>(bytes);
  view.tile_ = std::move(*tile);
  view.origin_ = view.displacement_;
  view.rows_ = rows_of(filetype);
  if (!view.rows_.empty()) view.rows_.push_back(view.tile_.extent);
  std::erase_if(view.rows_, [](uint64_t row) { return row == 0 || row > max_file_bytes; });
  view.is_line_ = view.tile_.boxes.size() == 1 && view.tile_.boxes[0].is_contiguous() &&
                  view.tile_.bytes == view.tile_.extent;
  if (view.is_line_) view.displacement_ += view.tile_.boxes[0].first;
  return view;
}

uint64_t FileView::place_of(uint64_t at) const {
  if (is_line_ || tile_.bytes == 0) return displacement_ + at;
  std::vector<FileBox> one;
  append_part(at / tile_.bytes, at % tile_.bytes, at % tile_.bytes + 1, 1, one);
  return one[0].first;
}

uint64_t FileView::bytes_of_tile_before(uint64_t place) const {
  uint64_t before = 0;
  for (const FileBox& box : tile_.boxes) {
    if (box.first >= place) break;
    before += bytes_of_box_before(box, place);
  }
  return before;
}

uint64_t FileView::bytes_before(uint64_t place) const {
  if (place <= displacement_) return 0;
  if (is_line_) return place - displacement_;
  if (tile_.bytes == 0) return 0;
  const uint64_t within = place - displacement_, end = tile_.boxes.back().end();
  if (tile_.extent == 0) return bytes_of_tile_before(within);
  uint64_t tile = within >= end ? (within - end) / tile_.extent + 1 : 0;
  uint64_t before = tile * tile_.bytes;
  for (; tile * tile_.extent < within; ++tile) before += bytes_of_tile_before(within - tile * tile_.extent);
  return before;
}

// `rows`: how many of the list are looked at, the largest first. Whole rows are worth a cut where they are no
// few bytes: those would lose their shape again.
void FileView::append_run(const FileBox& run, size_t rows, std::vector<FileBox>& out) const {
  if (rows == 0) return out.push_back(run);
  const uint64_t row = rows_[rows - 1];
  if (row % run.value_bytes != 0) return append_run(run, rows - 1, out);
  const uint64_t in_row = row / run.value_bytes, before = (run.first - origin_) % row / run.value_bytes;
  const uint64_t values = run.values(), head = std::min(values, (in_row - before) % in_row);
  const uint64_t whole = (values - head) / in_row * in_row;
  if (whole == 0 || (whole < values && whole * run.value_bytes < mpi::few_box_bytes)) {
    return append_run(run, rows - 1, out);
  }
  const auto part = [&](uint64_t begin, uint64_t count) {
    return line_box(run.first + begin * run.value_bytes, run.value_bytes, count);
  };
  if (head > 0) append_run(part(0, head), rows - 1, out);
  out.push_back(part(head, whole));
  split_rows(rows_, out.back());
  if (head + whole < values) append_run(part(head + whole, values - head - whole), rows - 1, out);
}

void FileView::append_shaped(const FileBox& box, std::vector<FileBox>& out) const {
  if (box.is_contiguous() && box.ndim == 1) return append_run(box, rows_.size(), out);
  out.push_back(box);
  split_rows(rows_, out.back());
}

bool FileView::append_part(uint64_t tile, uint64_t begin, uint64_t end, size_t most,
                           std::vector<FileBox>& out) const {
  const uint64_t shift = displacement_ + tile * tile_.extent;
  uint64_t before = 0;
  std::vector<FileBox> parts;
  for (const FileBox& box : tile_.boxes) {
    const uint64_t bytes = box.bytes();
    const uint64_t from = std::max(begin, before), to = std::min(end, before + bytes);
    if (from < to) {
      parts.clear();
      append_byte_slice(box, from - before, to - before, parts);
      for (FileBox& part : parts) {
        part.first += shift;
        append_box(part, out);
      }
      if (out.size() > most) return false;
    }
    before += bytes;
    if (before >= end) break;
  }
  return true;
}

bool FileView::append_tiles(uint64_t first, uint64_t count, size_t most, std::vector<FileBox>& out) const {
  const FileBox& only = tile_.boxes[0];
  if (count > 1 && tile_.boxes.size() == 1 && only.ndim < max_file_directions &&
      tile_.extent >= only.span_bytes()) {
    FileBox all = only;
    std::copy_backward(only.directions.begin(), only.directions.begin() + only.ndim,
                       all.directions.begin() + only.ndim + 1);
    all.directions[0] = {count, tile_.extent};
    ++all.ndim;
    all.first += displacement_ + first * tile_.extent;
    append_box(all, out);
    return true;
  }
  for (uint64_t tile = first; tile < first + count; ++tile) {
    if (!append_part(tile, 0, tile_.bytes, most, out)) return false;
  }
  return true;
}

bool FileView::append_boxes(uint64_t at, uint64_t bytes, size_t most, std::vector<FileBox>& out) const {
  if (bytes == 0) return true;
  if (at > max_file_bytes || bytes > max_file_bytes) return false;
  if (is_line_) return append_line(displacement_ + at, bytes, out);
  if (tile_.bytes == 0) return false;
  const uint64_t first = at / tile_.bytes, last = (at + bytes - 1) / tile_.bytes;
  if (displacement_ > max_file_bytes || last >= max_file_bytes / std::max<uint64_t>(1, tile_.extent) / 2) {
    return false;
  }
  const uint64_t begin = at % tile_.bytes, end = (at + bytes - 1) % tile_.bytes + 1;
  if (first == last) return append_part(first, begin, end, most, out);
  // Tiles that are whole are told together.
  const uint64_t from = first + (begin > 0 ? 1 : 0), to = last + (end == tile_.bytes ? 1 : 0);
  if (begin > 0 && !append_part(first, begin, tile_.bytes, most, out)) return false;
  if (to > from && !append_tiles(from, to - from, most, out)) return false;
  return to > last || append_part(last, 0, end, most, out);
}

}  // namespace neve::pmpi
