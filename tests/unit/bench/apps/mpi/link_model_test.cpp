// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/link_model.hpp"

#include <gtest/gtest.h>

namespace neve::mpibench {
namespace {

// Numbers that are easy to follow: 1 GB a rank, a link of 10 GB/s, no way through the pipe.
Machine machine_of(int nodes, int cores) { return {nodes, cores, 1.0, 10e9, 0, 20e9}; }
const Volume volume{1e9, 0};

TEST(LinkModel, TheSlowestOfEncodingMovingAndDecodingCounts) {
  // Seven ranks' values through one link: 0.7 s as they are, a tenth of it as frames of ratio 10.
  const Modelled by_link = model_gather(machine_of(8, 1), {1e12, 1e12, 10}, volume, true);
  EXPECT_DOUBLE_EQ(by_link.plain_seconds, 0.7);
  EXPECT_NEAR(by_link.factor(), 10, 1e-9);
  EXPECT_EQ(by_link.limit, "link");

  const Modelled by_encode = model_gather(machine_of(8, 2), {1e9, 1e12, 10}, volume, true);
  EXPECT_NEAR(by_encode.seconds, 0.5, 1e-9);
  EXPECT_EQ(by_encode.limit, "encode");

  // Root decodes what seven have encoded, unless it keeps the frames.
  const Modelled by_decode = model_gather(machine_of(8, 2), {1e10, 2e9, 10}, volume, true);
  EXPECT_NEAR(by_decode.seconds, 7.0 / 4, 1e-9);
  EXPECT_EQ(by_decode.limit, "decode");
  EXPECT_EQ(model_gather(machine_of(8, 2), {1e10, 2e9, 10}, volume, false).limit, "link");
}

TEST(LinkModel, AWriteIsBoundByTheFileSystemWhereAllLinksAreMore) {
  const Modelled few = model_write(machine_of(1, 1), {1e12, 1, 5}, volume);
  EXPECT_DOUBLE_EQ(few.plain_seconds, 0.1);
  EXPECT_EQ(few.limit, "link");
  const Modelled many = model_write(machine_of(8, 1), {1e12, 1, 5}, volume);
  EXPECT_DOUBLE_EQ(many.plain_seconds, 0.4);
  EXPECT_NEAR(many.factor(), 5, 1e-9);
  EXPECT_EQ(many.limit, "storage");
}

TEST(LinkModel, TheFirstBlocksWayAndSlowerCoresAreCounted) {
  Machine machine = machine_of(2, 4);
  machine.efficiency = 0.5;
  machine.latency_seconds = 1e-3;
  const Modelled modelled = model_gather(machine, {1e9, 1e9, 10}, {1e9, 1e8}, true);
  // Latency, then a tenth of a second each to encode and decode the first block, a thousandth to move it.
  EXPECT_NEAR(modelled.seconds, 1e-3 + 0.1 + 1e-3 + 0.1 + 1e9 / (1e9 * 4 * 0.5), 1e-9);
  EXPECT_EQ(cores_for(5, 64, machine, {1e9, 1e9, 10}, {1e9, 0}, true, true), 0);
  EXPECT_EQ(cores_for(2, 1000, machine_of(8, 1), {1e10, 1e9, 10}, {1e9, 0}, true, true), 20);
}

}  // namespace
}  // namespace neve::mpibench
