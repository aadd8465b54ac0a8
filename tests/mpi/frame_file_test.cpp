// SPDX-License-Identifier: BSD-3-Clause
// neve/transfer.h: files.
#include <sys/mount.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
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

// Value number i of the whole file.
double value_at(uint64_t i) {
  if (i % 1009 == 17) return std::numeric_limits<double>::quiet_NaN();
  return 5 * std::sin(0.001 * static_cast<double>(i)) + 0.01 * std::cos(0.5 * static_cast<double>(i));
}

template <class T>
std::vector<T> values_from(uint64_t first, uint64_t count) {
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) values[i] = static_cast<T>(value_at(first + i));
  return values;
}

template <class T>
void expect_values(uint64_t first, const std::vector<T>& got, double bound) {
  for (uint64_t i = 0; i < got.size(); ++i) {
    const T wanted = static_cast<T>(value_at(first + i));
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got[i])) << first + i;
    } else {
      ASSERT_LE(std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted)), bound) << first + i;
    }
  }
}

class FrameFile : public testing::Test {
 protected:
  FrameFile() : directory_(test::make_directory("frame_file")), path_(directory_ + "/values.neve") {
    small_blocks_.block_bytes = 4096;
    small_blocks_.report = &report_;
  }
  ~FrameFile() override { test::remove_directory(directory_); }

  neve_mpi_file* open(int mode) {
    neve_mpi_file* file = nullptr;
    EXPECT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), mode, &file), NEVE_OK) << neve_last_error();
    return file;
  }
  void close(neve_mpi_file* file) {
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_OK) << neve_last_error();
    EXPECT_EQ(file, nullptr);
  }
  // Rank r writes `count` values from r * count on; all of them are of value_at.
  int write_all(neve_mpi_file* file, uint64_t count, const char* bound) {
    const uint64_t first = static_cast<uint64_t>(world_rank()) * count;
    const std::vector<double> mine = values_from<double>(first, count);
    return neve_mpi_file_write_at_all(file, first, mine.data(), count, MPI_DOUBLE, bound, &small_blocks_);
  }
  void make_file(uint64_t count, const char* bound) {
    neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
    EXPECT_EQ(write_all(file, count, bound), NEVE_OK) << neve_last_error();
    close(file);
  }
  std::vector<double> read(neve_mpi_file* file, uint64_t first, uint64_t count) {
    std::vector<double> got(count, -3);
    EXPECT_EQ(neve_mpi_file_read_at(file, first, got.data(), count, MPI_DOUBLE, nullptr), NEVE_OK)
        << neve_last_error();
    return got;
  }
  void expect_words(const char* words) {
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
  }

  std::string directory_, path_;
  neve_mpi_report report_ = {};
  neve_mpi_options small_blocks_ = NEVE_MPI_OPTIONS_INIT;
};

TEST_F(FrameFile, IsReadInOtherPiecesThanItWasWrittenIn) {
  constexpr uint64_t count = 3000;
  const auto ranks = static_cast<uint64_t>(world_size()), rank = static_cast<uint64_t>(world_rank());
  make_file(count, "rel=1e-4");
  EXPECT_EQ(report_.value_bytes, count * 8);
  EXPECT_EQ(report_.blocks, (count * 8 + 4095) / 4096);
  EXPECT_LT(report_.moved_bytes, report_.value_bytes);

  neve_mpi_file* file = open(NEVE_MPI_FILE_READ);
  int dtype = -1;
  uint64_t values = 0;
  EXPECT_EQ(neve_mpi_file_describe(file, &dtype, &values), NEVE_OK);
  EXPECT_EQ(dtype, NEVE_F64);
  EXPECT_EQ(values, ranks * count);
  // The last rank reads the first values; pieces begin and end inside blocks.
  const uint64_t first = (ranks - 1 - rank) * count + (rank == 0 ? 0 : 77);
  std::vector<double> got(count - 100);
  EXPECT_EQ(neve_mpi_file_read_at_all(file, first, got.data(), got.size(), MPI_DOUBLE, nullptr), NEVE_OK)
      << neve_last_error();
  expect_values(first, got, 1e-4 * 10.1);
  // One rank alone, and none at all.
  EXPECT_EQ(neve_mpi_file_read_at_all(file, 0, nullptr, 0, MPI_DOUBLE, nullptr), NEVE_OK);
  if (rank == ranks - 1) expect_values(0, read(file, 0, ranks * count), 1e-4 * 10.1);
  close(file);

  // And by a single process.
  if (rank != 0) return;
  neve_mpi_file* alone = nullptr;
  ASSERT_EQ(neve_mpi_file_open(MPI_COMM_SELF, path_.c_str(), NEVE_MPI_FILE_READ, &alone), NEVE_OK);
  expect_values(ranks * count - 1, read(alone, ranks * count - 1, 1), 1e-4 * 10.1);
  EXPECT_EQ(neve_mpi_file_close(&alone), NEVE_OK);
}

