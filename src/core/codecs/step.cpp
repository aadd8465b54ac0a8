// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/step.hpp"

#include <algorithm>
#include <cstring>

#include "core/bits/value_types.hpp"
#include "core/select/sequence.hpp"

namespace neve {

namespace {

// A print looks at one value in so many, in a number of blocks, of at most so many pieces.
constexpr uint64_t values_per_printed = 192;
constexpr size_t min_print_blocks = 8, max_print_blocks = 64, max_print_pieces = 8;

// Parts to compare by.
// LZ4 looks for repeats in another way where there is less.
constexpr uint64_t least_part_bytes = 80 << 10;
constexpr size_t few_parts = 2, some_parts = 4, most_parts = 16;

// The k-th of `count` things spread over `total`.
uint64_t spread(uint64_t k, uint64_t count, uint64_t total) { return (2 * k + 1) * total / (2 * count); }

template <class T>
class Printer {
 public:
  Printer(const Step& step, size_t blocks) : values_(step.piece_values()), blocks_(blocks) {
    const size_t dims = step.shape.size();
    strides_[0] = dims > 1 ? step.shape[dims - 1] : 0;
    strides_[1] = dims > 2 ? strides_[0] * step.shape[dims - 2] : 0;
    for (uint64_t& stride : strides_) {
      if (values_ < 2 * stride + print_block) stride = 0;
    }
  }

  void add(const T* piece) {
    if (values_ < print_block) {
      sample_.values.insert(sample_.values.end(), piece, piece + values_);
      return;
    }
    std::vector<uint64_t> begins;
    begins.reserve(blocks_);
    for (size_t b = 0; b < blocks_; ++b) {
      // At uneven distances, which are no multiple of anything the grid has.
      const uint64_t apart = (values_ - print_block) / blocks_;
      begins.push_back(b * apart + sequence_.below(apart + 1));
    }
    for (const uint64_t begin : begins) prefetch_block(piece, begin);
    ++added_;
    std::vector<uint64_t> runs(blocks_ * print_block / scattered_run);
    for (uint64_t& begin : runs) {
      begin = sequence_.below(values_ - scattered_run + 1);
      prefetch(piece + begin, scattered_run);
    }
    for (const uint64_t begin : begins) add_block(piece, begin);
    for (const uint64_t begin : runs) {
      sample_.scattered_at.push_back(added_ * values_ + begin);
      sample_.scattered.insert(sample_.scattered.end(), piece + begin, piece + begin + scattered_run);
    }
  }
  StepPrint print(uint64_t step_values) {
    sample_.scattered_between =
        std::max<size_t>(1, step_values / std::max<size_t>(1, sample_.scattered.size()));
    return print_of(sample_);
  }

 private:
  // Values lie far apart: most of the time of a print is waiting for them, one after the other unless all
  // are asked for first.
  static void prefetch(const T* values, size_t count) {
    constexpr size_t of_a_line = 64 / sizeof(T);
    for (size_t i = 0; i < count; i += of_a_line) __builtin_prefetch(values + i);
    __builtin_prefetch(values + count - 1);
  }
  void prefetch_block(const T* piece, uint64_t begin) const {
    prefetch(piece + begin, print_block);
    for (const uint64_t stride : strides_) {
      if (stride > 0) prefetch(beside(piece, begin, stride), print_neighbours);
    }
  }

  static const T* beside(const T* piece, uint64_t begin, uint64_t stride) {
    return begin >= stride ? piece + (begin - stride) : piece + begin + stride;
  }
  void add_block(const T* piece, uint64_t begin) {
    sample_.values.insert(sample_.values.end(), piece + begin, piece + begin + print_block);
    for (size_t axis = 0; axis < 2; ++axis) {
      if (strides_[axis] == 0) continue;
      const T* const neighbours = beside(piece, begin, strides_[axis]);
      sample_.beside[axis].insert(sample_.beside[axis].end(), neighbours, neighbours + print_neighbours);
    }
  }

