// SPDX-License-Identifier: BSD-3-Clause
// Copies of a series' files: their frames are encode_step's, and a command that goes on makes the same.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "io/datafile/copy.hpp"
#include "io/datafile/series_progress.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/series.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using test::TempDir;

constexpr uint64_t rows = 8, columns = 3000;
constexpr size_t pieces = 4;  // chunks of two rows

// A field whose best method changes at step 3: of a walk differences take least, of a few values their ranks.
std::vector<float> values_of(int step) {
  std::vector<float> values(rows * columns);
  uint32_t random = 7 + static_cast<uint32_t>(step);
  float walk = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    random = random * 1664525u + 1013904223u;
    const auto noise = static_cast<float>(random >> 20U);
    walk += noise / 2048 - 1;
    values[i] = step < 3 ? walk : std::floor(noise / 512) * 0.25F;
  }
  return values;
}

void make_step(const std::string& path, const std::vector<float>& values) {
  const hsize_t dims[] = {rows, columns}, chunk[] = {rows / pieces, columns};
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  const Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.id(), 2, chunk);
  const Handle dataset(
      H5Dcreate2(file.id(), "t", H5T_IEEE_F32LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  ASSERT_GE(H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

using Frames = std::vector<std::vector<std::byte>>;

Frames frames_of(const std::string& path) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Handle dataset(H5Dopen2(file.id(), "t", H5P_DEFAULT), H5Dclose);
  Frames frames;
  for (hsize_t piece = 0; piece < pieces; ++piece) {
    const hsize_t first[] = {piece * rows / pieces, 0};
    hsize_t bytes = 0;
    uint32_t mask = 0;
    EXPECT_GE(H5Dget_chunk_storage_size(dataset.id(), first, &bytes), 0);
    frames.emplace_back(bytes);
    EXPECT_GE(H5Dread_chunk(dataset.id(), H5P_DEFAULT, first, &mask, frames.back().data()), 0);
  }
  return frames;
}

CopyOptions quiet_options(SelectionMemory& memory) {
  CopyOptions options;
  options.progress = [](const std::string&, double) {};
  options.say = [](const std::string&) {};
  options.memory = &memory;
  return options;
}

class Steps : public testing::Test {
 protected:
  static constexpr int count = 6;
  Steps() {
    std::filesystem::create_directory(dir_ / "into");
    for (int step = 0; step < count; ++step) make_step(source(step), values_of(step));
  }
  std::string source(int step) const { return dir_ / (std::to_string(step) + ".h5"); }
  std::string target(int step) const { return dir_ / ("into/" + std::to_string(step) + ".h5"); }
  std::vector<SeriesFile> files() const {
    std::vector<SeriesFile> files;
    for (int step = 0; step < count; ++step) files.push_back({source(step), target(step)});
    return files;
  }
  CopyReport copy(int step, SelectionMemory& memory) const {
    auto report = copy_data_file(source(step), target(step), quiet_options(memory));
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : CopyReport{};
  }
  TempDir dir_;
};

TEST_F(Steps, HaveTheFramesOfEncodeStep) {
  SelectionMemory memory, twin;
  std::vector<Selection> selections;
  for (int step = 0; step < count; ++step) {
    const CopyReport report = copy(step, memory);
    const std::vector<float> values = values_of(step);
    const uint64_t shape[] = {rows / pieces, columns};
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    StepReport of_step;
    const auto frames = encode_step(
        DType::f32, shape, pieces,
        [&](size_t i) -> const void* { return values.data() + i * rows / pieces * columns; }, options, twin,
        "/t", &of_step);
    ASSERT_TRUE(frames.ok()) << frames.status().message();
    EXPECT_EQ(*frames, frames_of(target(step))) << "step " << step;
    selections.push_back(of_step.selection);
    ASSERT_EQ(report.choices.size(), 1u);
    EXPECT_EQ(report.choices[0].choice.variable, "/t");
    EXPECT_EQ(report.choices[0].choice.step, static_cast<uint64_t>(step));
    EXPECT_EQ(report.choices[0].choice.selection, of_step.selection);
  }
  EXPECT_NE(selections.front(), selections.back()) << "the series shows nothing";
}

TEST_F(Steps, GoOnAsIfNothingHadStoppedThem) {
  SelectionMemory memory;
  std::vector<Frames> whole;
  for (int step = 0; step < count; ++step) {
    copy(step, memory);
    whole.push_back(frames_of(target(step)));
  }
  for (int stop = 1; stop < count; ++stop) {
    SelectionMemory first;
    SeriesProgress before(dir_ / "into", "key", files());
    for (int step = 0; step < stop; ++step) {
      const CopyReport report = copy(step, first);
      ASSERT_TRUE(before.note(report.choices, first).ok());
    }
    SelectionMemory second;
    SeriesProgress after(dir_ / "into", "key", files());
    bool was_another = true;
    ASSERT_EQ(after.find(second, was_another), static_cast<size_t>(stop));
    EXPECT_FALSE(was_another);
    for (int step = stop; step < count; ++step) {
      const CopyReport report = copy(step, second);
      EXPECT_EQ(frames_of(target(step)), whole[static_cast<size_t>(step)]) << stop << ", step " << step;
      ASSERT_TRUE(after.note(report.choices, second).ok());
    }
    const std::vector<Choice> of_whole = memory.choices(), of_parts = second.choices();
    ASSERT_EQ(of_whole.size(), of_parts.size());
    for (size_t c = 0; c < of_whole.size(); ++c) {
      EXPECT_EQ(of_whole[c].step, of_parts[c].step);
      EXPECT_EQ(of_whole[c].reason, of_parts[c].reason);
      EXPECT_EQ(of_whole[c].selection, of_parts[c].selection);
      EXPECT_EQ(of_whole[c].performance, of_parts[c].performance);
    }
    after.remove();
    EXPECT_EQ(after.find(second, was_another), 0u);
  }
}

TEST_F(Steps, DoNotGoOnFromWhatHasChanged) {
  SelectionMemory memory;
  SeriesProgress state(dir_ / "into", "key", files());
  for (int step = 0; step < 2; ++step) ASSERT_TRUE(state.note(copy(step, memory).choices, memory).ok());
  const auto found = [&](const std::string& key, const std::vector<SeriesFile>& of) {
    SelectionMemory other;
    bool was_another = false;
    const size_t done = SeriesProgress(dir_ / "into", key, of).find(other, was_another);
    EXPECT_EQ(other.choices().empty(), done == 0);
    return std::pair(done, was_another);
  };
  EXPECT_EQ(found("key", files()), std::pair(size_t{2}, false));
  EXPECT_EQ(found("other options", files()), std::pair(size_t{0}, true));
  std::vector<SeriesFile> fewer = files();
  fewer.pop_back();
  EXPECT_EQ(found("key", fewer), std::pair(size_t{0}, true));
  const std::string hidden = dir_ / "into/.neve-series";
  std::string text(std::istreambuf_iterator<char>(std::ifstream(hidden).rdbuf()), {});
  text[text.size() / 2] ^= 1;
  std::ofstream(hidden) << text;
  EXPECT_EQ(found("key", files()), std::pair(size_t{0}, true));
  text[text.size() / 2] ^= 1;
  std::ofstream(hidden) << text;
  EXPECT_EQ(found("key", files()), std::pair(size_t{2}, false));
  make_step(source(1), values_of(4));
  EXPECT_EQ(found("key", files()), std::pair(size_t{0}, false));
}

TEST_F(Steps, WrongArgumentsAreRefused) {
  CopyOptions options;
  options.progress = [](const std::string&, double) {};
  options.say = [](const std::string&) {};
  options.choice_log = ChoiceLog::without_times;
  EXPECT_EQ(copy_data_file(source(0), target(0), options).status().code(), Code::usage);
  SelectionMemory memory;
  options.memory = &memory;
  ASSERT_TRUE(copy_data_file(source(0), target(0), options).ok());
  EXPECT_EQ(copy_data_file(target(0), target(1), options).status().code(), Code::usage)
      << "it has a log already";
  options.choice_log = ChoiceLog::none;
  EXPECT_TRUE(copy_data_file(target(0), target(1), options).ok());
}

}  // namespace
}  // namespace neve::datafile
