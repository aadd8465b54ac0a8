// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/amrex_header.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "core/amr/box_text.hpp"
#include "neve/limits.hpp"

namespace neve::plotfile {
namespace {

constexpr int64_t max_int = std::numeric_limits<int32_t>::max();
constexpr int64_t max_levels = 100;

Result<std::array<double, max_dims>> scan_reals(Scanner& in, std::string_view what, int dims, double fill) {
  std::array<double, max_dims> values;
  values.fill(fill);
  for (int d = 0; d < dims; ++d) {
    NEVE_ASSIGN(values[static_cast<size_t>(d)], in.real(what));
  }
  return values;
}

// The refinement from `coarse` to `fine` in each direction. Header gives one number for all, from which
// AMReX's readers take nothing: codes write that of the first direction or the largest.
Result<IntVect> ratio_between(const Box& coarse, const Box& fine, int dims, const IntVect& stated,
                              const std::string& where) {
  IntVect ratio{1, 1, 1};
  bool is_stated = false;
  for (int d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t found = coarse.empty() || fine.empty() ? 0 : fine.size(d) / coarse.size(d);
    if (found < 1 || found > max_int || fine.size(d) != found * coarse.size(d)) {
      return corrupt(fmt::format("{}: domain {} is not {} refined by a whole number in direction {}", where,
                                 amr::to_string(fine, dims), amr::to_string(coarse, dims), d));
    }
    ratio[i] = static_cast<int32_t>(found);
    is_stated = is_stated || found == stated[i];
  }
  if (!is_stated) {
    return corrupt(
        fmt::format("{}: domain {} is {} refined by {} in direction 0; the ratio in the file is {}", where,
                    amr::to_string(fine, dims), amr::to_string(coarse, dims), ratio[0], stated[0]));
  }
  return ratio;
}

// As AMReX reads a name: without the blanks around it.
std::string trimmed(const std::string& text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  const size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? std::string()
                                    : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// AMReX allows a name for several components and finds the first by it. Here names differ: "a", "a_2".
void tell_names_apart(PlotfileHeader& header) {
  std::vector<std::string>& names = header.hierarchy.components;
  std::unordered_set<std::string> taken(names.begin(), names.end());
  std::unordered_map<std::string, int> seen;
  for (size_t c = 0; c < names.size(); ++c) {
    const std::string name = names[c];
    int& count = seen[name];
    if (++count == 1) continue;
    while (!taken.insert(names[c] = fmt::format("{}_{}", name, count)).second) ++count;
    header.remarks.push_back(
        fmt::format("component {} is called '{}', as an earlier one; it becomes '{}'", c, name, names[c]));
  }
}

Status scan_names(Scanner& in, Hierarchy& h) {
  NEVE_TRY(in.line("version").status());
  NEVE_ASSIGN(const int64_t components, in.count("number of components", 1, 2));
  if (components > max_components) {
    return in.error(
        fmt::format("number of components is {}; at most {} are allowed", components, max_components));
  }
  NEVE_TRY(in.line("line break").status());
  for (int64_t c = 0; c < components; ++c) {
    NEVE_ASSIGN(const std::string name, in.line(fmt::format("name of component {}", c)));
    h.components.push_back(trimmed(name));
  }
  return {};
}

Status scan_geometry(Scanner& in, const std::string& name, Hierarchy& h) {
  NEVE_ASSIGN(const int64_t dims, in.integer("number of dimensions", 1, max_dims));
  h.dims = static_cast<int>(dims);
  NEVE_ASSIGN(h.time, in.real("time"));
  NEVE_ASSIGN(const int64_t finest, in.integer("finest level", 0, max_levels - 1));
  NEVE_ASSIGN(h.prob_lo, scan_reals(in, "low end of the domain", h.dims, 0));
  NEVE_ASSIGN(h.prob_hi, scan_reals(in, "high end of the domain", h.dims, 1));
  for (size_t d = 0; d < static_cast<size_t>(h.dims); ++d) {
    if (h.prob_hi[d] <= h.prob_lo[d]) {
      return in.error(fmt::format("the domain ends at {} in direction {}; it must lie above its begin, {}",
                                  h.prob_hi[d], d, h.prob_lo[d]));
    }
  }
  std::vector<IntVect> ratios;
  for (int64_t l = 0; l < finest; ++l) {
    const std::string what = fmt::format("refinement ratio of level {}", l);
    if (in.peek() == '(') {
      NEVE_ASSIGN(const IntVect ratio, in.int_vect(what, h.dims, 1, 1, max_int));
      ratios.push_back(ratio);
    } else {
      NEVE_ASSIGN(const int64_t ratio, in.integer(what, 1, max_int));
      IntVect all;
      all.fill(static_cast<int32_t>(ratio));
      ratios.push_back(all);
    }
  }
  h.levels.resize(static_cast<size_t>(finest) + 1);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    NEVE_ASSIGN(h.levels[l].domain, in.box(fmt::format("domain of level {}", l), h.dims));
  }
  for (size_t l = 0; l + 1 < h.levels.size(); ++l) {
    NEVE_ASSIGN(h.levels[l].ref_ratio,
                ratio_between(h.levels[l].domain, h.levels[l + 1].domain, h.dims, ratios[l], name));
  }
  for (size_t l = 0; l < h.levels.size(); ++l) {
    NEVE_ASSIGN(const int64_t step, in.integer(fmt::format("step of level {}", l), -max_int, max_int));
    h.levels[l].step = static_cast<int32_t>(step);
  }
  for (size_t l = 0; l < h.levels.size(); ++l) {
    NEVE_ASSIGN(h.levels[l].dx, scan_reals(in, fmt::format("cell size of level {}", l), h.dims, 1));
  }
  NEVE_ASSIGN(const int64_t coord_sys, in.integer("coordinate system", 0, 2));
  h.coord_sys = static_cast<int>(coord_sys);
  return in.integer("boundary width", 0, max_int).status();
}

Status scan_level(Scanner& in, size_t l, PlotfileHeader& header) {
  Hierarchy& h = header.hierarchy;
  constexpr int64_t min_bytes_per_direction = 4;  // "0 1\n"
  NEVE_TRY(in.integer("level", static_cast<int64_t>(l), static_cast<int64_t>(l)).status());
  NEVE_ASSIGN(const int64_t boxes,
              in.count(fmt::format("number of boxes of level {}", l), 1, min_bytes_per_direction * h.dims));
  NEVE_ASSIGN(h.levels[l].time, in.real(fmt::format("time of level {}", l)));
  NEVE_TRY(in.integer(fmt::format("step of level {}", l), -max_int, max_int).status());
  std::vector<Region> regions(static_cast<size_t>(boxes));
  for (Region& region : regions) {
    for (size_t d = 0; d < static_cast<size_t>(h.dims); ++d) {
      NEVE_ASSIGN(region.lo[d], in.real("low end of a box"));
      NEVE_ASSIGN(region.hi[d], in.real("high end of a box"));
    }
  }
  header.regions.push_back(std::move(regions));
  NEVE_ASSIGN(std::string path, in.word(fmt::format("path of level {}", l)));
  header.fab_paths.push_back(std::move(path));
  return {};
}

// A path that stays inside the directory it is relative to: a damaged header must not lead elsewhere.
bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/') return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (path.compare(begin, end - begin, "..") == 0) return false;
    begin = end + 1;
  }
  return true;
}

