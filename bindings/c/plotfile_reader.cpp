// SPDX-License-Identifier: BSD-3-Clause
// neve/plotfile_reader.h.
#include "neve/plotfile_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/c/box_memory.hpp"
#include "bindings/c/hierarchy.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/open_flags.hpp"
#include "core/threads/scratch.hpp"
#include "neve/plotfile_reader.hpp"

struct neve_plotfile {
  std::unique_ptr<neve::PlotfileSource> source;
  neve_hierarchy hierarchy;
  std::string kind;
  std::optional<std::vector<std::string>> left_behind, remarks;  // once they are asked for
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;

Status check_open(const neve_plotfile* plotfile) {
  return plotfile != nullptr ? Status() : usage_error("plotfile is NULL");
}

Status open(const char* path, int flags, neve_plotfile** out) {
  if (out == nullptr) return usage_error("plotfile is NULL");
  *out = nullptr;
  NEVE_ASSIGN(const neve::OpenOptions options, neve::capi::read_open_flags(path, flags));
  auto opened = std::make_unique<neve_plotfile>();
  NEVE_ASSIGN(opened->source, neve::open_plotfile(path, options));
  opened->hierarchy.description = opened->source->hierarchy();
  opened->kind = opened->source->kind();
  *out = opened.release();
  return {};
}

Status read_box(neve_plotfile* plotfile, int level, int box, int component,
                const neve::capi::BoxMemory& memory) {
  NEVE_TRY(check_open(plotfile));
  return neve::capi::fill_box(
      plotfile->hierarchy.description, level, box, {0, 0, 0}, memory,
      [&](std::byte* out) { return plotfile->source->read_box(level, box, component, out); });
}

Status read_cells(neve_plotfile* plotfile, int level, int box, int component, uint64_t first, uint64_t count,
                  void* values) {
  NEVE_TRY(check_open(plotfile));
  const neve::Hierarchy& h = plotfile->hierarchy.description;
  NEVE_ASSIGN(const neve::Box* const of, neve::capi::box_of(h, level, box));
  const auto cells = static_cast<uint64_t>(of->cells());
  if (first > cells || count > cells - first) {
    return usage_error(fmt::format("{} cells from {} on asked for of box {} of level {}, which has {}", count,
                                   first, box, level, cells));
  }
  if (values == nullptr && count > 0) return usage_error("values is NULL");
  const size_t value_bytes = neve::dtype_bytes(h.dtype);
  if (count > 0) {
    NEVE_ASSIGN(const bool is_read,
                plotfile->source->read_cells(level, box, component, static_cast<int64_t>(first),
                                             static_cast<int64_t>(count), static_cast<std::byte*>(values)));
    if (is_read) return {};
  }
  // Also of no cells, so that a component that does not exist is told.
  neve::RawVector<std::byte> whole(cells * value_bytes);
  NEVE_TRY(plotfile->source->read_box(level, box, component, whole.data()));
  if (count > 0) std::memcpy(values, whole.data() + first * value_bytes, count * value_bytes);
  return {};
}

Status left_out(neve_plotfile* plotfile, int level, int box, int component, unsigned char* marks, int* any) {
  NEVE_TRY(check_open(plotfile));
  NEVE_ASSIGN(const neve::Box* const of, neve::capi::box_of(plotfile->hierarchy.description, level, box));
  if (marks == nullptr) return usage_error("marks is NULL");
  NEVE_ASSIGN(const std::vector<uint8_t> found, plotfile->source->left_out(level, box, component));
  if (found.empty()) {
    std::memset(marks, 0, static_cast<size_t>(of->cells()));
  } else {
    std::copy(found.begin(), found.end(), marks);
  }
  if (any != nullptr) *any = std::count(found.begin(), found.end(), uint8_t{0}) < std::ssize(found) ? 1 : 0;
  return {};
}

Status stated_range(const neve_plotfile* plotfile, int level, int component, double* min, double* max,
                    int* is_stated) {
  NEVE_TRY(check_open(plotfile));
  const neve::Hierarchy& h = plotfile->hierarchy.description;
  NEVE_TRY(neve::capi::level_of(h, level).status());
  NEVE_TRY(neve::capi::check_component(h.components, component));
  if (min == nullptr || max == nullptr || is_stated == nullptr) {
    return usage_error("min, max or is_stated is NULL");
  }
  const auto range = plotfile->source->stated_range(level, component);
  *is_stated = range ? 1 : 0;
  if (range) {
    *min = range->first;
    *max = range->second;
  }
  return {};
}

// One of the texts that `all` says, kept in `told`. Null where there is none.
template <class All>
const char* tell_text(neve_plotfile* plotfile, const char* what,
                      std::optional<std::vector<std::string>> neve_plotfile::*told, int number,
                      const All& all) {
  const char* text = nullptr;
  (void)reported([&]() -> Status {
    NEVE_TRY(check_open(plotfile));
    if (!(plotfile->*told)) plotfile->*told = all(*plotfile->source);
    const std::vector<std::string>& texts = *(plotfile->*told);
    if (number < 0 || static_cast<size_t>(number) >= texts.size()) {
      return usage_error(fmt::format("{} {} asked for; there are {}", what, number, texts.size()));
    }
    text = texts[static_cast<size_t>(number)].c_str();
    return {};
  });
  return text;
}

}  // namespace

