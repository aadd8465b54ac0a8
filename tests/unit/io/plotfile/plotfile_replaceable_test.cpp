// SPDX-License-Identifier: BSD-3-Clause
// A plotfile directory is replaced only where nothing but the plotfile is in it.
#include "io/plotfile/replaceable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "io/plotfile/amrex_writer.hpp"
#include "neve/hierarchy.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

class Replaceable : public testing::Test {
 protected:
  Replaceable() {
    Hierarchy& h = hierarchy_;
    h.components = {"u"};
    h.levels.resize(2);
    h.levels[0].domain = {{0, 0, 0}, {7, 7, 7}};
    h.levels[0].boxes = {{{0, 0, 0}, {3, 7, 7}}, {{4, 0, 0}, {7, 7, 7}}};
    h.levels[0].ref_ratio = {2, 2, 2};
    h.levels[1].domain = {{0, 0, 0}, {15, 15, 15}};
    h.levels[1].boxes = {{{0, 0, 0}, {7, 7, 7}}};
    const auto places = plan_fabs(h, {{0, 1}, {1}});
    for (int l = 0; l < 2; ++l) {
      fs::create_directories(path_ + "/" + level_directory(l));
      const auto& of_level = places[static_cast<size_t>(l)];
      const std::vector<FabExtremes> extremes(of_level.size(), {{0}, {1}});
      test::write_file(path_ + "/" + fab_array_header_path(l),
                       fab_array_header_text(h, l, of_level, extremes));
      for (const FabPlace& place : of_level)
        test::write_file(path_ + "/" + level_directory(l) + "/" + place.file, "values");
    }
    test::write_file(path_ + "/Header", plotfile_header_text(h));
  }

  // Of replacing it by another of the same fields and levels.
  Status status(const std::map<std::string, std::string>& side_files = {}) const {
    Hierarchy next = hierarchy_;
    next.side_files = side_files;
    return plotfile_parts(path_, "plt", Replacement(next)).status();
  }
  // Refused, with this among the things that would be lost.
  void expect_lost(const std::string& what) const {
    const Status refused = status();
    EXPECT_EQ(refused.code(), Code::usage) << what;
    EXPECT_EQ(refused.message().find("plt holds entries that the new plotfile does not have"), 0u)
        << refused.message();
    EXPECT_NE(refused.message().find(": " + what + "; write"), std::string::npos) << refused.message();
  }

  Hierarchy hierarchy_;
  test::TempDir directory_;
  const std::string path_ = directory_ / "plt";
};

TEST_F(Replaceable, OfAPlotfileAreAllItsParts) {
  const auto parts = plotfile_parts(path_, "plt", Replacement(hierarchy_));
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  std::vector<std::string> sorted = *parts;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<std::string>{"Header", "Level_0", "Level_0/Cell_D_00000",
                                              "Level_0/Cell_D_00001", "Level_0/Cell_H", "Level_1",
                                              "Level_1/Cell_D_00001", "Level_1/Cell_H"}));
  const auto place = [&](const std::string& part) { return std::find(parts->begin(), parts->end(), part); };
  EXPECT_LT(place("Level_0/Cell_H"), place("Level_0")) << "a directory comes behind what it holds";
  EXPECT_LT(place("Level_1/Cell_D_00001"), place("Level_1"));
}

TEST_F(Replaceable, AnythingElseIsNamed) {
  fs::create_directories(path_ + "/DM/Level_0");
  test::write_file(path_ + "/DM/Level_0/DATA_00000", "particles");
  expect_lost("DM/");
  fs::remove_all(path_ + "/DM");
  for (const std::string file :
       {"job_info", "Level_0/Cell_D_00002", "Level_0/.hidden", "Header~", "Level_1/Cell_D_00000"}) {
    test::write_file(path_ + "/" + file, "x");
    expect_lost(file);
    fs::remove(path_ + "/" + file);
  }
  for (const std::string folder : {"empty", "Level_2", "Level_0/Cell_D_00003"}) {
    fs::create_directory(path_ + "/" + folder);
    expect_lost(folder + "/");
    fs::remove(path_ + "/" + folder);
  }
  EXPECT_TRUE(status().ok());
}

TEST_F(Replaceable, LinksAreNoParts) {
  fs::rename(path_ + "/Level_0/Cell_D_00000", directory_ / "elsewhere");
  fs::create_symlink(directory_ / "elsewhere", path_ + "/Level_0/Cell_D_00000");
  expect_lost("Level_0/Cell_D_00000");
  fs::remove(path_ + "/Level_0/Cell_D_00000");
  EXPECT_TRUE(status().ok()) << "a part that is missing is not lost";
  fs::rename(path_ + "/Level_1", directory_ / "level");
  fs::create_directory_symlink(directory_ / "level", path_ + "/Level_1");
  EXPECT_NE(status().message().find("Level_1"), std::string::npos) << status().message();
}

TEST_F(Replaceable, SideFilesAreThoseThatTheNewOneHas) {
  test::write_file(path_ + "/job_info", "run 7");
  EXPECT_TRUE(status({{"job_info", "run 7"}}).ok());
  EXPECT_EQ(status({{"job_info", "run 8"}}).code(), Code::usage);
  EXPECT_EQ(status({{"WarpXHeader", "run 7"}}).code(), Code::usage);
}

TEST_F(Replaceable, FieldsAndLevelsThatTheNewOneHasNotAreNamed) {
  hierarchy_.components = {"v"};
  expect_lost("field u");
  hierarchy_.components = {"v", "u"};
  EXPECT_TRUE(status().ok());
  hierarchy_.levels.resize(1);
  expect_lost("level 1");
}

TEST_F(Replaceable, TenThingsAreNamedAndTheRestCounted) {
  for (int i = 0; i < 25; ++i) test::write_file(path_ + "/file" + std::to_string(100 + i), "x");
  expect_lost(
      "file100, file101, file102, file103, file104, file105, file106, file107, file108, file109 and 15 more");
}

TEST_F(Replaceable, AFolderWithAFileCalledHeaderIsNoPlotfile) {
  const std::string home = directory_ / "home";
  fs::create_directory(home);
  EXPECT_TRUE(plotfile_parts(home, "home", Replacement(hierarchy_)).ok()) << "empty";
  test::write_file(home + "/Header", "Dear all,\n");
  EXPECT_EQ(plotfile_parts(home, "home", Replacement(hierarchy_))
                .status()
                .message()
                .find("home exists and is not a plotfile ("),
            0u);
  fs::remove(home + "/Header");
  fs::create_directory(home + "/Header");
  EXPECT_EQ(plotfile_parts(home, "home", Replacement(hierarchy_)).status().message(),
            "home exists and is not a plotfile (it has no Header); it is not replaced");
}

// A header of unknown origin does not make a part of what lies elsewhere.
TEST_F(Replaceable, PathsThatLeadOutAreNoParts) {
  std::ifstream in(path_ + "/Header");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t at = text.find("Level_1/Cell");
  test::write_file(directory_ / "Cell_H", "x");
  test::write_file(path_ + "/Header", text.replace(at, 12, "../Cell"));
  const Status refused = status();
  EXPECT_EQ(refused.code(), Code::usage);
  EXPECT_NE(refused.message().find("path of level 1 is '../Cell'"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace neve::plotfile