TEST_F(FrameFile, HoldsWhatSeveralCallsOfAllAndOfSingleRanksWrote) {
  const auto ranks = static_cast<uint64_t>(world_size()), rank = static_cast<uint64_t>(world_rank());
  neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
  // Layers of 10 x 10 from all, one rank without any; a hole behind; then rank 0 alone, and all on top of
  // that.
  const uint64_t layer[] = {10, 10};
  neve_mpi_options layers = small_blocks_;
  layers.layer_ndim = 2;
  layers.layer_shape = layer;
  const uint64_t own = rank == ranks - 1 ? 0 : 2000;
  const std::vector<float> mine = values_from<float>(2000 * rank, own);
  EXPECT_EQ(neve_mpi_file_write_at_all(file, 2000 * rank, mine.data(), own, MPI_FLOAT, "abs=1e-3", &layers),
            NEVE_OK)
      << neve_last_error();
  const uint64_t end = 2000 * (ranks - 1) + 500;
  const std::vector<float> piece = values_from<float>(end, 300), ones(100, 1.0f), twos(10, 2.0f);
  if (rank == 0) {
    EXPECT_EQ(neve_mpi_file_write_at(file, end, piece.data(), 300, MPI_FLOAT, "abs=1e-3", nullptr), NEVE_OK);
    EXPECT_EQ(neve_mpi_file_write_at(file, end, ones.data(), 100, MPI_FLOAT, "lossless", nullptr), NEVE_OK);
  }
  const uint64_t none_but_last = rank == ranks - 1 ? 10 : 0;
  EXPECT_EQ(
      neve_mpi_file_write_at_all(file, end + 50, twos.data(), none_but_last, MPI_FLOAT, "lossless", nullptr),
      NEVE_OK)
      << neve_last_error();
  close(file);

  file = open(NEVE_MPI_FILE_READ);
  std::vector<float> got(end + 300);
  EXPECT_EQ(neve_mpi_file_read_at_all(file, 0, got.data(), got.size(), MPI_FLOAT, nullptr), NEVE_OK)
      << neve_last_error();
  close(file);
  const auto part = [&](uint64_t first, uint64_t last) {
    return std::vector<float>(got.begin() + static_cast<std::ptrdiff_t>(first),
                              got.begin() + static_cast<std::ptrdiff_t>(last));
  };
  expect_values(0, part(0, 2000 * (ranks - 1)), 1e-3);
  EXPECT_EQ(part(end - 500, end), std::vector<float>(500, 0.0f));
  EXPECT_EQ(part(end, end + 50), std::vector<float>(50, 1.0f));
  EXPECT_EQ(part(end + 50, end + 60), std::vector<float>(10, 2.0f));
  EXPECT_EQ(part(end + 60, end + 100), std::vector<float>(40, 1.0f));
  expect_values(end + 100, part(end + 100, end + 300), 1e-3);
}

TEST_F(FrameFile, IsAddedToAndReadersFindTheOldUntilThen) {
  const auto ranks = static_cast<uint64_t>(world_size());
  make_file(1000, "abs=1e-3");
  neve_mpi_file* file = open(NEVE_MPI_FILE_UPDATE);
  const std::vector<double> zeros(700, 0.0);
  EXPECT_EQ(neve_mpi_file_write_at_all(file, 1000 * ranks - 100, zeros.data(), world_rank() == 0 ? 700 : 0,
                                       MPI_DOUBLE, "abs=1e-3", &small_blocks_),
            NEVE_OK)
      << neve_last_error();
  neve_mpi_file* reader = open(NEVE_MPI_FILE_READ);
  expect_values(0, read(reader, 0, 1000 * ranks), 1e-3);
  close(reader);
  EXPECT_EQ(neve_mpi_file_sync(file), NEVE_OK) << neve_last_error();
  reader = open(NEVE_MPI_FILE_READ);
  expect_values(0, read(reader, 0, 1000 * ranks - 100), 1e-3);
  EXPECT_EQ(read(reader, 1000 * ranks - 100, 700), zeros);
  close(reader);
  close(file);
}

