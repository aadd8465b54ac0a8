// SPDX-License-Identifier: BSD-3-Clause
// Strategies: the same file whichever is asked for, in as many MPI-IO writes as each promises. Uncompressed
// files hold every value where Chombo expects it, ghosts as asked.
#include <hdf5.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

using Owners = std::vector<std::vector<int>>;

// A value that says which cell of which field it is; exact in f32.
double value_at(size_t level, size_t component, const IntVect& cell) {
  double value = static_cast<double>(level * 4 + component);
  for (const int32_t c : cell) value = value * 67 + (c + 3);
  return value;
}

void store(DType dtype, double value, std::byte* to) {
  if (dtype == DType::f32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

Box grow(Box box, const IntVect& layers) {
  for (size_t d = 0; d < max_dims; ++d) {
    box.lo[d] -= layers[d];
    box.hi[d] += layers[d];
  }
  return box;
}

// Calls cell(index) for all cells, x fastest.
template <class Cell>
void for_each_cell(const Box& box, Cell&& cell) {
  for (int32_t z = box.lo[2]; z <= box.hi[2]; ++z) {
    for (int32_t y = box.lo[1]; y <= box.hi[1]; ++y) {
      for (int32_t x = box.lo[0]; x <= box.hi[0]; ++x) cell(IntVect{x, y, z});
    }
  }
}

// This rank's boxes in arrays with `held` layers of ghosts and, so that nothing is dense, some room behind
// every component.
class Boxes {
 public:
  Boxes(const Hierarchy& h, const Owners& owner, const IntVect& held, int64_t room = 5) {
    const size_t value_bytes = dtype_bytes(h.dtype);
    for (size_t l = 0; l < h.levels.size(); ++l) {
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        if (owner[l][b] != world_rank()) continue;
        const Box& box = h.levels[l].boxes[b];
        const Box with_ghosts = grow(box, held);
        LocalBox local{static_cast<int>(l), static_cast<int>(b), {}, held};
        local.data.stride = {1, with_ghosts.size(0), with_ghosts.size(0) * with_ghosts.size(1), 0};
        local.data.component_stride = with_ghosts.cells() + room;
        std::vector<std::byte>& bytes = storage_.emplace_back(
            static_cast<size_t>(local.data.component_stride) * h.components.size() * value_bytes,
            std::byte{0x7e});
        for (size_t c = 0; c < h.components.size(); ++c) {
          size_t at = static_cast<size_t>(local.data.component_stride) * c;
          for_each_cell(with_ghosts, [&](const IntVect& cell) {
            store(h.dtype, value_at(l, c, cell), bytes.data() + value_bytes * at++);
          });
        }
        const int64_t first = held[0] + held[1] * local.data.stride[1] + held[2] * local.data.stride[2];
        local.data.data = bytes.data() + static_cast<size_t>(first) * value_bytes;
        boxes_.push_back(local);
      }
    }
    // Strategies take boxes in the order of the file, not of the caller.
    std::reverse(boxes_.begin(), boxes_.end());
  }
  const std::vector<LocalBox>& all() const { return boxes_; }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<LocalBox> boxes_;
};

// Levels of boxes of several sizes, some far smaller than others, with gaps between them.
Hierarchy make_hierarchy(int dims, DType dtype) {
  Hierarchy h;
  h.dims = dims;
  h.dtype = dtype;
  h.components = {"density", "pressure", "x-velocity"};
  const int edges[] = {7, 4, 1, 5, 3};
  for (int l = 0; l < 3; ++l) {
    Level& level = h.levels.emplace_back();
    const int cells = 16 << l;
    int next = l;
    const auto edge = [&] { return edges[next++ % 5]; };
    for (int d = 0; d < dims; ++d) {
      const auto i = static_cast<size_t>(d);
      level.domain.hi[i] = cells - 1;
      level.dx[i] = 1.0 / cells;
      if (l < 2) level.ref_ratio[i] = 2;
    }
    for (int z = 0; z < (dims > 2 ? 16 : 1); z += 8) {
      for (int y = 0; y < (dims > 1 ? 16 : 1); y += 8) {
        for (int x = 0; x < 16; x += 8) {
          Box box{{x, y, z}, {x + edge() - 1, y, z}};
          if (dims > 1) box.hi[1] = y + edge() - 1;
          if (dims > 2) box.hi[2] = z + edge() - 1;
          level.boxes.push_back(box);
        }
      }
    }
  }
  sort_boxes_as_chombo(h);
  return h;
}

struct Way {
  std::string strategy;
  int aggregate_boxes = 0;
};

const std::vector<Way> ways = {{"independent"},   {"collective"},      {"aggregated"}, {"aggregated", 1},
                               {"aggregated", 3}, {"aggregated", 100}, {"skeleton"}};

// Most boxes of one rank on a level.
uint64_t max_boxes(const std::vector<int>& owner) {
  std::vector<uint64_t> boxes(static_cast<size_t>(world_size()), 0);
  for (const int rank : owner) ++boxes[static_cast<size_t>(rank)];
  return *std::max_element(boxes.begin(), boxes.end());
}

uint64_t promised_writes(const Way& way, const Owners& owner) {
  const auto ranks = static_cast<uint64_t>(world_size());
  if (way.strategy == "skeleton") return ranks;
  uint64_t writes = 0;
  for (const std::vector<int>& level : owner) {
    const uint64_t most = max_boxes(level);
    const auto k = static_cast<uint64_t>(way.aggregate_boxes);
    if (way.strategy == "independent") writes += level.size();
    if (way.strategy == "collective") writes += most * ranks;
    if (way.strategy == "aggregated") writes += (k == 0 ? 1 : (most + k - 1) / k) * ranks;
  }
  return writes;
}

// Along a curve; all on one rank; dealt out, so that neighbours lie on different ranks.
std::vector<Owners> distributions(const Hierarchy& h) {
  std::vector<Owners> all = {distribute_boxes(h, world_size()), distribute_boxes(h, 1),
                             distribute_boxes(h, 1)};
  for (auto& level : all[1]) std::fill(level.begin(), level.end(), world_size() - 1);
  int next = 0;
  for (auto& level : all[2]) {
    for (int& rank : level) rank = next++ % world_size();
  }
  return all;
}

class Strategies : public testing::Test {
 protected:
  Strategies() : directory_(test::make_directory("strategies")) {}
  ~Strategies() override { test::remove_directory(directory_); }

  Result<WriteReport> write(const Hierarchy& h, const Boxes& boxes, const Way& way, WriteOptions options) {
    options.strategy = way.strategy;
    options.aggregate_boxes = way.aggregate_boxes;
    Result<WriteReport> report = write_plotfile(MPI_COMM_WORLD, path(), h, boxes.all(), options);
    test::barrier();
    return report;
  }

  std::string path() const { return directory_ + "/plot.h5"; }
  std::string directory_;
};

WriteOptions uncompressed(const IntVect& ghosts = {0, 0, 0}) {
  WriteOptions options;
  options.compress = false;
  options.ghosts = ghosts;
  return options;
}

// What the level's dataset must hold.
std::vector<std::byte> expected_dataset(const Hierarchy& h, size_t level, const IntVect& ghosts) {
  std::vector<std::byte> bytes;
  for (const Box& box : h.levels[level].boxes) {
    for (size_t c = 0; c < h.components.size(); ++c) {
      for_each_cell(grow(box, ghosts), [&](const IntVect& cell) {
        bytes.resize(bytes.size() + dtype_bytes(h.dtype));
        store(h.dtype, value_at(level, c, cell), bytes.data() + bytes.size() - dtype_bytes(h.dtype));
      });
    }
  }
  return bytes;
}

void check_values(const std::string& path, const Hierarchy& h, const IntVect& ghosts) {
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  ASSERT_TRUE(file.valid());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::string group = "level_" + std::to_string(l);
    const hdf5::Handle data(H5Dopen2(file.id(), (group + "/data:datatype=0").c_str(), H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(data.valid());
    const hdf5::Handle creation(H5Dget_create_plist(data.id()), H5Pclose);
    EXPECT_EQ(H5Pget_layout(creation.id()), H5D_CONTIGUOUS);
    const std::vector<std::byte> expected = expected_dataset(h, l, ghosts);
    std::vector<std::byte> found(H5Dget_storage_size(data.id()));
    ASSERT_EQ(found.size(), expected.size());
    const hid_t type = h.dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    ASSERT_GE(H5Dread(data.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    EXPECT_TRUE(found == expected) << group;
    const hdf5::Handle attributes(H5Gopen2(file.id(), (group + "/data_attributes").c_str(), H5P_DEFAULT),
                                  H5Gclose);
    const auto written = hdf5::read_intvect_attribute(attributes.id(), group, "outputGhost", h.dims);
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(*written, ghosts);
    const hdf5::Handle level(H5Gopen2(file.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
    EXPECT_EQ(*hdf5::read_int(level.id(), group, "ngrow"), ghosts[0]);
  }

  auto opened = hdf5::open_hdf5_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->hierarchy().components, h.components);
  EXPECT_EQ((*opened)->hierarchy().levels[0].dx, h.levels[0].dx);
  EXPECT_TRUE((*opened)->left_behind().empty());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    EXPECT_EQ((*opened)->hierarchy().levels[l].boxes, h.levels[l].boxes);
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      const Box& box = h.levels[l].boxes[b];
      std::vector<std::byte> values(static_cast<size_t>(box.cells()) * dtype_bytes(h.dtype));
      const Status read = (*opened)->read_box(static_cast<int>(l), static_cast<int>(b), 1, values.data());
      ASSERT_TRUE(read.ok()) << read.message();
      const std::vector<double> found = test::widen(h.dtype, values);
      size_t at = 0;
      for_each_cell(box, [&](const IntVect& cell) { EXPECT_EQ(found[at++], value_at(l, 1, cell)); });
    }
  }
}

TEST_F(Strategies, MakeTheSameUncompressedFileInThePromisedNumberOfWrites) {
  for (const int dims : {1, 2, 3}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Hierarchy h = make_hierarchy(dims, dtype);
      for (const int layers : {0, 2}) {
        IntVect ghosts{0, 0, 0};
        for (int d = 0; d < dims; ++d) ghosts[static_cast<size_t>(d)] = layers == 0 ? 0 : layers - d % 2;
        uint64_t data_bytes = 0;
        for (size_t l = 0; l < h.levels.size(); ++l) data_bytes += expected_dataset(h, l, ghosts).size();
        for (const Owners& owner : distributions(h)) {
          const Boxes boxes(h, owner, ghosts);
          std::string first;
          for (const Way& way : ways) {
            SCOPED_TRACE(std::to_string(dims) + "D " + std::string(dtype_name(dtype)) + " ghosts " +
                         std::to_string(layers) + " " + way.strategy + " " +
                         std::to_string(way.aggregate_boxes));
            const auto report = write(h, boxes, way, uncompressed(ghosts));
            ASSERT_TRUE(report.ok()) << report.status().message();
            EXPECT_EQ(report->mpi_writes, promised_writes(way, owner));
            EXPECT_EQ(report->data_bytes, data_bytes);
            const std::string file = test::read_file(path());
            EXPECT_EQ(report->file_bytes, file.size());
            if (first.empty()) {
              first = file;
              if (owner == distribute_boxes(h, world_size())) check_values(path(), h, ghosts);
            }
            EXPECT_TRUE(file == first);
            test::barrier();
          }
        }
      }
    }
  }
}

TEST_F(Strategies, WriteOnlyTheGhostsAskedFor) {
  const Hierarchy h = make_hierarchy(3, DType::f64);
  const Boxes boxes(h, distribute_boxes(h, world_size()), {3, 2, 1});
  for (const IntVect& ghosts : {IntVect{0, 0, 0}, IntVect{1, 1, 1}, IntVect{3, 0, 1}}) {
    for (const char* strategy : {"independent", "aggregated"}) {
      const auto report = write(h, boxes, {strategy}, uncompressed(ghosts));
      ASSERT_TRUE(report.ok()) << report.status().message();
      check_values(path(), h, ghosts);
      test::barrier();
    }
  }
}

TEST_F(Strategies, DenseBoxesOfOneValueAndOfOneLine) {
  Hierarchy h = make_hierarchy(2, DType::f32);
  h.components = {"only"};
  h.levels[1].boxes = {{{0, 0, 0}, {0, 0, 0}}, {{2, 0, 0}, {2, 20, 0}}, {{4, 0, 0}, {24, 0, 0}}};
  const Owners owner = distribute_boxes(h, world_size());
  const Boxes boxes(h, owner, {0, 0, 0}, 0);
  std::string first;
  for (const Way& way : ways) {
    const auto report = write(h, boxes, way, uncompressed());
    ASSERT_TRUE(report.ok()) << report.status().message();
    const std::string file = test::read_file(path());
    if (first.empty()) first = file;
    EXPECT_TRUE(file == first) << way.strategy;
    const hdf5::Handle opened(H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const hdf5::Handle data(H5Dopen2(opened.id(), "level_1/data:datatype=0", H5P_DEFAULT), H5Dclose);
    std::vector<std::byte> found(H5Dget_storage_size(data.id()));
    H5Dread(data.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data());
    EXPECT_TRUE(found == expected_dataset(h, 1, {0, 0, 0}));
    test::barrier();
  }
}

// Where each rank writes its frames for itself: those of a level are one region, and so are those of one
// level and of the next where no other rank has frames between them.
uint64_t regions(const Owners& owner) {
  std::vector<int> by_place;  // owners of the frames, in the order of the file
  for (const std::vector<int>& level : owner) {
    std::vector<int> ranks = level;
    std::sort(ranks.begin(), ranks.end());
    by_place.insert(by_place.end(), ranks.begin(), ranks.end());
  }
  return static_cast<uint64_t>(std::unique(by_place.begin(), by_place.end()) - by_place.begin());
}

TEST_F(Strategies, MakeTheSameCompressedFileInThePromisedNumberOfWrites) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16});
  for (const Owners& owner : distributions(h)) {
    const test::OwnedBoxes owned(h, owner, world_rank());
    std::string first;
    for (const Way& way : ways) {
      SCOPED_TRACE(way.strategy + " " + std::to_string(way.aggregate_boxes));
      WriteOptions options;
      options.strategy = way.strategy;
      options.aggregate_boxes = way.aggregate_boxes;
      options.chunk_bytes = 64 << 10;  // some ranks have several
      const auto report = write_plotfile(MPI_COMM_WORLD, path(), h, owned.boxes(), options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      const std::string file = test::read_file(path());
      if (first.empty()) first = file;
      EXPECT_TRUE(file == first);
      uint64_t stored = 0, chunks = 0;
      for (const LevelReport& level : report->levels) {
        stored += level.stored_bytes;
        chunks += level.chunks;
      }
      EXPECT_EQ(report->data_bytes, stored);
      const auto ranks = static_cast<uint64_t>(world_size());
      if (way.strategy == "independent") {
        EXPECT_EQ(report->mpi_writes, chunks);
      }
      if (way.strategy == "skeleton") {
        EXPECT_EQ(report->mpi_writes, regions(owner));
      }
      if (way.strategy == "aggregated" && way.aggregate_boxes == 0) {
        EXPECT_EQ(report->mpi_writes, h.levels.size() * ranks);
      }
      test::barrier();
    }
  }
}

// The unit of the Chombo benchmark with small boxes: 1, 32 and 192 boxes.
TEST_F(Strategies, CountsOfTheChomboUnit) {
  Hierarchy h;
  h.components = {"a", "b"};
  const int edge = 4;
  for (int l = 0; l < 3; ++l) {
    const int boxes[3][3] = {{1, 1, 1}, {4, 4, 2}, {8, 8, 3}};
    Level& level = h.levels.emplace_back();
    const int cells = edge << (2 * l);
    for (size_t d = 0; d < max_dims; ++d) {
      level.domain.hi[d] = cells - 1;
      level.dx[d] = 1.0 / cells;
      if (l < 2) level.ref_ratio[d] = 4;
    }
    for (int x = 0; x < boxes[l][0]; ++x) {
      for (int y = 0; y < boxes[l][1]; ++y) {
        for (int z = 0; z < boxes[l][2]; ++z) {
          const IntVect lo{x * edge, y * edge, z * edge};
          level.boxes.push_back({lo, {lo[0] + edge - 1, lo[1] + edge - 1, lo[2] + edge - 1}});
        }
      }
    }
  }
  const Owners owner = distribute_boxes(h, world_size());
  const IntVect ghosts{1, 1, 1};
  const Boxes boxes(h, owner, ghosts);
  for (const Way& way : ways) {
    const auto report = write(h, boxes, way, uncompressed(ghosts));
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->mpi_writes, promised_writes(way, owner)) << way.strategy;
    EXPECT_EQ(report->data_bytes, 225u * 2 * 6 * 6 * 6 * 8);
    check_values(path(), h, ghosts);
    test::barrier();
  }
  EXPECT_EQ(promised_writes({"independent"}, owner), 225u);
  EXPECT_EQ(promised_writes({"aggregated"}, owner), 3u * static_cast<unsigned>(world_size()));
}

