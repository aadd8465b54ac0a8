// SPDX-License-Identifier: BSD-3-Clause
// Real data, cut small.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/amr/rect_box.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/fuzz/seeds/seeds.hpp"

namespace neve::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_seed_bytes = size_t{64} << 10;
constexpr uint64_t longest_side = 20;

// The corner of a C-contiguous array, at most `longest_side` along each dimension.
plotfile::NpyArray corner(const plotfile::NpyArray& whole) {
  plotfile::NpyArray part;
  part.dtype = whole.dtype;
  const size_t value_bytes = dtype_bytes(whole.dtype);
  uint64_t count = 1;
  for (const uint64_t size : whole.shape) {
    part.shape.push_back(std::min(size, longest_side));
    count *= part.shape.back();
  }
  part.values.resize(count * value_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t from = 0;
    uint64_t left = i;
    uint64_t stride = 1;
    for (size_t d = whole.shape.size(); d-- > 0;) {
      from += left % part.shape[d] * stride;
      left /= part.shape[d];
      stride *= whole.shape[d];
    }
    std::memcpy(part.values.data() + i * value_bytes, whole.values.data() + from * value_bytes, value_bytes);
  }
  return part;
}

// A part of a level around the first box of the next finer one, and that level's part within it.
Box region_of(const Hierarchy& h) {
  constexpr int32_t side = 12;
  Box region = h.levels.front().boxes.front();
  if (h.levels.size() > 1) {
    region.lo = coarsen(h.levels[1].boxes.front(), h.levels[0].ref_ratio).lo;
    for (int d = 0; d < h.dims; ++d) region.lo[d] -= 2;
  }
  for (int d = 0; d < h.dims; ++d) region.hi[d] = region.lo[d] + side - 1;
  return region;
}

SmallPlotfile cut(PlotfileSource& source, const std::string& name) {
  constexpr size_t max_components = 2;
  constexpr size_t max_levels = 2;
  SmallPlotfile small{name, source.hierarchy(), {}};
  Hierarchy& h = small.hierarchy;
  const Hierarchy& whole = source.hierarchy();
  h.side_files.clear();
  h.source_ghosts = {0, 0, 0};
  h.components.resize(std::min(h.components.size(), max_components));
  h.levels.resize(std::min(h.levels.size(), max_levels));
  const size_t value_bytes = dtype_bytes(h.dtype);
  Box region = region_of(whole);
  std::vector<std::byte> values;
  for (size_t l = 0; l < h.levels.size(); ++l) {
    Level& level = h.levels[l];
    level.boxes.clear();
    small.values.emplace_back();
    for (size_t b = 0; b < whole.levels[l].boxes.size(); ++b) {
      const Box& box = whole.levels[l].boxes[b];
      const Box part = intersect(box, region);
      if (part.empty()) continue;
      level.boxes.push_back(part);
      auto& out = small.values[l].emplace_back();
      const size_t part_bytes = static_cast<size_t>(part.cells()) * value_bytes;
      for (size_t c = 0; c < h.components.size(); ++c) {
        values.resize(static_cast<size_t>(box.cells()) * value_bytes);
        must(source.read_box(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c), values.data()),
             name);
        out.resize(out.size() + part_bytes);
        std::byte* const to = out.data() + c * part_bytes;
        amr::for_each_common_row(part, box, part, [&](size_t from, size_t at, size_t cells) {
          std::memcpy(to + at * value_bytes, values.data() + from * value_bytes, cells * value_bytes);
        });
      }
    }
    if (level.boxes.empty()) {
      h.levels.resize(l);
      small.values.resize(l);
      break;
    }
    region = refine(region, level.ref_ratio);
  }
  h.levels.back().ref_ratio = {1, 1, 1};
  return small;
}

// The cells of the lowest z of each level, in two dimensions.
SmallPlotfile flat(const SmallPlotfile& deep) {
  SmallPlotfile out = deep;
  out.name += "_2d";
  Hierarchy& h = out.hierarchy;
  h.dims = 2;
  int32_t z = deep.hierarchy.levels.front().boxes.front().lo[2];
  const size_t value_bytes = dtype_bytes(h.dtype);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    Level& level = h.levels[l];
    level.domain.lo[2] = level.domain.hi[2] = 0;
    std::vector<Box> boxes;
    std::vector<std::vector<std::byte>> values;
    for (size_t b = 0; b < level.boxes.size(); ++b) {
      const Box& box = level.boxes[b];
      if (z < box.lo[2] || z > box.hi[2]) continue;
      const size_t plane = static_cast<size_t>(box.size(0) * box.size(1)) * value_bytes;
      const size_t whole = plane * static_cast<size_t>(box.size(2));
      auto& to = values.emplace_back();
      for (size_t c = 0; c < h.components.size(); ++c) {
        const std::byte* const from =
            deep.values[l][b].data() + c * whole + plane * static_cast<size_t>(z - box.lo[2]);
        to.insert(to.end(), from, from + plane);
      }
      boxes.push_back(box);
      boxes.back().lo[2] = boxes.back().hi[2] = 0;
    }
    level.boxes = std::move(boxes);
    out.values[l] = std::move(values);
    z *= level.ref_ratio[2];
    level.ref_ratio[2] = 1;
    if (level.boxes.empty()) {
      h.levels.resize(l);
      out.values.resize(l);
      h.levels.back().ref_ratio = {1, 1, 1};
      break;
    }
  }
  return out;
}

}  // namespace

void must(const Status& status, const std::string& what) {
  if (status.ok()) return;
  std::fprintf(stderr, "make_seeds: %s: %s\n", what.c_str(), status.message().c_str());
  std::exit(1);
}

void Places::put(const std::string& target, const std::string& name, std::span<const std::byte> bytes) {
  if (bytes.size() > largest_seed_bytes) return;
  const fs::path path = out_ / target / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<NamedArray> real_arrays(const Places& places) {
  std::vector<NamedArray> arrays;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(places.shared() / "arrays", error)) {
    if (entry.path().extension() != ".npy") continue;
    arrays.push_back(
        {entry.path().stem().string(), corner(must(plotfile::read_npy(entry.path().string()), "array"))});
  }
  for (const SmallPlotfile& small : small_plotfiles(places)) {
    const Box& box = small.hierarchy.levels.front().boxes.front();
    plotfile::NpyArray array;
    array.dtype = small.hierarchy.dtype;
    for (int d = small.hierarchy.dims; d-- > 0;) array.shape.push_back(static_cast<uint64_t>(box.size(d)));
    const auto& values = small.values.front().front();
    const size_t bytes = static_cast<size_t>(box.cells()) * dtype_bytes(array.dtype);
    array.values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(bytes));
    arrays.push_back({small.name, std::move(array)});
  }
  return arrays;
}

std::vector<SmallPlotfile> small_plotfiles(const Places& places) {
  std::vector<SmallPlotfile> found;
  for (const fs::path& path :
       {places.checkout() / "samples" / "nyx_lya32_plt00113", places.shared() / "amr" / "cns_rt_plt00450",
        places.shared() / "chombo" / "explosion_density.000020.3d.hdf5",
        places.shared() / "chombo" / "ramp.000020.3d.hdf5"}) {
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    const auto source = must(open_plotfile(path.string()), path.string());
    found.push_back(cut(*source, path.stem().string()));
    if (found.back().hierarchy.dims == 3) found.push_back(flat(found.back()));
  }
  return found;
}

}  // namespace neve::fuzz
