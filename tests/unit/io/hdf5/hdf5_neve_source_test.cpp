// SPDX-License-Identifier: BSD-3-Clause
// Neve's own files: what goes in comes back, box by box, and only from the frames that hold it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/hdf5/filter.hpp"
#include "io/hdf5/frame_reader.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "tests/support/hdf5_test_files.hpp"

namespace neve::hdf5 {
namespace {

using testing::FieldValues;
using testing::FileOptions;
using testing::load;
using testing::make_hierarchy;
using testing::make_values;
using testing::TempDir;
using testing::write_neve_file;
using testing::WrittenFile;

// Everything read through the source, like make_values.
FieldValues read_all(PlotfileSource& source) {
  const Hierarchy& h = source.hierarchy();
  FieldValues values(h.levels.size());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      auto& of_box = values[l].emplace_back(h.components.size());
      for (size_t c = 0; c < h.components.size(); ++c) {
        of_box[c].resize(static_cast<size_t>(h.levels[l].boxes[b].cells()) * dtype_bytes(h.dtype));
        const Status status =
            source.read_box(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c), of_box[c].data());
        EXPECT_TRUE(status.ok()) << status.message();
      }
    }
  }
  return values;
}

// One level's dataset decoded by HDF5 through the filter, as any other program would.
std::vector<std::byte> read_through_hdf5(const std::string& path, size_t level, DType dtype) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const std::string name = level_name(level) + "/" + data_name;
  const Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  EXPECT_TRUE(dataset.valid());
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::vector<std::byte> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())) *
                                dtype_bytes(dtype));
  const hid_t type = dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  EXPECT_GE(H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  return values;
}

struct Case {
  int dims;
  DType dtype;
  uint64_t cap_elements;  // small caps cut boxes, large ones put many into a chunk
  bool drop_covered;
};

class NeveSource : public ::testing::TestWithParam<Case> {};

TEST_P(NeveSource, GivesTheValuesBackInsideTheBound) {
  const Case& p = GetParam();
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const Hierarchy h = make_hierarchy(p.dims, p.dtype);
  const FieldValues values = make_values(h);
  FileOptions options;
  options.chunk_cap_elements = p.cap_elements;
  options.drop_covered = p.drop_covered;
  WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(write_neve_file(path, h, values, options, &written));

  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ((*source)->kind(), "Neve HDF5 plotfile");
  const FieldValues back = read_all(**source);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      for (size_t c = 0; c < h.components.size(); ++c) {
        const auto cells = static_cast<size_t>(h.levels[l].boxes[b].cells());
        for (size_t i = 0; i < cells; ++i) {
          const double expected = load(p.dtype, values[l][b][c], i);
          const double found = load(p.dtype, back[l][b][c], i);
          // Averages of f32 are rounded once more.
          const double slack = p.dtype == DType::f32 ? 2e-6 : 0;
          ASSERT_LE(std::abs(found - expected), options.bound_abs + slack)
              << "level " << l << " box " << b << " component " << c << " cell " << i;
        }
      }
    }
  }
}

