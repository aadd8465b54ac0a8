// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles of others: real Chombo files, an AMReX one made here attribute by attribute, and bad ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "tests/support/hdf5_test_files.hpp"

namespace neve::hdf5 {
namespace {

using testing::TempDir;

template <class T>
std::vector<T> read_whole(hid_t file, const std::string& name, hid_t type) {
  const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::vector<T> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  EXPECT_GE(H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  return values;
}

struct ChomboFile {
  const char* name;
  int32_t ghosts;
  size_t components;
  std::vector<size_t> boxes;
  double time;
  std::string kind = "Chombo HDF5 plotfile";
};

class RealChombo : public ::testing::TestWithParam<ChomboFile> {};

TEST_P(RealChombo, EveryValueIsTheOneInTheFile) {
  const ChomboFile& p = GetParam();
  const std::string path = std::string(NEVE_SHARED_DATA) + "/chombo/" + p.name;
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is missing: real data lies beside the checkout";
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const Hierarchy& h = (*source)->hierarchy();
  EXPECT_EQ((*source)->kind(), p.kind);
  EXPECT_EQ(h.components.size(), p.components);
  EXPECT_EQ(h.components[0], "density");
  EXPECT_EQ(h.time, p.time);
  EXPECT_EQ(h.dtype, DType::f64);
  EXPECT_EQ(h.source_ghosts, (IntVect{p.ghosts, p.ghosts, p.ghosts}));
  EXPECT_EQ(h.prob_lo, (std::array<double, 3>{0, 0, 0}));
  EXPECT_EQ(h.prob_hi[0], 1.0);
  ASSERT_EQ(h.levels.size(), p.boxes.size());

  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    ASSERT_EQ(h.levels[l].boxes.size(), p.boxes[l]);
    const auto elements =
        read_whole<double>(file.id(), level_name(l) + "/data:datatype=0", H5T_NATIVE_DOUBLE);
    const auto offsets = read_whole<int64_t>(file.id(), level_name(l) + "/data:offsets=0", H5T_NATIVE_INT64);
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      const Box& box = h.levels[l].boxes[b];
      const int64_t nx = box.size(0) + 2 * p.ghosts, ny = box.size(1) + 2 * p.ghosts,
                    nz = box.size(2) + 2 * p.ghosts;
      std::vector<double> values(static_cast<size_t>(box.cells()));
      for (size_t c = 0; c < p.components; ++c) {
        const Status status =
            (*source)->read_box(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c),
                                reinterpret_cast<std::byte*>(values.data()));
        ASSERT_TRUE(status.ok()) << status.message();
        size_t at = 0;
        for (int64_t z = 0; z < box.size(2); ++z) {
          for (int64_t y = 0; y < box.size(1); ++y) {
            for (int64_t x = 0; x < box.size(0); ++x) {
              const int64_t element = offsets[b] + static_cast<int64_t>(c) * nx * ny * nz + (x + p.ghosts) +
                                      nx * ((y + p.ghosts) + ny * (z + p.ghosts));
              ASSERT_EQ(values[at++], elements[static_cast<size_t>(element)])
                  << "level " << l << " box " << b << " component " << c;
            }
          }
        }
      }
      ASSERT_TRUE((*source)->left_out(static_cast<int>(l), static_cast<int>(b), 0)->empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealChombo,
    ::testing::Values(
        ChomboFile{"ramp.000020.3d.hdf5", 1, 5, {2, 2, 10}, 0.012876897114166428},
        ChomboFile{"explosion_density.000020.3d.hdf5", 1, 1, {1, 8, 114}, 0.05792289102401723},
        ChomboFile{"check.000050.3d.hdf5", 0, 5, {2, 4, 22}, 0.03139669910677508, "Chombo checkpoint"}));

// What AMReX's WriteMultiLevelPlotfileHDF5SingleDset leaves: attributes are arrays of one, strings end in a
// zero, there are neither ghosts nor data_attributes, and boxes have their own origin.
void write_amrex_file(const std::string& path) {
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  ASSERT_TRUE(file.valid());
  const auto write_int = [](hid_t where, const char* name, int32_t value) {
    ASSERT_TRUE(write_attribute(where, name, std::span<const int32_t>(&value, 1)).ok());
  };
  const auto write_string = [](hid_t where, const char* name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), text.size() + 1);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute(H5Acreate2(where, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    ASSERT_GE(H5Awrite(attribute.id(), type.id(), text.c_str()), 0);
  };
  write_string(file.id(), "version_name", "HyperCLaw-V1.1");
  write_string(file.id(), "plotfile_type", "VanillaHDF5");
  write_int(file.id(), "num_components", 2);
  write_string(file.id(), "component_0", "rho");
  write_string(file.id(), "component_1", "Temp");
  write_int(file.id(), "dim", 2);
  const double time = 1.25;
  ASSERT_TRUE(write_attribute(file.id(), "time", std::span<const double>(&time, 1)).ok());
  write_int(file.id(), "finest_level", 0);
  write_int(file.id(), "coordinate_system", 1);
  write_int(file.id(), "num_levels", 1);
  const Handle global(H5Gcreate2(file.id(), "Chombo_global", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Gclose);
  write_int(global.id(), "SpaceDim", 2);

  const Handle level(H5Gcreate2(file.id(), "level_0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  write_int(level.id(), "ref_ratio", 1);
  const std::array<double, 2> dx = {0.25, 0.5}, lo = {-1, -2}, hi = {0, 0};
  ASSERT_TRUE(write_attribute(level.id(), "Vec_dx", std::span<const double>(dx)).ok());
  ASSERT_TRUE(write_attribute(level.id(), "dx", std::span<const double>(dx.data(), 1)).ok());
  ASSERT_TRUE(write_attribute(level.id(), "prob_lo", std::span<const double>(lo)).ok());
  ASSERT_TRUE(write_attribute(level.id(), "prob_hi", std::span<const double>(hi)).ok());
  Box domain;
  domain.hi = {3, 3, 0};
  ASSERT_TRUE(write_box_attribute(level.id(), "prob_domain", domain, 2).ok());
  const std::array<int32_t, 2> cells = {0, 0};
  ASSERT_TRUE(write_attribute(level.id(), "domain_type", std::span<const int32_t>(cells)).ok());
  write_int(level.id(), "steps", 42);
  write_int(level.id(), "ngrid", 2);
  write_int(level.id(), "ngrow", 2);  // said, never written

  const auto write_list = [&](const char* name, hid_t type, hsize_t count, const void* data) {
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle dataset(
        H5Dcreate2(level.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
  };
  const std::array<int32_t, 8> boxes = {0, 0, 1, 3, 2, 0, 3, 3};
  const Handle type = box_type(2, H5T_NATIVE_INT32);
  write_list("boxes", type.id(), 2, boxes.data());
  const std::array<long long, 3> offsets = {0, 16, 32};
  write_list("data:offsets=0", H5T_NATIVE_LLONG, 3, offsets.data());
  std::array<float, 32> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write_list("data:datatype=0", H5T_NATIVE_FLOAT, 32, values.data());
}

class AmrexFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_ / "plt.h5";
    ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  }

  // Opens the file, changes it, and says what the reader thinks of the result.
  Status after(const std::function<void(hid_t file)>& change) {
    {
      const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      change(file.id());
    }
    return open_hdf5_plotfile(path_).status();
  }

  TempDir dir_;
  std::string path_;
};

TEST_F(AmrexFile, IsReadWithItsGeometry) {
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path_);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const Hierarchy& h = (*source)->hierarchy();
  EXPECT_EQ((*source)->kind(), "AMReX HDF5 plotfile");
  EXPECT_EQ(h.dims, 2);
  EXPECT_EQ(h.dtype, DType::f32);
  EXPECT_EQ(h.components, (std::vector<std::string>{"rho", "Temp"}));
  EXPECT_EQ(h.time, 1.25);
  EXPECT_EQ(h.coord_sys, 1);
  EXPECT_EQ(h.prob_lo, (std::array<double, 3>{-1, -2, 0}));
  EXPECT_EQ(h.prob_hi, (std::array<double, 3>{0, 0, 1}));
  EXPECT_EQ(h.levels[0].dx, (std::array<double, 3>{0.25, 0.5, 1}));
  EXPECT_EQ(h.levels[0].step, 42);
  std::array<float, 8> values{};
  ASSERT_TRUE((*source)->read_box(0, 1, 1, reinterpret_cast<std::byte*>(values.data())).ok());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 24.0f + static_cast<float>(i));
}

TEST_F(AmrexFile, WhatIsNoFieldIsListedAsLeftBehind) {
  const Status status = after([](hid_t file) {
    for (const char* name : {"Expressions", "level_0/particles:data"}) {
      const Handle group(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    }
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ((*open_hdf5_plotfile(path_))->left_behind(),
            (std::vector<std::string>{"Expressions", "level_0/particles:data"}));
}

TEST_F(AmrexFile, MissingPartsAreNamed) {
  struct Missing {
    const char* group;
    const char* attribute;
    std::string message;
  };
  const Missing missing[] = {
      {"/", "num_levels", "the file has no attribute num_levels"},
      {"/", "num_components", "the file has no attribute num_components"},
      {"/", "component_1", "the file has no attribute component_1"},
      {"/Chombo_global", "SpaceDim", "Chombo_global has no attribute SpaceDim"},
      {"/level_0", "prob_domain", "level_0 has no attribute prob_domain"},
  };
  for (const Missing& m : missing) {
    ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
    const Status status =
        after([&](hid_t file) { ASSERT_GE(H5Adelete_by_name(file, m.group, m.attribute, H5P_DEFAULT), 0); });
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_EQ(status.message(), path_ + ": " + m.message);
  }
  for (const char* name : {"boxes", "data:offsets=0", "data:datatype=0"}) {
    ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
    const std::string link = std::string("level_0/") + name;
    const Status status =
        after([&](hid_t file) { ASSERT_GE(H5Ldelete(file, link.c_str(), H5P_DEFAULT), 0); });
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_EQ(status.message(), path_ + ": level_0: dataset " + name + " is missing");
  }
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  Status status = after([](hid_t file) { ASSERT_GE(H5Ldelete(file, "level_0", H5P_DEFAULT), 0); });
  EXPECT_EQ(status.message(), path_ + ": group level_0 is missing");
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([](hid_t file) { ASSERT_GE(H5Ldelete(file, "Chombo_global", H5P_DEFAULT), 0); });
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_EQ(status.message(),
            path_ + ": an HDF5 file without group Chombo_global is neither a Chombo nor an AMReX plotfile");
}

void replace_int(hid_t file, const char* group, const char* name, int32_t value) {
  const Handle where(H5Gopen2(file, group, H5P_DEFAULT), H5Gclose);
  ASSERT_GE(H5Adelete(where.id(), name), 0);
  ASSERT_TRUE(write_attribute(where.id(), name, value).ok());
}

TEST_F(AmrexFile, AHeaderThatDisagreesWithTheDataIsCorrupt) {
  Status status = after([](hid_t file) { replace_int(file, "/", "num_components", 1); });
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_EQ(
      status.message(),
      path_ +
          ": level_0: box 0 begins at element 0 and the next thing in data:datatype=0 at 16; its cells, "
          "ghosts and 1 components need 8 elements");
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([](hid_t file) { replace_int(file, "/level_0", "ngrid", 3); });
  EXPECT_EQ(status.message(), path_ + ": level_0: ngrid says 3 boxes, dataset boxes holds 2");
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([](hid_t file) { replace_int(file, "/", "num_levels", 2); });
  EXPECT_EQ(status.message(), path_ + ": group level_1 is missing");
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([](hid_t file) { replace_int(file, "/Chombo_global", "SpaceDim", 3); });
  EXPECT_EQ(status.message(), path_ + ": level_0: attribute prob_domain: has no member lo_k");
  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([](hid_t file) { replace_int(file, "/", "num_levels", -7); });
  EXPECT_EQ(status.message(), path_ + ": the file: attribute num_levels is -7; 1 to 1000 are allowed");
}

TEST_F(AmrexFile, BoxesThatOverlapAreCorrupt) {
  const Status status = after([](hid_t file) {
    const Handle dataset(H5Dopen2(file, "level_0/boxes", H5P_DEFAULT), H5Dclose);
    const Handle type = box_type(2, H5T_NATIVE_INT32);
    const std::array<int32_t, 8> boxes = {0, 0, 1, 3, 1, 0, 2, 3};
    ASSERT_GE(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, boxes.data()), 0);
  });
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_NE(status.message().find("overlap"), std::string::npos) << status.message();
}

TEST_F(AmrexFile, LayoutsWeDoNotReadAreRefused) {
  const auto add_dataset = [](hid_t file, const char* name, hid_t type, hid_t creation) {
    const hsize_t count = 32;
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle dataset(H5Dcreate2(file, name, type, space.id(), H5P_DEFAULT, creation, H5P_DEFAULT),
                         H5Dclose);
    ASSERT_TRUE(dataset.valid());
  };
  Status status =
      after([&](hid_t file) { add_dataset(file, "level_0/data:datatype=1", H5T_NATIVE_FLOAT, H5P_DEFAULT); });
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find("a dataset per component"), std::string::npos);

  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  status = after([&](hid_t file) {
    ASSERT_GE(H5Ldelete(file, "level_0/data:datatype=0", H5P_DEFAULT), 0);
    add_dataset(file, "level_0/data:datatype=0", H5T_NATIVE_INT, H5P_DEFAULT);
  });
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find("floats of 4 or 8 are allowed"), std::string::npos) << status.message();

  ASSERT_NO_FATAL_FAILURE(write_amrex_file(path_));
  constexpr int unknown_filter = 499;
  status = after([&](hid_t file) {
    const QuietErrors quiet;
    ASSERT_GE(H5Ldelete(file, "level_0/data:datatype=0", H5P_DEFAULT), 0);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hsize_t chunk = 16;
    H5Pset_chunk(creation.id(), 1, &chunk);
    H5Pset_filter(creation.id(), unknown_filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
    add_dataset(file, "level_0/data:datatype=0", H5T_NATIVE_FLOAT, creation.id());
  });
  EXPECT_EQ(status.code(), Code::plugin_missing);
  EXPECT_NE(status.message().find("level_0/data:datatype=0 is compressed with HDF5 filter 499"),
            std::string::npos)
      << status.message();
}

TEST(NotAPlotfile, SaysWhatItIs) {
  const TempDir dir;
  const std::string missing = dir / "missing.h5";
  Status status = open_hdf5_plotfile(missing).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_EQ(status.message(), missing + ": cannot be opened: No such file or directory");
  const std::string text = dir / "text.h5";
  std::ofstream(text) << "not HDF5 at all";
  status = open_hdf5_plotfile(text).status();
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_EQ(status.message(), text + ": is not an HDF5 file");
}

}  // namespace
}  // namespace neve::hdf5
