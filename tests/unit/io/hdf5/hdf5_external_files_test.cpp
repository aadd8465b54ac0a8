// SPDX-License-Identifier: BSD-3-Clause
// Which other files an HDF5 file may lead its readers to.
#include "io/hdf5/external_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "io/plotfile/own_folder.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/support/hdf5_test_files.hpp"

namespace neve::hdf5 {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

constexpr hsize_t count = 16;

Handle make_file(const std::string& path) {
  return Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
}

void make_dataset(hid_t file, const char* name, hid_t creation) {
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle made(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, creation, H5P_DEFAULT),
                    H5Dclose);
  ASSERT_TRUE(made.valid());
}

Status check(const std::string& path, ExternalLinks links, const OpenOptions& options = {}) {
  const QuietErrors quiet;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return check_external_files(file.id(), path, links, options, Reading::values);
}

class ExternalFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(dir_ / "here");
    fs::create_directory(dir_ / "here/below");
    fs::create_directory(dir_ / "hereafter");  // a name that begins with that of the folder
    path_ = dir_ / "here/a.h5";
  }

  void expect_refused(const Status& status, const std::string& object, const std::string& target) {
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_NE(status.message().find(object), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(target), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("--follow-external"), std::string::npos) << status.message();
  }

  TempDir dir_;
  std::string path_;
};

TEST_F(ExternalFiles, StorageIsWhereItsNameLeads) {
  for (const char* where : {"here/values", "here/below/values", "hereafter/values", "here/../values"}) {
    const std::string target = dir_ / where;
    std::ofstream(target) << std::string(count * sizeof(double), 'x');
    {
      const Handle file = make_file(path_);
      const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      H5Pset_external(creation.id(), target.c_str(), 0, count * sizeof(double));
      make_dataset(file.id(), "field", creation.id());
    }
    const Status status = check(path_, ExternalLinks::kept);
    const bool is_inside =
        std::string(where).starts_with("here/") && !std::string(where).starts_with("here/..");
    EXPECT_EQ(status.ok(), is_inside) << status.message();
    if (!is_inside) expect_refused(status, "/field, by its external storage", target);
    EXPECT_TRUE(check(path_, ExternalLinks::kept, {.follow_external = true}).ok());
  }
}

TEST_F(ExternalFiles, LinksCountWhereTheyAreFollowed) {
  const std::string target = dir_ / "hereafter/b.h5";
  make_file(target).close();
  {
    const Handle file = make_file(path_);
    const Handle group(H5Gcreate2(file.id(), "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    H5Lcreate_external("../hereafter/b.h5", "/", group.id(), "away", H5P_DEFAULT, H5P_DEFAULT);
    // A cycle does not keep the walk going.
    H5Lcreate_hard(file.id(), "/", group.id(), "up", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_refused(check(path_, ExternalLinks::followed), "/group/away, an external link", "hereafter/b.h5");
  EXPECT_TRUE(check(path_, ExternalLinks::kept).ok());
}

TEST_F(ExternalFiles, WhatIsFollowedMayNotLeadOnEither) {
  const std::string between = dir_ / "here/below/between.h5", target = dir_ / "c.h5";
  make_file(target).close();
  {
    const Handle file = make_file(between);
    H5Lcreate_external(target.c_str(), "/", file.id(), "away", H5P_DEFAULT, H5P_DEFAULT);
  }
  {
    const Handle file = make_file(path_);
    H5Lcreate_external("below/between.h5", "/away", file.id(), "near", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_refused(check(path_, ExternalLinks::followed), "between.h5: /away", target);
}

TEST_F(ExternalFiles, ASourceThatLiesNowhereIsLeftToHdf5) {
  {
    const Handle file = make_file(path_);
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_virtual(creation.id(), space.id(), "/nowhere/at/all.h5", "x", space.id()), 0);
    make_dataset(file.id(), "field", creation.id());
  }
  EXPECT_TRUE(check(path_, ExternalLinks::kept).ok());
  // Beside the file HDF5 finds it by the last part of its name.
  make_file(dir_ / "here/all.h5").close();
  EXPECT_TRUE(check(path_, ExternalLinks::kept).ok());
  fs::rename(dir_ / "here/all.h5", dir_ / "hereafter/all.h5");
  fs::create_symlink(dir_ / "hereafter/all.h5", dir_ / "here/all.h5");
  expect_refused(check(path_, ExternalLinks::kept), "/field, a virtual dataset", "here/all.h5");
}

TEST_F(ExternalFiles, APlotfileIsOpenedWithThemWhenAskedTo) {
  const Hierarchy h = testing::make_hierarchy(3, DType::f64);
  testing::WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(testing::write_neve_file(path_, h, testing::make_values(h), {}, &written));
  const std::string target = dir_ / "hereafter/level.h5";
  {
    const Handle other = make_file(target);
    const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    ASSERT_GE(H5Ocopy(file.id(), "level_0", other.id(), "level_0", H5P_DEFAULT, H5P_DEFAULT), 0);
    H5Ldelete(file.id(), "level_0", H5P_DEFAULT);
    H5Lcreate_external(target.c_str(), "/level_0", file.id(), "level_0", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_refused(open_plotfile(path_).status(), "/level_0, an external link", target);
  expect_refused(describe_hdf5_plotfile(path_).status(), "/level_0, an external link", target);
  EXPECT_TRUE(open_plotfile(path_, {.follow_external = true}).ok());
}

TEST(OwnFolder, IsToldByPathsNotByTheirBeginnings) {
  const TempDir dir;
  fs::create_directory(dir / "a");
  std::ofstream(dir / "a/file") << "x";
  std::ofstream(dir / "ab") << "x";
  fs::create_symlink(dir / "a", dir / "link");
  const auto folder = plotfile::OwnFolder::of_file(dir / "link/file");
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder->holds(dir / "a/file"));
  EXPECT_TRUE(folder->holds(dir / "link/file"));
  EXPECT_FALSE(folder->holds(dir / "ab"));
  EXPECT_FALSE(folder->holds(dir / "a/missing"));
  EXPECT_EQ(plotfile::OwnFolder::of_file(dir / "none").status().code(), Code::failure);
}

}  // namespace
}  // namespace neve::hdf5
