// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/amr/grow.hpp"
#include "core/amr/sample_grids.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/place_values.hpp"

namespace neve::chombo {
namespace {

IntVect in_dims(int layers, int dims) {
  IntVect ghosts{0, 0, 0};
  for (int d = 0; d < dims; ++d) ghosts[d] = layers;
  return ghosts;
}

Result<Hierarchy> make_hierarchy(const ContentsCase& of) {
  if (of.grid == Grid::bisicles) {
    const amr::IceFile file = of.file == FileKind::plot ? amr::IceFile::plot : amr::IceFile::checkpoint;
    return amr::ice_grid({file, of.box_cells, of.components, DType::f64});
  }
  return amr::chombo_grid({of.units, of.box_cells, of.components, DType::f64});
}

}  // namespace

Result<Contents> Contents::make(const mpi::Comm& comm, const ContentsCase& of) {
  Contents contents;
  contents.file_ = of.file;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("making of fields", [&]() -> Status {
                        NEVE_ASSIGN(contents.hierarchy_, make_hierarchy(of));
                        NEVE_ASSIGN(contents.owners_, distribute_boxes(contents.hierarchy_, comm.size(),
                                                                       {of.distribution, {}}));
                        contents.fields_ = std::make_unique<Fields>(contents.hierarchy_);
                        return contents.make_groups(comm.rank(), of);
                      })));
  return contents;
}

Status Contents::make_groups(int rank, const ContentsCase& of) {
  if (of.file == FileKind::plot) {
    Variable& all = groups_.emplace_back().variable;
    all.name = hdf5::plotfile_base;
    all.components = hierarchy_.components;
    all.ghosts = in_dims(of.ghosts, hierarchy_.dims);
    all.compress = false;
  } else {
    NEVE_TRY(make_variables(of.components));
  }
  for (Group& group : groups_) fill(group, rank);
  return {};
}

// A checkpoint's; the hierarchy's components get their names.
Status Contents::make_variables(int components) {
  NEVE_ASSIGN(const auto variables, amr::checkpoint_variables(components));
  hierarchy_.components.clear();
  for (const amr::SampleVariable& sample : variables) {
    Group& group = groups_.emplace_back();
    group.first_component = static_cast<int>(hierarchy_.components.size());
    group.variable.name = sample.name;
    for (int c = 0; c < sample.components; ++c) {
      group.variable.components.push_back(sample.components == 1 ? sample.name
                                                                 : fmt::format("{}_{}", sample.name, c));
      hierarchy_.components.push_back(group.variable.components.back());
    }
    group.variable.compress = false;
    group.variable.ghosts = in_dims(sample.ghosts, hierarchy_.dims);
  }
  return {};
}

void Contents::fill(Group& group, int rank) {
  const IntVect& ghosts = group.variable.ghosts;
  const size_t components = group.variable.components.size();
  for (size_t level = 0; level < hierarchy_.levels.size(); ++level) {
    for (size_t b = 0; b < hierarchy_.levels[level].boxes.size(); ++b) {
      if (owners_[level][b] != rank) continue;
      const Box cells = amr::grow(hierarchy_.levels[level].boxes[b], ghosts);
      const auto count = static_cast<size_t>(cells.cells());
      // Not value-initialised: every value is computed next.
      std::unique_ptr<double[]> values(new double[count * components]);
      for (size_t c = 0; c < components; ++c) {
        fields_->fill(static_cast<int>(level), cells, group.first_component + static_cast<int>(c),
                      values.get() + c * count);
      }
      LocalBox local;
      local.level = static_cast<int>(level);
      local.box = static_cast<int>(b);
      local.ghosts = ghosts;
      local.data.component_stride = static_cast<int64_t>(count);
      local.data.stride[1] = cells.size(0);
      local.data.stride[2] = cells.size(0) * cells.size(1);
      const int64_t first_valid =
          ghosts[0] + ghosts[1] * local.data.stride[1] + ghosts[2] * local.data.stride[2];
      local.data.data = values.get() + first_valid;
      group.boxes.push_back(local);
      group.storage.push_back(std::move(values));
    }
  }
}