TEST_P(NeveSource, LeftOutCellsAreTheAverageOfWhatItReturnsForTheFinerLevel) {
  const Case& p = GetParam();
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const Hierarchy h = make_hierarchy(p.dims, p.dtype);
  FileOptions options;
  options.chunk_cap_elements = p.cap_elements;
  options.drop_covered = p.drop_covered;
  WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(write_neve_file(path, h, make_values(h), options, &written));
  Result<std::unique_ptr<PlotfileSource>> opened = open_hdf5_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  PlotfileSource& source = **opened;
  const FieldValues back = read_all(source);

  uint64_t left_out_cells = 0;
  for (size_t l = 0; l + 1 < h.levels.size(); ++l) {
    const amr::BoxIndex finer(h.levels[l + 1].boxes);
    const IntVect ratio = h.levels[l].ref_ratio;
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      const Box& box = h.levels[l].boxes[b];
      for (size_t c = 0; c < h.components.size(); ++c) {
        Result<std::vector<uint8_t>> mask =
            source.left_out(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c));
        ASSERT_TRUE(mask.ok()) << mask.status().message();
        std::vector<std::byte> expected = back[l][b][c];
        std::vector<uint8_t> covered(static_cast<size_t>(box.cells()), 0);
        for (const amr::CoveredPart& part : amr::covered_parts(box, finer, ratio)) {
          const auto f = static_cast<size_t>(part.fine_box);
          amr::average_down(h.dtype, part.cells, ratio, back[l + 1][f][c].data(), finer.box(part.fine_box),
                            expected.data(), box);
        }
        if (mask->empty()) continue;
        ASSERT_EQ(mask->size(), static_cast<size_t>(box.cells()));
        left_out_cells += static_cast<uint64_t>(std::count(mask->begin(), mask->end(), 1));
        // Every covered cell was left out, so all of the box equals the averages.
        EXPECT_EQ(expected, back[l][b][c]) << "level " << l << " box " << b;
      }
    }
  }
  uint64_t recorded = 0;
  for (const LevelPlacement& level : written.placements) {
    for (const FieldRecord& field : level.fields) recorded += field.left_out_cells;
  }
  EXPECT_EQ(left_out_cells, recorded);
  EXPECT_EQ(left_out_cells > 0, p.drop_covered);
}

