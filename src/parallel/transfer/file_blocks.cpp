// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/file_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/codecs/frame_values.hpp"
#include "core/format/frame_header.hpp"
#include "parallel/comm/fault.hpp"

namespace neve::mpi {
namespace {

// So many slices are one piece, for prediction across them, where they have no more bytes than so many
// blocks.
constexpr uint64_t wanted_slices = 16, most_blocks = 32;

FileBox without_single_slices(const FileBox& box) {
  FileBox least{box.first, box.value_bytes, 0, {}};
  for (const FileDirection& direction : box.used()) {
    if (direction.count > 1) least.directions[least.ndim++] = direction;
  }
  return least;
}

std::vector<uint64_t> shape_of(const FileBox& box) {
  std::vector<uint64_t> shape;
  for (const FileDirection& direction : box.used()) shape.push_back(direction.count);
  if (shape.empty()) shape.push_back(1);
  return shape;
}

class Cutter {
 public:
  explicit Cutter(uint64_t block_bytes) : block_bytes_(block_bytes) {}

  // Slices that are too large for a piece are cut themselves.
  void cut(const FileBox& given) {
    const FileBox box = without_single_slices(given);
    if (box.bytes() <= block_bytes_ || box.ndim == 0) return add(box, shape_of(box));
    const uint64_t slices = box.directions[0].count;
    const uint64_t slice_bytes = box.values() / slices * box.value_bytes;
    const uint64_t most_bytes = std::min(most_blocks * block_bytes_, max_block_bytes);
    const bool is_small = slice_bytes <= most_bytes;
    const uint64_t thick = std::min(wanted_slices, most_bytes / slice_bytes);
    const uint64_t step = is_small ? std::max(thick, block_bytes_ / slice_bytes) : 1;
    for (uint64_t i = 0; i < slices; i += step) {
      FileBox slab = box;
      slab.first += i * box.directions[0].stride;
      slab.directions[0].count = std::min(step, slices - i);
      is_small ? add(slab, shape_of(slab)) : cut(slab);
    }
  }

  void cut_line(const FileBox& line, const BlockPlan& plan, std::span<const uint64_t> layer_shape) {
    uint64_t layer_values = 1;
    for (const uint64_t size : layer_shape) layer_values *= size;
    for (size_t block = 0; block < plan.blocks(); ++block) {
      std::vector<uint64_t> shape(layer_shape.begin(), layer_shape.end());
      shape.insert(shape.begin(), plan.values(block) / layer_values);
      add(line_box(line.first + plan.first(block) * line.value_bytes, line.value_bytes, plan.values(block)),
          std::move(shape));
    }
  }

  void cut_together(std::span<const FileBox> boxes) {
    uint64_t bytes = 0;
    size_t begin = 0;
    for (size_t i = 0; i < boxes.size(); ++i) {
      const uint64_t more = boxes[i].bytes();
      const bool is_large = more >= few_box_bytes;
      if (is_large || bytes + more > block_bytes_) {
        add_together(boxes.subspan(begin, i - begin));
        begin = i;
        bytes = 0;
      }
      if (is_large) {
        cut(boxes[i]);
        begin = i + 1;
      } else {
        bytes += more;
      }
    }
    add_together(boxes.subspan(begin));
  }

  std::vector<FileBlock> take() { return std::move(blocks_); }

 private:
  void add(const FileBox& box, std::vector<uint64_t> shape) {
    blocks_.push_back({FilePlace(box), std::move(shape), at_});
    at_ += box.bytes();
  }
  void add_together(std::span<const FileBox> boxes) {
    if (boxes.empty()) return;
    if (boxes.size() == 1) return cut(boxes[0]);
    FilePlace place(boxes);
    const uint64_t bytes = place.bytes();
    // Raw boxes may have values of several sizes, and need no shape.
    const uint64_t value_bytes = std::max<uint64_t>(1, place.value_bytes());
    blocks_.push_back({std::move(place), {bytes / value_bytes}, at_});
    at_ += bytes;
  }

  uint64_t block_bytes_;
  uint64_t at_ = 0;
  std::vector<FileBlock> blocks_;
};

Status check_boxes(const Transfer& transfer, const FileValues& values) {
  const uint32_t value_bytes = static_cast<uint32_t>(dtype_bytes(transfer.dtype));
  uint64_t end = 0;
  for (const FileBox& box : values.boxes) {
    NEVE_TRY(check_file_box(box));
    if (box.first < end) {
      return usage_error(
          fmt::format("a box begins at byte {}, and the one before ends at {}", box.first, end));
    }
    if (!values.is_raw && box.value_bytes != value_bytes) {
      return usage_error(fmt::format("a box has values of {} bytes; those of {} have {}", box.value_bytes,
                                     dtype_name(transfer.dtype), value_bytes));
    }
    if (box.value_bytes > max_block_bytes) {
      return usage_error(fmt::format("a box has values of {} bytes; at most {} are allowed", box.value_bytes,
                                     max_block_bytes));
    }
    end = box.end();
  }
  return {};
}

}  // namespace

Result<std::vector<FileBlock>> cut_into_blocks(const Transfer& transfer, const FileValues& values) {
  NEVE_TRY(check_boxes(transfer, values));
  const bool is_line = !values.is_raw && values.boxes.size() == 1 && values.boxes[0].ndim <= 1 &&
                       values.boxes[0].is_contiguous();
  const std::span<const uint64_t> layer_shape =
      is_line ? std::span<const uint64_t>(transfer.layer_shape) : std::span<const uint64_t>();
  const uint64_t count = is_line ? values.boxes[0].values() : 0;
  NEVE_ASSIGN(const BlockPlan plan,
              plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, layer_shape));
  Cutter cutter(block_bytes_of(transfer.block_bytes));
  if (is_line) {
    cutter.cut_line(values.boxes[0], plan, layer_shape);
  } else {
    cutter.cut_together(values.boxes);
  }
  return cutter.take();
}

FileBlockEncoder::FileBlockEncoder(const Transfer& transfer, const FileValues& values,
                                   std::span<const FileBlock> blocks, std::optional<ArrayMeasure> whole,
                                   int rank)
    : dtype_(transfer.dtype),
      options_(transfer.values),
      threads_(transfer.values.encode.threads),
      is_raw_(values.is_raw),
      data_(static_cast<const std::byte*>(values.data)),
      blocks_(blocks),
      whole_(std::move(whole)),
      rank_(rank) {
  options_.encode.threads = 1;  // they have blocks each
}

Result<Bytes> FileBlockEncoder::encode(size_t block) const {
  // Of the last one, so that others are on their way.
  if (block + 1 == blocks()) NEVE_TRY(injected_fault(Phase::encode, rank_));
  for (const MadeFrame& made : made_) {
    if (made.block == block) return made.frame;
  }
  const FileBlock& wanted = blocks_[block];
  const std::byte* const data = data_ + wanted.at;
  if (is_raw_) return pack_raw({data, wanted.place.bytes()});
  return encode_block(dtype_, wanted.shape, data, options_, whole_);
}

}  // namespace neve::mpi
