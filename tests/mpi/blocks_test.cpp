// SPDX-License-Identifier: BSD-3-Clause
// neve/transfer.h: gather, send and receive.
#include "neve/transfer.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::same_on_all_ranks;
using test::world_rank;
using test::world_size;

template <class T>
MPI_Datatype mpi_type() {
  return sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE;
}

// Value i of a rank: smooth, each rank at a height of its own.
template <class T>
T value_of(int rank, uint64_t i) {
  return static_cast<T>(10 * rank + std::sin(0.01 * static_cast<double>(i)));
}

// With a few special values, when there is room for them.
template <class T>
std::vector<T> values_of(int rank, uint64_t count) {
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) values[i] = value_of<T>(rank, i);
  if (count > 600) {
    values[17] = std::numeric_limits<T>::quiet_NaN();
    values[18] = -std::numeric_limits<T>::infinity();
    values[599] = static_cast<T>(-0.0);
  }
  return values;
}

template <class T>
void expect_within(const std::vector<T>& wanted, const T* got, double bound) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isfinite(wanted[i]) && wanted[i] != 0) {
      ASSERT_LE(std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i])), bound) << i;
    } else {
      ASSERT_EQ(std::memcmp(&got[i], &wanted[i], sizeof(T)), 0) << i;
    }
  }
}

struct Options {
  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  neve_mpi_report report = {};
  neve_mpi_options all = NEVE_MPI_OPTIONS_INIT;

  explicit Options(uint64_t block_bytes, int threads = 1) {
    values.threads = threads;
    all.values = &values;
    all.block_bytes = block_bytes;
    all.report = &report;
  }
  Options(const Options&) = delete;
};

// Different counts, none at all among them; places with gaps, the last rank first.
template <class T>
void gatherv_round_trip(int root, int threads) {
  const int ranks = world_size();
  std::vector<uint64_t> counts, displs(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) counts.push_back(r == 1 ? 0 : 700 * static_cast<uint64_t>(r + 1));
  uint64_t end = 3;
  for (size_t r = displs.size(); r-- > 0; end += counts[r] + 5) displs[r] = end;
  const uint64_t own = counts[static_cast<size_t>(world_rank())];
  const std::vector<T> mine = values_of<T>(world_rank(), own);
  std::vector<T> got(world_rank() == root ? end : 0, static_cast<T>(-77));
  Options options(4096, threads);
  const bool is_root = world_rank() == root;
  ASSERT_EQ(neve_mpi_gatherv(mine.data(), own, mpi_type<T>(), is_root ? got.data() : nullptr,
                             is_root ? counts.data() : nullptr, is_root ? displs.data() : nullptr, root,
                             MPI_COMM_WORLD, "rel=1e-4", &options.all),
            NEVE_OK)
      << neve_last_error();
  if (!is_root) {
    EXPECT_EQ(options.report.value_bytes, own * sizeof(T));
    EXPECT_EQ(options.report.blocks, (own * sizeof(T) + 4095) / 4096);
    return;
  }
  const double range = 10.0 * (ranks - 1) + 2;
  std::vector<char> touched(got.size(), 0);
  for (int r = 0; r < ranks; ++r) {
    const auto i = static_cast<size_t>(r);
    SCOPED_TRACE(r);
    expect_within(values_of<T>(r, counts[i]), got.data() + displs[i], r == root ? 0 : 1e-4 * range);
    std::fill_n(touched.begin() + static_cast<std::ptrdiff_t>(displs[i]), counts[i], 1);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (touched[i] == 0) {
      EXPECT_EQ(got[i], -77) << i;
    }
  }
}

TEST(Gather, BringsEveryRanksValuesWithinTheBoundWhateverCountTypeAndRoot) {
  const int last = world_size() - 1;
  gatherv_round_trip<float>(0, 1);
  gatherv_round_trip<double>(last, 2);
  gatherv_round_trip<float>(last / 2, 3);
}

