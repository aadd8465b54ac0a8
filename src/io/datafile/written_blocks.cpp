// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/written_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/hdf5/errors.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

ElementBlock all_of(const Variable& variable) { return {Extent(variable.dims.size(), 0), variable.dims}; }

// HDF5 1.10 goes through the index for each chunk that it is asked for by number.
bool pays_to_list(uint64_t chunks, const Variable& variable) {
  constexpr uint64_t most = uint64_t{1} << 26;
  constexpr uint64_t bytes_a_step = 32;  // read in the time of one step through the index
  return chunks < most && chunks * chunks / 2 < variable.raw_bytes() / bytes_a_step;
}

// Arrays of chunks (extensible, fixed) have an entry for each chunk that there may be, and HDF5 1.10 to 1.14
// tells chunks of an extensible one at places where they are not, unless the first dimension is the unlimited
// one. The entries of trees say where their chunk is.
bool is_tree(hid_t dataset) {
  H5D_chunk_index_t index = H5D_CHUNK_IDX_NTYPES;
  return H5Dget_chunk_index_type(dataset, &index) >= 0 &&
         (index == H5D_CHUNK_IDX_BTREE || index == H5D_CHUNK_IDX_BT2);
}

Result<std::vector<ElementBlock>> stored_chunks(hid_t dataset, const Variable& variable) {
  if (!is_tree(dataset)) return std::vector<ElementBlock>{all_of(variable)};
  const Handle space(H5Dget_space(dataset), H5Sclose);
  hsize_t chunks = 0;
  if (!space.valid() || H5Dget_num_chunks(dataset, space.id(), &chunks) < 0) {
    return corrupt(fmt::format("its chunks cannot be counted: {}", last_error()));
  }
  std::vector<ElementBlock> blocks;
  if (!pays_to_list(chunks, variable)) {
    blocks.push_back(all_of(variable));
    return blocks;
  }
  const size_t rank = variable.dims.size();
  std::vector<hsize_t> first(rank);
  for (hsize_t i = 0; i < chunks; ++i) {
    if (H5Dget_chunk_info(dataset, space.id(), i, first.data(), nullptr, nullptr, nullptr) < 0) {
      return corrupt(fmt::format("chunk {} of {} cannot be found: {}", i, chunks, last_error()));
    }
    ElementBlock block{Extent(first.begin(), first.end()), Extent(rank)};
    bool is_inside = true;
    for (size_t d = 0; d < rank; ++d) {
      is_inside = is_inside && first[d] < variable.dims[d];
      if (is_inside)
        block.end[d] = first[d] + std::min<uint64_t>(variable.chunk[d], variable.dims[d] - first[d]);
    }
    if (is_inside) blocks.push_back(std::move(block));
  }
  return blocks;
}

// The rectangle around what a mapping fills, inside of the dataset as far as it reaches now.
Result<std::optional<ElementBlock>> mapped_block(hid_t creation, size_t mapping, const Variable& variable) {
  const Handle space(H5Pget_virtual_vspace(creation, mapping), H5Sclose);
  const size_t rank = variable.dims.size();
  if (!space.valid() || H5Sget_simple_extent_ndims(space.id()) != static_cast<int>(rank)) {
    return corrupt(fmt::format("its mapping {} cannot be read: {}", mapping, last_error()));
  }
  std::vector<hsize_t> first(rank), last(rank);
  // One without end has no bounds that HDF5 would tell.
  if (H5Sget_select_bounds(space.id(), first.data(), last.data()) < 0) return std::optional(all_of(variable));
  ElementBlock block{Extent(first.begin(), first.end()), Extent(rank)};
  for (size_t d = 0; d < rank; ++d) {
    if (first[d] >= variable.dims[d]) return std::optional<ElementBlock>();
    block.end[d] = last[d] < variable.dims[d] ? last[d] + 1 : variable.dims[d];
  }
  return std::optional(std::move(block));
}

Result<std::vector<ElementBlock>> mapped_blocks(hid_t dataset, const Variable& variable) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  size_t mappings = 0;
  if (!creation.valid() || H5Pget_virtual_count(creation.id(), &mappings) < 0) {
    return corrupt(fmt::format("its mappings cannot be counted: {}", last_error()));
  }
  std::vector<ElementBlock> blocks;
  for (size_t i = 0; i < mappings; ++i) {
    NEVE_ASSIGN(auto block, mapped_block(creation.id(), i, variable));
    if (block) blocks.push_back(std::move(*block));
  }
  return blocks;
}

}  // namespace

Result<std::vector<ElementBlock>> written_blocks(hid_t dataset, const Variable& variable) {
  if (variable.extent == H5S_NULL || variable.raw_bytes() == 0) return std::vector<ElementBlock>();
  if (variable.layout == H5D_VIRTUAL) return mapped_blocks(dataset, variable);
  if (variable.stored_bytes == 0) return std::vector<ElementBlock>();
  if (variable.layout == H5D_CHUNKED) return stored_chunks(dataset, variable);
  return std::vector<ElementBlock>{all_of(variable)};
}

PieceWalk::PieceWalk(ChunkGrid grid, const std::vector<ElementBlock>& blocks) : grid_(std::move(grid)) {
  const size_t rank = grid_.dims.size();
  for (const ElementBlock& block : blocks) {
    Part part{0, Extent(rank), Extent(rank), Extent(rank)};
    for (size_t d = 0; d < rank; ++d) {
      part.first[d] = part.at[d] = block.first[d] / grid_.chunk[d];
      part.last[d] = (block.end[d] - 1) / grid_.chunk[d];
    }
    part.number = number_of(part.at);
    parts_.push(std::move(part));
  }
}

uint64_t PieceWalk::number_of(const Extent& at) const {
  uint64_t number = 0;
  for (size_t d = 0; d < at.size(); ++d) number = number * grid_.along(d) + at[d];
  return number;
}

bool PieceWalk::advance(Part& part) const {
  for (size_t d = part.at.size(); d-- > 0;) {
    if (part.at[d] < part.last[d]) {
      ++part.at[d];
      part.number = number_of(part.at);
      return true;
    }
    part.at[d] = part.first[d];
  }
  return false;
}

std::optional<uint64_t> PieceWalk::next() {
  while (!parts_.empty()) {
    Part part = parts_.top();
    parts_.pop();
    const uint64_t number = part.number;
    if (advance(part)) parts_.push(std::move(part));
    if (given_ && number <= *given_) continue;
    given_ = number;
    return number;
  }
  return {};
}

}  // namespace neve::datafile
