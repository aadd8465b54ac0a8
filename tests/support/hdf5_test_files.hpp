// SPDX-License-Identifier: BSD-3-Clause
// Small hierarchies with known values, and Neve files of them written by one rank without MPI.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/amr/average_down.hpp"
#include "core/amr/box_index.hpp"
#include "core/amr/chunking.hpp"
#include "core/amr/coverage.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "io/hdf5/skeleton.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::hdf5::testing {

using test::TempDir;

inline Box make_box(int dims, int32_t lo, int32_t hi) {
  Box box;
  for (int d = 0; d < dims; ++d) {
    box.lo[d] = lo;
    box.hi[d] = hi;
  }
  return box;
}

// `box` cut in halves in every direction.
inline std::vector<Box> eighths(const Box& box, int dims) {
  std::vector<Box> boxes{box};
  for (int d = 0; d < dims; ++d) {
    std::vector<Box> halves;
    for (const Box& b : boxes) {
      const int32_t middle = (b.lo[d] + b.hi[d]) / 2;
      halves.push_back(b);
      halves.back().hi[d] = middle;
      halves.push_back(b);
      halves.back().lo[d] = middle + 1;
    }
    boxes = halves;
  }
  return boxes;
}

// Three levels, refined by 2 and 4 around the middle; everything in it differs from its default.
inline Hierarchy make_hierarchy(int dims, DType dtype) {
  Hierarchy h;
  h.dims = dims;
  h.dtype = dtype;
  h.components = {"density", "x velocity"};
  h.time = 0.1;
  h.coord_sys = 1;
  const int32_t ratios[] = {2, 4};
  Box domain = make_box(dims, 0, 15);
  double dx = 0.3;
  int32_t refined[] = {8, 16, 64};  // where the next level begins, in its own cells
  for (int l = 0; l < 3; ++l) {
    Level level;
    level.domain = domain;
    level.boxes = l == 0 ? eighths(domain, dims) : eighths(make_box(dims, refined[l], refined[l] + 15), dims);
    level.step = 3 + l;
    level.time = 0.1 + l;
    for (int d = 0; d < dims; ++d) {
      level.dx[d] = dx * (d + 1);
      if (l < 2) level.ref_ratio[d] = ratios[l];
    }
    if (l < 2) {
      domain = refine(domain, level.ref_ratio);
      dx /= ratios[l];
    }
    h.levels.push_back(level);
  }
  for (int d = 0; d < dims; ++d) {
    h.prob_lo[d] = -1.5;
    h.prob_hi[d] = -1.5 + 16 * h.levels[0].dx[d];
    h.source_ghosts[d] = 1;
  }
  h.side_files = {
      {"job_info", "made by a test\n"}, {"raw/empty", ""}, {"WarpXHeader", std::string("a\0b", 3)}};
  return h;
}

// [level][box][component] -> values, x fastest.
using FieldValues = std::vector<std::vector<std::vector<std::vector<std::byte>>>>;

inline void store(DType dtype, double value, size_t at, std::vector<std::byte>* out) {
  if (dtype == DType::f32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(out->data() + at * sizeof(narrow), &narrow, sizeof(narrow));
  } else {
    std::memcpy(out->data() + at * sizeof(value), &value, sizeof(value));
  }
}

inline double load(DType dtype, const std::vector<std::byte>& values, size_t at) {
  if (dtype == DType::f64) {
    double value;
    std::memcpy(&value, values.data() + at * sizeof(value), sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, values.data() + at * sizeof(value), sizeof(value));
  return value;
}

// Smooth fields; covered cells hold the average of the finer ones, as hydro codes leave them.
inline FieldValues make_values(const Hierarchy& h) {
  FieldValues values(h.levels.size());
  for (size_t l = h.levels.size(); l-- > 0;) {
    const Level& level = h.levels[l];
    for (const Box& box : level.boxes) {
      auto& of_box = values[l].emplace_back(h.components.size());
      for (size_t c = 0; c < h.components.size(); ++c) {
        of_box[c].resize(static_cast<size_t>(box.cells()) * dtype_bytes(h.dtype));
        size_t at = 0;
        for (int32_t z = box.lo[2]; z <= box.hi[2]; ++z) {
          for (int32_t y = box.lo[1]; y <= box.hi[1]; ++y) {
            for (int32_t x = box.lo[0]; x <= box.hi[0]; ++x) {
              const double place = x * level.dx[0] + 0.7 * y * level.dx[1] - 0.3 * z * level.dx[2];
              store(h.dtype, std::sin(place + static_cast<double>(c)) + 10.0 * static_cast<double>(c), at++,
                    &of_box[c]);
            }
          }
        }
      }
    }
    if (l + 1 == h.levels.size()) continue;
    const amr::BoxIndex finer(h.levels[l + 1].boxes);
    for (size_t b = 0; b < level.boxes.size(); ++b) {
      for (const amr::CoveredPart& part : amr::covered_parts(level.boxes[b], finer, level.ref_ratio)) {
        const auto f = static_cast<size_t>(part.fine_box);
        for (size_t c = 0; c < h.components.size(); ++c) {
          amr::average_down(h.dtype, part.cells, level.ref_ratio, values[l + 1][f][c].data(),
                            h.levels[l + 1].boxes[f], values[l][b][c].data(), level.boxes[b]);
        }
      }
    }
  }
  return values;
}

struct FileOptions {
  uint64_t chunk_cap_elements = 4096;
  double bound_abs = 1e-3;
  bool drop_covered = true;
};

struct WrittenFile {
  FrameAddresses addresses;
  std::vector<LevelPlacement> placements;
};

inline void write_at(const std::string& path, uint64_t address, const std::vector<std::byte>& bytes) {
  const int file = ::open(path.c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(address)),
            static_cast<ssize_t>(bytes.size()));
  ::close(file);
}