TEST(Gather, RelativeBoundsAreOfTheRangeOverAllRanks) {
  // All but the last rank hold little noise, the last a wide range: what they may lose is wide, too.
  const int ranks = world_size();
  constexpr uint64_t count = 1000;
  std::vector<float> mine(count);
  const float height = world_rank() == ranks - 1 ? 1000 : 1;
  for (uint64_t i = 0; i < count; ++i) mine[i] = height * static_cast<float>((i * 7919) % 1000) / 999;
  std::vector<float> got(count * static_cast<uint64_t>(ranks));
  Options options(0);
  ASSERT_EQ(neve_mpi_gather(mine.data(), count, MPI_FLOAT, got.data(), ranks - 1, MPI_COMM_WORLD, "rel=1e-3",
                            &options.all),
            NEVE_OK)
      << neve_last_error();
  if (world_rank() != ranks - 1) {
    EXPECT_LT(options.report.moved_bytes, 500u);
    return;
  }
  for (size_t i = 0; i + count < got.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - static_cast<float>((i % count * 7919) % 1000) / 999), 1.0f);
  }
}

TEST(Gather, TakesValuesInPlaceIntegersAndLayers) {
  const int ranks = world_size(), root = ranks / 2;
  constexpr uint64_t count = 5 * 6 * 7;
  const auto place = [&](int r) { return static_cast<size_t>(r) * count; };
  std::vector<double> fields(count * static_cast<uint64_t>(ranks));
  const std::vector<double> mine = values_of<double>(world_rank(), count);
  std::copy(mine.begin(), mine.end(), fields.begin() + static_cast<std::ptrdiff_t>(place(root)));
  Options options(1000);
  const uint64_t layer[] = {6, 7};
  options.all.layer_ndim = 2;
  options.all.layer_shape = layer;
  const bool is_root = world_rank() == root;
  ASSERT_EQ(neve_mpi_gather(is_root ? MPI_IN_PLACE : mine.data(), count, MPI_DOUBLE, fields.data(), root,
                            MPI_COMM_WORLD, "abs=0.01", &options.all),
            NEVE_OK)
      << neve_last_error();
  for (int r = 0; is_root && r < ranks; ++r) {
    expect_within(values_of<double>(r, count), fields.data() + place(r), 0.01);
  }

  std::vector<int32_t> numbers(200), all(200 * static_cast<size_t>(ranks));
  std::iota(numbers.begin(), numbers.end(), 1000000 * world_rank());
  ASSERT_EQ(neve_mpi_gather(numbers.data(), 200, MPI_INT, all.data(), root, MPI_COMM_WORLD, nullptr, nullptr),
            NEVE_OK)
      << neve_last_error();
  for (size_t i = 0; is_root && i < all.size(); ++i) {
    EXPECT_EQ(all[i], 1000000 * static_cast<int>(i / 200) + static_cast<int>(i % 200));
  }
}

TEST(Gather, FindsOneFillValueOverAllRanks) {
  // Fill values on the last rank alone; all others would call 1e30 the range's end.
  const int ranks = world_size();
  std::vector<float> mine = values_of<float>(world_rank(), 500);
  if (world_rank() == ranks - 1) mine[100] = mine[101] = 1e30f;
  std::vector<float> got(500 * static_cast<size_t>(ranks));
  ASSERT_EQ(neve_mpi_gather(mine.data(), 500, MPI_FLOAT, got.data(), 0, MPI_COMM_WORLD, "rel=1e-3", nullptr),
            NEVE_OK)
      << neve_last_error();
  if (world_rank() != 0) return;
  for (int r = 0; r < ranks; ++r) {
    std::vector<float> wanted = values_of<float>(r, 500);
    if (r == ranks - 1) wanted[100] = wanted[101] = 1e30f;
    expect_within(wanted, got.data() + 500 * static_cast<size_t>(r), 1e-3 * (10.0 * (ranks - 1) + 2));
  }
}

