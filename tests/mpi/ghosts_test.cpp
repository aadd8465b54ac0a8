// SPDX-License-Identifier: BSD-3-Clause
// Compressed plotfiles with ghost cells: every box has its own, as they do in a run, and covered cells are
// still left out.
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "core/amr/grow.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

// Far from the field's range, so that it would spoil a bound that counted ghosts.
double ghost_value(size_t box, const IntVect& cell) {
  return 1e4 + static_cast<double>(box) + std::sin(0.3 * cell[0] + 0.2 * cell[1] + 0.1 * cell[2]);
}

double round_to(DType dtype, double value) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

// One component of a box with its ghosts, x fastest.
std::vector<double> stored_values(const Hierarchy& h, size_t level, size_t b, size_t component,
                                  const IntVect& ghosts) {
  const Box& valid = h.levels[level].boxes[b];
  const Box grown = amr::grow(valid, ghosts);
  const std::vector<double> inner =
      test::box_values(h, static_cast<int>(level), static_cast<int>(b), static_cast<int>(component));
  std::vector<double> values;
  size_t next = 0;
  for (int32_t z = grown.lo[2]; z <= grown.hi[2]; ++z) {
    for (int32_t y = grown.lo[1]; y <= grown.hi[1]; ++y) {
      for (int32_t x = grown.lo[0]; x <= grown.hi[0]; ++x) {
        const Box cell{{x, y, z}, {x, y, z}};
        values.push_back(valid.contains(cell) ? inner[next++] : round_to(h.dtype, ghost_value(b, {x, y, z})));
      }
    }
  }
  return values;
}

// This rank's boxes, with `held` layers of ghosts in memory.
class Held {
 public:
  Held(const Hierarchy& h, const IntVect& held) {
    const auto owner = distribute_boxes(h, world_size());
    for (size_t l = 0; l < h.levels.size(); ++l) {
      for (size_t b = 0; b < owner[l].size(); ++b) {
        if (owner[l][b] == world_rank()) add(h, held, l, b);
      }
    }
  }
  const std::vector<LocalBox>& boxes() const { return boxes_; }

 private:
  void add(const Hierarchy& h, const IntVect& held, size_t l, size_t b) {
    const size_t value_bytes = dtype_bytes(h.dtype);
    std::vector<std::byte>& bytes = storage_.emplace_back();
    for (size_t c = 0; c < h.components.size(); ++c) {
      for (const double value : stored_values(h, l, b, c, held)) {
        const auto narrow = static_cast<float>(value);
        bytes.resize(bytes.size() + value_bytes);
        std::memcpy(bytes.data() + bytes.size() - value_bytes,
                    h.dtype == DType::f32 ? static_cast<const void*>(&narrow) : &value, value_bytes);
      }
    }
    const Box grown = amr::grow(h.levels[l].boxes[b], held);
    LocalBox local{static_cast<int>(l), static_cast<int>(b), {}, held};
    local.data.stride = {1, grown.size(0), grown.size(0) * grown.size(1)};
    local.data.component_stride = grown.cells();
    const int64_t first = held[0] + held[1] * local.data.stride[1] + held[2] * local.data.stride[2];
    local.data.data = bytes.data() + static_cast<size_t>(first) * value_bytes;
    boxes_.push_back(local);
  }

  std::vector<std::vector<std::byte>> storage_;
  std::vector<LocalBox> boxes_;
};

class Ghosts : public testing::Test {
 protected:
  Ghosts() : directory_(test::make_directory("ghosts")) {}
  ~Ghosts() override { test::remove_directory(directory_); }
  std::string path() const { return directory_ + "/plt.h5"; }

