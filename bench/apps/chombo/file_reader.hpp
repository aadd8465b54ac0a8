// SPDX-License-Identifier: BSD-3-Clause
// The benchmark's file, of either kind, read box by box through Neve's readers. Not collective.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "neve/checkpoint_reader.hpp"
#include "neve/plotfile_reader.hpp"

namespace neve::chombo {

class FileReader {
 public:
  // Corrupt where it has other boxes, levels or components than were written.
  static Result<FileReader> open(const Contents& contents, const Way& way, const WriteCase& how,
                                 const std::string& path);

  using Wants = std::function<bool(size_t level, size_t box)>;
  // `cells`: the box, with the ghosts that are read with it.
  using Visit = std::function<void(size_t level, const Box& cells, size_t component,
                                   const std::vector<double>& values)>;
  // All components of the boxes that are wanted.
  Status for_each_box(const Wants& wants, const Visit& visit);

 private:
  FileReader(const Contents& contents, const Way& way, const WriteCase& how)
      : contents_(&contents), way_(&way), how_(&how) {}
  Status read_box(size_t level, size_t box, const Visit& visit, std::vector<double>& values);

  const Contents* contents_;
  const Way* way_;
  const WriteCase* how_;
  std::unique_ptr<PlotfileSource> plotfile_;  // or
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace neve::chombo
