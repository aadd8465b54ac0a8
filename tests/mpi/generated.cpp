// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/generated.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/amr/grow.hpp"

namespace neve::test {
namespace {

namespace fs = std::filesystem;
constexpr int ghosts = 1;

// An integer scramble: the same pseudo-random bits on every rank.
uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double smooth(const Level& level, const IntVect& cell) {
  double sum = 0;
  for (size_t d = 0; d < max_dims; ++d) {
    const double x = (cell[d] + 0.5) * level.dx[d];
    sum += std::sin(6.0 * x + static_cast<double>(d)) * (1.0 + static_cast<double>(d));
  }
  return 10.0 + sum;
}

uint64_t cell_bits(size_t level, const IntVect& cell) {
  uint64_t bits = scramble(level);
  for (const int32_t c : cell) bits = scramble(bits ^ static_cast<uint64_t>(static_cast<uint32_t>(c)));
  return bits;
}

bool is_filled(const Level& level, const IntVect& cell) {
  // A slanted edge, so that it does not follow the coarse cells.
  return (cell[0] + 0.5) * level.dx[0] + 0.7 * (cell[1] + 0.5) * level.dx[1] < 0.55;
}

double round_to(DType dtype, double value) { return dtype == DType::f32 ? static_cast<float>(value) : value; }

// The fine cells of a coarse cell, when a finer level holds all of them.
bool is_covered(const Hierarchy& h, size_t level, const IntVect& cell) {
  if (level + 1 == h.levels.size()) return false;
  const Box fine = refine(Box{cell, cell}, h.levels[level].ref_ratio);
  for (const Box& box : h.levels[level + 1].boxes) {
    if (box.contains(fine)) return true;
  }
  return false;
}

double value_of(const Hierarchy& h, size_t level, int field, const IntVect& cell);

double average_of(const Hierarchy& h, size_t level, int field, const IntVect& cell) {
  const Box fine = refine(Box{cell, cell}, h.levels[level].ref_ratio);
  double sum = 0;
  for (int32_t z = fine.lo[2]; z <= fine.hi[2]; ++z) {
    for (int32_t y = fine.lo[1]; y <= fine.hi[1]; ++y) {
      for (int32_t x = fine.lo[0]; x <= fine.hi[0]; ++x) {
        const double value = value_of(h, level + 1, field, {x, y, z});
        if (field == masked && value == fill_value) return fill_value;
        sum += value;
      }
    }
  }
  return sum / static_cast<double>(fine.cells());
}

double value_of(const Hierarchy& h, size_t level, int field, const IntVect& cell) {
  const Level& of = h.levels[level];
  if (field == constant) return round_to(h.dtype, 2.5);
  if (field == special) {
    const uint64_t bits = cell_bits(level, cell);
    if (bits % 97 == 0) return std::numeric_limits<double>::quiet_NaN();
    if (bits % 97 == 1) return std::numeric_limits<double>::infinity();
    if (bits % 97 == 2) return -std::numeric_limits<double>::infinity();
    if (bits % 97 == 3) return -0.0;
  }
  if (field == own) return round_to(h.dtype, smooth(of, cell) + 3.0 * static_cast<double>(level));
  if (is_covered(h, level, cell)) {
    const double average = average_of(h, level, field, cell);
    // Specials of the fine level make a coarse value of its own, as a simulation's average would.
    if (std::isfinite(average)) return round_to(h.dtype, average);
  }
  if (field == masked && is_filled(of, cell)) return fill_value;
  return round_to(h.dtype, smooth(of, cell));
}

void add_boxes(Level& level, const Box& region, int edge, int dims) {
  const int32_t steps_y = dims > 1 ? edge : 1;
  const int32_t steps_z = dims > 2 ? edge : 1;
  for (int32_t z = region.lo[2]; z <= region.hi[2]; z += steps_z) {
    for (int32_t y = region.lo[1]; y <= region.hi[1]; y += steps_y) {
      for (int32_t x = region.lo[0]; x <= region.hi[0]; x += edge) {
        const Box box{{x, y, z}, {x + edge - 1, y + steps_y - 1, z + steps_z - 1}};
        level.boxes.push_back(intersect(box, region));
      }
    }
  }
}

// [lo, hi) of a cube of the index space, flat in unused directions.
Box cube(int lo, int hi, int dims) {
  Box box;
  for (int d = 0; d < dims; ++d) {
    box.lo[static_cast<size_t>(d)] = lo;
    box.hi[static_cast<size_t>(d)] = hi - 1;
  }
  return box;
}

}  // namespace

Hierarchy make_hierarchy(const Shape& shape) {
  Hierarchy h;
  h.dims = shape.dims;
  h.dtype = shape.dtype;
  h.components = {"averaged", "own", "masked", "special", "constant"};
  h.time = 1.25;
  const int edge = shape.box_cells;
  int cells = 2 * edge;
  for (int l = 0; l < shape.levels; ++l, cells *= 2) {
    Level& level = h.levels.emplace_back();
    level.domain = cube(0, cells, shape.dims);
    level.time = h.time;
    level.step = 7;
    for (int d = 0; d < shape.dims; ++d) {
      const auto i = static_cast<size_t>(d);
      level.dx[i] = 1.0 / cells;
      if (l + 1 < shape.levels) level.ref_ratio[i] = 2;
    }
    if (l == 0) {
      add_boxes(level, level.domain, shape.one_box ? cells : edge, shape.dims);
    } else if (l == 1) {
      // The middle of the domain, cutting through every coarse box.
      add_boxes(level, cube(cells / 4, cells / 4 * 3, shape.dims), edge, shape.dims);
    } else {
      // One small box inside level 1: with it most ranks own nothing of this level.
      add_boxes(level, cube(cells / 2, cells / 2 + edge, shape.dims), edge, shape.dims);
    }
  }
  return h;
}

OwnedBoxes::OwnedBoxes(const Hierarchy& h, const std::vector<std::vector<int>>& owner, int rank) {
  const size_t value_bytes = dtype_bytes(h.dtype);
  const auto fields = static_cast<int>(h.components.size());
  for (size_t level = 0; level < h.levels.size(); ++level) {
    for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
      if (owner[level][b] != rank) continue;
      const Box& box = h.levels[level].boxes[b];
      LocalBox local;
      local.level = static_cast<int>(level);
      local.box = static_cast<int>(b);
      int64_t stride = 1;
      int64_t first_valid = 0;
      for (int d = 0; d < h.dims; ++d) {
        local.data.stride[static_cast<size_t>(d)] = stride;
        first_valid += stride * ghosts;
        stride *= box.size(d) + 2 * ghosts;
      }
      local.data.component_stride = stride;
      // Ghosts hold bytes that no file may show: a huge finite number in either type.
      std::vector<std::byte>& bytes =
          storage_.emplace_back(static_cast<size_t>(stride * fields) * value_bytes, std::byte{0x7e});
      for (int c = 0; c < fields; ++c) {
        const std::vector<double> values = box_values(h, local.level, local.box, c);
        size_t i = 0;
        for (int64_t z = 0; z < box.size(2); ++z) {
          for (int64_t y = 0; y < box.size(1); ++y) {
            for (int64_t x = 0; x < box.size(0); ++x, ++i) {
              const int64_t at =
                  first_valid + c * stride + x + y * local.data.stride[1] + z * local.data.stride[2];
              std::byte* to = bytes.data() + static_cast<size_t>(at) * value_bytes;
              const auto narrow = static_cast<float>(values[i]);
              std::memcpy(to, h.dtype == DType::f32 ? static_cast<const void*>(&narrow) : &values[i],
                          value_bytes);
            }
          }
        }
      }
      local.data.data = bytes.data() + static_cast<size_t>(first_valid) * value_bytes;
      boxes_.push_back(local);
    }
  }
}

