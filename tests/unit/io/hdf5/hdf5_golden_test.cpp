// SPDX-License-Identifier: BSD-3-Clause
// A plotfile written once by `neve convert`, never again: every release reads it and gets the same bits.
//
// tests/golden/plotfile_v1.h5 is examples/samples/nyx_lya32_plt00113 at rel=1e-3, two ranks, covered cells
// left out where the finer level gives them back. plotfile_v1.xxh3 holds the hash of what it read as when it
// was written.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <fstream>
#include <string>
#include <vector>

#include "io/hdf5/plotfile_source.hpp"

namespace neve {
namespace {

TEST(GoldenPlotfile, ReadsTheSame) {
  const std::string golden = std::string(NEVE_SOURCE_DIR) + "/tests/golden/plotfile_v1";
  auto source = hdf5::open_hdf5_plotfile(golden + ".h5");
  ASSERT_TRUE(source.ok()) << source.status().message();
  const Hierarchy& h = (*source)->hierarchy();
  ASSERT_EQ(h.levels.size(), 2U);
  ASSERT_EQ(h.components.size(), 8U);
  EXPECT_EQ(h.side_files.count("job_info"), 1U);
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  uint64_t left_out = 0;
  for (size_t level = 0; level < h.levels.size(); ++level) {
    for (size_t box = 0; box < h.levels[level].boxes.size(); ++box) {
      for (size_t c = 0; c < h.components.size(); ++c) {
        std::vector<std::byte> values(static_cast<size_t>(h.levels[level].boxes[box].cells()) *
                                      dtype_bytes(h.dtype));
        const auto l = static_cast<int>(level);
        const auto b = static_cast<int>(box);
        const Status read = (*source)->read_box(l, b, static_cast<int>(c), values.data());
        ASSERT_TRUE(read.ok()) << read.message();
        XXH3_64bits_update(state, values.data(), values.size());
        const auto mask = (*source)->left_out(l, b, static_cast<int>(c));
        ASSERT_TRUE(mask.ok()) << mask.status().message();
        for (const uint8_t cell : *mask) left_out += cell;
      }
    }
  }
  const uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  std::ifstream in(golden + ".xxh3");
  std::string expected;
  ASSERT_TRUE(std::getline(in, expected));
  EXPECT_EQ(std::to_string(hash) + " " + std::to_string(left_out), expected);
  EXPECT_GT(left_out, 0U);
}

}  // namespace
}  // namespace neve
