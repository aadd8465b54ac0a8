// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/block_encoder.hpp"

#include <limits>

#include "parallel/comm/fault.hpp"
#include "parallel/comm/ranges.hpp"

namespace neve::mpi {
namespace {

// In one direction: a range does not depend on how values lie.
std::optional<FrameBox> line_of(uint64_t count) {
  if (count == 0) return {};
  const uint64_t shape[] = {count};
  return box_of_shape(shape);
}

bool is_relative(const Transfer& transfer) {
  return transfer.values.bound.mode == BoundMode::rel && !is_integer(transfer.dtype);
}

}  // namespace

Result<Bytes> BlockEncoder::encode(size_t block) const {
  // Of the last one, so that others are on their way.
  if (block + 1 == blocks()) NEVE_TRY(injected_fault(Phase::encode, rank_));
  for (const MadeFrame& made : made_) {
    if (made.block == block) return made.frame;
  }
  const size_t value_bytes = dtype_bytes(dtype_);
  std::vector<uint64_t> shape = layer_shape_;
  uint64_t layer_values = 1;
  for (const uint64_t size : shape) layer_values *= size;
  shape.insert(shape.begin(), plan_.values(block) / layer_values);
  return encode_block(dtype_, shape, data_ + plan_.first(block) * value_bytes, options_, whole_);
}

Result<Bytes> encode_block(DType dtype, std::span<const uint64_t> shape, const std::byte* data,
                           const ArrayOptions& options, const std::optional<ArrayMeasure>& whole) {
  Result<Bytes> frame = whole ? encode_array_part(dtype, shape, data, options, *whole)
                              : encode_array(dtype, shape, data, options);
  if (frame.ok() && frame->size() > std::numeric_limits<int>::max()) {
    return failure("a frame of " + std::to_string(frame->size()) +
                   " bytes is more than an MPI count holds; use smaller blocks");
  }
  return frame;
}

Result<std::optional<ArrayMeasure>> measure_alone(const Transfer& transfer, const BlockPlan& plan,
                                                  const void* data) {
  if (!is_relative(transfer)) return std::optional<ArrayMeasure>();
  const auto box = line_of(plan.count);
  if (!box) return std::optional(ArrayMeasure{});
  NEVE_ASSIGN(ArrayMeasure measure, measure_array(transfer.dtype, *box, data, transfer.values));
  return std::optional(std::move(measure));
}

Result<std::optional<ArrayMeasure>> measure_together(const Comm& comm, const Transfer& transfer,
                                                     std::span<const ValueLine> lines) {
  if (!is_relative(transfer)) return std::optional<ArrayMeasure>();
  const auto range_without = [&](const std::optional<double>& fill) -> Result<ValueRange> {
    ValueRange range;
    NEVE_TRY(agree(comm, guarded("range", [&]() -> Status {
                     for (const ValueLine& line : lines) {
                       const auto box = line_of(line.count);
                       if (!box) continue;
                       NEVE_ASSIGN(
                           const ValueRange of_line,
                           scan_range(transfer.dtype, *box, dense_box_data(line.data, *box), 0, fill));
                       range.merge(of_line);
                     }
                     return {};
                   })));
    NEVE_TRY(merge_over_ranks(comm, std::span(&range, 1)));
    return range;
  };
  // The range is global, so all ranks suspect the same value.
  NEVE_ASSIGN(const ArrayMeasure whole, measure_values(transfer.dtype, transfer.values.fill,
                                                       transfer.values.detect_fill, range_without));
  return std::optional(whole);
}

Result<std::optional<ArrayMeasure>> measure_together(const Comm& comm, const Transfer& transfer,
                                                     const BlockPlan& plan, const void* data) {
  const ValueLine line{data, plan.count};
  return measure_together(comm, transfer, std::span(&line, 1));
}

double bound_over(const Transfer& transfer, const std::optional<ArrayMeasure>& whole) {
  const Bound& bound = transfer.values.bound;
  if (whole) return absolute_bound(bound, whole->range);
  return bound.mode == BoundMode::abs ? bound.value : 0;
}

}  // namespace neve::mpi