// A number of /proc/self/status, in bytes.
uint64_t memory_in_use(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

bool forget_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush); }

TEST_F(Strategies, AggregatedTakesNoMoreMemoryThanTheBoxesOfACall) {
  if (!forget_peak()) GTEST_SKIP() << "the system does not let a process reset its peak of memory";
  Hierarchy h;
  h.components = {"a", "b"};
  const int edge = 32, count = 6 * world_size();
  const uint64_t box_bytes = uint64_t{32} * 32 * 32 * 2 * 8;
  Level& level = h.levels.emplace_back();
  level.domain.hi = {count * edge - 1, edge - 1, edge - 1};
  for (int i = 0; i < count; ++i) {
    level.boxes.push_back({{i * edge, 0, 0}, {i * edge + edge - 1, edge - 1, edge - 1}});
  }
  const Boxes boxes(h, distribute_boxes(h, world_size()), {1, 1, 1});
  const auto growth = [&](const Way& way) {
    ::malloc_trim(0);  // so that what was freed before is not taken again unseen
    forget_peak();
    const uint64_t before = memory_in_use("VmRSS");
    const auto report = write(h, boxes, way, uncompressed());
    EXPECT_TRUE(report.ok()) << report.status().message();
    const uint64_t peak = memory_in_use("VmHWM");
    return peak - std::min(peak, before);
  };
  growth({"independent"});  // what the libraries keep for themselves once they are in use
  growth({"aggregated", 1});
  // Rank 0 takes half a MiB for the file's structure under any strategy.
  const uint64_t without_collecting = growth({"independent"});
  constexpr uint64_t noise = uint64_t{1} << 18;
  for (const int boxes_a_call : {1, 4}) {
    EXPECT_LE(growth({"aggregated", boxes_a_call}),
              without_collecting + static_cast<uint64_t>(boxes_a_call) * box_bytes + noise);
  }
}