Status scan_boxes(Scanner& in, int dims, FabArrayHeader& header) {
  constexpr int64_t min_bytes_per_box = 13;  // "((0)(0)(0)) " and a line break
  NEVE_TRY(in.expect('(', "box list"));
  NEVE_ASSIGN(const int64_t boxes, in.count("number of boxes", 1, min_bytes_per_box));
  NEVE_TRY(in.integer("hash of the box list", -max_int - 1, std::numeric_limits<int64_t>::max()).status());
  header.boxes.reserve(static_cast<size_t>(boxes));
  for (int64_t i = 0; i < boxes; ++i) {
    NEVE_ASSIGN(const Box box, in.box(fmt::format("box {}", i), dims));
    header.boxes.push_back(box);
  }
  return in.expect(')', "box list");
}

Status scan_places(Scanner& in, FabArrayHeader& header) {
  const auto boxes = static_cast<int64_t>(header.boxes.size());
  NEVE_TRY(in.integer("number of FABs", boxes, boxes).status());
  std::unordered_map<std::string, int> index;
  for (int64_t i = 0; i < boxes; ++i) {
    NEVE_ASSIGN(const std::string tag, in.word(fmt::format("place of box {}", i)));
    if (tag != "FabOnDisk:")
      return in.error(fmt::format("place of box {} begins with '{}'; 'FabOnDisk:' is allowed", i, tag));
    NEVE_ASSIGN(const std::string file, in.word(fmt::format("file of box {}", i)));
    if (!stays_inside(file)) {
      return in.error(fmt::format(
          "file of box {} is '{}'; only a path inside the level's directory is allowed", i, file));
    }
    NEVE_ASSIGN(const int64_t offset,
                in.integer(fmt::format("offset of box {}", i), 0, std::numeric_limits<int64_t>::max()));
    const auto [entry, is_new] = index.emplace(file, static_cast<int>(header.files.size()));
    if (is_new) header.files.push_back(file);
    header.file_of_box.push_back(entry->second);
    header.offsets.push_back(offset);
  }
  return {};
}

// A number of each component, with a comma behind it, into what the boxes before have; `is_better` picks one
// of two.
template <class IsBetter>
Status merge_row(Scanner& in, std::string_view what, const IsBetter& is_better, std::vector<double>& merged) {
  for (double& kept : merged) {
    NEVE_ASSIGN(const double value, in.real(what));
    NEVE_TRY(in.expect(',', what));
    if (std::isnan(kept) || is_better(value, kept)) kept = value;
  }
  return {};
}

