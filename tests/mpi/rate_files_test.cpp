// SPDX-License-Identifier: BSD-3-Clause
// A ratio as the bound of frame files: of neve/transfer.h, and of boxes of several types.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "neve/transfer.h"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_file_writer.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using mpi::FileValues;
using mpi::FrameFileReader;
using mpi::FrameFileWriter;
using mpi::Moved;
using mpi::Reached;
using mpi::Transfer;
using test::same_on_all_ranks;
using test::world_rank;
using test::world_size;

// Evenly spread in [0, 1), by a number alone.
double noise(uint64_t n) {
  n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9U;
  return static_cast<double>((n ^ (n >> 32)) >> 11) * 0x1p-53;
}

// A field that moves on but stays alike: waves, and a little that no codec predicts.
template <class T>
std::vector<T> field(int rank, uint64_t count, int step) {
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double x = 0.003 * static_cast<double>(i) + rank + 0.4 * step;
    const uint64_t seed = i * 1000003 + static_cast<uint64_t>(100 * step + rank);
    values[i] = static_cast<T>(std::sin(x) + 0.3 * std::cos(7.1 * x) + 0.01 * noise(seed));
  }
  return values;
}

class RateFiles : public testing::Test {
 protected:
  RateFiles() : directory_(test::make_directory("rate_files")), path_(directory_ + "/values.neve") {}
  ~RateFiles() override { test::remove_directory(directory_); }

  std::string directory_, path_;
};

template <class T>
double largest_error(const std::vector<T>& wanted, const std::vector<T>& got) {
  T largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, static_cast<T>(std::abs(got[i] - wanted[i])));
  }
  return static_cast<double>(largest);
}

TEST_F(RateFiles, AreHeldFromTheThirdCallOn) {
  for (const double ratio : {5.0, 12.0}) {
    neve_mpi_file* file = nullptr;
    ASSERT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_CREATE, &file), NEVE_OK);
    // Rank 1 of many has none.
    const uint64_t count = world_rank() == 1 && world_size() > 2 ? 0 : 60000;
    const auto ranks = static_cast<uint64_t>(world_size());
    const std::string bound = "ratio=" + std::to_string(ratio);
    const auto first_of = [&](int step) {
      return (static_cast<uint64_t>(step) * ranks + static_cast<uint64_t>(world_rank())) * 60000;
    };
    std::vector<double> bounds;
    for (int step = 0; step < 5; ++step) {
      const std::vector<float> mine = field<float>(world_rank(), count, step);
      neve_mpi_reached reached = {};
      neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
      options.reached = &reached;
      ASSERT_EQ(neve_mpi_file_write_at_all(file, first_of(step), mine.data(), count, MPI_FLOAT, bound.c_str(),
                                           &options),
                NEVE_OK)
          << neve_last_error();
      std::string bytes(sizeof reached, '\0');
      std::memcpy(bytes.data(), &reached, sizeof reached);
      EXPECT_TRUE(same_on_all_ranks(bytes));
      EXPECT_EQ(reached.value_bytes, (world_size() > 2 ? ranks - 1 : ranks) * 60000 * 4);
      const double got = static_cast<double>(reached.value_bytes) / static_cast<double>(reached.moved_bytes);
      if (step >= 2) {
        EXPECT_NEAR(got / ratio, 1, 0.05) << step;
      }
      EXPECT_GT(reached.max_abs_error, 0);
      EXPECT_LE(reached.max_abs_error, reached.bound_abs);
      bounds.push_back(reached.bound_abs);
    }
    ASSERT_EQ(neve_mpi_file_close(&file), NEVE_OK) << neve_last_error();
    ASSERT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_READ, &file), NEVE_OK);
    for (int step = 0; step < 5; ++step) {
      std::vector<float> got(count);
      ASSERT_EQ(neve_mpi_file_read_at(file, first_of(step), got.data(), count, MPI_FLOAT, nullptr), NEVE_OK);
      EXPECT_LE(largest_error(field<float>(world_rank(), count, step), got),
                bounds[static_cast<size_t>(step)]);
    }
    ASSERT_EQ(neve_mpi_file_close(&file), NEVE_OK);
  }
}

// What a communicator has learned is there for its next file.
TEST_F(RateFiles, AreHeldFromFileToFile) {
  for (int step = 0; step < 5; ++step) {
    neve_mpi_file* file = nullptr;
    ASSERT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_CREATE, &file), NEVE_OK);
    const std::vector<double> mine = field<double>(world_rank(), 50000, step);
    neve_mpi_reached reached = {};
    neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
    options.reached = &reached;
    options.block_bytes = 1 << 15;  // more blocks than are sampled
    ASSERT_EQ(neve_mpi_file_write_at_all(file, static_cast<uint64_t>(world_rank()) * 50000, mine.data(),
                                         50000, MPI_DOUBLE, "ratio=15", &options),
              NEVE_OK)
        << neve_last_error();
    ASSERT_EQ(neve_mpi_file_close(&file), NEVE_OK);
    const double got = static_cast<double>(reached.value_bytes) / static_cast<double>(reached.moved_bytes);
    if (step >= 2) {
      EXPECT_NEAR(got / 15, 1, 0.05) << step;
    }
  }
}