TEST_F(FrameFile, OneRanksErrorIsEverybodysAndTheEarlierFileStays) {
  const bool is_last = world_rank() == world_size() - 1;
  make_file(1000, "abs=1e-3");
  test::barrier();
  const std::string before = test::read_file(path_);
  const std::vector<double> mine = values_from<double>(0, 2000);
  std::vector<double> got(10);

  neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
  EXPECT_EQ(
      neve_mpi_file_write_at_all(file, 0, is_last ? nullptr : mine.data(), 10, MPI_DOUBLE, "abs=1", nullptr),
      NEVE_USAGE);
  EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  expect_words("values is NULL");
  if (world_size() > 1) {
    EXPECT_EQ(neve_mpi_file_write_at_all(file, 0, mine.data(), 10, is_last ? MPI_FLOAT : MPI_DOUBLE, "abs=1",
                                         nullptr),
              NEVE_USAGE);
    expect_words("do not agree on the datatype");
  }
  EXPECT_EQ(neve_mpi_file_read_at(file, 0, got.data(), 1, MPI_DOUBLE, nullptr), NEVE_USAGE);
  EXPECT_EQ(neve_mpi_file_close(&file), NEVE_USAGE);
  // A write that fails half-way: the file is not published.
  file = open(NEVE_MPI_FILE_CREATE);
  setenv("NEVE_FAULT", ("encode:" + std::to_string(world_size() - 1)).c_str(), 1);
  EXPECT_EQ(write_all(file, 2000, "abs=1e-3"), NEVE_FAILURE);
  EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  unsetenv("NEVE_FAULT");
  EXPECT_EQ(neve_mpi_file_close(&file), NEVE_FAILURE);
  EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  test::barrier();
  EXPECT_EQ(test::read_file(path_), before);
  EXPECT_EQ(test::list_directory(directory_).size(), 1u);

  for (const char* fault : {"sync:0", "rename:0"}) {
    file = open(NEVE_MPI_FILE_CREATE);
    EXPECT_EQ(write_all(file, 2000, "abs=1e-3"), NEVE_OK);
    setenv("NEVE_FAULT", fault, 1);
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_FAILURE) << fault;
    unsetenv("NEVE_FAULT");
    test::barrier();
    EXPECT_EQ(test::read_file(path_), before);
  }
  EXPECT_EQ(test::list_directory(directory_).size(), 1u);

  // Types that only come together when the file is closed.
  if (world_size() > 1) {
    file = open(NEVE_MPI_FILE_CREATE);
    const std::vector<float> floats(10);
    const void* values = is_last ? static_cast<const void*>(mine.data()) : floats.data();
    EXPECT_EQ(neve_mpi_file_write_at(file, 0, values, 10, is_last ? MPI_DOUBLE : MPI_FLOAT, "abs=1", nullptr),
              NEVE_OK);
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_USAGE);
    expect_words("one type");
  }
}

TEST_F(FrameFile, OneRanksErrorOfReadingOrOpeningIsEverybodys) {
  const bool is_last = world_rank() == world_size() - 1;
  make_file(1000, "abs=1e-3");
  test::barrier();
  std::vector<double> got(10);
  neve_mpi_file* file = open(NEVE_MPI_FILE_READ);
  EXPECT_EQ(neve_mpi_file_read_at_all(file, is_last ? 1000 * static_cast<uint64_t>(world_size()) : 0,
                                      got.data(), 10, MPI_DOUBLE, nullptr),
            NEVE_USAGE);
  EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
  EXPECT_EQ(neve_mpi_file_read_at_all(file, 0, got.data(), 10, MPI_FLOAT, nullptr), NEVE_USAGE);
  expect_words("holds f64 values");
  EXPECT_EQ(neve_mpi_file_write_at(file, 0, got.data(), 10, MPI_DOUBLE, nullptr, nullptr), NEVE_USAGE);
  EXPECT_EQ(neve_mpi_file_sync(file), NEVE_USAGE);
  close(file);

  neve_mpi_file* no_file = nullptr;
  EXPECT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, (directory_ + "/none").c_str(), NEVE_MPI_FILE_READ, &no_file),
            NEVE_FAILURE);
  EXPECT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, is_last ? nullptr : "x", NEVE_MPI_FILE_READ, &no_file),
            NEVE_USAGE);
  EXPECT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, "x", 3, &no_file), NEVE_USAGE);
  EXPECT_EQ(neve_mpi_file_open(MPI_COMM_WORLD, "no/such/folder/x", NEVE_MPI_FILE_CREATE, &no_file),
            NEVE_FAILURE);
  EXPECT_EQ(no_file, nullptr);
  EXPECT_EQ(neve_mpi_file_close(&no_file), NEVE_USAGE);
}

