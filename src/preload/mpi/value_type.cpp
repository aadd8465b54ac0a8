// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/value_type.hpp"

#include <algorithm>

#include "neve/neve.h"
#include "parallel/transfer/mpi_type.hpp"
#include "preload/mpi/packed.hpp"
#include "preload/mpi/type_boxes.hpp"

namespace neve::pmpi {
namespace {

// What more boxes than these are is a line of values: their number tells no shape.
constexpr size_t most_boxes = 4096;

void describe_memory(MPI_Datatype type, ValueType& values) {
  values.is_dense = false;
  const auto lie = boxes_of(type, most_boxes);
  if (!lie || lie->boxes.size() != 1) return;
  const FileBox& box = lie->boxes.front();
  values.is_dense = box.first == 0 && box.is_contiguous() && lie->extent == lie->bytes;
  const auto value_bytes = static_cast<uint32_t>(dtype_bytes(values.dtype));
  const std::vector<uint64_t> rows = rows_of(type);
  if (values.is_dense && rows.empty()) return;
  values.shape = shape_of(lie->boxes, rows, value_bytes);
}

}  // namespace

std::optional<ValueType> value_type_of(MPI_Datatype type) {
  if (const auto named = mpi::dtype_of(type)) {
    if (is_integer(*named)) return {};
    return ValueType{*named, 1, true, {}};
  }
  const uint64_t bytes = type_bytes(type);
  const ElementKind kind = bytes == 0 ? ElementKind::other : elements_of(type);
  if (kind == ElementKind::other) return {};
  ValueType values;
  values.dtype = kind == ElementKind::f32 ? DType::f32 : DType::f64;
  values.values = bytes / dtype_bytes(values.dtype);
  describe_memory(type, values);
  return values;
}

std::vector<uint64_t> layer_of(const ValueType& type, uint64_t instances, uint64_t most) {
  if (type.shape.size() < 2 && (type.shape.empty() || instances < 2)) return {};
  const bool is_one_layer =
      instances > 1 && type.shape.size() < NEVE_MAX_DIMS && type.values * dtype_bytes(type.dtype) <= most;
  return {type.shape.begin() + (is_one_layer ? 0 : 1), type.shape.end()};
}

MPI_Datatype named_type(DType dtype) { return dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }

}  // namespace neve::pmpi