std::vector<std::vector<uint64_t>> Contents::addresses(uint64_t& end) const {
  std::vector<std::vector<uint64_t>> all;
  end = hdf5::data_begin;
  for (const Group& group : groups_) {
    std::vector<uint64_t>& of_group = all.emplace_back();
    for (const Level& level : hierarchy_.levels) {
      of_group.push_back(end);
      const std::vector<int64_t> offsets =
          mpi::value_offsets(level, group.variable.ghosts, group.variable.components.size());
      end += static_cast<uint64_t>(offsets.back()) * dtype_bytes(hierarchy_.dtype);
    }
  }
  return all;
}

uint64_t Contents::smallest_box_bytes() const {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const Group& group : groups_) {
    for (const Level& level : hierarchy_.levels) {
      for (const Box& box : level.boxes) {
        const auto cells = static_cast<uint64_t>(amr::grow(box, group.variable.ghosts).cells());
        least = std::min(least, cells * group.variable.components.size() * dtype_bytes(hierarchy_.dtype));
      }
    }
  }
  return least;
}

uint64_t Contents::values_end() const {
  uint64_t end = 0;
  addresses(end);
  return end;
}

std::vector<ValueDataset> Contents::datasets() const {
  uint64_t end = 0;
  const std::vector<std::vector<uint64_t>> placed = addresses(end);
  std::vector<ValueDataset> datasets;
  for (size_t l = 0; l < hierarchy_.levels.size(); ++l) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Variable& variable = groups_[g].variable;
      ValueDataset& dataset = datasets.emplace_back();
      const std::string base = file_ == FileKind::plot ? variable.name : hdf5::checkpoint_base(variable.name);
      dataset.path = hdf5::level_name(l) + "/" + hdf5::DatasetNames(base).data;
      dataset.address = placed[g][l];
      const std::vector<int64_t> offsets =
          mpi::value_offsets(hierarchy_.levels[l], variable.ghosts, variable.components.size());
      dataset.bytes = static_cast<uint64_t>(offsets.back()) * dtype_bytes(hierarchy_.dtype);
      mpi::append_pieces(hierarchy_, static_cast<int>(l), variable.ghosts, variable.components.size(),
                         groups_[g].boxes, 0, static_cast<uint32_t>(datasets.size() - 1), dataset.pieces);
      std::ranges::sort(dataset.pieces, {}, &mpi::Piece::address);
    }
  }
  return datasets;
}

std::vector<hdf5::LevelPlacement> Contents::plotfile_placements(bool with_addresses) const {
  const IntVect& ghosts = groups_.front().variable.ghosts;
  const WriteReport report = mpi::report_values(hierarchy_, ghosts);
  std::vector<hdf5::LevelPlacement> levels = mpi::value_placements(
      hierarchy_, owners_, ghosts, mpi::place_values(hierarchy_, ghosts, hdf5::data_begin));
  for (size_t l = 0; l < levels.size(); ++l) {
    levels[l].fields = mpi::field_records(report.levels[l]);
    if (!with_addresses) levels[l].addresses.clear();
  }
  return levels;
}

std::vector<hdf5::VariablePlacement> Contents::checkpoint_placements(bool with_addresses) const {
  uint64_t end = 0;
  const std::vector<std::vector<uint64_t>> placed = addresses(end);
  std::vector<hdf5::VariablePlacement> variables;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Variable& variable = groups_[g].variable;
    Hierarchy of_variable = hierarchy_;
    of_variable.components = variable.components;
    variables.push_back({variable, mpi::value_placements(of_variable, owners_, variable.ghosts,
                                                         mpi::ValuePlaces{placed[g], end})});
    for (hdf5::LevelPlacement& level : variables.back().levels) {
      if (!with_addresses) level.addresses.clear();
    }
  }
  return variables;
}

}  // namespace neve::chombo
