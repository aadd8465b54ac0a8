// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/file_reader.hpp"

#include <fmt/format.h>

#include "core/amr/grow.hpp"

namespace neve::chombo {
namespace {

Status check_same_boxes(const Hierarchy& found, const Hierarchy& written, const std::string& path) {
  if (found.levels.size() != written.levels.size() || found.components != written.components)
    return corrupt(path + ": not the levels and components that were written");
  for (size_t l = 0; l < found.levels.size(); ++l) {
    if (found.levels[l].boxes != written.levels[l].boxes)
      return corrupt(fmt::format("{}: not the boxes of level {} that were written", path, l));
  }
  return {};
}

}  // namespace

Result<FileReader> FileReader::open(const Contents& contents, const Way& way, const WriteCase& how,
                                    const std::string& path) {
  FileReader reader(contents, way, how);
  if (contents.file() == FileKind::plot) {
    NEVE_ASSIGN(reader.plotfile_, open_plotfile(path));
    NEVE_TRY(check_same_boxes(reader.plotfile_->hierarchy(), contents.hierarchy(), path));
  } else {
    NEVE_ASSIGN(reader.checkpoint_, open_checkpoint(path));
    NEVE_TRY(check_same_boxes(reader.checkpoint_->hierarchy(), contents.hierarchy(), path));
  }
  return reader;
}

Status FileReader::for_each_box(const Wants& wants, const Visit& visit) {
  std::vector<double> values;
  const std::vector<Level>& levels = contents_->hierarchy().levels;
  for (size_t l = 0; l < levels.size(); ++l) {
    for (size_t b = 0; b < levels[l].boxes.size(); ++b) {
      if (wants(l, b)) NEVE_TRY(read_box(l, b, visit, values));
    }
  }
  return {};
}

Status FileReader::read_box(size_t l, size_t b, const Visit& visit, std::vector<double>& values) {
  const Box& box = contents_->hierarchy().levels[l].boxes[b];
  const auto level = static_cast<int>(l), number = static_cast<int>(b);
  const bool is_plot = plotfile_ != nullptr;
  for (size_t g = 0; g < contents_->groups().size(); ++g) {
    const Group& group = contents_->groups()[g];
    // A plotfile's reader gives the valid cells.
    const Box cells = is_plot ? box : amr::grow(box, ghosts_in_file(*way_, *how_, group.variable.ghosts));
    values.resize(static_cast<size_t>(cells.cells()));
    auto* const out = reinterpret_cast<std::byte*>(values.data());
    for (int c = 0; c < static_cast<int>(group.variable.components.size()); ++c) {
      NEVE_TRY(is_plot ? plotfile_->read_box(level, number, c, out)
                       : checkpoint_->read_box(static_cast<int>(g), level, number, c, out));
      visit(l, cells, static_cast<size_t>(group.first_component + c), values);
    }
  }
  return {};
}

}  // namespace neve::chombo
