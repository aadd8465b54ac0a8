// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/stored_as_is.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace neve::datafile {
namespace {

using hdf5::last_error;

size_t cannot_be_run(unsigned, size_t, const unsigned*, size_t, size_t*, void**) { return 0; }

struct StoredChunk {
  uint32_t mask = 0;
  std::vector<std::byte> bytes;
  bool is_there = false;

  bool operator==(const StoredChunk&) const = default;
};

Result<StoredChunk> read_stored(hid_t dataset, const std::vector<hsize_t>& first) {
  StoredChunk chunk;
  NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(dataset, first));
  if (!stored) return chunk;
  chunk.is_there = true;
  chunk.bytes.resize(*stored);
  if (H5Dread_chunk(dataset, H5P_DEFAULT, first.data(), &chunk.mask, chunk.bytes.data()) < 0) {
    return corrupt(fmt::format("a chunk cannot be read: {}", last_error()));
  }
  return chunk;
}

}  // namespace

Status stand_in_for_filters(hid_t creation) {
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    size_t words = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &words, nullptr,
                                           name.size() - 1, name.data(), &config);
    if (id < 0) return corrupt(fmt::format("its filters cannot be read: {}", last_error()));
    if (H5Zfilter_avail(id) > 0) continue;
    const H5Z_class2_t stand_in = {H5Z_CLASS_T_VERS, id, 1, 1, name.data(), nullptr, nullptr, cannot_be_run};
    if (H5Zregister(&stand_in) < 0) {
      return failure(fmt::format("HDF5 refuses a stand-in for filter {}: {}", id, last_error()));
    }
  }
  return {};
}

Result<bool> stored_alike(hid_t a, const Variable& of_a, hid_t b, const Variable& of_b) {
  if (of_a.layout != H5D_CHUNKED || of_b.layout != H5D_CHUNKED || of_a.chunk != of_b.chunk ||
      of_a.filters.empty() || of_a.filters != of_b.filters) {
    return false;
  }
  const ChunkGrid grid{of_a.dims, of_a.chunk};
  NEVE_ASSIGN(std::vector<ElementBlock> blocks, written_blocks(a, of_a));
  NEVE_ASSIGN(const std::vector<ElementBlock> blocks_b, written_blocks(b, of_b));
  blocks.insert(blocks.end(), blocks_b.begin(), blocks_b.end());
  PieceWalk written(grid, blocks);
  while (const auto number = written.next()) {
    const Extent first = grid.first_element(*number);
    const std::vector<hsize_t> offset(first.begin(), first.end());
    NEVE_ASSIGN(const StoredChunk of_first, read_stored(a, offset));
    NEVE_ASSIGN(const StoredChunk of_second, read_stored(b, offset));
    if (!(of_first == of_second)) return false;
  }
  return true;
}

}  // namespace neve::datafile
