// SPDX-License-Identifier: BSD-3-Clause
// A source as a conversion hands it to a writer: its errors name the file, its boxes have the order of what
// is written, and the time in it is measured.
#pragma once

#include <string>
#include <vector>

#include "neve/hierarchy.hpp"

namespace neve::cli {

class SourceToWrite : public PlotfileSource {
 public:
  // `source` must outlive it. `path` is its file, for messages.
  SourceToWrite(PlotfileSource& source, std::string path);

  // Boxes in the order in which Chombo wants them in a file: its reader sorts them and takes what it finds in
  // that order.
  void sort_as_chombo();

  double seconds() const { return seconds_; }  // in all reads so far

  const Hierarchy& hierarchy() const override { return hierarchy_; }
  Status read_box(int level, int box, int component, std::byte* out) override;
  Status read_components(int level, int box, int first, int count, std::byte* out) override;
  Result<bool> read_cells(int level, int box, int component, int64_t first, int64_t cells,
                          std::byte* out) override;
  uint64_t place(int level, int box) const override { return source_.place(level, number(level, box)); }
  void expect_all() override { source_.expect_all(); }
  std::optional<std::pair<double, double>> stated_range(int level, int component) const override {
    return source_.stated_range(level, component);
  }
  std::string kind() const override { return source_.kind(); }

 private:
  template <class Read>
  auto timed(const Read& read) -> decltype(read());
  int number(int level, int box) const;  // of the source

  PlotfileSource& source_;
  std::string path_;
  Hierarchy hierarchy_;
  std::vector<std::vector<int>> order_;  // by level, then box; empty: that of the source
  double seconds_ = 0;
};

}  // namespace neve::cli