int neve_plotfile_open(const char* path, int flags, neve_plotfile** plotfile) {
  return reported([&] { return open(path, flags, plotfile); });
}

void neve_plotfile_close(neve_plotfile* plotfile) { delete plotfile; }

const neve_hierarchy* neve_plotfile_hierarchy(const neve_plotfile* plotfile) {
  return reported([&] { return check_open(plotfile); }) == 0 ? &plotfile->hierarchy : nullptr;
}

const char* neve_plotfile_kind(const neve_plotfile* plotfile) {
  return reported([&] { return check_open(plotfile); }) == 0 ? plotfile->kind.c_str() : nullptr;
}

int neve_plotfile_read_box(neve_plotfile* plotfile, int level, int box, int component, void* values,
                           int ghosts, long long stride_y, long long stride_z) {
  return reported([&] {
    return read_box(plotfile, level, box, component, {values, ghosts, stride_y, stride_z});
  });
}

int neve_plotfile_read_cells(neve_plotfile* plotfile, int level, int box, int component, uint64_t first,
                             uint64_t count, void* values) {
  return reported([&] { return read_cells(plotfile, level, box, component, first, count, values); });
}

int neve_plotfile_left_out(neve_plotfile* plotfile, int level, int box, int component, unsigned char* marks,
                           int* any) {
  return reported([&] { return left_out(plotfile, level, box, component, marks, any); });
}

int neve_plotfile_range(const neve_plotfile* plotfile, int level, int component, double* min, double* max,
                        int* is_stated) {
  return reported([&] { return stated_range(plotfile, level, component, min, max, is_stated); });
}

int neve_plotfile_expect_all(neve_plotfile* plotfile) {
  return reported([&]() -> Status {
    NEVE_TRY(check_open(plotfile));
    plotfile->source->expect_all();
    return {};
  });
}

int neve_plotfile_place(const neve_plotfile* plotfile, int level, int box, uint64_t* place) {
  return reported([&]() -> Status {
    NEVE_TRY(check_open(plotfile));
    NEVE_TRY(neve::capi::box_of(plotfile->hierarchy.description, level, box).status());
    if (place == nullptr) return usage_error("place is NULL");
    *place = plotfile->source->place(level, box);
    return {};
  });
}

const char* neve_plotfile_left_behind(neve_plotfile* plotfile, int number) {
  return tell_text(plotfile, "part left behind", &neve_plotfile::left_behind, number,
                   [](const neve::PlotfileSource& source) { return source.left_behind(); });
}

const char* neve_plotfile_remark(neve_plotfile* plotfile, int number) {
  return tell_text(plotfile, "remark", &neve_plotfile::remarks, number,
                   [](const neve::PlotfileSource& source) { return source.remarks(); });
}
