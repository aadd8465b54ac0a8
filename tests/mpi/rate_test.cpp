// SPDX-License-Identifier: BSD-3-Clause
// A ratio as the bound of gathers (neve/transfer.h).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "neve/transfer.h"
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

// Evenly spread in [0, 1), by a number alone.
double noise(uint64_t n) {
  n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9U;
  return static_cast<double>((n ^ (n >> 32)) >> 11) * 0x1p-53;
}

// A field that moves on but stays alike: waves, and a little that no codec predicts.
template <class T>
std::vector<T> field(int rank, uint64_t count, int step, double height = 1) {
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double x = 0.003 * static_cast<double>(i) + rank + 0.4 * step;
    const uint64_t seed = i * 1000003 + static_cast<uint64_t>(100 * step + rank);
    values[i] = static_cast<T>(height * (std::sin(x) + 0.3 * std::cos(7.1 * x) + 0.01 * noise(seed)));
  }
  return values;
}

struct Outcome {
  int code = 0;
  neve_mpi_reached reached = {};
  double ratio() const {
    return static_cast<double>(reached.value_bytes) / static_cast<double>(reached.moved_bytes);
  }
};

// As the library measures: in the values' own arithmetic. Special values arrive bit for bit.
template <class T>
double error_of(const std::vector<T>& wanted, const T* got) {
  T largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isfinite(wanted[i]) && wanted[i] != 0) {
      largest = std::max(largest, static_cast<T>(std::abs(got[i] - wanted[i])));
    } else {
      EXPECT_EQ(std::memcmp(&got[i], &wanted[i], sizeof(T)), 0) << i;
    }
  }
  return static_cast<double>(largest);
}

void expect_same_reached(const neve_mpi_reached& reached) {
  std::string bytes(sizeof reached, '\0');
  std::memcpy(bytes.data(), &reached, sizeof reached);
  EXPECT_TRUE(same_on_all_ranks(bytes));
}

// Gathers `mine`, and compares what root got, and the error, with what was sent. Rank r has counts[r] values,
// which any rank can make: values_of(r).
template <class T, class ValuesOf>
Outcome gather(const std::vector<uint64_t>& counts, int root, const char* bound, const ValuesOf& values_of,
               uint64_t block_bytes = 0) {
  const std::vector<T> mine = values_of(world_rank());
  uint64_t total = 0;
  for (const uint64_t count : counts) total += count;
  std::vector<T> all(world_rank() == root ? total : 0);
  Outcome out;
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.block_bytes = block_bytes;
  options.reached = &out.reached;
  out.code = neve_mpi_gatherv(mine.data(), mine.size(), mpi_type<T>(), all.data(), counts.data(), nullptr,
                              root, MPI_COMM_WORLD, bound, &options);
  EXPECT_EQ(out.code, NEVE_OK) << neve_last_error();
  expect_same_reached(out.reached);
  if (world_rank() != root || out.code != NEVE_OK) return out;
  double largest = 0;
  uint64_t sent = 0;
  const T* at = all.data();
  for (int rank = 0; rank < world_size(); ++rank) {
    const uint64_t count = counts[static_cast<size_t>(rank)];
    const double error = error_of<T>(values_of(rank), at);
    if (rank == root) {
      EXPECT_EQ(error, 0);
    } else {
      largest = std::max(largest, error);
      sent += count * sizeof(T);
    }
    at += count;
  }
  EXPECT_EQ(out.reached.max_abs_error, largest);
  EXPECT_LE(largest, out.reached.bound_abs);
  EXPECT_EQ(out.reached.value_bytes, sent);
  return out;
}

std::vector<uint64_t> even_counts(uint64_t count) {
  return std::vector<uint64_t>(static_cast<size_t>(world_size()), count);
}
std::vector<uint64_t> odd_counts(uint64_t count) {
  std::vector<uint64_t> counts;
  for (int r = 0; r < world_size(); ++r)
    counts.push_back(r == 1 && world_size() > 2 ? 0 : count * (r + 1) / 2);
  return counts;
}