TEST(Gather, OneRanksErrorIsEverybodysWithTheSameWords) {
  const int ranks = world_size();
  const bool is_last = world_rank() == ranks - 1;
  const std::vector<float> mine = values_of<float>(world_rank(), 1000);
  std::vector<float> got(1000 * static_cast<size_t>(ranks));
  const uint64_t layer[] = {7};
  Options layers(0);
  layers.all.layer_ndim = 1;
  layers.all.layer_shape = layer;
  Options threads(0, -1);
  const auto gather = [&](uint64_t count, MPI_Datatype type, int root, const char* bound,
                          const neve_mpi_options* options, const void* from) {
    return neve_mpi_gather(from, count, type, got.data(), root, MPI_COMM_WORLD, bound, options);
  };
  const auto expect_error = [&](int code, int wanted, const char* words) {
    EXPECT_EQ(code, wanted);
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
    EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  };
  const void* from = mine.data();
  expect_error(gather(1000, is_last ? MPI_C_FLOAT_COMPLEX : MPI_FLOAT, 0, "abs=1", nullptr, from), NEVE_USAGE,
               "datatype");
  expect_error(gather(1000, MPI_FLOAT, is_last ? ranks : 0, "abs=1", nullptr, from), NEVE_USAGE, "root is");
  expect_error(gather(1000, MPI_FLOAT, 0, is_last ? "abs=-1" : "abs=1", nullptr, from), NEVE_USAGE, "-1");
  expect_error(gather(1000, MPI_FLOAT, 0, "abs=1", is_last ? &layers.all : nullptr, from), NEVE_USAGE,
               "layers of 7");
  expect_error(gather(1000, MPI_FLOAT, 0, "abs=1", is_last ? &threads.all : nullptr, from), NEVE_USAGE,
               "threads is -1");
  expect_error(gather(1000, MPI_FLOAT, 0, "abs=1", nullptr, is_last ? nullptr : from), NEVE_USAGE,
               "send is NULL");
  expect_error(gather(1000, MPI_INT, 0, "abs=1", nullptr, from), NEVE_USAGE, "integers are lossless");
  if (ranks > 1) {
    expect_error(gather(is_last ? 999 : 1000, MPI_FLOAT, 0, "abs=1", nullptr, from), NEVE_USAGE,
                 "sends 999 values");
    expect_error(gather(500, is_last ? MPI_DOUBLE : MPI_FLOAT, 0, "abs=1", nullptr, from), NEVE_USAGE,
                 "do not agree on the datatype");
    expect_error(gather(1000, MPI_FLOAT, 0, is_last ? "abs=2" : "abs=1", nullptr, from), NEVE_USAGE,
                 "do not agree on the bound");
    expect_error(gather(1000, MPI_FLOAT, is_last ? 1 : 0, "abs=1", nullptr, from), NEVE_USAGE,
                 "do not agree on the root");
  }
}

TEST(Gather, AFailureAmongMovingBlocksReachesAllAndLeavesNothingBehind) {
  const int ranks = world_size();
  const std::vector<float> mine = values_of<float>(world_rank(), 5000);
  std::vector<float> got(5000 * static_cast<size_t>(ranks));
  Options options(1024);
  const auto gather = [&] {
    return neve_mpi_gather(mine.data(), 5000, MPI_FLOAT, got.data(), 0, MPI_COMM_WORLD, "abs=0.1",
                           &options.all);
  };
  // Rank 0 sends itself nothing, so nothing fails there.
  setenv("NEVE_FAULT", ("encode:" + std::to_string(ranks - 1)).c_str(), 1);
  EXPECT_EQ(gather(), ranks > 1 ? NEVE_FAILURE : NEVE_OK);
  EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  if (ranks > 1) {  // it is named by its own number
    EXPECT_EQ(std::string(neve_last_error()),
              "rank " + std::to_string(ranks - 1) + ": injected fault in phase encode");
  }
  unsetenv("NEVE_FAULT");
  EXPECT_EQ(gather(), NEVE_OK) << neve_last_error();
  for (int r = 0; world_rank() == 0 && r < ranks; ++r) {
    expect_within(values_of<float>(r, 5000), got.data() + 5000 * static_cast<size_t>(r), 0.1);
  }
}

