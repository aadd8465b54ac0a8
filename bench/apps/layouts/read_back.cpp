// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/read_back.hpp"

#include <hdf5.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "neve/plotfile_reader.hpp"

namespace neve::layouts {
namespace {

using hdf5::Handle;

// Cells of a box that are compared, one byte each, x fastest.
std::vector<uint8_t> held_cells(const Hierarchy& hierarchy, size_t level, int box, const amr::BoxIndex& finer,
                                bool drops_covered) {
  const Level& of = hierarchy.levels[level];
  const FrameBox frame = amr::frame_box(of.boxes[static_cast<size_t>(box)], {0, 0, 0}, of.ref_ratio,
                                        drops_covered && finer.size() > 0 ? &finer : nullptr);
  std::vector<uint8_t> held(static_cast<size_t>(frame.cells()), 1);
  for (const Rect& rect : frame.covered) {
    for (int64_t z = rect.lo[2]; z < rect.lo[2] + rect.size[2]; ++z) {
      for (int64_t y = rect.lo[1]; y < rect.lo[1] + rect.size[1]; ++y) {
        const int64_t row = (z * frame.size[1] + y) * frame.size[0] + rect.lo[0];
        std::memset(held.data() + row, 0, static_cast<size_t>(rect.size[0]));
      }
    }
  }
  return held;
}

template <class T>
void compare_values(const std::vector<uint8_t>& held, const std::byte* wanted, const std::byte* found,
                    double bound, Compared& into) {
  for (size_t i = 0; i < held.size(); ++i) {
    if (held[i] == 0) continue;
    ++into.values;
    if (std::memcmp(wanted + i * sizeof(T), found + i * sizeof(T), sizeof(T)) == 0) continue;
    T a, b;
    std::memcpy(&a, wanted + i * sizeof(T), sizeof(T));
    std::memcpy(&b, found + i * sizeof(T), sizeof(T));
    const double error = std::abs(static_cast<double>(a) - static_cast<double>(b));
    if (bound == 0 || !(error <= bound)) ++into.violations;
  }
}

void compare(const Input& input, size_t level, int box, size_t component, const std::vector<uint8_t>& held,
             const std::byte* found, double bound, Compared& into) {
  const BoxData& data = input.local_box(level, box).data;
  const auto first = static_cast<size_t>(data.component_begin(static_cast<int>(component)));
  const std::byte* wanted = static_cast<const std::byte*>(data.data) + first * input.value_bytes();
  const bool is_float = input.hierarchy.dtype == DType::f32;
  is_float ? compare_values<float>(held, wanted, found, bound, into)
           : compare_values<double>(held, wanted, found, bound, into);
}

Status read_elements(hid_t file, const std::string& name, DType dtype, uint64_t first, uint64_t count,
                     std::byte* out) {
  const hsize_t begin = first, size = count;
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle selection(H5Dget_space(dataset.id()), H5Sclose);
  const Handle memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const hid_t type = dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  if (H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, &begin, nullptr, &size, nullptr) < 0 ||
      H5Dread(dataset.id(), type, memory.id(), selection.id(), H5P_DEFAULT, out) < 0) {
    return failure(name + ": " + hdf5::last_error());
  }
  return {};
}

Status compare_run(hid_t file, const Input& input, const StoredRun& run, const Way& way, const Bounds& bounds,
                   Compared& into) {
  const amr::BoxIndex finer = finer_index(input.hierarchy, run.level);
  const std::vector<Box>& boxes = input.hierarchy.levels[run.level].boxes;
  uint64_t elements = 0;
  for (const int box : run.boxes) {
    elements += static_cast<uint64_t>(boxes[static_cast<size_t>(box)].cells()) * run.components;
  }
  std::vector<std::byte> values(elements * input.value_bytes());
  NEVE_TRY(read_elements(file, hdf5::level_name(run.level) + "/" + run.dataset, input.hierarchy.dtype,
                         run.first_element, elements, values.data()));
  const std::byte* at = values.data();
  for (const int box : run.boxes) {
    const std::vector<uint8_t> held = held_cells(input.hierarchy, run.level, box, finer, way.drops_covered());
    for (size_t c = run.first_component; c < run.first_component + run.components; ++c) {
      compare(input, run.level, box, c, held, at, bounds[run.level][c], into);
      at += held.size() * input.value_bytes();
    }
  }
  return {};
}

Status compare_plotfile(const std::string& path, const Way& way, const Input& input, const Bounds& bounds,
                        Compared& into) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> source, open_plotfile(path));
  std::vector<amr::BoxIndex> finer;
  for (size_t level = 0; level < input.hierarchy.levels.size(); ++level) {
    finer.push_back(finer_index(input.hierarchy, level));
  }
  std::vector<std::byte> values;
  for (const LocalBox& local : input.boxes) {
    const auto level = static_cast<size_t>(local.level);
    const std::vector<uint8_t> held =
        held_cells(input.hierarchy, level, local.box, finer[level], way.drops_covered());
    values.resize(held.size() * input.value_bytes());
    for (size_t c = 0; c < input.components(); ++c) {
      NEVE_TRY(source->read_box(local.level, local.box, static_cast<int>(c), values.data()));
      compare(input, level, local.box, c, held, values.data(), bounds[level][c], into);
    }
  }
  return {};
}

}  // namespace

Result<uint64_t> dataset_bytes(const std::string& path, const Written& written) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(hdf5::register_filter());
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return failure(path + ": " + hdf5::last_error());
  uint64_t bytes = 0;
  for (const std::string& name : written.datasets) {
    const Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return failure(path + ": " + hdf5::last_error());
    bytes += H5Dget_storage_size(dataset.id());
  }
  return bytes;
}

Result<Compared> read_back(const std::string& path, const Way& way, const Input& input,
                           const Written& written) {
  Compared compared;
  if (written.is_plotfile) {
    NEVE_TRY(compare_plotfile(path, way, input, written.bounds, compared).in(path));
    return compared;
  }
  const hdf5::QuietErrors quiet;
  NEVE_TRY(hdf5::register_filter());
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return failure(path + ": " + hdf5::last_error());
  for (const StoredRun& run : written.runs) {
    NEVE_TRY(compare_run(file.id(), input, run, way, written.bounds, compared).in(path));
  }
  return compared;
}

}  // namespace neve::layouts
