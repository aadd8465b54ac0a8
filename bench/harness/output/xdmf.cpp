// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/output/xdmf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <span>

#include "io/files/temporary_file.hpp"

namespace neve::apps {
namespace {

const char* number_type(DType dtype) {
  if (!is_integer(dtype)) return "Float";
  return is_signed(dtype) ? "Int" : "UInt";
}

// Where an array's values are; files lie beside the text.
std::string data_item(const XdmfFile& file, size_t index) {
  const ArraySpec& spec = file.arrays[index];
  const std::string name = std::filesystem::path(file.path).filename().string();
  const bool is_raw = file.output.container == Output::Container::raw;
  std::string place = is_raw ? name : fmt::format("{}:/{}", name, spec.name);
  std::string format = "Format=\"HDF\"";
  if (is_raw) {
    uint64_t offset = 0;
    for (size_t i = 0; i < index; ++i) {
      offset += value_count(file.arrays[i].shape) * dtype_bytes(file.arrays[i].dtype);
    }
    format = fmt::format("Format=\"Binary\" Endian=\"Little\" Seek=\"{}\"", offset);
  }
  return fmt::format("<DataItem Dimensions=\"{}\" NumberType=\"{}\" Precision=\"{}\" {}>{}</DataItem>",
                     fmt::join(spec.shape, " "), number_type(spec.dtype), dtype_bytes(spec.dtype), format,
                     place);
}

std::string point_value(const XdmfFile& file, size_t index) {
  const ArraySpec& spec = file.arrays[index];
  return fmt::format("  <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"Node\">{}</Attribute>\n",
                     spec.name, spec.shape.size() == 2 && spec.shape[1] == 3 ? "Vector" : "Scalar",
                     data_item(file, index));
}

std::string grid(const XdmfFile& file, const std::string& inside) {
  return fmt::format(" <Grid Name=\"mesh\" GridType=\"Uniform\">\n  <Time Value=\"{}\"/>\n{} </Grid>\n",
                     file.time, inside);
}

Status write_xdmf(const std::string& path, std::span<const std::string> grids) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
      "<Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (const std::string& grid : grids) text += grid;
  text += "</Grid>\n</Domain>\n</Xdmf>\n";
  return files::write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

std::string xdmf_uniform(const XdmfFile& file, const std::array<double, 3>& spacing) {
  const Shape& shape = file.arrays.front().shape;
  std::string text = fmt::format(
      "  <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n"
      "  <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
      "   <DataItem Dimensions=\"3\" Format=\"XML\">0 0 0</DataItem>\n"
      "   <DataItem Dimensions=\"3\" Format=\"XML\">{} {} {}</DataItem>\n"
      "  </Geometry>\n",
      fmt::join(shape, " "), spacing[0], spacing[1], spacing[2]);
  for (size_t i = 0; i < file.arrays.size(); ++i) text += point_value(file, i);
  return grid(file, text);
}

std::string xdmf_cells(const XdmfFile& cells_file, const XdmfFile& points_file, const XdmfCells& cells) {
  const uint64_t count = value_count(cells_file.arrays[cells.cells].shape) / cells.corners;
  std::string text = fmt::format("  <Topology TopologyType=\"{}\" NumberOfElements=\"{}\">{}</Topology>\n",
                                 cells.kind, count, data_item(cells_file, cells.cells));
  text +=
      fmt::format("  <Geometry GeometryType=\"XYZ\">{}</Geometry>\n", data_item(points_file, cells.points));
  for (const size_t index : cells.point_values) text += point_value(points_file, index);
  return grid(points_file, text);
}

Status keep_xdmf(const mpi::Comm& comm, std::span<const Output> outputs, const StoreOptions& options,
                 const std::string& name, std::span<const std::vector<std::string>> grids) {
  if (!options.keep) return {};
  return mpi::agree(
      comm, mpi::guarded("XDMF", [&]() -> Status {
        if (comm.rank() != 0) return {};
        for (size_t o = 0; o < outputs.size(); ++o) {
          if (outputs[o].container == Output::Container::plotfile || is_adios(outputs[o])) continue;
          const std::string file = fmt::format("{}_{}.xdmf", name, outputs[o].name);
          NEVE_TRY(write_xdmf((std::filesystem::path(options.folder) / file).string(), grids[o]));
        }
        return {};
      }));
}

}  // namespace neve::apps