TEST_P(NeveSource, AgreesToTheBitWithAnyReaderThatUsesTheFilter) {
  const Case& p = GetParam();
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const Hierarchy h = make_hierarchy(p.dims, p.dtype);
  FileOptions options;
  options.chunk_cap_elements = p.cap_elements;
  options.drop_covered = p.drop_covered;
  WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(write_neve_file(path, h, make_values(h), options, &written));
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const FieldValues back = read_all(**source);
  const size_t value_bytes = dtype_bytes(h.dtype);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::vector<std::byte> elements = read_through_hdf5(path, l, h.dtype);
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      const auto cells = static_cast<size_t>(h.levels[l].boxes[b].cells());
      for (size_t c = 0; c < h.components.size(); ++c) {
        Result<std::vector<uint8_t>> mask =
            (*source)->left_out(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c));
        ASSERT_TRUE(mask.ok());
        const size_t begin = static_cast<size_t>(written.placements[l].box_offsets[b]) + c * cells;
        for (size_t i = 0; i < cells; ++i) {
          const std::byte* there = elements.data() + (begin + i) * value_bytes;
          if (!mask->empty() && (*mask)[i] != 0) {
            const double placeholder = load(h.dtype, elements, begin + i);
            ASSERT_TRUE(std::isfinite(placeholder));
            continue;
          }
          ASSERT_EQ(std::memcmp(there, back[l][b][c].data() + i * value_bytes, value_bytes), 0)
              << "level " << l << " box " << b << " component " << c << " cell " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, NeveSource,
                         ::testing::Values(Case{1, DType::f64, 4096, true}, Case{2, DType::f32, 100, true},
                                           Case{2, DType::f64, 1u << 20, true},
                                           Case{3, DType::f32, 4096, true},
                                           Case{3, DType::f64, 300, true},  // cut inside components
                                           Case{3, DType::f64, 1u << 20, true},
                                           Case{3, DType::f64, 4096, false}));

// The values of a level's dataset stored again by another program: same values, other bytes.
void repack(const std::string& path, size_t level, DType dtype, bool through_our_filter) {
  const std::vector<std::byte> values = read_through_hdf5(path, level, dtype);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const std::string name = level_name(level) + "/" + data_name;
  hsize_t chunk = 0;
  {
    const Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
    ASSERT_EQ(H5Pget_chunk(creation.id(), 1, &chunk), 1);
  }
  ASSERT_GE(H5Ldelete(file.id(), name.c_str(), H5P_DEFAULT), 0);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.id(), 1, &chunk);
  if (through_our_filter) {
    FilterParameters lossless;
    lossless.bound = {BoundMode::lossless, 0};
    const std::vector<uint32_t> words = to_words(lossless);
    H5Pset_filter(creation.id(), neve_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data());
  } else {
    H5Pset_deflate(creation.id(), 1);
  }
  const hsize_t count = values.size() / dtype_bytes(dtype);
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const hid_t type = dtype == DType::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  const Handle dataset(
      H5Dcreate2(file.id(), name.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  ASSERT_TRUE(dataset.valid());
  ASSERT_GE(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

class RepackedFile : public ::testing::TestWithParam<bool> {};

TEST_P(RepackedFile, IsReadAsLongAsNothingWasLeftOut) {
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const Hierarchy h = make_hierarchy(3, DType::f64);
  FileOptions options;
  options.drop_covered = false;
  WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(write_neve_file(path, h, make_values(h), options, &written));
  const FieldValues before = read_all(**open_hdf5_plotfile(path));
  for (size_t l = 0; l < h.levels.size(); ++l) ASSERT_NO_FATAL_FAILURE(repack(path, l, h.dtype, GetParam()));
  EXPECT_EQ(read_all(**open_hdf5_plotfile(path)), before);
}

TEST_P(RepackedFile, IsRefusedWhereLeftOutCellsCanNoLongerBeTold) {
  const TempDir dir;
  const std::string path = dir / "a.h5";
  const Hierarchy h = make_hierarchy(3, DType::f64);
  WrittenFile written;
  ASSERT_NO_FATAL_FAILURE(write_neve_file(path, h, make_values(h), {}, &written));
  ASSERT_TRUE(open_hdf5_plotfile(path).ok());
  ASSERT_NO_FATAL_FAILURE(repack(path, 0, h.dtype, GetParam()));
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<std::byte> box(8 * 8 * 8 * sizeof(double));
  const Status status = (*source)->read_box(0, 0, 0, box.data());
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_EQ(
      status.message(),
      "level_0: another tool has repacked this file; the information about which covered cells component "
      "density leaves out is lost");
}

INSTANTIATE_TEST_SUITE_P(GzipAndOurs, RepackedFile, ::testing::Bool());

class DamagedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_ / "a.h5";
    hierarchy_ = make_hierarchy(3, DType::f64);
    ASSERT_NO_FATAL_FAILURE(write_neve_file(path_, hierarchy_, make_values(hierarchy_), {}, &written_));
  }
  std::vector<std::byte> box_buffer() const { return std::vector<std::byte>(8 * 8 * 8 * sizeof(double)); }

  TempDir dir_;
  std::string path_;
  Hierarchy hierarchy_;
  WrittenFile written_;
};

TEST_F(DamagedFile, ADamagedFrameIsNamedAndTheOthersStillRead) {
  testing::write_at(path_, written_.addresses[2][0], std::vector<std::byte>(4, std::byte{0x5a}));
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path_);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<std::byte> box = box_buffer();
  int corrupt_boxes = 0;
  for (int b = 0; b < 8; ++b) {
    const Status status = (*source)->read_box(2, b, 0, box.data());
    if (status.ok()) continue;
    ++corrupt_boxes;
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_EQ(status.message().find("level_2/data:datatype=0 chunk 0: "), 0u) << status.message();
  }
  EXPECT_GT(corrupt_boxes, 0);
  EXPECT_LT(corrupt_boxes, 8);
}

TEST_F(DamagedFile, FramesInTheWrongPlaceAreFoundOut) {
  // Swapped frames have right checksums; only their boxes tell.
  ASSERT_GE(written_.addresses[2].size(), 2u);
  ASSERT_EQ(written_.placements[2].frame_bytes.size(), written_.addresses[2].size());
  std::vector<std::byte> second(written_.placements[2].frame_bytes[1]);
  const int file = ::open(path_.c_str(), O_RDONLY);
  ASSERT_EQ(::pread(file, second.data(), second.size(), static_cast<off_t>(written_.addresses[2][1])),
            static_cast<ssize_t>(second.size()));
  ::close(file);
  second.resize(std::min(second.size(), written_.placements[2].frame_bytes[0]));
  testing::write_at(path_, written_.addresses[2][0], second);
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path_);
  ASSERT_TRUE(source.ok());
  std::vector<std::byte> box = box_buffer();
  Code first_error = Code::ok;
  for (int b = 0; b < 8 && first_error == Code::ok; ++b) {
    first_error = (*source)->read_box(2, b, 0, box.data()).code();
  }
  EXPECT_EQ(first_error, Code::corrupt);
}

