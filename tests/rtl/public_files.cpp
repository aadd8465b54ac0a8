// SPDX-License-Identifier: BSD-3-Clause
#include "tests/rtl/public_files.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "io/datafile/attributes.hpp"
#include "io/datafile/contents.hpp"
#include "io/datafile/recognize.hpp"
#include "io/datafile/variable.hpp"
#include "io/hdf5/checkpoint_source.hpp"
#include "io/hdf5/handle.hpp"
#include "io/plotfile/open.hpp"
#include "neve/checkpoint_reader.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::rtl {
namespace {

namespace fs = std::filesystem;

constexpr const char* archive_ending = ".tar.xz";

template <class T>
std::vector<float> to_floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<float>(value);
  }
  return values;
}

std::vector<uint64_t> without_ones(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> sides;
  for (const uint64_t n : shape) {
    if (n != 1) sides.push_back(n);
  }
  if (sides.empty()) sides.push_back(1);
  return sides;
}

Status run_tool(const std::string& command) {
  if (std::system(command.c_str()) != 0) return failure(fmt::format("fails: {}", command));
  return {};
}

// --- arrays ------------------------------------------------------------------------------------------------

Status visit_array(const std::string& path, const std::string& name, const VisitField& visit) {
  NEVE_ASSIGN(const plotfile::NpyArray array, plotfile::read_npy(path));
  if (is_integer(array.dtype)) return failure(fmt::format("{} holds no floating-point values", path));
  PublicField field;
  field.name = name;
  field.shape = without_ones(array.shape);
  field.was_f64 = array.dtype == DType::f64;
  field.values = field.was_f64 ? to_floats<double>(array.values) : to_floats<float>(array.values);
  widen(field.range, field);
  visit(field);
  return {};
}

// --- netCDF and other HDF5 data files
// ------------------------------------------------------------------------

// Dimensions without a variable of their own are datasets too, which hold nothing.
bool is_only_a_dimension(hid_t dataset) {
  const hdf5::Handle attribute(
      H5Aexists(dataset, "NAME") > 0 ? H5Aopen(dataset, "NAME", H5P_DEFAULT) : hid_t{-1}, H5Aclose);
  if (!attribute.valid()) return false;
  const hdf5::Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) return false;
  std::string text(H5Tget_size(type.id()), '\0');
  return H5Aread(attribute.id(), type.id(), text.data()) >= 0 &&
         text.starts_with("This is a netCDF dimension but not a netCDF variable");
}

Status visit_variables(const std::string& path, const std::string& name, const VisitField& visit) {
  NEVE_ASSIGN(const hdf5::Handle file, datafile::open_source(path, {}, hdf5::Reading::values));
  NEVE_ASSIGN(const datafile::Contents contents, datafile::list_contents(file.id()));
  size_t fields = 0;
  for (const datafile::Entry& entry : contents.entries) {
    if (entry.kind != datafile::EntryKind::dataset) continue;
    const hdf5::Handle dataset(H5Dopen2(file.id(), entry.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return failure(fmt::format("{}: {} cannot be opened", path, entry.path));
    const hdf5::Handle type(H5Dget_type(dataset.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_FLOAT || is_only_a_dimension(dataset.id())) continue;
    NEVE_ASSIGN(const datafile::Variable variable, datafile::describe_variable(dataset.id(), entry.path));
    uint64_t count = 1;
    for (const uint64_t n : variable.dims) count *= n;
    if (count == 0) continue;
    PublicField field;
    field.name = name + ":" + entry.path;
    field.shape = without_ones({variable.dims.begin(), variable.dims.end()});
    field.was_f64 = variable.element_bytes == sizeof(double);
    std::vector<std::byte> bytes(count * sizeof(double));
    const datafile::Extent first(variable.dims.size(), 0);
    NEVE_TRY(datafile::read_elements(dataset.id(), first, variable.dims, H5T_NATIVE_DOUBLE, bytes.data()));
    field.values = to_floats<double>(bytes);
    for (const char* attribute : {"_FillValue", "missing_value"}) {
      const std::optional<double> fill = datafile::numeric_attribute(dataset.id(), attribute);
      if (!fill || field.fill) continue;
      const auto value = static_cast<float>(*fill);
      if (std::ranges::find(field.values, value) != field.values.end()) field.fill = value;
    }
    widen(field.range, field);
    visit(field);
    ++fields;
  }
  if (fields == 0) return failure(fmt::format("{} holds no floating-point variable", path));
  return {};
}

// --- plotfiles and checkpoints
// -------------------------------------------------------------------------------

using ReadBox = std::function<Status(int level, int box, std::byte* out)>;

Status visit_component(const Hierarchy& h, const IntVect& ghosts, const std::string& name,
                       const ReadBox& read, const VisitField& visit) {
  for (size_t l = 0; l < h.levels.size(); ++l) {
    // By cross-section: boxes of which nothing but the extent along z differs make one array.
    std::map<std::pair<int64_t, int64_t>, PublicField> fields;
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      Box box = h.levels[l].boxes[b];
      for (int d = 0; d < h.dims; ++d) {
        box.lo[d] -= ghosts[d];
        box.hi[d] += ghosts[d];
      }
      std::vector<std::byte> bytes(static_cast<size_t>(box.cells()) * dtype_bytes(h.dtype));
      NEVE_TRY(read(static_cast<int>(l), static_cast<int>(b), bytes.data()));
      PublicField& field = fields[{box.size(0), box.size(1)}];
      const std::vector<float> values =
          h.dtype == DType::f64 ? to_floats<double>(bytes) : to_floats<float>(bytes);
      field.values.insert(field.values.end(), values.begin(), values.end());
    }
    ValueRange range;
    for (const auto& [section, field] : fields) widen(range, field);
    for (auto& [section, field] : fields) {
      const auto line = static_cast<uint64_t>(section.first);
      const auto lines = static_cast<uint64_t>(section.second);
      field.name = fmt::format("{} level {} {}x{}", name, l, line, lines);
      field.shape = without_ones({field.values.size() / (line * lines), lines, line});
      field.was_f64 = h.dtype == DType::f64;
      field.range = range;
      visit(field);
    }
  }
  return {};
}

Status visit_plotfile(const std::string& path, const std::string& name, const VisitField& visit) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> source, open_plotfile(path));
  const Hierarchy& h = source->hierarchy();
  for (size_t c = 0; c < h.components.size(); ++c) {
    const ReadBox read = [&](int level, int box, std::byte* out) {
      return source->read_box(level, box, static_cast<int>(c), out);
    };
    NEVE_TRY(visit_component(h, {0, 0, 0}, name + ":" + h.components[c], read, visit));
  }
  return {};
}

