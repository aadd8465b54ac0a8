// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/call_model.hpp"

#include <gtest/gtest.h>

namespace neve::pmpi {
namespace {

constexpr double block = 4 << 20;
constexpr CodecSpeeds codec = {1e-9, 0.5e-9, 0.05};  // 1 and 2 GB/s, ratio 20

TEST(CallModel, CountsWhatTheBusiestRankCodes) {
  const CallVolume gather = volume_of(Kind::gather, 5, 100), alltoall = volume_of(Kind::alltoall, 5, 100),
                   bcast = volume_of(Kind::bcast, 5, 100), scatter = volume_of(Kind::scatter, 5, 100);
  EXPECT_EQ(gather.encoded, 100);
  EXPECT_EQ(gather.decoded, 400);
  EXPECT_EQ(volume_of(Kind::allgather, 5, 100).decoded, 400);
  EXPECT_EQ(alltoall.encoded, 400);
  EXPECT_EQ(alltoall.decoded, 400);
  EXPECT_EQ(bcast.encoded, 100);
  EXPECT_EQ(bcast.decoded, 100);
  EXPECT_EQ(scatter.encoded, 400);
  EXPECT_EQ(scatter.decoded, 100);
}

TEST(CallModel, OneBlockIsEncodedMovedAndDecodedInTurn) {
  EXPECT_DOUBLE_EQ(seconds_as_frames({1e6, 1e6}, codec, 0.01, 1, block), 1e-3 + 0.5e-3 + 0.5e-3);
  // More threads than blocks have nothing to do.
  EXPECT_DOUBLE_EQ(seconds_as_frames({1e6, 1e6}, codec, 0.01, 8, block), 1e-3 + 0.5e-3 + 0.5e-3);
}

TEST(CallModel, OfManyBlocksTheSlowestStageCounts) {
  const double bytes = 1000 * block;
  const double encode = bytes * codec.encode;
  EXPECT_NEAR(seconds_as_frames({bytes, bytes}, codec, 12 * encode, 1, block), encode, 0.002 * encode);
  EXPECT_NEAR(seconds_as_frames({bytes, bytes}, codec, 100 * encode, 1, block), 5 * encode, 0.01 * encode);
  EXPECT_NEAR(seconds_as_frames({bytes, bytes}, codec, encode, 4, block), encode / 4, 0.002 * encode);
}

TEST(CallModel, ASlowLinkPaysAndAFastOneDoesNot) {
  const CallVolume volume = volume_of(Kind::gather, 2, 32 * block);
  const auto pays = [&](double bytes_per_second) {
    const double seconds = volume.encoded / bytes_per_second;
    return seconds_as_frames(volume, typical_speeds, seconds, 1, block) < clear_win * seconds;
  };
  EXPECT_TRUE(pays(0.1e9));
  EXPECT_TRUE(pays(0.5e9));
  EXPECT_FALSE(pays(1.2e9));
  EXPECT_FALSE(pays(5e9));
}

}  // namespace
}  // namespace neve::pmpi