TEST_F(DamagedFile, ATruncatedFileIsCorrupt) {
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  const Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path_);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.status().code(), Code::corrupt);
  EXPECT_NE(source.status().message().find("truncated file"), std::string::npos) << source.status().message();
}

TEST_F(DamagedFile, WrongArgumentsAreRefused) {
  Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(path_);
  ASSERT_TRUE(source.ok());
  std::vector<std::byte> box = box_buffer();
  EXPECT_EQ((*source)->read_box(3, 0, 0, box.data()).message(), "level 3 asked for; 0 to 2 exist");
  EXPECT_EQ((*source)->read_box(0, 8, 0, box.data()).message(), "box 8 of level 0 asked for; 0 to 7 exist");
  EXPECT_EQ((*source)->read_box(0, 0, -1, box.data()).message(), "component -1 asked for; 0 to 1 exist");
}

// What Neve itself interprets: frames and lists. HDF5's own structures are left alone, because a damaged
// object header makes HDF5 1.10 use freed memory, which no caller can prevent.
std::vector<std::pair<uint64_t, uint64_t>> ranges_neve_reads(const std::string& path,
                                                             const WrittenFile& written) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  for (size_t l = 0; l < written.addresses.size(); ++l) {
    for (size_t k = 0; k < written.addresses[l].size(); ++k) {
      ranges.emplace_back(written.addresses[l][k], written.placements[l].frame_bytes[k]);
    }
    for (const char* name : {boxes_name, offsets_name, "neve_fields"}) {
      const Handle list(H5Dopen2(file.id(), (level_name(l) + "/" + name).c_str(), H5P_DEFAULT), H5Dclose);
      ranges.emplace_back(H5Dget_offset(list.id()), H5Dget_storage_size(list.id()));
    }
  }
  return ranges;
}

TEST_F(DamagedFile, EveryFlippedBitOfFramesAndListsIsAnErrorOrAValueNeverACrash) {
  std::ifstream in(path_, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string damaged_path = dir_ / "damaged.h5";
  int errors = 0;
  int64_t opened = 0;
  for (const auto& [begin, length] : ranges_neve_reads(path_, written_)) {
    constexpr uint64_t stride = 29;  // with a bit that walks along
    for (uint64_t i = 0; i < length; i += stride) {
      const char good = bytes[begin + i];
      bytes[begin + i] = static_cast<char>(good ^ (1 << (i % 8)));
      std::ofstream(damaged_path, std::ios::binary)
          .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      bytes[begin + i] = good;
      Result<std::unique_ptr<PlotfileSource>> source = open_hdf5_plotfile(damaged_path);
      if (!source.ok()) {
        EXPECT_FALSE(source.status().message().empty());
        ++errors;
        continue;
      }
      ++opened;
      const Hierarchy& h = (*source)->hierarchy();
      for (size_t l = 0; l < h.levels.size(); ++l) {
        for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
          std::vector<std::byte> values(static_cast<size_t>(h.levels[l].boxes[b].cells()) * sizeof(double));
          const Status status =
              (*source)->read_box(static_cast<int>(l), static_cast<int>(b), 1, values.data());
          if (!status.ok()) ++errors;
        }
      }
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace neve::hdf5