Status visit_checkpoint(const std::string& path, const std::string& name, const VisitField& visit) {
  NEVE_ASSIGN(const std::unique_ptr<Checkpoint> checkpoint, open_checkpoint(path));
  for (size_t v = 0; v < checkpoint->variables().size(); ++v) {
    const Variable& variable = checkpoint->variables()[v];
    for (size_t c = 0; c < variable.components.size(); ++c) {
      const ReadBox read = [&](int level, int box, std::byte* out) {
        return checkpoint->read_box(static_cast<int>(v), level, box, static_cast<int>(c), out);
      };
      NEVE_TRY(visit_component(checkpoint->hierarchy(), variable.ghosts, name + ":" + variable.components[c],
                               read, visit));
    }
  }
  return {};
}

Status visit_archive(const std::string& path, const VisitField& visit) {
  const test::TempDir folder;
  NEVE_TRY(run_tool(fmt::format("tar -xf '{}' -C '{}'", path, folder / "")));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder / "")) {
    if (entry.is_directory() && fs::exists(entry.path() / "Header") &&
        fs::exists(entry.path() / "Level_0" / "Cell_H")) {
      return visit_plotfile(entry.path().string(), entry.path().filename().string(), visit);
    }
  }
  return failure(fmt::format("{} holds no plotfile", path));
}

}  // namespace

std::vector<std::string> public_folders() { return {"amr", "arrays", "chombo", "climate"}; }

Result<std::vector<std::string>> public_files(const std::string& folder) {
  const fs::path path = fs::path(NEVE_SHARED_DATA) / folder;
  if (!fs::is_directory(path)) return failure(fmt::format("no folder {}", path.string()));
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    files.push_back(entry.path().string());
  if (files.empty()) return failure(fmt::format("nothing in {}", path.string()));
  std::ranges::sort(files);
  return files;
}

Status visit_fields(const std::string& path, const VisitField& visit) {
  if (path.ends_with(archive_ending)) return visit_archive(path, visit);
  const std::string name = fs::path(path).filename().string();
  NEVE_ASSIGN(const plotfile::FileKind kind, plotfile::detect_kind(path));
  switch (kind) {
    case plotfile::FileKind::npy:
      return visit_array(path, name, visit);
    case plotfile::FileKind::amrex_plotfile:
      return visit_plotfile(path, name, visit);
    case plotfile::FileKind::netcdf_classic: {
      const test::TempDir folder;
      NEVE_TRY(run_tool(fmt::format("nccopy -k nc4 '{}' '{}'", path, folder / "copy.nc")));
      return visit_variables(folder / "copy.nc", name, visit);
    }
    case plotfile::FileKind::hdf5: {
      NEVE_ASSIGN(const bool is_data, datafile::is_data_file(path));
      if (is_data) return visit_variables(path, name, visit);
      return hdf5::is_checkpoint(path) ? visit_checkpoint(path, name, visit)
                                       : visit_plotfile(path, name, visit);
    }
    case plotfile::FileKind::unknown:
      break;
  }
  return failure(fmt::format("{} is of a kind that is not read", path));
}

}  // namespace neve::rtl
