// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/hints.hpp"

#include <cstdlib>

#include "parallel/comm/agree.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::world_rank;
using test::world_size;

TEST(Hints, PlainWordsBecomeTheKeysThatLibrariesObey) {
  const auto hints = hints_for({4, 1 << 20, 2, 1 << 22}, {});
  ASSERT_TRUE(hints.ok()) << hints.status().message();
  EXPECT_EQ(*hints, (Hints{{"cb_buffer_size", "4194304"},
                           {"cb_config_list", "*:2"},
                           {"cb_nodes", "2"},
                           {"romio_cb_write", "enable"},
                           {"romio_ds_write", "disable"},
                           {"stripe_size", "1048576"},
                           {"stripe_width", "4"},
                           {"striping_factor", "4"},
                           {"striping_unit", "1048576"}}));
  EXPECT_EQ(*hints_for({}, {}), (Hints{{"romio_ds_write", "disable"}}))
      << "nothing asked, nothing said of layout";
}

TEST(Hints, TheUsersOwnComeLastAndTheEnvironmentAfterThem) {
  ::setenv("NEVE_MPI_HINTS", "cb_nodes=9", 1);
  const auto hints =
      hints_for({4, 0, 2, 0}, {{"cb_nodes", "3"}, {"striping_factor", "5"}, {"romio_ds_write", "enable"}});
  ::unsetenv("NEVE_MPI_HINTS");
  ASSERT_TRUE(hints.ok());
  EXPECT_EQ(hints->at("cb_nodes"), "9");
  EXPECT_EQ(hints->at("striping_factor"), "5");
  EXPECT_EQ(hints->at("romio_ds_write"), "enable");
  EXPECT_EQ(hints->at("cb_config_list"), "*:2");
}

TEST(Hints, ImpossibleLayoutsAreNamed) {
  const auto refused = [](const FileLayout& layout, const std::string& part) {
    const Status status = hints_for(layout, {}).status();
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  };
  refused({-1, 0, 0, 0}, "-1");
  refused({0, 1000, 0, 0}, "1000 bytes; multiples of 65536");
  refused({0, uint64_t{4} << 30, 0, 0}, "below 4 GiB");
  refused({0, 0, -2, 0}, "aggregators");
  refused({0, 0, 0, uint64_t{2} << 30}, "less than 2 GiB");
}

TEST(Hints, WhatTookEffectIsReportedTheSameOnAllRanks) {
  const std::string directory = test::make_directory("hints");
  const Hierarchy h = test::make_hierarchy({});
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  for (const bool compress : {true, false}) {
    WriteOptions options;
    options.compress = compress;
    options.strategy = "aggregated";
    options.layout = {0, 1 << 20, 1, 1 << 21};
    const auto report = write_plotfile(MPI_COMM_WORLD, directory + "/file.h5", h, owned.boxes(), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->hints.at("cb_nodes"), "1");
    EXPECT_EQ(report->hints.at("cb_buffer_size"), "2097152");
    std::string text;
    for (const auto& [key, value] : report->hints) text += key + "=" + value + ";";
    EXPECT_TRUE(test::same_on_all_ranks(text));
  }
  test::remove_directory(directory);
}

TEST(Hints, RanksThatAskForDifferentLayoutsAreToldSo) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks to differ";
  const std::string directory = test::make_directory("hints-differ");
  const Hierarchy h = test::make_hierarchy({});
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  WriteOptions options;
  options.layout.aggregators = 1 + world_rank();
  const auto report = write_plotfile(MPI_COMM_WORLD, directory + "/file.h5", h, owned.boxes(), options);
  EXPECT_EQ(report.status().code(), Code::usage);
  test::barrier();  // rank 0 tidies up
  EXPECT_TRUE(test::list_directory(directory).empty());
  test::remove_directory(directory);
}

}  // namespace
}  // namespace neve::mpi