TEST(Gather, RefusesCommunicatorsWithoutACommonRoot) {
  EXPECT_EQ(neve_mpi_gather(nullptr, 0, MPI_FLOAT, nullptr, 0, MPI_COMM_NULL, nullptr, nullptr), NEVE_USAGE);
  if (world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank() % 2 == 0 ? 1 : 0, 5, &both);
  EXPECT_EQ(neve_mpi_gather(nullptr, 0, MPI_FLOAT, nullptr, 0, both, nullptr, nullptr), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("intercommunicator"), std::string::npos);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// Everything between rank 0 and the last.
class SendReceive : public testing::Test {
 protected:
  void SetUp() override {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  }
  bool sends() const { return world_rank() == world_size() - 1; }
  bool receives() const { return world_rank() == 0; }
  int sender() const { return world_size() - 1; }
};

TEST_F(SendReceive, BringsValuesFromAnySourceWithinTheBound) {
  constexpr uint64_t count = 5000;
  const std::vector<double> wanted = values_of<double>(0, count);
  for (const uint64_t block_bytes : {uint64_t{0}, uint64_t{2048}}) {
    Options options(block_bytes, 2);
    if (sends()) {
      ASSERT_EQ(
          neve_mpi_send(wanted.data(), count, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, "rel=1e-5", &options.all),
          NEVE_OK)
          << neve_last_error();
    }
    if (!receives()) continue;
    std::vector<double> got(count + 10, -1);
    uint64_t received = 0;
    MPI_Status status;
    ASSERT_EQ(neve_mpi_recv(got.data(), got.size(), MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                            &options.all, &received, &status),
              NEVE_OK)
        << neve_last_error();
    EXPECT_EQ(received, count);
    EXPECT_EQ(status.MPI_SOURCE, sender());
    EXPECT_EQ(status.MPI_TAG, 9);
    EXPECT_EQ(options.report.value_bytes, count * sizeof(double));
    EXPECT_LT(options.report.moved_bytes, options.report.value_bytes);
    expect_within(wanted, got.data(), 2e-5);
    EXPECT_EQ(got[count], -1);
  }
}

TEST_F(SendReceive, WhatDoesNotFitIsTakenOffAndSaid) {
  const std::vector<float> values = values_of<float>(1, 3000);
  Options options(1024);
  const auto send = [&] {
    return neve_mpi_send(values.data(), 3000, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, "abs=0.01", &options.all);
  };
  if (sends()) {
    EXPECT_EQ(send(), NEVE_OK);
    EXPECT_EQ(send(), NEVE_OK);
    setenv("NEVE_FAULT", ("encode:" + std::to_string(sender())).c_str(), 1);
    EXPECT_EQ(send(), NEVE_FAILURE);
    unsetenv("NEVE_FAULT");
    MPI_Send("plain", 5, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    // What begins as it should, and then holds no frame.
    struct {
      char magic[8] = {'N', 'E', 'V', 'E', 'S', 'E', 'N', 'D'};
      uint32_t protocol = 1, dtype = NEVE_F32;
      uint64_t count = 3, block_values = 2;
    } announcement;
    MPI_Send(&announcement, sizeof announcement, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    MPI_Send("no frame", 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Send("", 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    EXPECT_EQ(neve_mpi_send(nullptr, 0, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, nullptr, nullptr), NEVE_OK);
    EXPECT_EQ(neve_mpi_send(nullptr, 7, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, nullptr, nullptr), NEVE_USAGE);
    EXPECT_EQ(send(), NEVE_OK);
  }
  if (!receives()) return;
  std::vector<float> got(3000);
  uint64_t received = 0;
  const auto receive = [&](uint64_t room, MPI_Datatype type) {
    return neve_mpi_recv(got.data(), room, type, sender(), 1, MPI_COMM_WORLD, nullptr, &received, nullptr);
  };
  EXPECT_EQ(receive(2999, MPI_FLOAT), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("room for 2999"), std::string::npos) << neve_last_error();
  EXPECT_EQ(receive(1500, MPI_DOUBLE), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("sends f32 values"), std::string::npos) << neve_last_error();
  EXPECT_EQ(receive(3000, MPI_FLOAT), NEVE_FAILURE);
  EXPECT_NE(std::string(neve_last_error()).find("injected fault"), std::string::npos) << neve_last_error();
  EXPECT_EQ(receive(3000, MPI_FLOAT), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("5 bytes"), std::string::npos) << neve_last_error();
  EXPECT_EQ(receive(3000, MPI_FLOAT), NEVE_CORRUPT);
  EXPECT_EQ(receive(3000, MPI_FLOAT), NEVE_OK);
  EXPECT_EQ(received, 0u);
  EXPECT_EQ(receive(3000, MPI_FLOAT), NEVE_OK) << neve_last_error();
  EXPECT_EQ(received, 3000u);
  expect_within(values, got.data(), 0.01);
}

}  // namespace
}  // namespace neve
