// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/amrex_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "core/amr/box_text.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/scanner.hpp"

namespace neve::plotfile {
namespace {

constexpr int short_digits = 15;
constexpr int exact_digits = 17;
// FABs are copied and written in pieces of this size.
constexpr int64_t write_piece_bytes = int64_t{4} << 20;

std::string number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

bool survives(double value, int digits) {
  return std::isnan(value) || std::strtod(number(value, digits).c_str(), nullptr) == value;
}

int digits_of(const Hierarchy& h) {
  std::vector<double> values{h.time};
  for (size_t d = 0; d < static_cast<size_t>(h.dims); ++d) {
    values.push_back(h.prob_lo[d]);
    values.push_back(h.prob_hi[d]);
  }
  for (const Level& level : h.levels) {
    values.push_back(level.time);
    for (size_t d = 0; d < static_cast<size_t>(h.dims); ++d) values.push_back(level.dx[d]);
  }
  const bool all =
      std::all_of(values.begin(), values.end(), [](double v) { return survives(v, short_digits); });
  return all ? short_digits : exact_digits;
}

// The cell size from which box positions are computed. A dx that was read from 15 digits has lost bits that
// matter in positions far from the origin; where domain and box count give the same digits, they give back
// those bits.
double exact_dx(const Hierarchy& h, const Level& level, size_t d, int digits) {
  const double from_domain =
      (h.prob_hi[d] - h.prob_lo[d]) / static_cast<double>(level.domain.size(static_cast<int>(d)));
  return number(from_domain, digits) == number(level.dx[d], digits) ? from_domain : level.dx[d];
}

// Values separated and followed by a space.
template <class Values, class Text>
std::string spaced(const Values& values, size_t count, Text&& text) {
  std::string line;
  for (size_t i = 0; i < count; ++i) line += text(values[i]) + " ";
  return line + "\n";
}

// "rows,columns", the rows, each number with a comma behind it, and an empty line.
void append_table(const Hierarchy& h, std::span<const FabExtremes> extremes,
                  std::vector<double> FabExtremes::*values, std::string& text) {
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "{},{}\n", extremes.size(), h.components.size());
  for (const FabExtremes& row : extremes) {
    for (double v : row.*values) fmt::format_to(end, "{:.17e},", v);
    text += "\n";
  }
  text += "\n";
}

// The extremes of all values but NaN, in lanes that a compiler makes vectors of; nothing (smallest above
// largest) where all are NaN. Which zero of two stands for both is left open.
template <class T>
std::pair<T, T> lane_extremes(const T* values, uint64_t count) {
  constexpr size_t lanes = 8;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::array<T, lanes> low, high;
  low.fill(infinity);
  high.fill(-infinity);
  uint64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (size_t l = 0; l < lanes; ++l) {
      low[l] = values[i + l] < low[l] ? values[i + l] : low[l];
      high[l] = values[i + l] > high[l] ? values[i + l] : high[l];
    }
  }
  for (; i < count; ++i) {
    low[0] = values[i] < low[0] ? values[i] : low[0];
    high[0] = values[i] > high[0] ? values[i] : high[0];
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

// Values that follow each other, into the extremes of those before them. Of equal values (zeros of both
// signs) the first stays.
template <class T>
void merge_run(const T* values, uint64_t count, double& min, double& max) {
  auto smallest = static_cast<T>(min);
  auto largest = static_cast<T>(max);
  const auto [low, high] = lane_extremes(values, count);
  if (low > high) return;
  if (low != 0 && high != 0) {
    if (!(low >= smallest)) min = static_cast<double>(low);
    if (!(high <= largest)) max = static_cast<double>(high);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    // NaN compares false, so the negated forms replace a NaN kept from the start and never take one in.
    if (!(values[i] >= smallest) && !std::isnan(values[i])) smallest = values[i];
    if (!(values[i] <= largest) && !std::isnan(values[i])) largest = values[i];
  }
  min = static_cast<double>(smallest);
  max = static_cast<double>(largest);
}

template <class T>
void extremes_of(const Box& box, const T* values, const BoxData& data, double& min, double& max) {
  min = max = std::numeric_limits<double>::quiet_NaN();
  for (int64_t z = 0; z < box.size(2); ++z) {
    for (int64_t y = 0; y < box.size(1); ++y) {
      const T* row = values + z * data.stride[2] + y * data.stride[1];
      merge_run(row, static_cast<uint64_t>(box.size(0)), min, max);
    }
  }
}

}  // namespace

std::string level_directory(int level) { return fmt::format("Level_{}", level); }

std::string fab_array_header_path(int level) { return level_directory(level) + "/Cell_H"; }

std::vector<std::vector<FabPlace>> plan_fabs(const Hierarchy& hierarchy,
                                             const std::vector<std::vector<int>>& owner) {
  std::vector<std::vector<FabPlace>> places(hierarchy.levels.size());
  for (size_t l = 0; l < hierarchy.levels.size(); ++l) {
    std::map<int, int64_t> end_of_file;
    for (size_t i = 0; i < hierarchy.levels[l].boxes.size(); ++i) {
      int64_t& end = end_of_file[owner[l][i]];
      places[l].push_back({fmt::format("Cell_D_{:05d}", owner[l][i]), end});
      end += fab_bytes(hierarchy, hierarchy.levels[l].boxes[i]);
    }
  }
  return places;
}

std::string fab_header_text(const Hierarchy& hierarchy, const Box& box) {
  return fmt::format("FAB {}{} {}\n", native_real_format_text(hierarchy.dtype),
                     amr::to_string(box, hierarchy.dims), hierarchy.components.size());
}

int64_t fab_bytes(const Hierarchy& hierarchy, const Box& box) {
  return static_cast<int64_t>(fab_header_text(hierarchy, box).size()) +
         box.cells() * static_cast<int64_t>(hierarchy.components.size() * dtype_bytes(hierarchy.dtype));
}

Status write_fab(int fd, const std::string& name, int64_t offset_bytes, const Hierarchy& hierarchy,
                 const Box& box, const BoxData& data) {
  const auto value_size = static_cast<int64_t>(dtype_bytes(hierarchy.dtype));
  const auto row_bytes = static_cast<size_t>(box.size(0) * value_size);
  const auto* values = static_cast<const std::byte*>(data.data);
  std::vector<std::byte> piece;
  const std::string header = fab_header_text(hierarchy, box);
  const auto header_bytes = std::as_bytes(std::span(header));
  piece.assign(header_bytes.begin(), header_bytes.end());
  int64_t at = offset_bytes;
  const auto flush = [&]() -> Status {
    NEVE_TRY(write_fully(fd, at, piece, name));
    at += static_cast<int64_t>(piece.size());
    piece.clear();
    return {};
  };
  for (size_t c = 0; c < hierarchy.components.size(); ++c) {
    for (int64_t z = 0; z < box.size(2); ++z) {
      for (int64_t y = 0; y < box.size(1); ++y) {
        const int64_t first =
            data.component_begin(static_cast<int>(c)) + z * data.stride[2] + y * data.stride[1];
        const std::byte* row = values + first * value_size;
        piece.insert(piece.end(), row, row + row_bytes);
        if (static_cast<int64_t>(piece.size()) >= write_piece_bytes) NEVE_TRY(flush());
      }
    }
  }
  return flush();
}

Status write_fab_run(int fd, const std::string& name, int64_t offset_bytes, const Hierarchy& hierarchy,
                     const Box& box, uint64_t first, uint64_t count, const std::byte* values) {
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  const std::string header = fab_header_text(hierarchy, box);
  const std::span<const std::byte> run(values, count * value_bytes);
  const int64_t values_begin = offset_bytes + static_cast<int64_t>(header.size());
  if (first > 0) return write_fully(fd, values_begin + static_cast<int64_t>(first * value_bytes), run, name);
  return files::write_fully(fd, offset_bytes, std::as_bytes(std::span(header)), run, name);
}

void merge_extremes(const Hierarchy& hierarchy, int component, uint64_t cells, const std::byte* values,
                    FabExtremes& extremes) {
  if (extremes.min.empty()) {
    extremes.min.assign(hierarchy.components.size(), std::numeric_limits<double>::quiet_NaN());
    extremes.max = extremes.min;
  }
  const auto c = static_cast<size_t>(component);
  if (hierarchy.dtype == DType::f32) {
    merge_run(reinterpret_cast<const float*>(values), cells, extremes.min[c], extremes.max[c]);
  } else {
    merge_run(reinterpret_cast<const double*>(values), cells, extremes.min[c], extremes.max[c]);
  }
}

FabExtremes fab_extremes(const Hierarchy& hierarchy, const Box& box, const BoxData& data) {
  FabExtremes result;
  result.min.resize(hierarchy.components.size());
  result.max.resize(hierarchy.components.size());
  for (size_t c = 0; c < hierarchy.components.size(); ++c) {
    const int64_t first = data.component_begin(static_cast<int>(c));
    if (hierarchy.dtype == DType::f32) {
      extremes_of(box, static_cast<const float*>(data.data) + first, data, result.min[c], result.max[c]);
    } else {
      extremes_of(box, static_cast<const double*>(data.data) + first, data, result.min[c], result.max[c]);
    }
  }
  return result;
}

std::string plotfile_header_text(const Hierarchy& h) {
  const int digits = digits_of(h);
  const auto dims = static_cast<size_t>(h.dims);
  const auto real = [digits](double v) { return number(v, digits); };
  std::string text = fmt::format("HyperCLaw-V1.1\n{}\n", h.components.size());
  for (const std::string& name : h.components) text += name + "\n";
  text += fmt::format("{}\n{}\n{}\n", h.dims, real(h.time), h.levels.size() - 1);
  text += spaced(h.prob_lo, dims, real) + spaced(h.prob_hi, dims, real);
  text +=
      spaced(h.levels, h.levels.size() - 1, [](const Level& l) { return std::to_string(l.ref_ratio[0]); });
  text += spaced(h.levels, h.levels.size(), [&](const Level& l) { return amr::to_string(l.domain, h.dims); });
  text += spaced(h.levels, h.levels.size(), [](const Level& l) { return std::to_string(l.step); });
  for (const Level& level : h.levels) text += spaced(level.dx, dims, real);
  constexpr int boundary_width = 0;
  text += fmt::format("{}\n{}\n", h.coord_sys, boundary_width);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const Level& level = h.levels[l];
    text += fmt::format("{} {} {}\n{}\n", l, level.boxes.size(), real(level.time), level.step);
    std::array<double, max_dims> dx{};
    for (size_t d = 0; d < dims; ++d) dx[d] = exact_dx(h, level, d, digits);
    for (const Box& box : level.boxes) {
      for (size_t d = 0; d < dims; ++d) {
        const int64_t first = level.domain.lo[d];  // its corner is prob_lo
        text += fmt::format("{} {}\n", real(h.prob_lo[d] + dx[d] * (box.lo[d] - first)),
                            real(h.prob_lo[d] + dx[d] * (box.hi[d] - first + 1)));
      }
    }
    text += level_directory(static_cast<int>(l)) + "/Cell\n";
  }
  return text;
}