  // Every value of a level through HDF5's own pipeline, as any tool gets it.
  static std::vector<double> whole_dataset(const std::string& path, size_t level) {
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const std::string name = "level_" + std::to_string(level) + "/data:datatype=0";
    const hdf5::Handle data(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const hdf5::Handle space(H5Dget_space(data.id()), H5Sclose);
    std::vector<double> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
    EXPECT_GE(H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    return values;
  }

  static std::vector<int64_t> offsets(const std::string& path, size_t level, size_t boxes) {
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const std::string name = "level_" + std::to_string(level) + "/data:offsets=0";
    const hdf5::Handle data(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    std::vector<int64_t> values(boxes + 1);
    EXPECT_GE(H5Dread(data.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    return values;
  }

  static void expect_close(double found, double wanted, double bound, const std::string& where) {
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(found)) << where;
    } else if (!std::isfinite(wanted) || bound == 0) {
      EXPECT_EQ(found, wanted) << where;
    } else {
      EXPECT_LE(std::abs(found - wanted), bound) << where;
    }
  }

  // Both ways of reading against what was written.
  void check(const Hierarchy& h, const IntVect& ghosts, const WriteReport& report) const {
    auto opened = open_plotfile(path());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto storage = hdf5::describe_hdf5_plotfile(path());
    ASSERT_TRUE(storage.ok());
    for (size_t l = 0; l < h.levels.size(); ++l) {
      EXPECT_EQ(storage->levels[l].ghosts, ghosts);
      EXPECT_EQ(storage->hierarchy.levels[l].boxes, h.levels[l].boxes) << "boxes are of valid cells";
      const std::vector<double> all = whole_dataset(path(), l);
      const std::vector<int64_t> begins = offsets(path(), l, h.levels[l].boxes.size());
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        const Box& valid = h.levels[l].boxes[b];
        const Box grown = amr::grow(valid, ghosts);
        for (size_t c = 0; c < h.components.size(); ++c) {
          const std::string where =
              h.components[c] + " level " + std::to_string(l) + " box " + std::to_string(b);
          const double bound = report.levels[l].fields[c].bound_abs;
          const auto [level, box, component] =
              std::tuple(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c));
          std::vector<std::byte> bytes(static_cast<size_t>(valid.cells()) * dtype_bytes(h.dtype));
          ASSERT_TRUE((*opened)->read_box(level, box, component, bytes.data()).ok()) << where;
          auto left_out = (*opened)->left_out(level, box, component);
          ASSERT_TRUE(left_out.ok());
          const std::vector<double> inner = test::widen(h.dtype, bytes);
          const std::vector<double> wanted = stored_values(h, l, b, c, ghosts);
          const double* stored = all.data() + begins[b] + static_cast<int64_t>(c) * grown.cells();
          size_t i = 0, v = 0;
          for (int32_t z = grown.lo[2]; z <= grown.hi[2]; ++z) {
            for (int32_t y = grown.lo[1]; y <= grown.hi[1]; ++y) {
              for (int32_t x = grown.lo[0]; x <= grown.hi[0]; ++x, ++i) {
                const bool is_valid = valid.contains({{x, y, z}, {x, y, z}});
                const bool is_left_out = is_valid && !left_out->empty() && (*left_out)[v] != 0;
                if (is_valid) expect_close(inner[v++], wanted[i], bound, where);
                if (!is_left_out) expect_close(stored[i], wanted[i], bound, where + " as stored");
              }
            }
          }
        }
      }
    }
  }

  std::string directory_;
};

TEST_F(Ghosts, OfCompressedBoxesComeBackWithinTheBound) {
  const std::vector<Bound> bounds{{BoundMode::rel, 1e-3}, {BoundMode::lossless, 0}};
  for (const int dims : {1, 2, 3}) {
    for (const Codec codec : {Codec::automatic, Codec::interpolation, Codec::context}) {
      const DType dtype = dims == 2 ? DType::f32 : DType::f64;
      const Hierarchy h = test::make_hierarchy({.dims = dims, .dtype = dtype});
      IntVect ghosts{2, 1, 1};
      for (int d = dims; d < max_dims; ++d) ghosts[static_cast<size_t>(d)] = 0;
      IntVect held = ghosts;
      held[0] += 1;
      const Held boxes(h, held);
      WriteOptions options = test::leaving_out();
      options.codec = codec;
      options.bound = codec == Codec::automatic ? bounds[static_cast<size_t>(dims % 2)] : bounds[0];
      options.chunk_bytes = 64 << 10;
      const auto without = write_plotfile(MPI_COMM_WORLD, path(), h, boxes.boxes(), options);
      ASSERT_TRUE(without.ok()) << without.status().message();
      options.ghosts = ghosts;
      const auto with = write_plotfile(MPI_COMM_WORLD, path(), h, boxes.boxes(), options);
      ASSERT_TRUE(with.ok()) << with.status().message();
      for (size_t l = 0; l < h.levels.size(); ++l) {
        for (size_t c = 0; c < h.components.size(); ++c) {
          const FieldReport &a = without->levels[l].fields[c], &b = with->levels[l].fields[c];
          EXPECT_EQ(a.bound_abs, b.bound_abs) << "ghosts count for no range";
          EXPECT_EQ(a.raw_bytes, b.raw_bytes);
          if (codec == Codec::automatic) {
            EXPECT_EQ(a.left_out_cells, b.left_out_cells) << b.covered;
          }
        }
      }
      EXPECT_EQ(with->levels[0].fields[test::averaged].covered, "dropped");
      EXPECT_GT(with->levels[0].fields[test::averaged].left_out_cells, 0u);
      SCOPED_TRACE(std::to_string(dims) + "D " + std::string(codec_name(codec)));
      if (world_rank() == world_size() - 1) check(h, ghosts, *with);
      test::barrier();
    }
  }
}

TEST_F(Ghosts, AreTheSameUnderEveryStrategy) {
  const Hierarchy h = test::make_hierarchy({});
  const Held boxes(h, {1, 1, 1});
  std::string first;
  for (const char* strategy :
       {"skeleton", "aggregated", "collective", "independent", "filtered", "amrex-1d"}) {
    SCOPED_TRACE(strategy);
    WriteOptions options = test::leaving_out();
    options.ghosts = {1, 1, 1};
    options.strategy = strategy;
    options.bound = {BoundMode::abs, 1e-3};
    const auto report = write_plotfile(MPI_COMM_WORLD, path(), h, boxes.boxes(), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const std::string file = test::read_file(path());
    if (first.empty()) first = file;
    const bool has_own_chunks = options.strategy == "filtered" || options.strategy == "amrex-1d";
    EXPECT_TRUE(has_own_chunks || file == first);
    if (has_own_chunks || options.strategy == "skeleton") {
      if (world_rank() == 0) check(h, options.ghosts, *report);
    }
    test::barrier();
  }
}

TEST_F(Ghosts, RefuseWhatNeedsBoxesThatDoNotOverlap) {
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  const Held boxes(h, {1, 1, 0});
  const auto refused = [&](const WriteOptions& options) {
    const Status status = write_plotfile(MPI_COMM_WORLD, path(), h, boxes.boxes(), options).status();
    EXPECT_EQ(status.code(), Code::usage) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    EXPECT_TRUE(test::list_directory(directory_).empty());
    return status.message();
  };
  WriteOptions options = test::leaving_out();
  options.ghosts = {1, 1, 0};
  options.tuning.arrangement = Arrangement::in_place;
  EXPECT_NE(refused(options).find("arrangement in_place"), std::string::npos);
  options.tuning.arrangement = Arrangement::automatic;
  options.cross_level = true;
  EXPECT_NE(refused(options).find("cross-level"), std::string::npos);
  options.cross_level = false;
  options.fields["own"].tuning.emplace().arrangement = Arrangement::cluster;
  EXPECT_NE(refused(options).find("field own"), std::string::npos);
  options.fields.clear();
  options.ghosts = {2, 1, 0};
  EXPECT_NE(refused(options).find("2 are to be written"), std::string::npos);
}

TEST_F(Ghosts, OfABoxWithoutDataAreRefused) {
  const Hierarchy h = test::make_hierarchy({.dims = 2, .box_cells = 8});
  const Held held(h, {1, 1, 0});
  std::vector<LocalBox> boxes = held.boxes();
  if (world_rank() == world_size() - 1 && !boxes.empty()) boxes.front().data.data = nullptr;
  for (const bool compress : {true, false}) {
    WriteOptions options;
    options.ghosts = {1, 1, 0};
    options.compress = compress;
    const auto report = write_plotfile(MPI_COMM_WORLD, path(), h, boxes, options);
    EXPECT_EQ(report.status().code(), Code::usage);
    EXPECT_NE(report.status().message().find("has no data"), std::string::npos) << report.status().message();
  }
}

}  // namespace
}  // namespace neve