TEST_F(Strategies, OptionsThatContradictEachOtherAreRefusedOnEveryRank) {
  const Hierarchy h = make_hierarchy(2, DType::f64);
  const Boxes boxes(h, distribute_boxes(h, world_size()), {1, 1, 0});
  const auto refused = [&](const Way& way, const WriteOptions& options) {
    const Status status = write(h, boxes, way, options).status();
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    EXPECT_TRUE(test::list_directory(directory_).empty());
    return status.message();
  };
  EXPECT_EQ(refused({"collective", 2}, uncompressed()),
            "aggregate_boxes has no meaning for strategy collective; it is allowed with strategy aggregated");
  EXPECT_EQ(refused({"aggregated", -1}, uncompressed()),
            "aggregate_boxes is -1; at least 0 (all boxes of a level) is needed");
  for (const char* strategy : {"filtered", "amrex-1d"}) {
    EXPECT_EQ(refused({strategy}, uncompressed()),
              "strategy " + std::string(strategy) +
                  " only compresses; uncompressed, the strategies skeleton, aggregated, collective and "
                  "independent are allowed");
  }
  EXPECT_EQ(refused({"skeleton"}, uncompressed({0, -1, 0})),
            "ghosts in direction 1 is -1; allowed are 0 .. 1024");
  EXPECT_EQ(refused({"skeleton"}, uncompressed({1, 1, 1})), "ghosts in direction 2 is 1; allowed are 0 .. 0");
  EXPECT_NE(refused({"skeleton"}, uncompressed({1, 2, 0}))
                .find("has 1 layers of ghost cells in direction 1; 2 are to be written"),
            std::string::npos);
  WriteOptions options = uncompressed();
  options.covered = Covered::drop;
  refused({"skeleton"}, options);
}

}  // namespace
}  // namespace neve