TEST_F(FrameFile, NothingIsPublishedAfterACallThatFailed) {
  make_file(1000, "abs=1e-3");
  test::barrier();
  const std::string before = test::read_file(path_);
  const std::vector<double> mine = values_from<double>(0, 100);
  const auto is_bad = [](int rank) { return rank == world_size() - 1; };
  struct Call {
    uint64_t offset;
    const void* values;
    MPI_Datatype type;
    const char* bound;
  };
  const Call good{0, mine.data(), MPI_DOUBLE, "abs=1"};
  const Call calls[] = {{0, mine.data(), MPI_CHAR, "abs=1"},
                        {0, mine.data(), MPI_DOUBLE, "abs=-1"},
                        {0, nullptr, MPI_DOUBLE, "abs=1"},
                        {uint64_t{1} << 60, mine.data(), MPI_DOUBLE, "abs=1"},
                        {0, mine.data(), MPI_FLOAT, "abs=1"}};
  for (const bool is_collective : {true, false}) {
    const auto write = is_collective ? neve_mpi_file_write_at_all : neve_mpi_file_write_at;
    for (const Call& call : calls) {
      neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
      EXPECT_EQ(write_all(file, 1000, "abs=1e-3"), NEVE_OK);
      const Call& made = is_bad(world_rank()) ? call : good;
      const int code = write(file, made.offset, made.values, 100, made.type, made.bound, nullptr);
      EXPECT_EQ(code, is_collective || is_bad(world_rank()) ? NEVE_USAGE : NEVE_OK);
      // What comes after a failure does not make up for it.
      EXPECT_EQ(write_all(file, 1000, "abs=1e-3"), NEVE_USAGE);
      EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
      EXPECT_EQ(neve_mpi_file_sync(file), NEVE_USAGE);
      EXPECT_EQ(neve_mpi_file_close(&file), NEVE_USAGE);
      EXPECT_EQ(file, nullptr);
      EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
      expect_words("is not written, because a write failed");
      test::barrier();
      EXPECT_TRUE(test::read_file(path_) == before);
      EXPECT_EQ(test::list_directory(directory_).size(), 1u);
    }
  }
  // A sync that failed is one, too, also of a file that is added to.
  for (const char* phase : {"skeleton", "sync"}) {
    neve_mpi_file* file = open(NEVE_MPI_FILE_UPDATE);
    EXPECT_EQ(write_all(file, 1500, "abs=1e-3"), NEVE_OK);
    setenv("NEVE_FAULT", (std::string(phase) + ":0").c_str(), 1);
    EXPECT_EQ(neve_mpi_file_sync(file), NEVE_FAILURE);
    unsetenv("NEVE_FAULT");
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_FAILURE);
    EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
    test::barrier();
    file = open(NEVE_MPI_FILE_READ);
    uint64_t values = 0;
    EXPECT_EQ(neve_mpi_file_describe(file, nullptr, &values), NEVE_OK);
    EXPECT_EQ(values, 1000 * static_cast<uint64_t>(world_size()));
    close(file);
  }
}

TEST_F(FrameFile, AFileSizeLimitIsOneErrorOnAllRanks) {
  make_file(1000, "abs=1e-3");
  test::barrier();
  const std::string before = test::read_file(path_);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  for (const bool is_collective : {true, false}) {
    neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
    rlimit low = old_limit;
    low.rlim_cur = 3000;
    setrlimit(RLIMIT_FSIZE, &low);
    const std::vector<double> mine = values_from<double>(0, 2000);
    const auto write = is_collective ? neve_mpi_file_write_at_all : neve_mpi_file_write_at;
    const int code = write(file, 2000 * static_cast<uint64_t>(world_rank()), mine.data(), 2000, MPI_DOUBLE,
                           "lossless", &small_blocks_);
    EXPECT_EQ(code, is_collective ? NEVE_FAILURE : NEVE_OK);
    EXPECT_EQ(neve_mpi_file_close(&file), NEVE_FAILURE);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
    expect_words("File too large");
    test::barrier();
    EXPECT_TRUE(test::read_file(path_) == before);
    EXPECT_EQ(test::list_directory(directory_).size(), 1u);
  }
  std::signal(SIGXFSZ, handler);
}