void expect_ratio(const Outcome& out, double asked, int step) {
  if (world_size() == 1) {
    EXPECT_EQ(out.reached.moved_bytes, 0);
    return;
  }
  if (step < 2) return;
  EXPECT_NEAR(out.ratio() / asked, 1, 0.05) << "step " << step << ", bound " << out.reached.bound_abs;
}

template <class T>
void steady_gathers(const std::vector<uint64_t>& counts, int root, double ratio, uint64_t block_bytes) {
  const std::string bound = "ratio=" + std::to_string(ratio);
  for (int step = 0; step < 8; ++step) {
    const auto values_of = [&](int rank) { return field<T>(rank, counts[static_cast<size_t>(rank)], step); };
    expect_ratio(gather<T>(counts, root, bound.c_str(), values_of, block_bytes), ratio, step);
  }
}

TEST(Rate, IsHeldByGathersOfLikeValues) {
  steady_gathers<float>(even_counts(40000), 0, 5, 0);
  steady_gathers<float>(even_counts(40000), world_size() - 1, 12, 40000);
  steady_gathers<double>(even_counts(30000), 0, 10, 0);
  steady_gathers<double>(even_counts(60000), 0, 25, 100000);
}

TEST(Rate, IsHeldByGathersOfDifferentCounts) {
  steady_gathers<float>(odd_counts(40000), 0, 8, 0);
  steady_gathers<double>(odd_counts(40000), world_size() - 1, 16, 64000);
}

TEST(Rate, IsHeldOfFieldsThatTakeTurnsAndOfSpecialValues) {
  const auto counts = even_counts(40000);
  for (int step = 0; step < 6; ++step) {
    for (const double height : {1.0, 3000.0}) {
      const auto values_of = [&](int rank) {
        auto values = field<float>(rank, 40000, step, height);
        values[17] = std::numeric_limits<float>::quiet_NaN();
        values[1234] = -std::numeric_limits<float>::infinity();
        values[599] = -0.0F;
        return values;
      };
      expect_ratio(gather<float>(counts, 0, "ratio=8", values_of), 8, step);
    }
  }
}

TEST(Rate, FollowsValuesThatChange) {
  const auto counts = even_counts(40000);
  for (int step = 0; step < 8; ++step) {
    // From step 4 on a hundred times as rough: the ratio is held again two calls later.
    const auto values_of = [&](int rank) {
      auto values = field<float>(rank, 40000, step);
      for (size_t i = 0; step >= 4 && i < values.size(); ++i)
        values[i] += static_cast<float>(noise(i + 7 * rank));
      return values;
    };
    expect_ratio(gather<float>(counts, 0, "ratio=6", values_of), 6, step < 4 ? step : step - 4);
  }
}

// Nothing is lost that does not have to be.
TEST(Rate, OfValuesThatNeedNoErrorIsMore) {
  const auto counts = even_counts(50000);
  const auto constant = [](int) { return std::vector<float>(50000, 3.25F); };
  for (int step = 0; step < 3; ++step) {
    const Outcome out = gather<float>(counts, 0, "ratio=10", constant);
    EXPECT_EQ(out.reached.max_abs_error, 0);
    if (world_size() > 1) {
      EXPECT_GT(out.ratio(), 10);
    }
  }
}

// NaNs of all kinds are kept bit for bit, whatever the bound.
TEST(Rate, ThatNothingReachesIsNotAnError) {
  const auto counts = even_counts(20000);
  for (int step = 0; step < 4; ++step) {
    const auto values_of = [&](int rank) {
      std::vector<double> values(20000);
      for (size_t i = 0; i < values.size(); ++i) {
        const auto payload =
            static_cast<uint64_t>(noise(i * 11 + static_cast<uint64_t>(step * 7 + rank)) * 0x1p50);
        const uint64_t bits = 0x7ff8000000000000U | payload;
        std::memcpy(&values[i], &bits, sizeof bits);
      }
      return values;
    };
    const Outcome out = gather<double>(counts, 0, "ratio=20", values_of);
    if (world_size() > 1) {
      EXPECT_LT(out.ratio(), 3);
    }
    EXPECT_EQ(out.reached.max_abs_error, 0);
  }
}