std::vector<double> box_values(const Hierarchy& h, int level, int box, int component) {
  const Box& of = h.levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(box)];
  std::vector<double> values;
  for (int32_t z = of.lo[2]; z <= of.hi[2]; ++z) {
    for (int32_t y = of.lo[1]; y <= of.hi[1]; ++y) {
      for (int32_t x = of.lo[0]; x <= of.hi[0]; ++x) {
        values.push_back(value_of(h, static_cast<size_t>(level), component, {x, y, z}));
      }
    }
  }
  return values;
}

GeneratedSource::GeneratedSource(const Hierarchy& hierarchy, const IntVect& ghosts) : hierarchy_(hierarchy) {
  for (Level& level : hierarchy_.levels) amr::grow_boxes(level, ghosts);
}

Status GeneratedSource::read_box(int level, int box, int component, std::byte* out) {
  if (damaged_ == std::pair(level, box)) {
    return corrupt("level " + std::to_string(level) + " box " + std::to_string(box) + " is damaged");
  }
  for (const double value : box_values(hierarchy_, level, box, component)) {
    const auto narrow = static_cast<float>(value);
    const size_t bytes = dtype_bytes(hierarchy_.dtype);
    std::memcpy(out, bytes == sizeof narrow ? static_cast<const void*>(&narrow) : &value, bytes);
    out += bytes;
    ++values_read_;
  }
  return {};
}

