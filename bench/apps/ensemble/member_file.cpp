// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/member_file.hpp"

#include <utility>

namespace neve::ensemble {

const std::vector<float>& analysed(const State& state, int variable) {
  const std::vector<float>* const fields[] = {&state.u, &state.v, &state.thickness, &state.vapour};
  return *fields[variable];
}
std::vector<float>& analysed(State& state, int variable) {
  return const_cast<std::vector<float>&>(analysed(std::as_const(state), variable));
}

std::vector<Field> fields_of(const Grid& g, const State& state, const Diagnostics& d, const Constants& c) {
  const Shape cells = {static_cast<uint64_t>(g.layers), static_cast<uint64_t>(g.ny),
                       static_cast<uint64_t>(g.nx)};
  const Shape columns = {cells[1], cells[2]};
  std::vector<Field> fields;
  for (size_t v = 0; v < analysed_variables; ++v) {
    fields.push_back({analysed_names[v], cells, analysed(state, static_cast<int>(v)).data()});
  }
  fields.push_back({"QCLOUD", cells, state.cloud.data()});
  fields.push_back({"W", cells, d.w.data()});
  fields.push_back({"PH", cells, d.height.data()});
  fields.push_back({"P", cells, d.pressure.data()});
  fields.push_back({"CLDFRA", cells, d.cloud_cover.data()});
  fields.push_back({"H_DIABATIC", cells, d.condensed.data()});
  fields.push_back({"PHB", cells, c.base_height.data()});
  fields.push_back({"PB", cells, c.base_pressure.data()});
  fields.push_back({"RAINNC", columns, state.rain.data()});
  fields.push_back({"USTSQ", columns, d.surface_stress.data()});
  fields.push_back({"HGT", columns, c.terrain.data()});
  fields.push_back({"LANDMASK", columns, c.land.data()});
  fields.push_back({"F", columns, c.coriolis.data()});
  fields.push_back({"XLAT", columns, c.latitude.data()});
  fields.push_back({"XLONG", columns, c.longitude.data()});
  return fields;
}

Result<MemberFile> MemberFile::open(const Grid& grid, const std::string& path, bool is_flat) {
  MemberFile file(grid);
  if (is_flat) {
    NEVE_ASSIGN(file.flat_, plotfile::File::open(path));
  } else {
    NEVE_ASSIGN(file.fields_, FieldFile::open(path));
  }
  return file;
}

Result<uint64_t> MemberFile::read_rows(int variable, int first_row, int rows, float* out) const {
  const auto nx = static_cast<uint64_t>(grid_.nx), ny = static_cast<uint64_t>(grid_.ny);
  const auto layers = static_cast<uint64_t>(grid_.layers);
  const auto first = static_cast<uint64_t>(first_row), count = static_cast<uint64_t>(rows);
  if (fields_) {
    return fields_->read(analysed_names[static_cast<size_t>(variable)], {0, first, 0}, {layers, count, nx},
                         out);
  }
  for (uint64_t layer = 0; layer < layers; ++layer) {
    const uint64_t row = (static_cast<uint64_t>(variable) * layers + layer) * ny + first;
    NEVE_TRY(read_flat(*flat_, row * nx, count * nx, out + layer * count * nx));
  }
  return layers * count * nx * sizeof(float);
}

}  // namespace neve::ensemble
