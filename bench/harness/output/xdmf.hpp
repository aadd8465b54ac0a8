// SPDX-License-Identifier: BSD-3-Clause
// A text beside the files by which ParaView, VisIt and VTK read them: XDMF 2. Of compressed HDF5 they need
// the filter's plugin, as any reader does.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/output/array.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/status.hpp"

namespace neve::apps {

// A file that was stored, with all its arrays in order.
struct XdmfFile {
  Output output;
  std::string path;
  std::vector<ArraySpec> arrays;
  double time = 0;
};

// A regular grid of the arrays' common shape, which hold a value a point.
// `spacing` of points, slowest dimension first.
std::string xdmf_uniform(const XdmfFile& file, const std::array<double, 3>& spacing);

// Cells of one kind ("Triangle", "Wedge"), their points and values at these: arrays by index.
struct XdmfCells {
  std::string kind;
  uint64_t corners = 0;  // of a cell
  size_t cells = 0;      // of the file of cells
  size_t points = 0;
  std::vector<size_t> point_values;
};
std::string xdmf_cells(const XdmfFile& cells_file, const XdmfFile& points_file, const XdmfCells& cells);

// Collective: where files are kept, `name`_OUTPUT.xdmf for each output but Neve's plot files and those of
// ADIOS, of the grids of its files in time. Plot files are read by yt, VisIt and Neve as they are.
Status keep_xdmf(const mpi::Comm& comm, std::span<const Output> outputs, const StoreOptions& options,
                 const std::string& name, std::span<const std::vector<std::string>> grids);

}  // namespace neve::apps
