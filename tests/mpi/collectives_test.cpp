// SPDX-License-Identifier: BSD-3-Clause
// Allgather, alltoall, bcast and scatter of neve/transfer.h: what arrives, and how far off.
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "neve/transfer.h"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::same_on_all_ranks;
using test::world_rank;
using test::world_size;

constexpr double untouched = -77;

template <class T>
MPI_Datatype mpi_type() {
  if (std::is_integral_v<T>) return MPI_INT32_T;
  return sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE;
}

// Value i of what rank `from` sends rank `to`, who may be all.
template <class T>
T value(int from, int to, uint64_t i) {
  if (std::is_integral_v<T>) return static_cast<T>(1000003 * from + 7919 * to + 31 * static_cast<int>(i));
  if (i == 5) return static_cast<T>(std::numeric_limits<double>::quiet_NaN());
  if (i == 6) return static_cast<T>(-0.0);
  const double x = 0.01 * static_cast<double>(i) + from + 0.1 * to;
  return static_cast<T>(std::sin(x) + 0.2 * std::cos(9 * x));
}

template <class T>
std::vector<T> values(int from, int to, uint64_t count) {
  std::vector<T> made(count);
  for (uint64_t i = 0; i < count; ++i) made[i] = value<T>(from, to, i);
  return made;
}

// How values are cut and coded.
struct How {
  const char* bound;
  uint64_t block_bytes;
  int threads;
  uint64_t layer;  // 0: a line
};
constexpr How ways[] = {{"abs=1e-3", 0, 1, 0},
                        {"rel=1e-4", 4096, 1, 0},
                        {"abs=1e-3", 4096, 3, 10},
                        {"lossless", 1000, 2, 0},
                        {"rel=1e-3", 8192, 1, 50}};

class Call {
 public:
  explicit Call(const How& how) : how_(how) {
    values_.threads = how.threads;
    options.values = &values_;
    options.block_bytes = how.block_bytes;
    if (how.layer > 0) options.layer_ndim = 1;
    options.layer_shape = &how_.layer;
    options.reached = &reached;
    options.report = &report;
  }
  Call(const Call&) = delete;
  template <class T>
  const char* bound() const {
    return std::is_integral_v<T> ? "lossless" : how_.bound;
  }

  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  neve_mpi_reached reached = {};
  neve_mpi_report report = {};

 private:
  How how_;
  neve_compress_options values_ = NEVE_COMPRESS_OPTIONS_INIT;
};

// Within `bound`, of the values' own arithmetic; special ones bit for bit.
template <class T>
void expect_values(const T* got, const std::vector<T>& wanted, double bound, const char* what) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::memcmp(&got[i], &wanted[i], sizeof(T)) == 0) continue;
    const double off = std::abs(static_cast<double>(static_cast<T>(got[i] - wanted[i])));
    ASSERT_LE(off, bound) << what << ", value " << i << ": " << got[i] << " for " << wanted[i];
    ASSERT_FALSE(wanted[i] == 0) << what << ", value " << i;
  }
}

template <class T>
std::string bytes_of(const std::vector<T>& all) {
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T)};
}

std::string text_of(const neve_mpi_reached& reached) {
  return {reinterpret_cast<const char*>(&reached), sizeof reached};
}

template <class T>
class Collectives : public testing::Test {
 protected:
  const int rank_ = world_rank(), ranks_ = world_size();
  const size_t n_ = static_cast<size_t>(ranks_);

  // What all of it says of itself, after a call that moved `sent` values over all ranks.
  void expect_reached(const Call& call, uint64_t sent) {
    EXPECT_TRUE(same_on_all_ranks(text_of(call.reached)));
    EXPECT_EQ(call.reached.value_bytes, sent * sizeof(T));
    EXPECT_LE(call.reached.max_abs_error, call.reached.bound_abs);
    if (sent > 1000) {
      EXPECT_LT(call.reached.moved_bytes, 2 * call.reached.value_bytes);
    }
  }
};
using Types = testing::Types<float, double, int32_t>;
TYPED_TEST_SUITE(Collectives, Types);

