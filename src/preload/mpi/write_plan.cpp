// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/write_plan.hpp"

#include <algorithm>

#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

// The index has an entry for each box: they may take no more room than what they are the place of.
constexpr size_t always_allowed = 256;
constexpr uint64_t bytes_of_box = 64;
size_t most_boxes(uint64_t bytes) { return std::max<size_t>(always_allowed, bytes / bytes_of_box); }

bool are_in_order(const std::vector<FileBox>& boxes) {
  for (size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i].first < boxes[i - 1].end()) return false;
  }
  return true;
}

// A layer of the memory, where its type is an array of values with gaps between its rows.
std::vector<uint64_t> layer_of_memory(const Elements& elements, uint32_t value_bytes) {
  const auto type = boxes_of(elements.type, 1);
  if (!type) return {};
  std::vector<uint64_t> shape = shape_of(type->boxes, rows_of(elements.type), value_bytes);
  if (elements.count <= 1 && !shape.empty()) shape.erase(shape.begin());
  return shape;
}

bool fits(const std::vector<uint64_t>& layer, uint64_t values, uint32_t value_bytes) {
  uint64_t of_layer = 1;
  for (const uint64_t size : layer) of_layer *= size;
  return values % of_layer == 0 && of_layer <= mpi::max_block_bytes / value_bytes;
}

// The settings' layer goes before what the memory's type tells.
void choose_layer(const Elements& elements, uint32_t value_bytes, WritePlan& plan) {
  if (plan.boxes.size() != 1 || plan.boxes[0].ndim != 1 || !plan.boxes[0].is_contiguous()) return;
  const uint64_t values = plan.boxes[0].values();
  plan.layer_shape = settings().transfer.layer_shape;
  if (!plan.layer_shape.empty() && fits(plan.layer_shape, values, value_bytes)) return;
  plan.layer_shape = layer_of_memory(elements, value_bytes);
  if (!fits(plan.layer_shape, values, value_bytes)) plan.layer_shape.clear();
}

}  // namespace

WritePlan plan_write(const FileView& view, uint64_t at, const Elements& elements) {
  WritePlan plan;
  plan.bytes = static_cast<uint64_t>(elements.count) * type_bytes(elements.type);
  if (plan.bytes == 0) return plan;
  const size_t most = most_boxes(plan.bytes);
  if (!view.append_boxes(at, plan.bytes, SIZE_MAX, plan.boxes)) {
    plan.reason = Reason::too_large;
    return plan;
  }
  if (!are_in_order(plan.boxes)) plan.reason = Reason::other_view;
  if (plan.boxes.size() > most) plan.reason = Reason::scattered;
  if (plan.reason != Reason::none) return plan;
  const ElementKind kind = elements_of(elements.type);
  const uint32_t value_bytes = kind == ElementKind::f64 ? sizeof(double) : sizeof(float);
  std::vector<FileBox> values = plan.boxes;
  plan.is_raw = kind == ElementKind::other || !cut_into_values(value_bytes, most, values);
  if (plan.is_raw) return plan;
  plan.boxes.clear();
  for (const FileBox& box : values) view.append_shaped(box, plan.boxes);
  plan.dtype = kind == ElementKind::f64 ? DType::f64 : DType::f32;
  choose_layer(elements, value_bytes, plan);
  return plan;
}

mpi::Transfer transfer_for(const WritePlan& plan) {
  mpi::Transfer transfer = settings().transfer;
  transfer.dtype = plan.dtype;
  transfer.layer_shape = plan.layer_shape;
  return transfer;
}

mpi::FileValues values_for(const WritePlan& plan, const void* data) {
  return {plan.boxes, plan.is_raw, data};
}

}  // namespace neve::pmpi