uint64_t GeneratedSource::place(int level, int box) const {
  return hierarchy_.levels[static_cast<size_t>(level)].boxes.size() - static_cast<size_t>(box);
}

std::optional<std::pair<double, double>> GeneratedSource::stated_range(int level, int component) const {
  if (ranges_.empty()) return {};
  return ranges_[static_cast<size_t>(level) * hierarchy_.components.size() + static_cast<size_t>(component)];
}

HeldFromSource::HeldFromSource(PlotfileSource& source, const IntVect& ghosts, int ranks, int rank) {
  const Hierarchy& h = source.hierarchy();
  const std::vector<std::vector<int>> owner = distribute_boxes(h, ranks);
  for (size_t l = 0; l < owner.size(); ++l) {
    for (size_t b = 0; b < owner[l].size(); ++b) {
      if (owner[l][b] != rank) continue;
      LocalBox local{static_cast<int>(l), static_cast<int>(b), {}, ghosts};
      const Box& box = h.levels[l].boxes[b];
      const size_t component_bytes = static_cast<size_t>(box.cells()) * dtype_bytes(h.dtype);
      std::vector<std::byte>& bytes = storage_.emplace_back(component_bytes * h.components.size());
      for (size_t c = 0; c < h.components.size(); ++c) {
        const Status read =
            source.read_box(local.level, local.box, static_cast<int>(c), bytes.data() + c * component_bytes);
        EXPECT_TRUE(read.ok()) << read.message();
      }
      FrameBox shape;
      for (int d = 0; d < max_dims; ++d) shape.size[static_cast<size_t>(d)] = box.size(d);
      local.data = dense_box_data(bytes.data(), shape);
      const int64_t before = ghosts[0] + ghosts[1] * local.data.stride[1] + ghosts[2] * local.data.stride[2];
      local.data.data = bytes.data() + static_cast<size_t>(before) * dtype_bytes(h.dtype);
      boxes_.push_back(local);
    }
  }
}

std::vector<double> widen(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / dtype_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      float narrow;
      std::memcpy(&narrow, bytes.data() + i * sizeof narrow, sizeof narrow);
      values[i] = narrow;
    } else {
      std::memcpy(&values[i], bytes.data() + i * sizeof(double), sizeof(double));
    }
  }
  return values;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

std::string make_directory(const std::string& name) {
  char path[512] = {};
  if (world_rank() == 0) {
    const fs::path root = fs::temp_directory_path() / ("neve-mpi-" + name + "-" + std::to_string(::getpid()));
    fs::remove_all(root);
    fs::create_directories(root);
    std::strncpy(path, root.c_str(), sizeof path - 1);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  return path;
}

void remove_directory(const std::string& path) {
  barrier();
  if (world_rank() == 0) fs::remove_all(path);
  barrier();
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

testing::AssertionResult same_on_all_ranks(const std::string& text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string first = world_rank() == 0 ? text : std::string(static_cast<size_t>(length), ' ');
  MPI_Bcast(first.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (first == text) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "this rank has \"" << text << "\", rank 0 \"" << first << "\"";
}

}  // namespace neve::test
