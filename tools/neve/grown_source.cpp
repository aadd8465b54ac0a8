// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/grown_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/amr/grow.hpp"
#include "core/amr/rect_box.hpp"
#include "io/hdf5/ghosted_source.hpp"

namespace neve::cli {

Result<IntVect> stored_ghosts(const PlotfileSource& source) {
  const auto* ghosted = dynamic_cast<const hdf5::GhostedSource*>(&source);
  if (ghosted == nullptr) return amr::no_ghosts;
  const std::vector<IntVect> layers = ghosted->ghosts();
  for (size_t l = 1; l < layers.size(); ++l) {
    if (layers[l] == layers[0]) continue;
    return usage_error(
        fmt::format("level {} has {} layers of ghost cells around its boxes, level 0 has {}: they cannot be "
                    "kept; --ghosts drop leaves them out",
                    l, fmt::join(layers[l], ", "), fmt::join(layers[0], ", ")));
  }
  return layers.empty() ? amr::no_ghosts : layers[0];
}

IntVect widest_ghosts(const PlotfileSource& source) {
  const auto* ghosted = dynamic_cast<const hdf5::GhostedSource*>(&source);
  if (ghosted == nullptr) return source.hierarchy().source_ghosts;
  IntVect most = amr::no_ghosts;
  for (const IntVect& layers : ghosted->ghosts()) {
    for (size_t d = 0; d < max_dims; ++d) most[d] = std::max(most[d], layers[d]);
  }
  return most;
}

GrownSource::GrownSource(PlotfileSource& source, const IntVect& ghosts)
    : source_(source), ghosts_(ghosts), hierarchy_(source.hierarchy()) {
  for (Level& level : hierarchy_.levels) amr::grow_boxes(level, ghosts);
}

Status GrownSource::read_box(int level, int box, int component, std::byte* out) {
  if (ghosts_ == amr::no_ghosts) return source_.read_box(level, box, component, out);
  return dynamic_cast<hdf5::GhostedSource&>(source_).read_with_ghosts(level, box, component, out);
}

Status GrownSource::read_components(int level, int box, int first, int count, std::byte* out) {
  if (ghosts_ == amr::no_ghosts) return source_.read_components(level, box, first, count, out);
  return PlotfileSource::read_components(level, box, first, count, out);
}

Result<bool> GrownSource::read_cells(int level, int box, int component, int64_t first, int64_t cells,
                                     std::byte* out) {
  if (ghosts_ == amr::no_ghosts) return source_.read_cells(level, box, component, first, cells, out);
  return false;
}

Result<std::vector<uint8_t>> GrownSource::left_out(int level, int box, int component) {
  NEVE_ASSIGN(std::vector<uint8_t> of_valid, source_.left_out(level, box, component));
  if (of_valid.empty() || ghosts_ == amr::no_ghosts) return of_valid;
  const Box& valid = source_.hierarchy().levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(box)];
  const Box& grown = hierarchy_.levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(box)];
  std::vector<uint8_t> marks(static_cast<size_t>(grown.cells()));
  amr::for_each_common_row(valid, valid, grown, [&](size_t from, size_t to, size_t cells) {
    std::copy_n(of_valid.begin() + static_cast<ptrdiff_t>(from), cells,
                marks.begin() + static_cast<ptrdiff_t>(to));
  });
  return marks;
}

}  // namespace neve::cli
