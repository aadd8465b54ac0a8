// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies whose every value is known without reading a file.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::test {

// Fields, in this order, chosen for what the coverage check has to tell apart:
//   averaged   smooth; covered coarse cells are the average of their fine cells
//   own        smooth; covered coarse cells hold something else altogether
//   masked     averaged, with a fill value in a corner of the domain; a coarse cell with any filled fine cell
//   is filled special    averaged, with NaN, infinities and -0 sprinkled into uncovered and covered cells
//   alike constant   one value
// Further fields are as `averaged`.
enum Field : int { averaged, own, masked, special, constant };
inline constexpr int field_count = 5;
inline constexpr double fill_value = -999.0;

struct Shape {
  int dims = 3;
  DType dtype = DType::f64;
  int levels = 3;
  int box_cells = 8;     // edge of a box of levels 0 and 1
  bool one_box = false;  // level 0 in a single box
};

Hierarchy make_hierarchy(const Shape& shape);

// Covered cells are left out where the average serves: more of the writer is at work than by default.
inline WriteOptions leaving_out() {
  WriteOptions options;
  options.covered = Covered::automatic;
  return options;
}

// A rank's boxes with their values, held with a layer of ghosts that must not be written.
class OwnedBoxes {
 public:
  OwnedBoxes(const Hierarchy& hierarchy, const std::vector<std::vector<int>>& owner, int rank);
  const std::vector<LocalBox>& boxes() const { return boxes_; }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<LocalBox> boxes_;
};

// The same values read from a source; with layers of ghosts, whose values continue the fields. What it states
// of its ranges, and a box that it cannot read, are the test's.
class GeneratedSource : public PlotfileSource {
 public:
  explicit GeneratedSource(const Hierarchy& hierarchy, const IntVect& ghosts = {0, 0, 0});

  // By level, then component.
  void state(std::vector<std::pair<double, double>> ranges) { ranges_ = std::move(ranges); }
  void fail_at(int level, int box) { damaged_ = {level, box}; }
  // Of all reads so far.
  uint64_t values_read() const { return values_read_; }

  const Hierarchy& hierarchy() const override { return hierarchy_; }
  std::string kind() const override { return "generated"; }
  Status read_box(int level, int box, int component, std::byte* out) override;
  // Backwards, as no file would have them.
  uint64_t place(int level, int box) const override;
  std::optional<std::pair<double, double>> stated_range(int level, int component) const override;

 private:
  Hierarchy hierarchy_;
  std::vector<std::pair<double, double>> ranges_;
  std::optional<std::pair<int, int>> damaged_;
  uint64_t values_read_ = 0;
};

// A rank's boxes with the values of a source, ghosts in them.
class HeldFromSource {
 public:
  HeldFromSource(PlotfileSource& source, const IntVect& ghosts, int ranks, int rank);
  const std::vector<LocalBox>& boxes() const { return boxes_; }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<LocalBox> boxes_;
};

// All valid values of one component of a box, x fastest, as doubles (exact for f32).
std::vector<double> box_values(const Hierarchy& hierarchy, int level, int box, int component);
// The same out of a file's answer.
std::vector<double> widen(DType dtype, const std::vector<std::byte>& bytes);

int world_rank();
int world_size();
void barrier();

// A directory of this test, the same on all ranks, empty at first; removed by remove_directory.
std::string make_directory(const std::string& name);
void remove_directory(const std::string& path);
std::vector<std::string> list_directory(const std::string& path);
std::string read_file(const std::string& path);

// Every rank has the same text.
testing::AssertionResult same_on_all_ranks(const std::string& text);

}  // namespace neve::test
