// SPDX-License-Identifier: BSD-3-Clause
// The stored chunks of HDF5 files, by rank: read in the files' indices, without their values.
#include <hdf5.h>

#include <algorithm>

#include "bench/harness/output/containers.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace neve::apps {
namespace {

using hdf5::Handle;

Status unreadable(const std::string& path, const std::string& what) {
  return corrupt(path + ": " + what + ": " + hdf5::last_error());
}

struct Opened {
  Handle file, dataset;
};

Result<Opened> open_dataset(const std::string& path, const std::string& name) {
  Opened opened;
  opened.file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!opened.file.valid()) return unreadable(path, "opening");
  opened.dataset = Handle(H5Dopen2(opened.file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!opened.dataset.valid()) return unreadable(path, name);
  return opened;
}

// Values of a chunk that are in the region.
uint64_t shared(const PartPlace& region, const std::vector<hsize_t>& first, const Shape& chunk) {
  uint64_t count = 1;
  for (size_t d = 0; d < first.size(); ++d) {
    const uint64_t begin = std::max<uint64_t>(first[d], region.start[d]),
                   end = std::min<uint64_t>(first[d] + chunk[d], region.start[d] + region.count[d]);
    if (end <= begin) return 0;
    count *= end - begin;
  }
  return count;
}

size_t owner_of(std::span<const PartPlace> regions, const std::vector<hsize_t>& first, const Shape& chunk) {
  size_t owner = 0;
  uint64_t most = 0;
  for (size_t r = 0; r < regions.size(); ++r) {
    const uint64_t count = shared(regions[r], first, chunk);
    if (count > most) {
      owner = r;
      most = count;
    }
  }
  return owner;
}

// Elements of the chunks of a dataset in one dimension.
Result<hsize_t> chunk_elements(hid_t dataset, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  hsize_t elements = 0;
  if (!creation.valid() || H5Pget_chunk(creation.id(), 1, &elements) != 1 || elements == 0) {
    return unreadable(path, "its chunks");
  }
  return elements;
}

// The first element of each box, and the dataset's extent.
Result<std::vector<int64_t>> box_offsets(hid_t file, const std::string& path) {
  const Handle dataset(H5Dopen2(file, "level_0/data:offsets=0", H5P_DEFAULT), H5Dclose);
  const Handle space(dataset.valid() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
  const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space.id()) : -1;
  if (count < 1) return unreadable(path, "its offsets");
  std::vector<int64_t> offsets(static_cast<size_t>(count));
  if (H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, offsets.data()) < 0) {
    return unreadable(path, "its offsets");
  }
  return offsets;
}

// The box whose first element is the last one up to this.
size_t box_at(const std::vector<int64_t>& offsets, hsize_t element) {
  size_t box = 0;
  int64_t last = -1;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    if (offsets[b] <= static_cast<int64_t>(element) && offsets[b] > last) {
      box = b;
      last = offsets[b];
    }
  }
  return box;
}

}  // namespace

Result<std::vector<uint64_t>> hdf5_chunk_bytes(const std::string& path, const ArraySpec& spec,
                                               std::span<const PartPlace> regions) {
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const Opened opened, open_dataset(path, spec.name));
  Shape grid;
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    grid.push_back((spec.shape[d] + spec.chunk[d] - 1) / spec.chunk[d]);
  }
  std::vector<uint64_t> bytes(regions.size(), 0);
  std::vector<hsize_t> first(grid.size());
  for (uint64_t index = 0; index < value_count(grid); ++index) {
    uint64_t rest = index;
    for (size_t d = grid.size(); d-- > 0; rest /= grid[d]) first[d] = rest % grid[d] * spec.chunk[d];
    NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(opened.dataset.id(), first));
    bytes[owner_of(regions, first, spec.chunk)] += stored.value_or(0);
  }
  return bytes;
}

Result<std::vector<uint64_t>> plot_box_bytes(const std::string& path, std::span<const PartPlace> regions) {
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const Opened opened, open_dataset(path, "level_0/data:datatype=0"));
  NEVE_ASSIGN(const hsize_t elements, chunk_elements(opened.dataset.id(), path));
  NEVE_ASSIGN(const std::vector<int64_t> offsets, box_offsets(opened.file.id(), path));
  std::vector<size_t> rank_of_box;
  for (size_t r = 0; r < regions.size(); ++r) {
    if (value_count(regions[r].count) > 0) rank_of_box.push_back(r);
  }
  if (offsets.size() != rank_of_box.size() + 1) return corrupt(path + ": has not a box a rank");
  std::vector<uint64_t> bytes(regions.size(), 0);
  // A box begins at a chunk, and has those up to the next one's.
  const auto extent = static_cast<uint64_t>(offsets.back());
  for (hsize_t first = 0; first < extent; first += elements) {
    NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(opened.dataset.id(), std::span(&first, 1)));
    bytes[rank_of_box[box_at(offsets, first)]] += stored.value_or(0);
  }
  return bytes;
}

}  // namespace neve::apps
