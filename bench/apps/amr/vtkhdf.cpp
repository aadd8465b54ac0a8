// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/amr/vtkhdf.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <filesystem>
#include <span>
#include <vector>

#include "io/files/temporary_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/file_parts.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::amr_app {
namespace {

using hdf5::Handle;
using hdf5::hdf5_failed;

// Where the values of a level's boxes begin in the plot file, and how many places there are.
struct Places {
  std::vector<int64_t> offsets;
  hsize_t values = 0;
};

Result<Places> places_of(hid_t plot, size_t level, size_t boxes) {
  const std::string group = hdf5::level_name(level) + "/";
  const Handle offsets(H5Dopen2(plot, (group + hdf5::offsets_name).c_str(), H5P_DEFAULT), H5Dclose);
  const Handle data(H5Dopen2(plot, (group + hdf5::data_name).c_str(), H5P_DEFAULT), H5Dclose);
  const Handle offsets_space(offsets.valid() ? H5Dget_space(offsets.id()) : -1, H5Sclose);
  const Handle data_space(data.valid() ? H5Dget_space(data.id()) : -1, H5Sclose);
  if (!offsets_space.valid() || !data_space.valid() ||
      H5Sget_simple_extent_npoints(offsets_space.id()) < static_cast<hssize_t>(boxes)) {
    return corrupt(group + ": not the plot file that was written");
  }
  Places places;
  places.values = static_cast<hsize_t>(H5Sget_simple_extent_npoints(data_space.id()));
  places.offsets.resize(static_cast<size_t>(H5Sget_simple_extent_npoints(offsets_space.id())));
  if (H5Dread(offsets.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, places.offsets.data()) < 0) {
    return hdf5_failed(group + hdf5::offsets_name);
  }
  return places;
}

// Boxes of a level one after another, x fastest: the values of a component, out of their places. Neighbours
// that lie at one distance from each other are one mapping; all are, unless values are compressed.
Result<Handle> mapped_values(const std::string& plot_name, const std::string& dataset, const Places& places,
                             const std::vector<Box>& boxes, size_t component) {
  const auto cells = static_cast<hsize_t>(boxes.front().cells());
  const hsize_t all = cells * boxes.size();
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  for (size_t begin = 0, end = 0; begin < boxes.size(); begin = end) {
    const auto distance = [&](size_t b) { return places.offsets[b + 1] - places.offsets[b]; };
    end = begin + 1;
    // Ranks' boxes are in one another's midst: the next may also lie before this one.
    const bool goes_on = end < boxes.size() && distance(begin) >= static_cast<int64_t>(cells);
    while (goes_on && end < boxes.size() && distance(end - 1) == distance(begin)) ++end;
    const hsize_t count = end - begin;
    const hsize_t stride = count > 1 ? static_cast<hsize_t>(distance(begin)) : cells;
    const hsize_t from = static_cast<hsize_t>(places.offsets[begin]) + cells * component;
    const hsize_t to = cells * begin, values = cells * count;
    const Handle source(H5Screate_simple(1, &places.values, nullptr), H5Sclose);
    const Handle target(H5Screate_simple(1, &all, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(source.id(), H5S_SELECT_SET, &from, &stride, &count, &cells) < 0 ||
        H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, &to, nullptr, &values, nullptr) < 0 ||
        H5Pset_virtual(creation.id(), target.id(), plot_name.c_str(), dataset.c_str(), source.id()) < 0) {
      return hdf5_failed("mapping of " + dataset);
    }
  }
  return creation;
}

Status write_boxes(hid_t level, const std::vector<Box>& boxes) {
  std::vector<std::array<int32_t, 6>> rows;
  for (const Box& box : boxes) {
    rows.push_back({box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2], box.hi[2]});
  }
  const std::array<hsize_t, 2> shape = {rows.size(), 6};
  const Handle space(H5Screate_simple(2, shape.data(), nullptr), H5Sclose);
  Handle dataset(
      H5Dcreate2(level, "AMRBox", H5T_STD_I32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid() ||
      H5Dwrite(dataset.id(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
    return hdf5_failed("AMRBox");
  }
  return dataset.close() ? Status() : hdf5_failed("AMRBox");
}

Status write_level(hid_t root, hid_t plot, const std::string& plot_name, const Hierarchy& h, size_t l) {
  const Level& level = h.levels[l];
  const Handle group = hdf5::create_group(root, fmt::format("Level{}", l));
  if (!group.valid()) return hdf5_failed("level");
  NEVE_TRY(hdf5::write_attribute(group.id(), "Spacing", std::span<const double>(level.dx)));
  NEVE_TRY(write_boxes(group.id(), level.boxes));
  NEVE_ASSIGN(const Places places, places_of(plot, l, level.boxes.size()));
  const Handle cell_data = hdf5::create_group(group.id(), "CellData");
  const std::string dataset = fmt::format("/{}/{}", hdf5::level_name(l), hdf5::data_name);
  const hsize_t all = static_cast<hsize_t>(level.boxes.front().cells()) * level.boxes.size();
  const Handle space(H5Screate_simple(1, &all, nullptr), H5Sclose);
  for (size_t c = 0; c < h.components.size(); ++c) {
    NEVE_ASSIGN(const Handle creation, mapped_values(plot_name, dataset, places, level.boxes, c));
    Handle values(H5Dcreate2(cell_data.id(), h.components[c].c_str(), H5T_IEEE_F32LE, space.id(), H5P_DEFAULT,
                             creation.id(), H5P_DEFAULT),
                  H5Dclose);
    if (!values.valid() || !values.close()) return hdf5_failed(h.components[c]);
  }
  return {};
}

Status write_file(const std::string& path, const std::string& plot_path, const Hierarchy& h) {
  const hdf5::QuietErrors quiet;
  const Handle plot(H5Fopen(plot_path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!plot.valid()) return hdf5_failed(plot_path);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return hdf5_failed(path);
  {
    const Handle root = hdf5::create_group(file.id(), "VTKHDF");
    if (!root.valid()) return hdf5_failed(path);
    constexpr std::array<int32_t, 2> version = {2, 0};
    NEVE_TRY(hdf5::write_attribute(root.id(), "Version", std::span<const int32_t>(version)));
    NEVE_TRY(hdf5::write_attribute(root.id(), "Type", std::string("OverlappingAMR")));
    NEVE_TRY(hdf5::write_attribute(root.id(), "GridDescription", std::string("XYZ")));
    NEVE_TRY(hdf5::write_attribute(root.id(), "Origin", std::span<const double>(h.prob_lo)));
    const std::string plot_name = std::filesystem::path(plot_path).filename().string();
    for (size_t l = 0; l < h.levels.size(); ++l) {
      NEVE_TRY(write_level(root.id(), plot.id(), plot_name, h, l));
    }
  }
  return file.close() ? Status() : hdf5_failed(path);
}

}  // namespace

Status write_vtkhdf(const std::string& path, const std::string& plot_path, const Hierarchy& hierarchy) {
  NEVE_ASSIGN(files::TemporaryFile temporary, files::TemporaryFile::beside(path));
  NEVE_TRY(write_file(temporary.path(), plot_path, hierarchy).in(path));
  return temporary.commit();
}

}  // namespace neve::amr_app