TYPED_TEST(Collectives, AllgathersBringAllRanksTheSame) {
  using T = TypeParam;
  for (const How& how : ways) {
    for (const uint64_t count : {uint64_t{0}, uint64_t{50}, uint64_t{20000}}) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(std::string(how.bound) + " " + std::to_string(count));
        Call call(how);
        std::vector<T> mine = values<T>(this->rank_, 0, count), all(count * this->n_);
        if (in_place)
          std::copy(mine.begin(), mine.end(), all.begin() + this->rank_ * static_cast<long>(count));
        ASSERT_EQ(neve_mpi_allgather(in_place ? MPI_IN_PLACE : mine.data(), count, mpi_type<T>(), all.data(),
                                     MPI_COMM_WORLD, call.bound<T>(), &call.options),
                  NEVE_OK)
            << neve_last_error();
        EXPECT_TRUE(same_on_all_ranks(bytes_of(all)));
        for (int r = 0; r < this->ranks_; ++r) {
          expect_values(all.data() + static_cast<uint64_t>(r) * count, values<T>(r, 0, count),
                        call.reached.bound_abs, "allgather");
        }
        this->expect_reached(call, this->ranks_ == 1 ? 0 : count * this->n_);
      }
    }
  }
}

// Rank r sends 50 * (r % 3) values times a number, the last first, with gaps.
TYPED_TEST(Collectives, AllgathersOfCountsLeaveWhatLiesBetween) {
  using T = TypeParam;
  for (const How& how : ways) {
    Call call(how);
    std::vector<uint64_t> counts(this->n_), displs(this->n_);
    uint64_t end = 3, total = 0;
    for (size_t r = this->n_; r-- > 0;) {
      counts[r] = 150 * (r % 3);
      displs[r] = end;
      end += counts[r] + 3;
      total += counts[r];
    }
    std::vector<T> all(end, static_cast<T>(untouched));
    const uint64_t count = counts[static_cast<size_t>(this->rank_)];
    const std::vector<T> mine = values<T>(this->rank_, 0, count);
    ASSERT_EQ(neve_mpi_allgatherv(mine.data(), count, mpi_type<T>(), all.data(), counts.data(), displs.data(),
                                  MPI_COMM_WORLD, call.bound<T>(), &call.options),
              NEVE_OK)
        << neve_last_error();
    EXPECT_TRUE(same_on_all_ranks(bytes_of(all)));
    for (size_t r = 0; r < this->n_; ++r) {
      expect_values(all.data() + displs[r], values<T>(static_cast<int>(r), 0, counts[r]),
                    call.reached.bound_abs, "allgatherv");
      for (uint64_t gap = 1; gap <= 3; ++gap) EXPECT_EQ(all[displs[r] - gap], static_cast<T>(untouched));
    }
    this->expect_reached(call, this->ranks_ == 1 ? 0 : total);
  }
}

TYPED_TEST(Collectives, AlltoallsBringEachRankItsPart) {
  using T = TypeParam;
  for (const How& how : ways) {
    for (const uint64_t count : {uint64_t{0}, uint64_t{50}, uint64_t{7000}}) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(std::string(how.bound) + " " + std::to_string(count));
        Call call(how);
        std::vector<T> mine, all(count * this->n_);
        for (int to = 0; to < this->ranks_; ++to) {
          const std::vector<T> part = values<T>(this->rank_, to, count);
          mine.insert(mine.end(), part.begin(), part.end());
        }
        if (in_place) all = mine;
        ASSERT_EQ(neve_mpi_alltoall(in_place ? MPI_IN_PLACE : mine.data(), count, mpi_type<T>(), all.data(),
                                    MPI_COMM_WORLD, call.bound<T>(), &call.options),
                  NEVE_OK)
            << neve_last_error();
        for (int from = 0; from < this->ranks_; ++from) {
          expect_values(all.data() + static_cast<uint64_t>(from) * count, values<T>(from, this->rank_, count),
                        from == this->rank_ ? 0 : call.reached.bound_abs, "alltoall");
        }
        this->expect_reached(call, count * this->n_ * (this->n_ - 1));
      }
    }
  }
}