// A file system of its own, made by rank 0, which needs the right to mount.
TEST_F(FrameFile, AFullDiskIsOneErrorOnAllRanksAndLeavesNothing) {
  const std::string mounted = directory_ + "/mounted";
  int is_mounted = 0;
  if (world_rank() == 0) {
    std::filesystem::create_directory(mounted);
    is_mounted = ::mount("neve-test", mounted.c_str(), "tmpfs", 0, "size=256k") == 0 ? 1 : 0;
  }
  MPI_Bcast(&is_mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is_mounted == 0) GTEST_SKIP() << "mounting a small file system needs more rights";
  path_ = mounted + "/values.neve";
  make_file(100, "abs=1e-3");
  test::barrier();
  const std::string before = test::read_file(path_);
  const std::vector<double> mine = values_from<double>(0, 100000);
  for (const int mode : {NEVE_MPI_FILE_CREATE, NEVE_MPI_FILE_UPDATE}) {
    for (const bool is_collective : {true, false}) {
      for (const uint64_t block_bytes : {uint64_t{4096}, uint64_t{1} << 22}) {
        neve_mpi_file* file = open(mode);
        neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
        options.block_bytes = block_bytes;
        const auto write = is_collective ? neve_mpi_file_write_at_all : neve_mpi_file_write_at;
        const int code = write(file, 100000 * static_cast<uint64_t>(world_rank()), mine.data(), 100000,
                               MPI_DOUBLE, "lossless", &options);
        EXPECT_EQ(code, is_collective ? NEVE_FAILURE : NEVE_OK);
        EXPECT_TRUE(!is_collective || same_on_all_ranks(neve_last_error()));
        EXPECT_EQ(neve_mpi_file_close(&file), NEVE_FAILURE);
        EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
        expect_words(mounted.c_str());
        const std::string words = neve_last_error();
        EXPECT_TRUE(words.find("No space left") != std::string::npos ||
                    words.find("no space") != std::string::npos)
            << words;
        test::barrier();
        EXPECT_EQ(test::list_directory(mounted), std::vector<std::string>{"values.neve"});
        neve_mpi_file* reader = open(NEVE_MPI_FILE_READ);
        expect_values(0, read(reader, 0, 100 * static_cast<uint64_t>(world_size())), 1e-3);
        close(reader);
        EXPECT_TRUE(mode == NEVE_MPI_FILE_UPDATE || test::read_file(path_) == before);
        test::barrier();
        // What an update left behind the end of the file that it could not add to.
        if (mode == NEVE_MPI_FILE_UPDATE && world_rank() == 0)
          std::filesystem::resize_file(path_, before.size());
        test::barrier();
      }
    }
  }
  if (world_rank() == 0) ::umount2(mounted.c_str(), MNT_DETACH);
}

TEST_F(FrameFile, DamageIsAnErrorOnAllRanksNeverACrash) {
  make_file(600, "abs=1e-3");
  test::barrier();
  const std::string whole = test::read_file(path_);
  test::barrier();
  const auto count = 600 * static_cast<uint64_t>(world_size());
  // Cut, and with a byte flipped, at places spread over header, frames and index.
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    const size_t at = i < 10 ? static_cast<size_t>(i) * 6 : whole.size() * static_cast<size_t>(i) / 40;
    if (i % 3 == 0) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    }
    if (world_rank() == 0) std::ofstream(path_, std::ios::binary) << damaged;
    test::barrier();
    neve_mpi_file* file = nullptr;
    int code = neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_READ, &file);
    if (code == NEVE_OK) {
      std::vector<double> got(count);
      const bool reads = world_rank() == world_size() - 1;
      code = neve_mpi_file_read_at_all(file, 0, got.data(), reads ? count : 0, MPI_DOUBLE, nullptr);
      EXPECT_TRUE(same_on_all_ranks(neve_last_error()));
      EXPECT_EQ(neve_mpi_file_close(&file), NEVE_OK);
    }
    EXPECT_EQ(code, NEVE_CORRUPT) << at;
    test::barrier();
  }
}

TEST_F(FrameFile, OfNothingIsAFile) {
  neve_mpi_file* file = open(NEVE_MPI_FILE_CREATE);
  int dtype = 7;
  EXPECT_EQ(neve_mpi_file_describe(file, &dtype, nullptr), NEVE_OK);
  EXPECT_EQ(dtype, -1);
  close(file);
  file = open(NEVE_MPI_FILE_READ);
  uint64_t values = 1;
  EXPECT_EQ(neve_mpi_file_describe(file, &dtype, &values), NEVE_OK);
  EXPECT_EQ(dtype, -1);
  EXPECT_EQ(values, 0u);
  close(file);
}

}  // namespace
}  // namespace neve