TEST(Rate, OfNoValues) {
  const auto nothing = [](int) { return std::vector<float>(); };
  const Outcome out = gather<float>(even_counts(0), 0, "ratio=10", nothing);
  EXPECT_EQ(out.reached.moved_bytes, 0);
  EXPECT_EQ(out.reached.value_bytes, 0);
}

TEST(Rate, BytesFollowFromTheValuesAlone) {
  std::vector<uint64_t> moved[2];
  for (auto& bytes : moved) {
    MPI_Comm fresh = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    for (int step = 0; step < 4; ++step) {
      const std::vector<float> mine = field<float>(world_rank(), 30000, step);
      std::vector<float> all(30000 * static_cast<size_t>(world_size()));
      neve_mpi_reached reached = {};
      neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
      options.reached = &reached;
      ASSERT_EQ(
          neve_mpi_gather(mine.data(), mine.size(), MPI_FLOAT, all.data(), 0, fresh, "ratio=9", &options),
          NEVE_OK)
          << neve_last_error();
      bytes.push_back(reached.moved_bytes);
    }
    MPI_Comm_free(&fresh);
  }
  EXPECT_EQ(moved[0], moved[1]);
}

TEST(Rate, WrongArgumentsAreSaid) {
  std::vector<float> mine(1000, 1), all(1000 * static_cast<size_t>(world_size()));
  std::vector<int> numbers(1000, 1), all_numbers(all.size());
  const auto refused = [&](int code, const char* words) {
    EXPECT_EQ(code, NEVE_USAGE);
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
  };
  const auto gathered = [&](const char* bound, const neve_mpi_options* options) {
    return neve_mpi_gather(mine.data(), 1000, MPI_FLOAT, all.data(), 0, MPI_COMM_WORLD, bound, options);
  };
  for (const char* bound :
       {"ratio=0", "ratio=1", "ratio=-3", "ratio=nan", "ratio=inf", "ratio=text", "ratio"}) {
    refused(gathered(bound, nullptr), "ratio");
  }
  refused(gathered("psnr=60", nullptr), "psnr");
  refused(neve_mpi_gather(numbers.data(), 1000, MPI_INT, all_numbers.data(), 0, MPI_COMM_WORLD, "ratio=4",
                          nullptr),
          "integers are lossless");
  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  values.codec = "lossless";
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.values = &values;
  refused(gathered("ratio=4", &options), "lossless");
  options = NEVE_MPI_OPTIONS_INIT;
  neve_mpi_reached reached = {};
  options.reached = &reached;
  refused(neve_mpi_send(mine.data(), 1000, MPI_FLOAT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, "abs=1", &options),
          "reached");
  refused(neve_mpi_send(mine.data(), 1000, MPI_FLOAT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, "ratio=4", nullptr),
          "gathers");
}

// As nothing can be so small, it is sent as small as it gets.
TEST(Rate, BeyondAllBoundsIsNotAnError) {
  const auto counts = even_counts(10000);
  for (int step = 0; step < 3; ++step) {
    const auto values_of = [&](int rank) { return field<float>(rank, 10000, step); };
    const Outcome out = gather<float>(counts, 0, "ratio=1e9", values_of);
    if (world_size() > 1) {
      EXPECT_GT(out.ratio(), 30);
    }
  }
}

// An earlier program's options end before `reached`.
TEST(Rate, OptionsOfEarlierVersionsAreTaken) {
  std::vector<float> mine = field<float>(world_rank(), 1000, 0),
                     all(1000 * static_cast<size_t>(world_size()));
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.struct_bytes = offsetof(neve_mpi_options, reached);
  options.reached = reinterpret_cast<neve_mpi_reached*>(1);
  EXPECT_EQ(neve_mpi_gather(mine.data(), 1000, MPI_FLOAT, all.data(), 0, MPI_COMM_WORLD, "ratio=4", &options),
            NEVE_OK)
      << neve_last_error();
}

}  // namespace
}  // namespace neve
