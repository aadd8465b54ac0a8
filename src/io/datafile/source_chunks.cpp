// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/source_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace neve::datafile {

using hdf5::Handle;

uint64_t chunk_bytes(const VariablePlan& plan) { return product(plan.chunk) * plan.variable.element_bytes; }

Status SourceChunks::open(const VariablePlan& plan) {
  if (plan_ == &plan) return {};
  const std::string& path = plan.variable.path;
  plan_ = nullptr;
  dataset_ = hdf5::open_dataset_to_read(file_, path);
  type_ = Handle(H5Dget_type(dataset_.id()), H5Tclose);
  if (!dataset_.valid() || !type_.valid())
    return corrupt(fmt::format("{} cannot be opened: {}", path, hdf5::last_error()));
  plan_ = &plan;
  return {};
}

Result<std::vector<ElementBlock>> SourceChunks::written() const {
  return written_blocks(dataset_.id(), plan_->variable);
}

Result<bool> SourceChunks::holds(const Extent& first) const {
  if (!plan_->same_chunks) return true;
  const std::vector<hsize_t> offset(first.begin(), first.end());
  NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(dataset_.id(), offset));
  return stored.has_value();
}

Result<std::vector<uint64_t>> SourceChunks::numbers() const {
  NEVE_ASSIGN(const auto blocks, written());
  std::vector<uint64_t> numbers;
  PieceWalk walk(plan_->grid(), blocks);
  while (const auto number = walk.next()) {
    NEVE_ASSIGN(const bool is_held, holds(plan_->grid().first_element(*number)));
    if (is_held) numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<std::byte>> SourceChunks::values(const Extent& first) const {
  const Extent held = plan_->grid().held(first);
  const size_t element_bytes = plan_->variable.element_bytes;
  std::vector<std::byte> whole(chunk_bytes(*plan_));
  if (held == plan_->chunk) {
    NEVE_TRY(read_elements(dataset_.id(), first, held, type_.id(), whole.data()));
    return whole;
  }
  std::vector<std::byte> values(product(held) * element_bytes);
  NEVE_TRY(read_elements(dataset_.id(), first, held, type_.id(), values.data()));
  NEVE_TRY(fill(whole));
  place_held(values, held, element_bytes, plan_->chunk, whole);
  // What lies past an end that can move must be the fill value: HDF5 shows it once the dataset grows.
  std::vector<uint8_t> repeated(plan_->chunk.size());
  for (size_t d = 0; d < repeated.size(); ++d) repeated[d] = !plan_->variable.can_grow(d);
  repeat_last_values(whole, element_bytes, plan_->chunk, held, repeated);
  return whole;
}

Status SourceChunks::fill(std::vector<std::byte>& values) const {
  const Handle creation(H5Dget_create_plist(dataset_.id()), H5Pclose);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  std::vector<std::byte> value(plan_->variable.element_bytes);
  if (H5Pfill_value_defined(creation.id(), &defined) < 0) return corrupt("its fill value cannot be read");
  if (defined == H5D_FILL_VALUE_UNDEFINED) return {};
  if (H5Pget_fill_value(creation.id(), type_.id(), value.data()) < 0)
    return corrupt("its fill value cannot be read");
  for (size_t at = 0; at < values.size(); at += value.size())
    std::copy(value.begin(), value.end(), values.begin() + static_cast<ptrdiff_t>(at));
  return {};
}

}  // namespace neve::datafile
