// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/plain_box.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "core/amr/grow.hpp"
#include "core/amr/rect_box.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::hdf5 {

void strip_ghosts(const Box& valid, const IntVect& ghosts, size_t value_bytes, const std::byte* with_ghosts,
                  std::byte* out) {
  amr::for_each_common_row(valid, amr::grow(valid, ghosts), valid, [&](size_t from, size_t to, size_t cells) {
    std::memcpy(out + to * value_bytes, with_ghosts + from * value_bytes, cells * value_bytes);
  });
}

uint64_t place_of(const PlotfileHeader& header, int level, int box) {
  if (level < 0 || static_cast<size_t>(level) >= header.levels.size()) return 0;
  const std::vector<int64_t>& offsets = header.levels[static_cast<size_t>(level)].box_offsets;
  if (box < 0 || static_cast<size_t>(box) >= offsets.size()) return 0;
  return static_cast<uint64_t>(offsets[static_cast<size_t>(box)]);
}

Status read_stored_box(const PlotfileHeader& header, size_t level, size_t box, int component,
                       std::byte* out) {
  return read_stored_components(header, level, box, component, 1, out);
}

Status read_stored_components(const PlotfileHeader& header, size_t level, size_t box, int first,
                              int components, std::byte* out) {
  const LevelData& data = header.levels[level];
  const Box grown = amr::grow(header.hierarchy.levels[level].boxes[box], data.ghosts);

  const hsize_t cells = static_cast<hsize_t>(grown.cells());
  const hsize_t count = cells * static_cast<hsize_t>(components);
  const hsize_t begin = static_cast<hsize_t>(data.box_offsets[box]) + cells * static_cast<hsize_t>(first);
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle selection(H5Dget_space(data.dataset.id()), H5Sclose);
  const hid_t type = header.hierarchy.dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const auto place = [&] { return fmt::format("{}/{}: box {}", level_name(level), data.name, box); };
  if (H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) < 0) {
    return corrupt(fmt::format("{} cannot be selected: {}", place(), last_error()));
  }
  NEVE_TRY(data.chunks->check(selection.id()).in(place()));
  if (H5Dread(data.dataset.id(), type, memory.id(), selection.id(), H5P_DEFAULT, out) < 0) {
    return corrupt(fmt::format("{} cannot be read: {}", place(), last_error()));
  }
  return {};
}

Status read_plain_box(const PlotfileHeader& header, size_t level, size_t box, int component, std::byte* out) {
  const IntVect& ghosts = header.levels[level].ghosts;
  if (ghosts == amr::no_ghosts) return read_stored_box(header, level, box, component, out);
  const Box& valid = header.hierarchy.levels[level].boxes[box];
  const size_t value_bytes = dtype_bytes(header.hierarchy.dtype);
  std::vector<std::byte> values(static_cast<size_t>(amr::grow(valid, ghosts).cells()) * value_bytes);
  NEVE_TRY(read_stored_box(header, level, box, component, values.data()));
  strip_ghosts(valid, ghosts, value_bytes, values.data(), out);
  return {};
}

}  // namespace neve::hdf5