// The size of a single block jumps where its codec changes.
TEST_F(RateFiles, OfOneRankAreHeldByItself) {
  neve_mpi_file* file = nullptr;
  ASSERT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_CREATE, &file), NEVE_OK);
  const uint64_t first = static_cast<uint64_t>(world_rank()) * 50000;
  // Each rank as often as it likes.
  for (int step = 0; step < 3 + world_rank() % 3; ++step) {
    const std::vector<float> mine = field<float>(world_rank(), 50000, step);
    neve_mpi_report report = {};
    neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
    options.report = &report;
    ASSERT_EQ(neve_mpi_file_write_at(file, first, mine.data(), 50000, MPI_FLOAT, "ratio=8", &options),
              NEVE_OK)
        << neve_last_error();
    if (step >= 2) {
      EXPECT_NEAR(static_cast<double>(report.value_bytes) / static_cast<double>(report.moved_bytes) / 8, 1,
                  0.1);
    }
  }
  // Nothing can be so small.
  const std::vector<float> mine = field<float>(world_rank(), 50000, 0);
  ASSERT_EQ(neve_mpi_file_write_at(file, first, mine.data(), 50000, MPI_FLOAT, "ratio=1e9", nullptr), NEVE_OK)
      << neve_last_error();
  EXPECT_EQ(neve_mpi_file_close(&file), NEVE_OK) << neve_last_error();
}

// Floats in boxes on even ranks, doubles on odd ones, raw bytes on every third.
TEST_F(RateFiles, AreHeldForEachType) {
  auto writer = FrameFileWriter::open(MPI_COMM_WORLD, path_, FrameFileWriter::Begin::anew);
  ASSERT_TRUE(writer.ok());
  const bool is_raw = world_rank() % 3 == 2, is_float = world_rank() % 2 == 0;
  const uint32_t value_bytes = is_float ? 4 : 8;
  const auto ranks = static_cast<uint64_t>(world_size());
  for (int step = 0; step < 4; ++step) {
    const std::vector<float> floats = field<float>(world_rank(), 64000, step);
    const std::vector<double> doubles = field<double>(world_rank(), 64000, step);
    FileBox box{static_cast<uint64_t>(world_rank()) * 800, value_bytes, 2, {}};
    box.directions[0] = {640, ranks * 800};
    box.directions[1] = {100, value_bytes};
    Transfer transfer;
    transfer.dtype = is_float ? DType::f32 : DType::f64;
    transfer.values.bound = {BoundMode::ratio, 8};
    const void* const data =
        is_float ? static_cast<const void*>(floats.data()) : static_cast<const void*>(doubles.data());
    Moved moved;
    Reached reached;
    const Status written = (*writer)->write_all(transfer, {{&box, 1}, is_raw, data}, moved, reached);
    ASSERT_TRUE(written.ok()) << written.message();
    uint64_t bytes = is_raw ? 0 : 64000 * value_bytes;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(reached.value_bytes, bytes);
    const double got = static_cast<double>(reached.value_bytes) / static_cast<double>(reached.moved_bytes);
    if (step >= 2) {
      EXPECT_NEAR(got / 8, 1, 0.05) << step;
    }
    EXPECT_LE(moved.max_abs_error, reached.max_abs_error);
    std::vector<std::byte> back(64000 * value_bytes);
    ASSERT_TRUE((*writer)->share_index().ok());
    ASSERT_TRUE((*writer)->read({&box, 1}, back.data(), 1, moved).ok());
    if (is_raw) {
      EXPECT_EQ(std::memcmp(back.data(), data, back.size()), 0);
    } else if (is_float) {
      std::vector<float> values(64000);
      std::memcpy(values.data(), back.data(), back.size());
      EXPECT_LE(largest_error(floats, values), reached.max_abs_error);
    } else {
      std::vector<double> values(64000);
      std::memcpy(values.data(), back.data(), back.size());
      EXPECT_LE(largest_error(doubles, values), reached.max_abs_error);
    }
  }
  EXPECT_TRUE((*writer)->close().ok());
}

TEST_F(RateFiles, WrongArgumentsAreSaid) {
  const std::vector<float> mine(1000, 1);
  const std::vector<int> numbers(1000, 1);
  neve_mpi_reached reached = {};
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.reached = &reached;
  const auto refused = [&](const auto& call, const char* words) {
    neve_mpi_file* file = nullptr;
    ASSERT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_CREATE, &file), NEVE_OK);
    EXPECT_EQ(call(file), NEVE_USAGE);
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_USAGE);
  };
  refused(
      [&](neve_mpi_file* file) {
        return neve_mpi_file_write_at_all(file, 0, numbers.data(), 1000, MPI_INT, "ratio=4", nullptr);
      },
      "integers are lossless");
  refused(
      [&](neve_mpi_file* file) {
        return neve_mpi_file_write_at_all(file, 0, mine.data(), 1000, MPI_FLOAT, "abs=1", &options);
      },
      "reached is given");
  refused(
      [&](neve_mpi_file* file) {
        return neve_mpi_file_write_at(file, 0, mine.data(), 1000, MPI_FLOAT, "ratio=4", &options);
      },
      "a write of one rank");
  refused(
      [&](neve_mpi_file* file) {
        return neve_mpi_file_write_at_all(file, 0, mine.data(), 1000, MPI_FLOAT, "ratio=0", nullptr);
      },
      "ratio");
}

}  // namespace
}  // namespace neve