std::string fab_array_header_text(const Hierarchy& hierarchy, int level, std::span<const FabPlace> places,
                                  std::span<const FabExtremes> extremes) {
  constexpr int version = 1;
  constexpr int several_files = 1;
  constexpr int ghosts = 0;
  const std::vector<Box>& boxes = hierarchy.levels[static_cast<size_t>(level)].boxes;
  // At once: to grow it would take several times its memory, where boxes are small and many.
  constexpr size_t of_a_box = 80, of_a_number = 25;
  std::string text;
  text.reserve(boxes.size() * (of_a_box + 2 * hierarchy.components.size() * of_a_number));
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "{}\n{}\n{}\n{}\n({} 0\n", version, several_files, hierarchy.components.size(), ghosts,
                 boxes.size());
  for (const Box& box : boxes) text += amr::to_string(box, hierarchy.dims) + "\n";
  fmt::format_to(end, ")\n{}\n", places.size());
  for (const FabPlace& place : places)
    fmt::format_to(end, "FabOnDisk: {} {}\n", place.file, place.offset_bytes);
  text += "\n";
  append_table(hierarchy, extremes, &FabExtremes::min, text);
  append_table(hierarchy, extremes, &FabExtremes::max, text);
  return text;
}

Status check_side_file_name(const std::string& name) {
  const bool is_piece = name == "Header" || name.starts_with("Level_");
  const bool is_plain = !name.empty() && name != "." && name != ".." &&
                        name.find_first_of(std::string("/\0", 2)) == std::string::npos;
  if (is_plain && !is_piece) return {};
  return usage_error(fmt::format(
      "side file is called '{}'; a plain file name other than Header and Level_* is allowed", name));
}

}  // namespace neve::plotfile
