// SPDX-License-Identifier: BSD-3-Clause
// AMReX plotfiles, and the average that stands for left-out covered cells.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "binding.hpp"
#include "core/amr/average_down.hpp"
#include "core/amr/morton.hpp"
#include "io/plotfile/amrex_reader.hpp"
#include "neve/hierarchy.hpp"

namespace neve::python {

namespace {

nb::tuple corner(const IntVect& values) { return nb::make_tuple(values[0], values[1], values[2]); }

nb::tuple corners(const Box& box) { return nb::make_tuple(corner(box.lo), corner(box.hi)); }

nb::tuple reals(const std::array<double, max_dims>& values) {
  return nb::make_tuple(values[0], values[1], values[2]);
}

nb::dict describe(const PlotfileSource& source) {
  const Hierarchy& hierarchy = source.hierarchy();
  nb::list levels;
  for (const Level& level : hierarchy.levels) {
    nb::list boxes;
    for (const Box& box : level.boxes) boxes.append(corners(box));
    nb::dict entry;
    entry["domain"] = corners(level.domain);
    entry["boxes"] = boxes;
    entry["dx"] = reals(level.dx);
    entry["ref_ratio"] = corner(level.ref_ratio);
    levels.append(entry);
  }
  nb::list components;
  for (const std::string& name : hierarchy.components) components.append(nb::str(name.data(), name.size()));
  nb::dict result;
  result["dims"] = hierarchy.dims;
  result["is_double"] = hierarchy.dtype == DType::f64;
  result["components"] = components;
  result["time"] = hierarchy.time;
  result["prob_lo"] = reals(hierarchy.prob_lo);
  result["levels"] = levels;
  return result;
}

void read_box(PlotfileSource& source, int level, int box, int component, nb::handle out) {
  const Hierarchy& hierarchy = source.hierarchy();
  const Buffer output(out, Buffer::Access::write);
  const size_t needed_bytes =
      static_cast<size_t>(hierarchy.levels.at(level).boxes.at(box).cells()) * dtype_bytes(hierarchy.dtype);
  if (output.size_bytes() != needed_bytes) {
    throw StatusError(usage_error("read_box: a buffer of " + std::to_string(output.size_bytes()) +
                                  " bytes for a box of " + std::to_string(needed_bytes)));
  }
  const nb::gil_scoped_release release;
  check(source.read_box(level, box, component, output.data()));
}

// A tuple of 1 to 3 numbers; directions past the dimension keep the value they had.
IntVect int_vect(nb::handle tuple, IntVect result) {
  int d = 0;
  for (nb::handle value : nb::borrow<nb::tuple>(tuple)) result.at(d++) = nb::cast<int32_t>(value);
  return result;
}

// A neve.plotfile.Box: a tuple of its corners.
Box box_of(nb::handle pair) {
  const auto tuple = nb::borrow<nb::tuple>(pair);
  return {int_vect(tuple[0], {0, 0, 0}), int_vect(tuple[1], {0, 0, 0})};
}

// What a file says may be any number: one that is too large is refused as such, whatever it is.
int32_t saturated(nb::handle value) {
  return static_cast<int32_t>(std::clamp<int64_t>(
      nb::cast<int64_t>(value), std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

IntVect vector_of(nb::handle tuple, IntVect result) {
  int d = 0;
  for (nb::handle value : nb::borrow<nb::tuple>(tuple)) result.at(d++) = saturated(value);
  return result;
}

Box checked_box(nb::handle pair) {
  const auto tuple = nb::borrow<nb::tuple>(pair);
  return {vector_of(tuple[0], {0, 0, 0}), vector_of(tuple[1], {0, 0, 0})};
}

// Of each level: domain, boxes, dx, ref_ratio.
void check_levels(int dims, nb::sequence components, nb::tuple prob_lo, nb::sequence levels) {
  Hierarchy h;
  h.dims = dims;
  for (nb::handle name : components) h.components.push_back(nb::cast<std::string>(name));
  int d = 0;
  for (nb::handle value : prob_lo) h.prob_lo.at(d++) = nb::cast<double>(value);
  h.prob_hi = h.prob_lo;
  for (nb::handle entry : levels) {
    const auto told = nb::borrow<nb::tuple>(entry);
    Level level;
    level.domain = checked_box(told[0]);
    for (nb::handle box : told[1]) level.boxes.push_back(checked_box(box));
    int direction = 0;
    for (nb::handle value : told[2]) level.dx.at(direction++) = nb::cast<double>(value);
    level.ref_ratio = vector_of(told[3], {1, 1, 1});
    h.levels.push_back(std::move(level));
  }
  check(check_hierarchy(h));
}

// `out` holds exactly the cells of `region`, `fine` those of `fine_box`.
void average_down(bool is_double, nb::handle region, nb::handle ratio, nb::handle fine, nb::handle fine_box,
                  nb::handle out) {
  const DType dtype = is_double ? DType::f64 : DType::f32;
  const Box coarse_cells = box_of(region);
  const Box fine_cells = box_of(fine_box);
  const IntVect ratios = int_vect(ratio, {1, 1, 1});
  const Buffer input(fine, Buffer::Access::read);
  const Buffer output(out, Buffer::Access::write);
  if (input.size_bytes() != static_cast<size_t>(fine_cells.cells()) * dtype_bytes(dtype) ||
      output.size_bytes() != static_cast<size_t>(coarse_cells.cells()) * dtype_bytes(dtype) ||
      !fine_cells.contains(refine(coarse_cells, ratios))) {
    throw StatusError(usage_error("average_down: buffers or boxes do not fit together"));
  }
  const nb::gil_scoped_release release;
  amr::average_down(dtype, coarse_cells, ratios, input.data(), fine_cells, output.data(), coarse_cells);
}

// The numbers of a level's boxes in the order in which a writer puts them into frames.
std::vector<int> frame_order(nb::sequence boxes) {
  std::vector<Box> listed;
  for (nb::handle box : boxes) listed.push_back(checked_box(box));
  return amr::morton_order(listed);
}

}  // namespace

void bind_plotfile(nb::module_& module) {
  nb::class_<PlotfileSource>(module, "PlotfileSource")
      .def_prop_ro("kind", &PlotfileSource::kind)
      .def("hierarchy", &describe)
      .def("read_box", &read_box, nb::arg("level"), nb::arg("box"), nb::arg("component"), nb::arg("out"));
  module.def(
      "open_amrex_plotfile",
      [](const std::string& path, bool follow_external) {
        const nb::gil_scoped_release release;
        return unwrap(plotfile::open_amrex_plotfile(path, {.follow_external = follow_external}));
      },
      nb::arg("path"), nb::arg("follow_external"));
  module.def("check_hierarchy", &check_levels, nb::arg("dims"), nb::arg("components"), nb::arg("prob_lo"),
             nb::arg("levels"));
  module.def("frame_order", &frame_order, nb::arg("boxes"));
  module.def("average_down", &average_down, nb::arg("is_double"), nb::arg("region"), nb::arg("ratio"),
             nb::arg("fine"), nb::arg("fine_box"), nb::arg("out"));
}

}  // namespace neve::python