// From rank f to rank t go 50 * ((2 f + t) % 4) values.
TYPED_TEST(Collectives, AlltoallsOfCounts) {
  using T = TypeParam;
  const auto count_of = [](size_t from, size_t to) { return 50 * ((2 * from + to) % 4); };
  for (const How& how : ways) {
    Call call(how);
    const auto own = static_cast<size_t>(this->rank_);
    std::vector<uint64_t> out(this->n_), out_at(this->n_), in(this->n_), in_at(this->n_);
    uint64_t out_end = 0, in_end = 1;
    for (size_t r = this->n_; r-- > 0;) {
      out[r] = count_of(own, r), in[r] = count_of(r, own);
      out_at[r] = out_end, in_at[r] = in_end;
      out_end += out[r] + 2, in_end += in[r] + 1;
    }
    std::vector<T> mine(out_end, static_cast<T>(1e6)), all(in_end, static_cast<T>(untouched));
    for (size_t r = 0; r < this->n_; ++r) {
      const std::vector<T> part = values<T>(this->rank_, static_cast<int>(r), out[r]);
      std::copy(part.begin(), part.end(), mine.begin() + static_cast<long>(out_at[r]));
    }
    ASSERT_EQ(neve_mpi_alltoallv(mine.data(), out.data(), out_at.data(), mpi_type<T>(), all.data(), in.data(),
                                 in_at.data(), MPI_COMM_WORLD, call.bound<T>(), &call.options),
              NEVE_OK)
        << neve_last_error();
    for (size_t r = 0; r < this->n_; ++r) {
      expect_values(all.data() + in_at[r], values<T>(static_cast<int>(r), this->rank_, in[r]),
                    r == own ? 0 : call.reached.bound_abs, "alltoallv");
      EXPECT_EQ(all[in_at[r] - 1], static_cast<T>(untouched));
    }
    // What lies between the parts has no part in the range.
    EXPECT_LT(call.reached.bound_abs, 0.01);
    EXPECT_TRUE(same_on_all_ranks(text_of(call.reached)));
  }
}

TYPED_TEST(Collectives, BroadcastsLeaveRootsValuesAsTheyAre) {
  using T = TypeParam;
  for (const How& how : ways) {
    for (int root = 0; root < this->ranks_; ++root) {
      const uint64_t count = root == 1 ? 0 : 9000;
      Call call(how);
      std::vector<T> all(count, static_cast<T>(untouched));
      if (this->rank_ == root) all = values<T>(root, 0, count);
      ASSERT_EQ(neve_mpi_bcast(all.data(), count, mpi_type<T>(), root, MPI_COMM_WORLD, call.bound<T>(),
                               &call.options),
                NEVE_OK)
          << neve_last_error();
      expect_values(all.data(), values<T>(root, 0, count), this->rank_ == root ? 0 : call.reached.bound_abs,
                    "bcast");
      this->expect_reached(call, this->ranks_ == 1 ? 0 : count);
      EXPECT_EQ(call.report.value_bytes, this->ranks_ == 1 ? 0 : count * sizeof(T));
    }
  }
}

TYPED_TEST(Collectives, ScattersBringEachRankItsPart) {
  using T = TypeParam;
  const uint64_t count = 3000;
  for (const How& how : ways) {
    for (int root = 0; root < this->ranks_; ++root) {
      for (const bool in_place : {false, true}) {
        Call call(how);
        std::vector<T> all, mine(count, static_cast<T>(untouched));
        for (int to = 0; this->rank_ == root && to < this->ranks_; ++to) {
          const std::vector<T> part = values<T>(root, to, count);
          all.insert(all.end(), part.begin(), part.end());
        }
        const bool stays = in_place && this->rank_ == root;
        ASSERT_EQ(neve_mpi_scatter(all.data(), count, mpi_type<T>(), stays ? MPI_IN_PLACE : mine.data(), root,
                                   MPI_COMM_WORLD, call.bound<T>(), &call.options),
                  NEVE_OK)
            << neve_last_error();
        const T* const got = stays ? all.data() + static_cast<uint64_t>(root) * count : mine.data();
        expect_values(got, values<T>(root, this->rank_, count),
                      this->rank_ == root ? 0 : call.reached.bound_abs, "scatter");
        this->expect_reached(call, count * (this->n_ - 1));
      }
    }
  }
}