  uint64_t values_;
  size_t blocks_;                      // of a piece
  std::array<uint64_t, 2> strides_{};  // to the neighbours along two axes; 0: none
  uint64_t added_ = 0;                 // pieces
  Sequence sequence_;
  PrintSample<T> sample_;
};

constexpr uint64_t few_rows = 4;  // no direction but the fastest is cut to fewer
// A row of a compact block is so many times as long as the block is in other directions.
constexpr uint64_t row_times_longer = 8;

// A block of about so many values, with neighbours along every axis: whole rows where they are not too long,
// or a compact one.
std::vector<uint64_t> block_shape(std::span<const uint64_t> shape, uint64_t values, bool is_compact) {
  std::vector<uint64_t> block(shape.begin(), shape.end());
  if (block.empty()) return block;
  uint64_t all = 1;
  for (const uint64_t size : block) all *= size;
  while (all > values) {
    uint64_t* longest = &block.back();
    for (uint64_t& size : block) {
      if (&size != &block.back() && size > few_rows && (longest == &block.back() || size > *longest))
        longest = &size;
    }
    if (is_compact && block.back() > row_times_longer * *longest) longest = &block.back();
    if (*longest == 1) break;
    const uint64_t row_of_it = all / *longest;
    *longest = std::max((*longest + 1) / 2, values / row_of_it);
    all = row_of_it * *longest;
  }
  return block;
}

// The values of a block that begins at a share of the way through each direction it does not fill.
std::vector<std::byte> cut(const std::byte* piece, std::span<const uint64_t> shape,
                           const std::vector<uint64_t>& block, uint64_t k, uint64_t count,
                           size_t value_bytes) {
  uint64_t rows = 1;
  for (size_t d = 0; d + 1 < block.size(); ++d) rows *= block[d];
  const uint64_t row_bytes = (block.empty() ? 1 : block.back()) * value_bytes;
  std::vector<std::byte> values;
  values.reserve(rows * row_bytes);
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t rest = r, at = 0, stride = 1;
    for (size_t d = block.size(); d-- > 0;) {
      const uint64_t begin = spread(k, count, shape[d] - block[d] + 1);
      const uint64_t inside = d + 1 == block.size() ? 0 : rest % block[d];
      if (d + 1 != block.size()) rest /= block[d];
      at += (begin + inside) * stride;
      stride *= shape[d];
    }
    values.insert(values.end(), piece + at * value_bytes, piece + at * value_bytes + row_bytes);
  }
  return values;
}

}  // namespace

uint64_t Step::piece_values() const {
  uint64_t values = 1;
  for (const uint64_t size : shape) values *= size;
  return values;
}

StepPrint print_of(const Step& step) {
  const uint64_t step_values = step.pieces * step.piece_values();
  if (step_values == 0) return {};
  const auto blocks = static_cast<size_t>(std::clamp<uint64_t>(
      step_values / (print_block * values_per_printed), min_print_blocks, max_print_blocks));
  const size_t pieces = std::min(step.pieces, max_print_pieces);
  return visit_value_type(step.dtype, [&]<class T>(std::type_identity<T>) {
    Printer<T> printer(step, std::max<size_t>(1, blocks / pieces));
    for (size_t p = 0; p < pieces; ++p) {
      const auto* const values = static_cast<const T*>(step.piece(spread(p, pieces, step.pieces)));
      if (values != nullptr) printer.add(values);  // null is refused where it is encoded
    }
    return printer.print(step_values);
  });
}

std::vector<StepPart> parts_of(const Step& step, PartSize size) {
  const uint64_t value_bytes = dtype_bytes(step.dtype), piece_bytes = step.piece_values() * value_bytes;
  if (step.raw_bytes() == 0) return {};
  const uint64_t all_bytes = step.raw_bytes();
  const uint64_t wanted = all_bytes <= 2 * size.least_bytes
                              ? all_bytes
                              : std::clamp(all_bytes / size.one_in, size.least_bytes, size.most_bytes);
  const uint64_t of_pieces = std::max<uint64_t>(1, (wanted + piece_bytes - 1) / piece_bytes);
  const size_t pieces =
      std::min<uint64_t>(step.pieces, std::clamp<uint64_t>(of_pieces, some_parts, most_parts));
  const bool is_divisible = size.is_compact || wanted >= few_parts * least_part_bytes;
  const size_t of_a_piece = step.pieces == 1 && wanted < all_bytes && is_divisible ? few_parts : 1;
  const uint64_t part_values = std::max<uint64_t>(1, wanted / (pieces * of_a_piece) / value_bytes);
  const std::vector<uint64_t> block = block_shape(step.shape, part_values, size.is_compact);
  std::vector<StepPart> parts;
  for (size_t p = 0; p < pieces; ++p) {
    const auto* const piece = static_cast<const std::byte*>(step.piece(spread(p, pieces, step.pieces)));
    if (piece == nullptr) continue;  // refused where it is encoded
    for (size_t k = 0; k < of_a_piece; ++k)
      parts.push_back({block, cut(piece, step.shape, block, k, of_a_piece, value_bytes)});
  }
  return parts;
}

bool is_whole(const Step& step, const std::vector<StepPart>& parts) {
  return step.pieces == 1 && parts.size() == 1 && parts[0].values.size() == step.raw_bytes();
}

}  // namespace neve
