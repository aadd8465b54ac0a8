// SPDX-License-Identifier: BSD-3-Clause
// The description of an AMR plotfile: everything but the field values. Identical on every rank.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neve/box.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct Level {
  Box domain;                  // the level's index space
  std::vector<Box> boxes;      // valid cells only; ghosts are never part of a box here
  IntVect ref_ratio{1, 1, 1};  // to the next finer level; 1 in unused directions and on the finest
  std::array<double, max_dims> dx{1, 1, 1};  // cell size, in the simulation's length unit
  int32_t step = 0;                          // level steps taken
  double time = 0;
};

struct Hierarchy {
  int dims = 3;  // 1, 2 or 3
  DType dtype = DType::f64;
  std::vector<std::string> components;  // unique, not empty; UTF-8 where they are written
  double time = 0;
  std::array<double, max_dims> prob_lo{0, 0, 0};
  std::array<double, max_dims> prob_hi{1, 1, 1};
  int coord_sys = 0;               // AMReX: 0 Cartesian, 1 RZ, 2 spherical
  IntVect source_ghosts{0, 0, 0};  // ghost layers the source file held; read_box gives none of them
  std::vector<Level> levels;       // coarsest first, at least one
  // Files beside the fields that tools look for (AMReX: job_info, WarpXHeader, comoving_a...),
  // by path relative to the plotfile, kept verbatim so that a converted-back plotfile has them.
  std::map<std::string, std::string> side_files;
};

// Dimension, names, boxes inside their domain, no overlap inside a level, ratios: usage error that
// names the first thing wrong.
Status check_hierarchy(const Hierarchy& h);

// Sorts the boxes of every level as Chombo has them in its files: by their low corners, x first, then y, z.
// For code that makes a hierarchy; boxes are written in the order given.
void sort_boxes_as_chombo(Hierarchy& h);

// A plotfile being read. Independent, not collective: each rank opens it and reads only its boxes.
class PlotfileSource {
 public:
  virtual ~PlotfileSource() = default;
  virtual const Hierarchy& hierarchy() const = 0;
  // Valid cells of box `box` of level `level`, component `component`, x fastest, into `out`, which holds
  // boxes[box].cells() values of hierarchy().dtype. Left-out covered cells come back as the average
  // of the finer cells. Errors: usage (no such thing, `out` null), corrupt, failure.
  virtual Status read_box(int level, int box, int component, std::byte* out) = 0;
  // `count` components of a box from `first` on, one after another, each as read_box gives it. Errors: those
  // of read_box.
  virtual Status read_components(int level, int box, int first, int count, std::byte* out);
  // `cells` cells of a component from cell `first` on, as they follow each other in what read_box gives.
  // False where the source only reads whole components; nothing is written then. Errors: those of read_box.
  virtual Result<bool> read_cells(int level, int box, int component, int64_t first, int64_t cells,
                                  std::byte* out) {
    (void)level, (void)box, (void)component, (void)first, (void)cells, (void)out;
    return false;
  }
  // Which covered cells of that box the file does not hold (1), x fastest; empty when it holds all.
  virtual Result<std::vector<uint8_t>> left_out(int level, int box, int component) {
    (void)level, (void)box, (void)component;
    return std::vector<uint8_t>{};
  }
  // Where a box lies in the source: the boxes of a level are read fastest by rising place. 0 of a box that
  // does not exist.
  virtual uint64_t place(int level, int box) const {
    (void)level;
    return static_cast<uint64_t>(box);
  }
  // Announces that all boxes with all components will be read, about once each and by rising place. Values
  // are the same without; with it a source decodes more at a time, and holds less of what it has read.
  virtual void expect_all() {}
  // Ghost layers that the source holds around every box of a level; none of a level that does not exist.
  virtual IntVect stored_ghosts(int level) const {
    const bool exists = level >= 0 && static_cast<size_t>(level) < hierarchy().levels.size();
    return exists ? hierarchy().source_ghosts : IntVect{0, 0, 0};
  }
  // The smallest and largest value of a component of a level as the source itself states them; nothing where
  // it does not, or there is no such component. Not checked against the values.
  virtual std::optional<std::pair<double, double>> stated_range(int level, int component) const {
    (void)level, (void)component;
    return {};
  }
  // Contents of the source that are neither a field nor a side file (particles, raw fields, files too large),
  // so that a conversion can report that they are not copied.
  virtual std::vector<std::string> left_behind() const { return {}; }
  // Where hierarchy() differs from the source, in whole phrases: a name that two components had.
  virtual std::vector<std::string> remarks() const { return {}; }
  // "AMReX plotfile", "Chombo HDF5", ...: for messages.
  virtual std::string kind() const = 0;
};

}  // namespace neve
#pragma GCC visibility pop
