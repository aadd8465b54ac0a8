// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/skip_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "tests/support/hdf5_test_files.hpp"

namespace neve::hdf5 {
namespace {

using testing::make_empty;
using testing::TempDir;

Handle skip_access(SkipDriverState* state) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  EXPECT_TRUE(use_skip_driver(access.id(), state).ok());
  return access;
}

Handle chunked_dataset(hid_t file, const char* name, hsize_t chunks) {
  constexpr hsize_t chunk = 1000;
  const hsize_t extent = chunk * chunks;
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.id(), 1, &chunk);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  return {H5Dcreate2(file, name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
          H5Dclose};
}

TEST(SkipDriver, DropsOnlyWhatItIsToldToAndRecordsWhere) {
  const TempDir dir;
  const std::string path = dir / "a.h5";
  make_empty(path);
  std::array<uint64_t, 3> addresses{};
  constexpr hsize_t chunk_bytes = 8000;
  {
    SkipDriverState state;
    const Handle access = skip_access(&state);
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
    ASSERT_TRUE(file.valid());
    Handle dataset = chunked_dataset(file.id(), "x", 3);
    ASSERT_TRUE(dataset.valid());
    for (hsize_t k = 0; k < 3; ++k) {
      const hsize_t offset = 1000 * k;
      const char unread = 0;
      state.drop_raw_data = true;
      ASSERT_GE(H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, &offset, chunk_bytes, &unread), 0);
      state.drop_raw_data = false;
      addresses[k] = state.last_dropped_address;
    }
    EXPECT_EQ(state.dropped_writes, 3u);
    // Written for real: dropping is off.
    const hsize_t extent = 4;
    const std::array<double, 4> values = {1, 2, 3, 4};
    const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    const Handle plain(
        H5Dcreate2(file.id(), "y", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    ASSERT_GE(H5Dwrite(plain.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    EXPECT_EQ(state.dropped_writes, 3u);
    EXPECT_TRUE(dataset.close());
    EXPECT_TRUE(file.close());
    EXPECT_EQ(state.system_error, 0);
  }
  for (size_t k = 0; k < 3; ++k) {
    testing::write_at(path, addresses[k], std::vector<std::byte>(chunk_bytes, std::byte(k + 1)));
  }
  // HDF5's own driver finds every byte where the recorded address put it.
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  ASSERT_TRUE(file.valid());
  const Handle dataset(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose);
  for (hsize_t k = 0; k < 3; ++k) {
    const hsize_t offset = 1000 * k;
    uint32_t mask = 0;
    std::vector<std::byte> bytes(chunk_bytes);
    ASSERT_GE(H5Dread_chunk(dataset.id(), H5P_DEFAULT, &offset, &mask, bytes.data()), 0);
    EXPECT_EQ(bytes.front(), std::byte(k + 1));
    EXPECT_EQ(bytes.back(), std::byte(k + 1));
  }
  const Handle plain(H5Dopen2(file.id(), "y", H5P_DEFAULT), H5Dclose);
  std::array<double, 4> values{};
  ASSERT_GE(H5Dread(plain.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_EQ(values[3], 4.0);
}

TEST(SkipDriver, TwoOpenFilesDoNotShareState) {
  const TempDir dir;
  SkipDriverState states[2];
  Handle files[2];
  Handle datasets[2];
  for (int i = 0; i < 2; ++i) {
    const std::string path = dir / std::to_string(i);
    make_empty(path);
    const Handle access = skip_access(&states[i]);
    files[i] = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
    ASSERT_TRUE(files[i].valid());
    datasets[i] = chunked_dataset(files[i].id(), "x", 1);
  }
  const hsize_t offset = 0;
  const std::vector<double> zeros(1000);
  states[0].drop_raw_data = true;
  for (const Handle& dataset : datasets) {
    ASSERT_GE(H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, &offset, 8000, zeros.data()), 0);
  }
  EXPECT_EQ(states[0].dropped_writes, 1u);
  EXPECT_EQ(states[1].dropped_writes, 0u);
}

TEST(SkipDriver, FullDeviceIsRememberedWithItsReason) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const QuietErrors quiet;
  SkipDriverState state;
  const Handle access = skip_access(&state);
  Handle file(H5Fcreate("/dev/full", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  // HDF5 is not told, because it crashes at the end of a process in which closing a file failed.
  if (file.valid()) {
    EXPECT_TRUE(file.close());
  }
  EXPECT_EQ(state.system_error, ENOSPC);
  EXPECT_STREQ(state.failed_operation, "write");
}

TEST(SkipDriver, DoesNotCreateFiles) {
  const QuietErrors quiet;
  const TempDir dir;
  const std::string path = dir / "missing.h5";
  SkipDriverState state;
  const Handle access = skip_access(&state);
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  EXPECT_FALSE(file.valid());
  EXPECT_EQ(state.system_error, ENOENT);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace neve::hdf5