// "rows,columns" and that many rows, of which only what they come to is kept.
template <class IsBetter>
Status merge_table(Scanner& in, std::string_view what, size_t boxes, const IsBetter& is_better,
                   std::vector<double>& merged) {
  const auto rows = static_cast<int64_t>(boxes);
  const auto columns = static_cast<int64_t>(merged.size());
  NEVE_TRY(in.integer(fmt::format("rows of the {}", what), rows, rows).status());
  NEVE_TRY(in.expect(',', what));
  NEVE_TRY(in.integer(fmt::format("columns of the {}", what), columns, columns).status());
  for (int64_t i = 0; i < rows; ++i) NEVE_TRY(merge_row(in, what, is_better, merged));
  return {};
}

Status scan_extremes(Scanner& in, FabArrayHeader& header) {
  constexpr int one_row_version = 4;
  if (header.version == 2) return {};
  header.min.assign(static_cast<size_t>(header.components), std::numeric_limits<double>::quiet_NaN());
  header.max = header.min;
  if (header.version == one_row_version) {
    NEVE_TRY(merge_row(in, "minima", std::less<>(), header.min));
    return merge_row(in, "maxima", std::greater<>(), header.max);
  }
  NEVE_TRY(merge_table(in, "minima", header.boxes.size(), std::less<>(), header.min));
  return merge_table(in, "maxima", header.boxes.size(), std::greater<>(), header.max);
}

}  // namespace

Result<PlotfileHeader> parse_plotfile_header(std::string_view text, const std::string& name) {
  Scanner in(text, name);
  PlotfileHeader header;
  NEVE_TRY(scan_names(in, header.hierarchy));
  tell_names_apart(header);
  NEVE_TRY(scan_geometry(in, name, header.hierarchy));
  for (size_t l = 0; l < header.hierarchy.levels.size(); ++l) {
    NEVE_TRY(scan_level(in, l, header));
    if (!stays_inside(header.fab_paths.back())) {
      return in.error(fmt::format("path of level {} is '{}'; only a path inside the plotfile is allowed", l,
                                  header.fab_paths.back()));
    }
  }
  return header;
}

Result<FabArrayHeader> parse_fab_array_header(std::string_view text, const std::string& name, int dims) {
  constexpr int last_version = 4;
  Scanner in(text, name);
  FabArrayHeader header;
  NEVE_ASSIGN(const int64_t version, in.integer("version", 1, last_version));
  header.version = static_cast<int>(version);
  NEVE_TRY(in.integer("way of writing", 0, 1).status());
  NEVE_ASSIGN(const int64_t components, in.integer("number of components", 1, max_components));
  header.components = static_cast<int>(components);
  if (in.peek() == '(') {
    NEVE_ASSIGN(header.ghosts, in.int_vect("number of ghost cells", dims, 0, 0, max_ghosts));
  } else {
    NEVE_ASSIGN(const int64_t ghosts, in.integer("number of ghost cells", 0, max_ghosts));
    for (int d = 0; d < dims; ++d) header.ghosts[static_cast<size_t>(d)] = static_cast<int32_t>(ghosts);
  }
  NEVE_TRY(scan_boxes(in, dims, header));
  NEVE_TRY(scan_places(in, header));
  NEVE_TRY(scan_extremes(in, header));
  if (version > 1) {
    NEVE_ASSIGN(header.real_format, scan_real_format(in));
  }
  return header;
}

Result<FabHeader> parse_fab_header(std::string_view line, const std::string& name, int dims) {
  Scanner in(line, name);
  FabHeader header;
  for (char c : {'F', 'A', 'B'}) NEVE_TRY(in.expect(c, "the word FAB"));
  if (in.peek() == ':') {
    // BoxLib's first form: "FAB: format precision machine box components". Its IEEE data is big-endian.
    enum : int64_t { ascii = 0, ieee = 1, last_format = 5 };
    enum : int64_t { float_precision = 0, double_precision = 1 };
    NEVE_TRY(in.expect(':', "FAB"));
    NEVE_ASSIGN(const int64_t format, in.integer("FAB format", ascii, last_format));
    NEVE_ASSIGN(const int64_t precision, in.integer("FAB precision", float_precision, double_precision));
    NEVE_TRY(in.word("machine").status());
    if (format != ieee) {
      return usage_error(
          fmt::format("{}: FAB format is {} (0 ASCII, 2 native, 3 8-bit, 4 and 5 32-bit); of the forms that "
                      "begin with 'FAB:' only 1 (IEEE) is read",
                      name, format));
    }
    header.format = {precision == float_precision ? DType::f32 : DType::f64, true};
  } else {
    NEVE_ASSIGN(header.format, scan_real_format(in));
  }
  NEVE_ASSIGN(header.box, in.box("FAB box", dims));
  NEVE_ASSIGN(const int64_t components, in.integer("number of components", 1, max_components));
  header.components = static_cast<int>(components);
  return header;
}

}  // namespace neve::plotfile
