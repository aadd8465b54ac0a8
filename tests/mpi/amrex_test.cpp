// SPDX-License-Identifier: BSD-3-Clause
// AMReX plotfiles written by all ranks and read back, bit for bit.
#include <cstring>
#include <filesystem>

#include "io/plotfile/amrex_reader.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::OwnedBoxes;
using test::world_rank;
using test::world_size;

class Amrex : public testing::Test {
 protected:
  Amrex() : directory_(test::make_directory("amrex")) {}
  ~Amrex() override { test::remove_directory(directory_); }
  std::string directory_;
};

TEST_F(Amrex, EveryBitComesBack) {
  const std::string path = directory_ + "/plt00007";
  for (int dims : {2, 3}) {
    for (DType dtype : {DType::f32, DType::f64}) {
      Hierarchy h = test::make_hierarchy({.dims = dims, .dtype = dtype});
      h.side_files["job_info"] = "made by a test\n";
      const OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
      // The second write replaces the plotfile of the first.
      const Status status = write_amrex_plotfile(MPI_COMM_WORLD, path, h, owned.boxes());
      ASSERT_TRUE(status.ok()) << status.message();
      test::barrier();
      EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"plt00007"});
      EXPECT_EQ(test::read_file(path + "/job_info"), "made by a test\n");

      auto source = plotfile::open_amrex_plotfile(path);
      ASSERT_TRUE(source.ok()) << source.status().message();
      const Hierarchy& read = (*source)->hierarchy();
      EXPECT_EQ(read.dtype, h.dtype);
      EXPECT_EQ(read.components, h.components);
      EXPECT_EQ(read.time, h.time);
      ASSERT_EQ(read.levels.size(), h.levels.size());
      for (size_t level = 0; level < h.levels.size(); ++level) {
        EXPECT_EQ(read.levels[level].boxes, h.levels[level].boxes);
        for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
          for (int c = 0; c < test::field_count; ++c) {
            std::vector<std::byte> bytes(static_cast<size_t>(h.levels[level].boxes[b].cells()) *
                                         dtype_bytes(dtype));
            const Status got =
                (*source)->read_box(static_cast<int>(level), static_cast<int>(b), c, bytes.data());
            ASSERT_TRUE(got.ok()) << got.message();
            const std::vector<double> values = test::widen(dtype, bytes);
            const std::vector<double> wanted =
                test::box_values(h, static_cast<int>(level), static_cast<int>(b), c);
            EXPECT_EQ(std::memcmp(values.data(), wanted.data(), values.size() * sizeof(double)), 0)
                << "level " << level << " box " << b << " field " << c;
          }
        }
      }
      test::barrier();
    }
  }
}

TEST_F(Amrex, SideFilesMayNotLeadOut) {
  Hierarchy h = test::make_hierarchy({.dims = 2});
  h.side_files["../outside"] = "text";
  const OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  const Status status = write_amrex_plotfile(MPI_COMM_WORLD, directory_ + "/plt", h, owned.boxes());
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find("../outside"), std::string::npos);
  test::barrier();
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

}  // namespace
}  // namespace neve