inline void make_empty(const std::string& path) { std::ofstream(path).flush(); }

inline std::vector<ComponentSpec> specs_of(const Hierarchy& h, const FileOptions& options, bool is_finest,
                                           std::vector<FieldRecord>& records) {
  std::vector<ComponentSpec> specs(h.components.size());
  for (size_t c = 0; c < specs.size(); ++c) {
    specs[c].bound_abs = options.bound_abs;
    specs[c].asked = {BoundMode::abs, options.bound_abs};
    specs[c].drop_covered = options.drop_covered && !is_finest;
    FieldRecord& record = records[c];
    record.name = h.components[c];
    record.asked = specs[c].asked;
    record.bound_abs = options.bound_abs;
    record.codec = "dual_quant";
    record.covered = specs[c].drop_covered ? "dropped" : "none";
  }
  return specs;
}

inline void write_neve_file(const std::string& path, const Hierarchy& h, const FieldValues& values,
                            const FileOptions& options, WrittenFile* written) {
  std::vector<std::vector<std::vector<std::byte>>> frames(h.levels.size());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const Level& level = h.levels[l];
    const std::vector<int> owner(level.boxes.size(), 0);
    const amr::LevelChunks chunks =
        amr::chunk_level(level, static_cast<int>(h.components.size()), owner, options.chunk_cap_elements);
    const bool is_finest = l + 1 == h.levels.size();
    const amr::BoxIndex finer(is_finest ? std::vector<Box>{} : h.levels[l + 1].boxes);
    LevelPlacement placement;
    placement.chunk_elements = chunks.chunk_elements;
    placement.box_offsets.assign(chunks.box_offsets.begin(), chunks.box_offsets.end());
    placement.box_offsets.push_back(static_cast<int64_t>(chunks.dataset_elements()));
    placement.processors.assign(level.boxes.size(), 0);
    placement.fields.resize(h.components.size());
    const auto specs = specs_of(h, options, is_finest, placement.fields);
    for (size_t k = 0; k < chunks.chunks.size(); ++k) {
      const FrameLayout layout =
          amr::chunk_layout(h, static_cast<int>(l), chunks, k, is_finest ? nullptr : &finer);
      // A box's components one after another, as BoxData wants them.
      std::vector<std::vector<std::byte>> joined;
      std::vector<BoxData> data;
      for (size_t i = 0; i < layout.boxes.size(); ++i) {
        std::vector<std::byte>& all = joined.emplace_back();
        for (const auto& component : values[l][static_cast<size_t>(chunks.chunks[k].boxes[i])]) {
          all.insert(all.end(), component.begin(), component.end());
        }
        data.push_back(dense_box_data(all.data(), layout.boxes[i]));
      }
      FrameReport report;
      Result<std::vector<std::byte>> frame = encode_frame(h.dtype, layout, specs, data, {}, &report);
      ASSERT_TRUE(frame.ok()) << frame.status().message();
      for (size_t c = 0; c < specs.size(); ++c) {
        placement.fields[c].cells += report.components[c].cells;
        placement.fields[c].left_out_cells += report.components[c].left_out_cells;
        placement.fields[c].stored_bytes += report.components[c].stored_bytes;
      }
      placement.frame_bytes.push_back(frame->size());
      frames[l].push_back(std::move(*frame));
    }
    written->placements.push_back(std::move(placement));
  }
  make_empty(path);
  Result<FrameAddresses> addresses = write_skeleton(path, h, written->placements);
  ASSERT_TRUE(addresses.ok()) << addresses.status().message();
  for (size_t l = 0; l < frames.size(); ++l) {
    ASSERT_EQ((*addresses)[l].size(), frames[l].size());
    for (size_t k = 0; k < frames[l].size(); ++k) {
      ASSERT_NO_FATAL_FAILURE(write_at(path, (*addresses)[l][k], frames[l][k]));
    }
  }
  written->addresses = std::move(*addresses);
}

}  // namespace neve::hdf5::testing
