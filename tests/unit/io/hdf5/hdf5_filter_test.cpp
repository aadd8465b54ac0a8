// SPDX-License-Identifier: BSD-3-Clause
// The filter as HDF5 calls it, and what stands on the error stack when it refuses.
#include "io/hdf5/filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "io/hdf5/decoded_cache.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/stand_in.hpp"
#include "tests/support/hdf5_test_files.hpp"

namespace neve::hdf5 {
namespace {

using testing::TempDir;

FilterParameters chunk_of_doubles(uint64_t rows, uint64_t columns) {
  FilterParameters p;
  p.bound = {BoundMode::abs, 1e-3};
  p.dtype = DType::f64;
  p.chunk_shape = {rows, columns};
  return p;
}

std::vector<double> wave(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(0.01 * static_cast<double>(i));
  return values;
}

std::span<const std::byte> bytes_of(const std::vector<double>& values) {
  return std::as_bytes(std::span(values));
}

TEST(Filter, RoundTripHoldsTheBoundAndSavesRoom) {
  const FilterParameters p = chunk_of_doubles(100, 80);
  const std::vector<double> values = wave(8000);
  const Result<std::vector<std::byte>> frame = encode_chunk(p, bytes_of(values));
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  EXPECT_LT(frame->size(), values.size());  // more than 8:1
  std::vector<double> back(values.size());
  for (int repetition = 0; repetition < 2; ++repetition) {  // decoded, then from memory
    std::fill(back.begin(), back.end(), 0.0);
    const Status status = decode_chunk(p, *frame, std::as_writable_bytes(std::span(back)));
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(back[i] - values[i]), 1e-3);
  }
}

TEST(Filter, TellsHdf5TheTrueSizeOfItsBuffer) {
  const FilterParameters p = chunk_of_doubles(10, 10);
  const std::vector<uint32_t> words = to_words(p);
  const std::vector<double> values = wave(100);
  const Result<std::vector<std::byte>> frame = encode_chunk(p, bytes_of(values));
  ASSERT_TRUE(frame.ok());
  void* buffer = std::malloc(frame->size());
  std::memcpy(buffer, frame->data(), frame->size());
  size_t buffer_bytes = frame->size();
  const size_t used = filter_class().filter(H5Z_FLAG_REVERSE, words.size(), words.data(), frame->size(),
                                            &buffer_bytes, &buffer);
  EXPECT_EQ(used, 800u);
  EXPECT_EQ(buffer_bytes, 800u);
  std::free(buffer);
}

// What stands in for the filter in collective writes decodes nothing, but 2.2 wants a chunk from it too.
TEST(Filter, AStandInGivesChunksTheirSize) {
  const std::vector<uint32_t> words = to_words(chunk_of_doubles(10, 10));
  Result<PreparedFrame> frame = PreparedFrame::copy_of(std::as_bytes(std::span("frame")));
  ASSERT_TRUE(frame.ok());
  const StandIn stand_in(&*frame);
  for (const size_t room : {size_t{8}, size_t{4096}}) {
    void* buffer = std::malloc(room);
    size_t buffer_bytes = room;
    EXPECT_EQ(filter_class().filter(H5Z_FLAG_REVERSE, words.size(), words.data(), 8, &buffer_bytes, &buffer),
              800u);
    EXPECT_EQ(buffer_bytes, std::max<size_t>(room, 800));
    std::free(buffer);
  }
  void* buffer = std::malloc(800);
  size_t buffer_bytes = 800;
  EXPECT_EQ(filter_class().filter(0, words.size(), words.data(), 800, &buffer_bytes, &buffer), 6u);
  EXPECT_EQ(buffer_bytes, 6u);
  EXPECT_EQ(filter_class().filter(0, words.size(), words.data(), 800, &buffer_bytes, &buffer), 0u);
  std::free(buffer);
}

TEST(Filter, AFailedCallLeavesTheBufferAsItWas) {
  const std::vector<uint32_t> words = to_words(chunk_of_doubles(10, 10));
  void* const original = std::calloc(64, 1);
  void* buffer = original;
  size_t buffer_bytes = 64;
  EXPECT_EQ(filter_class().filter(H5Z_FLAG_REVERSE, words.size(), words.data(), 64, &buffer_bytes, &buffer),
            0u);
  EXPECT_EQ(buffer, original);
  EXPECT_EQ(buffer_bytes, 64u);
  EXPECT_EQ(filter_class().filter(0, words.size(), words.data(), 64, &buffer_bytes, &buffer), 0u);
  EXPECT_EQ(buffer, original);
  std::free(original);
}

TEST(Filter, FramesOfAnotherChunkAreRefused) {
  const std::vector<double> values = wave(100);
  const Result<std::vector<std::byte>> frame = encode_chunk(chunk_of_doubles(10, 10), bytes_of(values));
  ASSERT_TRUE(frame.ok());
  std::vector<double> out(110);
  Status status = decode_chunk(chunk_of_doubles(11, 10), *frame, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_EQ(status.message(), "frame holds 100 elements, the dataset's chunks 110");
  FilterParameters narrow = chunk_of_doubles(10, 10);
  narrow.dtype = DType::f32;
  status = decode_chunk(narrow, *frame, std::as_writable_bytes(std::span(out)).first(400));
  EXPECT_EQ(status.message(), "frame holds f64 values, the dataset f32");
}

TEST(Filter, BadThreadCountIsAnErrorNotADefault) {
  ASSERT_EQ(setenv("NEVE_THREADS", "many", 1), 0);
  const Status status = encode_chunk(chunk_of_doubles(10, 10), bytes_of(wave(100))).status();
  ASSERT_EQ(setenv("NEVE_THREADS", "3", 1), 0);
  const bool three_is_fine = encode_chunk(chunk_of_doubles(10, 10), bytes_of(wave(100))).ok();
  unsetenv("NEVE_THREADS");
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_EQ(status.message(), "NEVE_THREADS is 'many'; a whole number from 1 to 1024 is allowed");
  EXPECT_TRUE(three_is_fine);
}

TEST(Filter, ThreadsMayDecodeAtOnce) {
  const FilterParameters p = chunk_of_doubles(64, 64);
  std::vector<std::vector<std::byte>> frames;
  std::vector<std::vector<double>> inputs;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(wave(4096));
    for (double& value : inputs.back()) value += i;
    frames.push_back(*encode_chunk(p, bytes_of(inputs.back())));
  }
  std::vector<int> failures(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<double> out(4096);
      for (size_t round = 0; round < 50; ++round) {
        const size_t i = (t + round) % 4;
        const bool ok = decode_chunk(p, frames[i], std::as_writable_bytes(std::span(out))).ok();
        if (!ok || std::abs(out[17] - inputs[i][17]) > 1e-3) ++failures[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::accumulate(failures.begin(), failures.end(), 0), 0);
}

TEST(DecodedCache, ForgetsTheOldestBeyondItsCapacity) {
  DecodedCache cache(250);
  const auto hundred = [](int value) {
    return std::make_shared<const std::vector<std::byte>>(100, static_cast<std::byte>(value));
  };
  cache.insert({1, 0, 10}, hundred(1));
  cache.insert({2, 0, 10}, hundred(2));
  ASSERT_NE(cache.find({1, 0, 10}), nullptr);  // now the most recent
  cache.insert({3, 0, 10}, hundred(3));
  EXPECT_EQ(cache.find({2, 0, 10}), nullptr);
  EXPECT_EQ((*cache.find({1, 0, 10}))[0], std::byte{1});
  EXPECT_EQ((*cache.find({3, 0, 10}))[0], std::byte{3});
  EXPECT_EQ(cache.find({3, 0, 11}), nullptr);  // same hash, other length
  cache.insert({4, 0, 10}, std::make_shared<const std::vector<std::byte>>(251));
  EXPECT_EQ(cache.find({4, 0, 10}), nullptr);
  EXPECT_NE(cache.find({1, 0, 10}), nullptr);
}

// H5Dcreate with the filter on a dataset of `type`; the innermost message when it fails, empty when it works.
std::string create_error(hid_t type, const std::vector<uint32_t>& words, int dims = 1) {
  const QuietErrors quiet;
  EXPECT_TRUE(register_filter().ok());
  const TempDir dir;
  const Handle file(H5Fcreate((dir / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const std::vector<hsize_t> extent(static_cast<size_t>(dims), 4);
  const Handle space(H5Screate_simple(dims, extent.data(), nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.id(), dims, extent.data());
  H5Pset_filter(creation.id(), neve_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data());
  const Handle dataset(H5Dcreate2(file.id(), "x", type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                       H5Dclose);
  return dataset.valid() ? "" : last_error();
}

TEST(SetLocal, RefusesWhatTheFilterCannotCompress) {
  FilterParameters p;
  p.bound = {BoundMode::abs, 1e-3};
  const std::vector<uint32_t> good = to_words(p);
  EXPECT_EQ(create_error(H5T_IEEE_F32LE, good), "");
  EXPECT_EQ(create_error(H5T_IEEE_F64LE, good, 5), "");
  EXPECT_EQ(create_error(H5T_STD_I32LE, good),
            "Neve filter: bound abs=0.001 for values of i32: integers are kept bit for bit, their bound is "
            "lossless");
  FilterParameters every_bit;
  every_bit.bound = {BoundMode::lossless, 0};
  const std::vector<uint32_t> lossless = to_words(every_bit);
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I8BE, H5T_STD_I16LE, H5T_STD_U16LE,
                           H5T_STD_I32LE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64LE}) {
    EXPECT_EQ(create_error(type, lossless), "");
  }
  for (const hid_t type : {H5T_IEEE_F64BE, H5T_STD_I16BE, H5T_STD_U64BE}) {
    EXPECT_EQ(create_error(type, lossless), "");
  }
  const Handle compound(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
  H5Tinsert(compound.id(), "re", 0, H5T_IEEE_F32LE);
  H5Tinsert(compound.id(), "im", 4, H5T_IEEE_F32LE);
  EXPECT_EQ(create_error(compound.id(), good),
            "Neve compresses IEEE floating point of 4 and 8 bytes and integers of 1, 2, 4 and 8, and, "
            "lossless, other "
            "floating point, characters and enumerations; this dataset's type has HDF5 class 6 and 8 bytes");
  EXPECT_NE(create_error(H5T_C_S1, good), "");
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_STD_I16BE, H5T_C_S1}) {
    EXPECT_EQ(create_error(type, lossless), "");
    EXPECT_EQ(create_error(type, {}), "");
    EXPECT_EQ(create_error(type, {0}), "");
  }
  EXPECT_EQ(create_error(H5T_IEEE_F64LE, {1, 2, 3}), "Neve's filter got 3 parameters; it needs 9");
  EXPECT_EQ(create_error(H5T_IEEE_F64LE, std::vector<uint32_t>(120, 1)),
            "Neve's filter got 120 parameters; at most 117 are allowed");
  p.bound.value = -1;
  EXPECT_NE(create_error(H5T_IEEE_F64LE, to_words(p)).find("-1"), std::string::npos);
}

TEST(FilterInHdf5, DamageOnDiskIsOnTheErrorStack) {
  ASSERT_TRUE(register_filter().ok());
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const std::vector<double> values = wave(1000);
  FilterParameters p;
  p.bound = {BoundMode::abs, 1e-6};
  const std::vector<uint32_t> words = to_words(p);
  haddr_t address = 0;
  hsize_t frame_bytes = 0;
  {
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t extent = values.size();
    const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation.id(), 1, &extent);
    H5Pset_filter(creation.id(), neve_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data());
    const Handle dataset(
        H5Dcreate2(file.id(), "x", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
        H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    ASSERT_GE(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), 0);
    const hsize_t offset = 0;
    unsigned mask = 0;
    ASSERT_GE(H5Dget_chunk_info_by_coord(dataset.id(), &offset, &mask, &address, &frame_bytes), 0);
  }
  const auto read_error = [&]() -> std::string {
    const QuietErrors quiet;
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Handle dataset(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose);
    std::vector<double> out(values.size());
    const herr_t done = H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data());
    return done < 0 ? last_error() : "";
  };
  ASSERT_EQ(read_error(), "");
  std::vector<std::byte> last(1);
  const int file = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(::pread(file, last.data(), 1, static_cast<off_t>(address + frame_bytes - 1)), 1);
  ::close(file);
  last[0] ^= std::byte{1};
  testing::write_at(path, address + frame_bytes - 1, last);
  EXPECT_EQ(read_error(), "frame: section 0 (component 0) does not match its checksum");
  testing::write_at(path, address, std::vector<std::byte>(4, std::byte{'?'}));
  EXPECT_EQ(read_error(), "frame: does not start with \"NEVE\"");
}

}  // namespace
}  // namespace neve::hdf5
