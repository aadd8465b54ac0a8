// SPDX-License-Identifier: BSD-3-Clause
// A plotfile with layers of ghost cells as one whose boxes have them in them, so that what reads and compares
// plotfiles does so with ghosts.
#pragma once

#include "neve/hierarchy.hpp"

namespace neve::cli {

// Layers around every box of all levels that can be read: none of files other than HDF5. Errors: usage
// (levels differ).
Result<IntVect> stored_ghosts(const PlotfileSource& source);

// The most that the file has around the boxes of any level, by direction, whether or not they can be read.
IntVect widest_ghosts(const PlotfileSource& source);

class GrownSource : public PlotfileSource {
 public:
  // `ghosts`: stored_ghosts of `source`, which must outlive this.
  GrownSource(PlotfileSource& source, const IntVect& ghosts);
  const Hierarchy& hierarchy() const override { return hierarchy_; }
  Status read_box(int level, int box, int component, std::byte* out) override;
  Result<std::vector<uint8_t>> left_out(int level, int box, int component) override;
  // Without ghosts the source's own.
  Status read_components(int level, int box, int first, int count, std::byte* out) override;
  Result<bool> read_cells(int level, int box, int component, int64_t first, int64_t cells,
                          std::byte* out) override;
  std::optional<std::pair<double, double>> stated_range(int level, int component) const override {
    return source_.stated_range(level, component);
  }
  uint64_t place(int level, int box) const override { return source_.place(level, box); }
  void expect_all() override { source_.expect_all(); }
  std::string kind() const override { return source_.kind(); }

 private:
  PlotfileSource& source_;
  IntVect ghosts_;
  Hierarchy hierarchy_;
};

}  // namespace neve::cli
