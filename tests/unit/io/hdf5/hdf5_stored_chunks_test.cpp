// SPDX-License-Identifier: BSD-3-Clause
// Chunks that are stored with other sizes than theirs.
#include "io/hdf5/stored_chunks.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/open_to_read.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::hdf5 {
namespace {

constexpr hsize_t chunk = 100;
constexpr uint32_t all_skipped = ~uint32_t{0};

// A dataset of four chunks of i32, the last of which reaches out of it. `prepare` sets filters.
class ChunksFile {
 public:
  template <class Prepare>
  explicit ChunksFile(Prepare&& prepare) : path_(dir_ / "a.h5"), values_(350) {
    std::iota(values_.begin(), values_.end(), 1);
    const Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t count = values_.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation.id(), 1, &chunk);
    prepare(creation.id());
    const Handle dataset(
        H5Dcreate2(file.id(), "d", H5T_STD_I32LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
        H5Dclose);
    H5Dwrite(dataset.id(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values_.data());
  }

  void replace_chunk(hsize_t first, uint32_t mask, const std::vector<char>& bytes) const {
    const Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const Handle dataset(H5Dopen2(file.id(), "d", H5P_DEFAULT), H5Dclose);
    EXPECT_GE(H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, mask, &first, bytes.size(), bytes.data()), 0);
  }

  // Before a read of `count` values from `first` on.
  Status check(hsize_t first, hsize_t count) const {
    const Result<Handle> file = open_file_to_read(path_);
    const Handle dataset = open_dataset_to_read(file->id(), "d");
    const Handle selection(H5Dget_space(dataset.id()), H5Sclose);
    H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    return ChunkCheck(dataset.id()).check(selection.id());
  }
  Status check_all() const {
    const Result<Handle> file = open_file_to_read(path_);
    const Handle dataset = open_dataset_to_read(file->id(), "d");
    return ChunkCheck(dataset.id()).check(H5S_ALL);
  }

  std::vector<int32_t> read() const {
    const Result<Handle> file = open_file_to_read(path_);
    const Handle dataset = open_dataset_to_read(file->id(), "d");
    std::vector<int32_t> back(values_.size());
    H5Dread(dataset.id(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, back.data());
    return back;
  }
  const std::vector<int32_t>& values() const { return values_; }

 private:
  test::TempDir dir_;
  std::string path_;
  std::vector<int32_t> values_;
};

void deflate(hid_t creation) { H5Pset_deflate(creation, 4); }

TEST(StoredChunks, ThoseThatAreWholeAreTaken) {
  for (const auto prepare : {+[](hid_t) {}, +deflate, +[](hid_t c) { H5Pset_fletcher32(c); },
                             +[](hid_t c) {
                               H5Pset_shuffle(c);
                               H5Pset_deflate(c, 1);
                               H5Pset_fletcher32(c);
                             }}) {
    const ChunksFile file(prepare);
    EXPECT_TRUE(file.check_all().ok()) << file.check_all().message();
    EXPECT_EQ(file.read(), file.values());
  }
}

TEST(StoredChunks, AShortOneIsRefusedWhereItIsRead) {
  const ChunksFile file(deflate);
  file.replace_chunk(100, all_skipped, std::vector<char>(399));
  EXPECT_TRUE(file.check(0, 100).ok());
  EXPECT_TRUE(file.check(200, 150).ok());
  for (const auto& [first, count] : {std::pair<hsize_t, hsize_t>{99, 2}, {199, 1}, {0, 350}}) {
    EXPECT_EQ(file.check(first, count).code(), Code::corrupt) << first;
  }
  EXPECT_EQ(file.check_all().code(), Code::corrupt);
  file.replace_chunk(100, all_skipped, std::vector<char>(400));
  EXPECT_TRUE(file.check_all().ok());
}

TEST(StoredChunks, FiltersThatKeepTheSizeMakeNoneWhole) {
  const ChunksFile shuffled([](hid_t creation) { H5Pset_shuffle(creation); });
  shuffled.replace_chunk(0, 0, std::vector<char>(9));
  EXPECT_EQ(shuffled.check_all().code(), Code::corrupt);
  const ChunksFile summed([](hid_t creation) { H5Pset_fletcher32(creation); });
  summed.replace_chunk(0, 0, std::vector<char>(403));
  EXPECT_EQ(summed.check_all().code(), Code::corrupt);
}

TEST(StoredChunks, EndsThatAreLeftAloneAreWholeWithoutFilters) {
  const ChunksFile file([](hid_t creation) {
    H5Pset_deflate(creation, 4);
    H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  });
  EXPECT_TRUE(file.check_all().ok()) << file.check_all().message();
  EXPECT_EQ(file.read(), file.values());
  file.replace_chunk(300, 0, std::vector<char>(9));
  EXPECT_EQ(file.check_all().code(), Code::corrupt);
}

// Without a cache HDF5 reads such a chunk where it lies, and as much as is asked for.
TEST(StoredChunks, ThoseWithoutFiltersAreReadWhereTheyLie) {
  const ChunksFile file([](hid_t) {});
  file.replace_chunk(0, 0, std::vector<char>(9, 1));
  const std::vector<int32_t> back = file.read();
  EXPECT_EQ(back[0], 0x01010101);
  EXPECT_TRUE(std::equal(back.begin() + 100, back.end(), file.values().begin() + 100));
}

}  // namespace
}  // namespace neve::hdf5
