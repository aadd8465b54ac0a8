// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/plotfile_source.hpp"
#include "neve/options.hpp"
#include "neve/plotfile.h"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

const char* const names[] = {"u", "v"};

class CInterface : public testing::Test {
 protected:
  CInterface() : directory_(test::make_directory("capi")) {}
  ~CInterface() override { test::remove_directory(directory_); }
  std::string directory_;
};

// Cell (x, y) of component c.
float value_at(int x, int y, int c) {
  return static_cast<float>(x) + 0.25f * static_cast<float>(y) + 100.0f * static_cast<float>(c);
}

// One box of size times size cells, within 0.01.
void expect_values(const std::string& path, int size) {
  auto source = hdf5::open_hdf5_plotfile(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const Hierarchy& read = (*source)->hierarchy();
  EXPECT_EQ(read.time, 2.5);
  EXPECT_EQ(read.levels[0].dx[0], 2.0 / size);
  EXPECT_EQ(read.levels[0].dx[1], 4.0 / size);
  for (int c = 0; c < 2; ++c) {
    std::vector<std::byte> bytes(static_cast<size_t>(size * size * 4));
    ASSERT_TRUE((*source)->read_box(0, 0, c, bytes.data()).ok());
    const std::vector<double> got = test::widen(DType::f32, bytes);
    for (int i = 0; i < size * size; ++i) {
      EXPECT_NEAR(got[static_cast<size_t>(i)], value_at(i % size, i / size, c), 0.01);
    }
  }
}

TEST_F(CInterface, GhostsAndStridesLeadToTheSameFile) {
  constexpr int size = 8, ghosts = 2;
  const int lo[] = {0, 0}, hi[] = {size - 1, size - 1};
  constexpr int row = size + 2 * ghosts;
  std::vector<float> with_ghosts(2 * row * row, 1e30f);
  // Rows of 20, x reversed nowhere, the component after every row: any layout with x fastest will do.
  std::vector<float> strided(40 * size, -1e30f);
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        with_ghosts[static_cast<size_t>((c * row + y + ghosts) * row + x + ghosts)] = value_at(x, y, c);
        strided[static_cast<size_t>(y * 40 + c * 20 + x)] = value_at(x, y, c);
      }
    }
  }
  const int owner = world_size() - 1;
  const std::pair<bool, const char*> ways[] = {{false, "abs=0.01"},
                                               {true, "abs=0.01"},
                                               {false, "uncompressed;strategy=aggregated;aggregate_boxes=1"},
                                               {false, "uncompressed;ghosts=2;strategy=independent"},
                                               {true, "behind=encode"},
                                               {false, "abs=1e-3;ghosts=2;behind=copy"},
                                               {true, "uncompressed"}};
  for (const auto& [use_strides, options] : ways) {
    SCOPED_TRACE(options);
    neve_hierarchy* h = neve_hierarchy_create(2, 4, 2, names);
    ASSERT_NE(h, nullptr);
    const double prob_lo[] = {-1, -1}, prob_hi[] = {1, 3};
    ASSERT_EQ(neve_hierarchy_set_time(h, 2.5), 0);
    ASSERT_EQ(neve_hierarchy_set_domain(h, prob_lo, prob_hi), 0);
    ASSERT_EQ(neve_hierarchy_add_level(h, lo, hi, 0), 0);
    const float* values = use_strides ? strided.data() : with_ghosts.data();
    ASSERT_EQ(
        neve_hierarchy_add_box(h, lo, hi, world_rank() == owner ? values : nullptr, use_strides ? 0 : ghosts),
        0);
    if (use_strides) {
      ASSERT_EQ(neve_hierarchy_set_box_strides(h, 40, 0, 20), 0);
    }
    const std::string path = directory_ + "/plot.h5";
    ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path.c_str(), h, options), 0) << neve_mpi_last_error();
    EXPECT_STREQ(neve_mpi_last_error(), "");
    neve_hierarchy_free(h);
    ASSERT_EQ(neve_wait_for_writes(MPI_COMM_WORLD), 0) << neve_mpi_last_error();
    test::barrier();

    ASSERT_NO_FATAL_FAILURE(expect_values(path, size));
    const auto storage = hdf5::describe_hdf5_plotfile(path);
    ASSERT_TRUE(storage.ok());
    const int layers = std::string(options).find("ghosts=2") == std::string::npos ? 0 : 2;
    EXPECT_EQ(storage->levels[0].ghosts, (IntVect{layers, layers, 0}));
    test::barrier();
  }
}