TYPED_TEST(Collectives, ScattersOfCounts) {
  using T = TypeParam;
  const int root = this->ranks_ - 1;
  for (const How& how : ways) {
    Call call(how);
    std::vector<uint64_t> counts(this->n_), displs(this->n_);
    std::vector<T> all;
    for (size_t r = this->n_; r-- > 0;) {
      counts[r] = 100 * (r % 4);
      displs[r] = all.size();
      if (this->rank_ != root) continue;
      const std::vector<T> part = values<T>(root, static_cast<int>(r), counts[r]);
      all.insert(all.end(), part.begin(), part.end());
      all.push_back(static_cast<T>(1e6));
    }
    const uint64_t own = counts[static_cast<size_t>(this->rank_)];
    std::vector<T> mine(own + 1, static_cast<T>(untouched));
    const bool is_root = this->rank_ == root;
    ASSERT_EQ(neve_mpi_scatterv(is_root ? all.data() : nullptr, is_root ? counts.data() : nullptr,
                                is_root ? displs.data() : nullptr, mpi_type<T>(), mine.data(), own, root,
                                MPI_COMM_WORLD, call.bound<T>(), &call.options),
              NEVE_OK)
        << neve_last_error();
    expect_values(mine.data(), values<T>(root, this->rank_, own), is_root ? 0 : call.reached.bound_abs,
                  "scatterv");
    EXPECT_EQ(mine[own], static_cast<T>(untouched));
  }
}

// The bytes that move do not depend on threads.
TEST(CollectivesOnThreads, MoveTheSameFrames) {
  const uint64_t count = 20000;
  uint64_t moved[2] = {};
  for (const int threads : {1, 4}) {
    Call call({"rel=1e-3", 16384, threads, 0});
    const std::vector<double> mine = values<double>(world_rank(), 0, count);
    std::vector<double> all(count * static_cast<size_t>(world_size()));
    ASSERT_EQ(neve_mpi_allgather(mine.data(), count, MPI_DOUBLE, all.data(), MPI_COMM_WORLD, "rel=1e-3",
                                 &call.options),
              NEVE_OK)
        << neve_last_error();
    moved[threads == 1 ? 0 : 1] = call.reached.moved_bytes;
    if (world_size() > 1) {
      EXPECT_LT(call.reached.moved_bytes, call.reached.value_bytes / 5);
    }
  }
  EXPECT_EQ(moved[0], moved[1]);
}

TEST(CollectivesThatDoNotFit, AreOneErrorOnAllRanks) {
  if (world_size() == 1) return;
  std::vector<float> mine(100, 1), all(100 * static_cast<size_t>(world_size()));
  const uint64_t count = world_rank() == 1 ? 99 : 100;
  const auto refused = [](int code, const char* words) {
    EXPECT_EQ(code, NEVE_USAGE);
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
    EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  };
  refused(neve_mpi_bcast(mine.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD, "abs=1", nullptr),
          "rank 0 sends 100 values, and rank 1 expects 99");
  refused(neve_mpi_allgather(mine.data(), count, MPI_FLOAT, all.data(), MPI_COMM_WORLD, "abs=1", nullptr),
          "rank 1 sends 99 values, and rank 0 expects 100");
  refused(neve_mpi_alltoall(all.data(), count, MPI_FLOAT, all.data(), MPI_COMM_WORLD, "abs=1", nullptr),
          "values, and rank 0 expects 100");
  refused(neve_mpi_bcast(mine.data(), 100, MPI_FLOAT, 0, MPI_COMM_WORLD, "ratio=10", nullptr),
          "bound ratio=10 is for gathers");
  refused(neve_mpi_bcast(mine.data(), 100, world_rank() == 0 ? MPI_FLOAT : MPI_DOUBLE, 0, MPI_COMM_WORLD,
                         "abs=1", nullptr),
          "datatype");
}

}  // namespace
}  // namespace neve
