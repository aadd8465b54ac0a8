// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/local_boxes.hpp"

#include "neve/frame.hpp"
#include "tools/neve/source.hpp"

namespace neve::cli {
namespace {

Status read_boxes(int rank, int size, PlotfileSource& source, const std::string& path, Progress& progress,
                  LocalBoxes& out) {
  const Hierarchy& h = source.hierarchy();
  const size_t value_bytes = dtype_bytes(h.dtype);
  const auto owner = distribute_boxes(h, size);
  int64_t own_cells = 0, read_cells = 0;
  for (size_t level = 0; level < owner.size(); ++level) {
    for (size_t box = 0; box < owner[level].size(); ++box) {
      if (owner[level][box] == rank) own_cells += h.levels[level].boxes[box].cells();
    }
  }
  for (size_t level = 0; level < owner.size(); ++level) {
    for (size_t box = 0; box < owner[level].size(); ++box) {
      if (owner[level][box] != rank) continue;
      const Box& cells_of_box = h.levels[level].boxes[box];
      const auto cells = static_cast<size_t>(cells_of_box.cells());
      // Not value-initialised: every byte is read into next.
      std::unique_ptr<std::byte[]> values(new std::byte[cells * h.components.size() * value_bytes]);
      for (size_t component = 0; component < h.components.size(); ++component) {
        NEVE_TRY(naming_file(
            source.read_box(static_cast<int>(level), static_cast<int>(box), static_cast<int>(component),
                            values.get() + component * cells * value_bytes),
            path));
      }
      FrameBox shape;
      for (int d = 0; d < max_dims; ++d) shape.size[d] = cells_of_box.size(d);
      out.boxes.push_back(
          {static_cast<int>(level), static_cast<int>(box), dense_box_data(values.get(), shape)});
      out.storage.push_back(std::move(values));
      read_cells += cells_of_box.cells();
      progress.show("read", static_cast<double>(read_cells) / static_cast<double>(own_cells));
    }
  }
  return {};
}

}  // namespace

void give_ghosts(LocalBoxes& local, const IntVect& ghosts, DType dtype) {
  for (LocalBox& box : local.boxes) {
    const int64_t before = ghosts[0] + ghosts[1] * box.data.stride[1] + ghosts[2] * box.data.stride[2];
    box.data.data =
        static_cast<const std::byte*>(box.data.data) + static_cast<size_t>(before) * dtype_bytes(dtype);
    box.ghosts = ghosts;
  }
}

Result<LocalBoxes> read_local_boxes(const Ranks& ranks, PlotfileSource& source, const std::string& path,
                                    Progress& progress) {
  LocalBoxes out;
  NEVE_TRY(ranks.agree(mpi::guarded(
      "read", [&] { return read_boxes(ranks.rank(), ranks.size(), source, path, progress, out); })));
  return out;
}

}  // namespace neve::cli