TEST_F(CInterface, ErrorsHaveWords) {
  EXPECT_EQ(neve_hierarchy_create(5, 8, 1, names), nullptr);
  EXPECT_STREQ(neve_mpi_last_error(), "dims is 5; allowed are 1, 2, 3");
  EXPECT_EQ(neve_hierarchy_create(3, 2, 1, names), nullptr);
  EXPECT_STREQ(neve_mpi_last_error(), "value_bytes is 2; allowed are 4 and 8");
  EXPECT_EQ(neve_hierarchy_create(3, 8, 0, names), nullptr);
  EXPECT_EQ(neve_hierarchy_create(3, 8, 1, nullptr), nullptr);
  EXPECT_EQ(neve_hierarchy_set_time(nullptr, 1), 2);
  EXPECT_STREQ(neve_mpi_last_error(), "hierarchy is NULL");

  neve_hierarchy* h = neve_hierarchy_create(1, 8, 1, names);
  const int lo[] = {0}, hi[] = {3}, below[] = {-1};
  EXPECT_EQ(neve_hierarchy_add_box(h, lo, hi, nullptr, 0), 2);
  EXPECT_STREQ(neve_mpi_last_error(), "a box needs a level; add one first");
  EXPECT_EQ(neve_hierarchy_add_level(h, lo, below, 2), 2);
  EXPECT_EQ(neve_hierarchy_add_level(h, lo, hi, 0), 0);
  EXPECT_EQ(neve_hierarchy_add_level(h, lo, hi, 1), 2);
  EXPECT_STREQ(neve_mpi_last_error(), "ref_ratio is 1; at least 2 is needed");
  EXPECT_EQ(neve_hierarchy_add_box(h, lo, hi, nullptr, -1), 2);

  // Collective, with the fault on one rank only.
  const bool is_last = world_rank() == world_size() - 1;
  EXPECT_EQ(neve_write_plotfile(MPI_COMM_WORLD, (directory_ + "/x").c_str(), is_last ? nullptr : h, nullptr),
            2);
  EXPECT_NE(std::string(neve_mpi_last_error()).find("hierarchy is NULL"), std::string::npos);
  EXPECT_EQ(neve_write_plotfile(MPI_COMM_WORLD, is_last ? nullptr : "x", h, nullptr), 2);
  EXPECT_EQ(neve_write_plotfile(MPI_COMM_WORLD, "x", h, is_last ? "magic=1" : nullptr), 2);
  EXPECT_NE(std::string(neve_mpi_last_error()).find("unknown option \"magic=1\""), std::string::npos);
  neve_hierarchy_free(h);
}

TEST(OptionText, AllOptionsAreRead) {
  const auto options = parse_write_options(
      "rel=1e-5;field:u=abs=0.5;field:v=lossless,codec=exact;covered=keep;threads=3;chunk_size=64KiB;"
      "strategy=aggregated;aggregate_boxes=4;ghosts=2;unit=16;arrangement=cluster;fill=-999;"
      "stripe_count=4;stripe_size=1MiB;buffer_size=2MiB;aggregators=3;cross_level;effort=balanced");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->bound, (Bound{BoundMode::rel, 1e-5}));
  EXPECT_EQ(options->behind, Behind::none);
  EXPECT_EQ(parse_write_options("behind=copy")->behind, Behind::copy);
  EXPECT_EQ(parse_write_options("uncompressed;behind=none")->behind, Behind::none);
  EXPECT_FALSE(parse_write_options("uncompressed;behind=encode").ok());
  EXPECT_EQ(options->fields.at("u").bound, (Bound{BoundMode::abs, 0.5}));
  EXPECT_EQ(options->fields.at("v").bound->mode, BoundMode::lossless);
  EXPECT_EQ(options->covered, Covered::keep);
  EXPECT_EQ(options->encode.threads, 3);
  EXPECT_EQ(options->chunk_bytes, 65536u);
  EXPECT_EQ(options->fields.at("v").codec, Codec::exact);
  EXPECT_EQ(options->tuning.unit_cells, 16);
  EXPECT_EQ(options->tuning.arrangement, Arrangement::cluster);
  EXPECT_EQ(options->fill, -999);
  EXPECT_EQ(options->layout, (FileLayout{4, 1 << 20, 3, 2 << 20}));
  EXPECT_TRUE(options->cross_level);
  EXPECT_TRUE(options->compress);
  EXPECT_EQ(options->strategy, "aggregated");
  EXPECT_EQ(options->aggregate_boxes, 4);
  EXPECT_EQ(options->ghosts, (IntVect{2, 2, 2}));
  EXPECT_FALSE(parse_write_options("uncompressed;ghosts=2")->compress);
  EXPECT_EQ(parse_write_options("")->covered, Covered::keep);
  EXPECT_EQ(parse_write_options("covered=auto")->covered, Covered::automatic);
  for (const char* bad : {"rel",
                          "rel=0",
                          "rel=x",
                          "threads=0",
                          "threads=2x",
                          "threads",
                          "covered=maybe",
                          "field:u=3",
                          "=",
                          "x=1",
                          "uncompressed=7",
                          "aggregate_boxes=-1",
                          "ghosts=-1",
                          "uncompressed;rel=1e-3",
                          "uncompressed;chunk_size=65536",
                          "block=4",
                          "lossless;codec=context",
                          "codec=exact;effort=max",
                          "field:u=method=rank,codec=context",
                          "strategy=amrex-1d;unit=8",
                          "strategy=filtered;chunk_size=1MiB",
                          "strategy=amrex-1d;chunk_size=1MiB",
                          "strategy=amrex-1d;chunk_values=0",
                          "strategy=amrex-1d;chunk_values=16777217",
                          "strategy=filtered;chunk_values=4096",
                          "chunk_values=4096",
                          "uncompressed;chunk_values=4096",
                          "cross_level"}) {
    EXPECT_EQ(parse_write_options(bad).status().code(), Code::usage) << bad;
  }
}

}  // namespace
}  // namespace neve
