// SPDX-License-Identifier: BSD-3-Clause
// Real simulations' plotfiles: every value read agrees with what the simulation itself noted about it, and
// our writer's text is the simulation's text.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <limits>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/plotfile/amrex_header.hpp"
#include "io/plotfile/amrex_reader.hpp"
#include "io/plotfile/amrex_writer.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

class RealPlotfile : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string stored = std::string(NEVE_SHARED_DATA) + "/amr/" + GetParam();
    if (fs::exists(stored)) {
      path_ = stored;
      return;
    }
    if (!fs::exists(stored + ".tar.xz"))
      GTEST_SKIP() << "no " << stored << ": the reference data is not here";
    const std::string command = "tar xJf '" + stored + ".tar.xz' -C '" + unpacked_.path().string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    path_ = unpacked_ / GetParam();
  }

  std::string path_;
  const test::TempDir unpacked_;
};

TEST_P(RealPlotfile, ValuesAgreeWithTheFilesOwnMinimaAndMaxima) {
  auto opened = open_amrex_plotfile(path_);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Hierarchy& h = (*opened)->hierarchy();
  EXPECT_EQ(h.dtype, DType::f64);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    for (size_t c = 0; c < h.components.size(); ++c) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (size_t i = 0; i < h.levels[l].boxes.size(); ++i) {
        std::vector<double> values(static_cast<size_t>(h.levels[l].boxes[i].cells()));
        const Status status =
            (*opened)->read_box(static_cast<int>(l), static_cast<int>(i), static_cast<int>(c),
                                reinterpret_cast<std::byte*>(values.data()));
        ASSERT_TRUE(status.ok()) << status.message();
        const auto [min, max] = std::minmax_element(values.begin(), values.end());
        least = std::min(least, *min);
        most = std::max(most, *max);
      }
      const auto stated = (*opened)->stated_range(static_cast<int>(l), static_cast<int>(c));
      ASSERT_TRUE(stated.has_value()) << "level " << l << " " << h.components[c];
      EXPECT_EQ(stated->first, least) << "level " << l << " " << h.components[c];
      EXPECT_EQ(stated->second, most) << "level " << l << " " << h.components[c];
    }
  }
}

// The text of Header, of each Cell_H and every byte of every FAB come out of our writer as they went in.
TEST_P(RealPlotfile, IsWrittenBackToTheByte) {
  auto opened = open_amrex_plotfile(path_);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Hierarchy& h = (*opened)->hierarchy();
  EXPECT_EQ(plotfile_header_text(h), test::read_file(path_ + "/Header"));
  std::FILE* scratch = std::tmpfile();
  ASSERT_NE(scratch, nullptr);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::string directory = path_ + "/" + level_directory(static_cast<int>(l)) + "/";
    const auto noted = parse_fab_array_header(test::read_file(directory + "Cell_H"), "Cell_H", h.dims);
    ASSERT_TRUE(noted.ok());
    std::vector<FabPlace> places;
    std::vector<FabExtremes> extremes;
    for (size_t i = 0; i < h.levels[l].boxes.size(); ++i) {
      const Box& box = h.levels[l].boxes[i];
      const auto cells = static_cast<size_t>(box.cells());
      std::vector<double> values(cells * h.components.size());
      for (size_t c = 0; c < h.components.size(); ++c) {
        ASSERT_TRUE((*opened)
                        ->read_box(static_cast<int>(l), static_cast<int>(i), static_cast<int>(c),
                                   reinterpret_cast<std::byte*>(values.data() + c * cells))
                        .ok());
      }
      BoxData data;
      data.data = values.data();
      data.component_stride = box.cells();
      data.stride = {1, box.size(0), box.size(0) * box.size(1), box.cells()};
      places.push_back({noted->files[static_cast<size_t>(noted->file_of_box[i])], noted->offsets[i]});
      extremes.push_back(fab_extremes(h, box, data));

      ASSERT_TRUE(write_fab(fileno(scratch), "scratch", 0, h, box, data).ok());
      const auto bytes = static_cast<size_t>(fab_bytes(h, box));
      std::string written(bytes, '\0');
      std::rewind(scratch);
      ASSERT_EQ(std::fread(written.data(), 1, bytes, scratch), bytes);
      std::string original(bytes, '\0');
      std::ifstream in(directory + places.back().file, std::ios::binary);
      in.seekg(places.back().offset_bytes);
      in.read(original.data(), static_cast<std::streamsize>(bytes));
      ASSERT_TRUE(in.good());
      EXPECT_TRUE(written == original) << "FAB of box " << i << " of level " << l;
    }
    EXPECT_EQ(fab_array_header_text(h, static_cast<int>(l), places, extremes),
              test::read_file(directory + "Cell_H"));
  }
  std::fclose(scratch);
}

INSTANTIATE_TEST_SUITE_P(Data, RealPlotfile,
                         testing::Values("nyx_lya32_plt00113", "nyx_za64_plt00088", "cns_rt_plt00450",
                                         "warpx_lwfa_plt000301"),
                         [](const testing::TestParamInfo<std::string>& i) { return i.param; });

TEST(RealSideFiles, AreKeptVerbatim) {
  const std::string path = std::string(NEVE_SHARED_DATA) + "/amr/nyx_lya32_plt00113";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << ": the reference data is not here";
  auto opened = open_amrex_plotfile(path);
  ASSERT_TRUE(opened.ok());
  const auto& side_files = (*opened)->hierarchy().side_files;
  ASSERT_EQ(side_files.size(), 2u);
  EXPECT_EQ(side_files.at("comoving_a"), test::read_file(path + "/comoving_a"));
  EXPECT_EQ(side_files.at("job_info"), test::read_file(path + "/job_info"));
  EXPECT_TRUE((*opened)->left_behind().empty());
}

}  // namespace
}  // namespace neve::plotfile
