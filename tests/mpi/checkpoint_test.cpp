// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: written by some ranks, read by others, written again; the same hierarchy, bit for bit.
#include "neve/checkpoint.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "io/hdf5/handle.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/mpi/generated.hpp"
#include "tests/support/same_hierarchy.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

Box grow(Box box, const IntVect& layers) {
  for (size_t d = 0; d < max_dims; ++d) {
    box.lo[d] -= layers[d];
    box.hi[d] += layers[d];
  }
  return box;
}

// Of a cell of a box: ghosts of two boxes over one cell differ, as they do in a run.
double value_of(size_t variable, size_t component, size_t level, size_t box, const IntVect& cell) {
  if (variable == 1 && cell[0] == 3) return std::numeric_limits<double>::quiet_NaN();
  double value = std::sin(0.1 * cell[0]) + std::cos(0.07 * cell[1]) + 0.3 * cell[2];
  value += 1e-3 * static_cast<double>(box) + static_cast<double>(10 * variable + component + level);
  return value;
}

using Values = std::vector<std::byte>;

// All values of a box with a variable's ghosts, component after component.
Values expected_values(const Hierarchy& h, const Variable& variable, size_t v, size_t level, size_t b) {
  Values bytes;
  const Box box = grow(h.levels[level].boxes[b], variable.ghosts);
  for (size_t c = 0; c < variable.components.size(); ++c) {
    for (int32_t z = box.lo[2]; z <= box.hi[2]; ++z) {
      for (int32_t y = box.lo[1]; y <= box.hi[1]; ++y) {
        for (int32_t x = box.lo[0]; x <= box.hi[0]; ++x) {
          const double value = value_of(v, c, level, b, {x, y, z});
          const auto narrow = static_cast<float>(value);
          const size_t at = bytes.size();
          bytes.resize(at + dtype_bytes(h.dtype));
          std::memcpy(bytes.data() + at, h.dtype == DType::f32 ? static_cast<const void*>(&narrow) : &value,
                      dtype_bytes(h.dtype));
        }
      }
    }
  }
  return bytes;
}

LocalBox local_box(const Hierarchy& h, const Variable& variable, size_t level, size_t b,
                   const Values& values) {
  const Box box = grow(h.levels[level].boxes[b], variable.ghosts);
  LocalBox local{static_cast<int>(level), static_cast<int>(b), {}, variable.ghosts};
  local.data.stride = {1, box.size(0), box.size(0) * box.size(1), 0};
  local.data.component_stride = box.cells();
  const int64_t first = variable.ghosts[0] + variable.ghosts[1] * local.data.stride[1] +
                        variable.ghosts[2] * local.data.stride[2];
  local.data.data = values.data() + static_cast<size_t>(first) * dtype_bytes(h.dtype);
  return local;
}

// A rank's boxes of all variables, and their values.
struct Held {
  std::vector<std::vector<LocalBox>> boxes;
  std::vector<std::vector<Values>> values;  // as `boxes`
};

// Boxes given by `values_of(variable, level, box)` to a rank of `ranks`; each variable has owners of its own.
template <class ValuesOf>
Held hold(const Hierarchy& h, const std::vector<Variable>& variables, int rank, int ranks,
          ValuesOf&& values_of) {
  Held held;
  for (size_t v = 0; v < variables.size(); ++v) {
    const auto owner = distribute_boxes(h, ranks);
    held.boxes.emplace_back();
    std::vector<Values>& values = held.values.emplace_back();
    for (size_t l = 0; l < h.levels.size(); ++l) {
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        if ((owner[l][b] + static_cast<int>(v)) % ranks != rank) continue;
        values.push_back(values_of(v, l, b));
        held.boxes.back().push_back(local_box(h, variables[v], l, b, values.back()));
      }
    }
  }
  return held;
}

// Neither bound nor codec changes a value.
std::vector<Variable> exact_variables() {
  std::vector<Variable> variables(4);
  variables[0] = {"thickness", {"thickness"}, {0, 0, 0}, true};
  variables[1] = {"velocity", {"x", "y", "z"}, {1, 1, 1}, false};
  variables[2] = {"iceFrac", {"iceFrac"}, {0, 0, 0}, false};
  variables[3] = {"temperature", {"layer 0", "layer 1"}, {2, 1, 1}, true};
  return variables;
}

void flatten(std::vector<Variable>& variables, int dims) {
  for (Variable& variable : variables) {
    for (int d = dims; d < max_dims; ++d) variable.ghosts[static_cast<size_t>(d)] = 0;
  }
}

// A communicator of the first `ranks` ranks; MPI_COMM_NULL elsewhere.
class FirstRanks {
 public:
  explicit FirstRanks(int ranks) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, world_rank(), &comm_);
  }
  FirstRanks(const FirstRanks&) = delete;
  ~FirstRanks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  bool has_me() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

using test::expect_same;

void expect_same(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t v = 0; v < a.size(); ++v) {
    EXPECT_EQ(a[v].name, b[v].name);
    EXPECT_EQ(a[v].components, b[v].components);
    EXPECT_EQ(a[v].ghosts, b[v].ghosts);
    EXPECT_EQ(a[v].compress, b[v].compress);
    EXPECT_EQ(a[v].bound, b[v].bound);
    EXPECT_EQ(a[v].codec, b[v].codec);
  }
}

Values read_values(Checkpoint& checkpoint, size_t v, size_t l, size_t b) {
  const Hierarchy& h = checkpoint.hierarchy();
  const Variable& variable = checkpoint.variables()[v];
  const auto component_bytes =
      static_cast<size_t>(grow(h.levels[l].boxes[b], variable.ghosts).cells()) * dtype_bytes(h.dtype);
  Values bytes(component_bytes * variable.components.size());
  for (size_t c = 0; c < variable.components.size(); ++c) {
    const Status read = checkpoint.read_box(static_cast<int>(v), static_cast<int>(l), static_cast<int>(b),
                                            static_cast<int>(c), bytes.data() + c * component_bytes);
    EXPECT_TRUE(read.ok()) << read.message();
  }
  return bytes;
}

class Checkpoints : public testing::Test {
 protected:
  Checkpoints() : directory_(test::make_directory("checkpoint")) {}
  ~Checkpoints() override {
    ::unsetenv("NEVE_FAULT");
    test::remove_directory(directory_);
  }

  // By the first `ranks` ranks. What they hold comes from `values_of`.
  template <class ValuesOf>
  void write(const std::string& path, const Hierarchy& h, const std::vector<Variable>& variables, int ranks,
             const WriteOptions& options, ValuesOf&& values_of) {
    const FirstRanks first(ranks);
    if (first.has_me()) {
      const Held held = hold(h, variables, world_rank(), ranks, values_of);
      const auto report = write_checkpoint(first.get(), path, h, variables, held.boxes, options);
      EXPECT_TRUE(report.ok()) << report.status().message();
    }
    test::barrier();
  }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string directory_;
};

TEST_F(Checkpoints, GoOnFromAnyNumberOfRanksBitForBit) {
  for (const int dims : {1, 2, 3}) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      Hierarchy h = test::make_hierarchy({.dims = dims, .dtype = dtype});
      h.side_files["inputs"] = "amr.n_cell = 32";
      std::vector<Variable> variables = exact_variables();
      flatten(variables, dims);
      const auto original = [&](size_t v, size_t l, size_t b) {
        return expected_values(h, variables[v], v, l, b);
      };
      for (const int readers : {1, 2, 3, 4, 7}) {
        if (readers > world_size()) continue;
        SCOPED_TRACE(std::to_string(dims) + "D " + std::string(dtype_name(dtype)) + ", " +
                     std::to_string(readers) + " readers");
        WriteOptions options;
        write(path("first"), h, variables, world_size(), options, original);
        // Read by fewer ranks, which write what they have read; and read by all.
        const FirstRanks first(readers);
        if (first.has_me()) {
          auto opened = open_checkpoint(path("first"));
          ASSERT_TRUE(opened.ok()) << opened.status().message();
          expect_same((*opened)->hierarchy(), h);
          expect_same((*opened)->variables(), variables);
          options.strategy = "aggregated";
          const Held held =
              hold((*opened)->hierarchy(), (*opened)->variables(), world_rank(), readers,
                   [&](size_t v, size_t l, size_t b) { return read_values(**opened, v, l, b); });
          const auto report = write_checkpoint(first.get(), path("second"), (*opened)->hierarchy(),
                                               (*opened)->variables(), held.boxes, options);
          ASSERT_TRUE(report.ok()) << report.status().message();
        }
        test::barrier();
        auto opened = open_checkpoint(path("second"));
        ASSERT_TRUE(opened.ok()) << opened.status().message();
        expect_same((*opened)->hierarchy(), h);
        expect_same((*opened)->variables(), variables);
        for (size_t v = 0; v < variables.size(); ++v) {
          for (size_t l = 0; l < h.levels.size(); ++l) {
            for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
              EXPECT_TRUE(read_values(**opened, v, l, b) == original(v, l, b))
                  << variables[v].name << " level " << l << " box " << b;
            }
          }
        }
        test::barrier();
      }
    }
  }
}

TEST_F(Checkpoints, AreTheSameFileUnderEveryStrategyInThePromisedNumberOfWrites) {
  const Hierarchy h = test::make_hierarchy({});
  const std::vector<Variable> variables = exact_variables();
  const Held held = hold(h, variables, world_rank(), world_size(), [&](size_t v, size_t l, size_t b) {
    return expected_values(h, variables[v], v, l, b);
  });
  const auto ranks = static_cast<uint64_t>(world_size());
  std::string first;
  for (const char* strategy : {"skeleton", "aggregated", "collective", "independent"}) {
    WriteOptions options;
    options.strategy = strategy;
    const auto report = write_checkpoint(MPI_COMM_WORLD, path("file"), h, variables, held.boxes, options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const std::string file = test::read_file(path("file"));
    EXPECT_EQ(report->file_bytes, file.size());
    if (first.empty()) first = file;
    EXPECT_TRUE(file == first) << strategy;
    if (std::string(strategy) == "skeleton") {
      EXPECT_EQ(report->mpi_writes, ranks);
    }
    if (std::string(strategy) == "aggregated") {
      EXPECT_EQ(report->mpi_writes, variables.size() * h.levels.size() * ranks);
    }
    test::barrier();
  }
}

TEST_F(Checkpoints, HaveADatasetForEveryVariableOfEveryLevel) {
  const Hierarchy h = test::make_hierarchy({});
  const std::vector<Variable> variables = exact_variables();
  write(path("file"), h, variables, world_size(), {},
        [&](size_t v, size_t l, size_t b) { return expected_values(h, variables[v], v, l, b); });
  const hdf5::Handle file(H5Fopen(path("file").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::string level = "level_" + std::to_string(l) + "/";
    for (const char* name :
         {"velocityData:datatype=0", "velocityData:offsets=0", "velocityData_attributes",
          "thicknessData:datatype=0", "temperatureData:offsets=0", "boxes", "Processors"}) {
      EXPECT_GT(H5Lexists(file.id(), (level + name).c_str(), H5P_DEFAULT), 0) << level << name;
    }
    // The whole dataset of an uncompressed variable, as an ordinary reader gets it.
    const hdf5::Handle data(H5Dopen2(file.id(), (level + "velocityData:datatype=0").c_str(), H5P_DEFAULT),
                            H5Dclose);
    Values expected;
    for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
      const Values box = expected_values(h, variables[1], 1, l, b);
      expected.insert(expected.end(), box.begin(), box.end());
    }
    Values found(H5Dget_storage_size(data.id()));
    H5Dread(data.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data());
    EXPECT_TRUE(found == expected);
  }
  const Status as_plotfile = open_plotfile(path("file")).status();
  EXPECT_EQ(as_plotfile.code(), Code::usage);
  EXPECT_NE(as_plotfile.message().find("it is a checkpoint"), std::string::npos) << as_plotfile.message();
}

TEST_F(Checkpoints, ABoundedVariableHoldsItsBoundGhostsIncluded) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16});
  std::vector<Variable> variables(2);
  variables[0] = {"thickness", {"a", "b"}, {1, 1, 1}, true, {BoundMode::abs, 1e-3}, Codec::dual_quant};
  variables[1] = {"exact", {"a"}, {0, 0, 0}, false};
  const auto original = [&](size_t v, size_t l, size_t b) {
    return expected_values(h, variables[v], v, l, b);
  };
  for (const Codec codec : {Codec::automatic, Codec::dual_quant, Codec::lorenzo_regression,
                            Codec::interpolation, Codec::context}) {
    variables[0].codec = codec;
    write(path("file"), h, variables, world_size(), {}, original);
    auto opened = open_checkpoint(path("file"));
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    expect_same((*opened)->variables(), variables);
    for (size_t l = 0; l < h.levels.size(); ++l) {
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        const std::vector<double> found = test::widen(h.dtype, read_values(**opened, 0, l, b));
        const std::vector<double> wanted = test::widen(h.dtype, original(0, l, b));
        double worst = 0;
        for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - wanted[i]));
        EXPECT_LE(worst, 1e-3) << codec_name(codec);
        EXPECT_TRUE(read_values(**opened, 1, l, b) == original(1, l, b));
      }
    }
    test::barrier();
  }
}

// Opens and reads all there is; what comes of it is the file's business, as long as it ends.
Status read_everything(const std::string& path) {
  auto opened = open_checkpoint(path);
  if (!opened.ok()) return opened.status();
  const Hierarchy& h = (*opened)->hierarchy();
  Status first;
  for (size_t v = 0; v < (*opened)->variables().size(); ++v) {
    const Variable& variable = (*opened)->variables()[v];
    for (size_t l = 0; l < h.levels.size(); ++l) {
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        Values bytes(static_cast<size_t>(grow(h.levels[l].boxes[b], variable.ghosts).cells()) *
                     dtype_bytes(h.dtype));
        const Status read = (*opened)->read_box(static_cast<int>(v), static_cast<int>(l), static_cast<int>(b),
                                                0, bytes.data());
        if (first.ok()) first = read;
      }
    }
  }
  return first;
}

template <class T>
void set_attribute(const std::string& path, const std::string& group, const std::string& name, hid_t type,
                   const T& value) {
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const hdf5::Handle object(H5Gopen2(file.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  const hdf5::Handle attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  ASSERT_GE(H5Awrite(attribute.id(), type, &value), 0) << group << " " << name;
}

TEST_F(Checkpoints, DamageIsAnErrorNeverACrash) {
  if (world_size() > 2) GTEST_SKIP() << "reading is no business of several ranks";
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  std::vector<Variable> variables = exact_variables();
  flatten(variables, 2);
  write(path("whole"), h, variables, world_size(), {},
        [&](size_t v, size_t l, size_t b) { return expected_values(h, variables[v], v, l, b); });
  if (world_rank() != 0) return;
  ASSERT_TRUE(read_everything(path("whole")).ok());
  const std::string bytes = test::read_file(path("whole"));
  const auto write_bytes = [&](const std::string& changed) {
    std::ofstream(path("changed"), std::ios::binary | std::ios::trunc) << changed;
  };

  const auto refused = [&](const std::string& group, const std::string& name, hid_t type, const auto& value) {
    write_bytes(bytes);
    set_attribute(path("changed"), group, name, type, value);
    const Status status = read_everything(path("changed"));
    EXPECT_EQ(status.code(), Code::corrupt) << group << " " << name << ": " << status.message();
    return status.message();
  };
  for (const int32_t count : {0, -1, 5, 65535, 1 << 30}) {
    refused("/neve/variables", "count", H5T_NATIVE_INT32, count);
    refused("/neve/variables/1", "num_components", H5T_NATIVE_INT32, count);
  }
  refused("/neve/variables/0", "compressed", H5T_NATIVE_INT32, 0);
  refused("/neve/variables/1", "compressed", H5T_NATIVE_INT32, 1);
  for (const int32_t layers : {-1, 0, 2, 1 << 30}) {
    const std::array<int32_t, 3> ghosts{layers, 1, 0};
    refused("/neve/variables/1", "ghosts", H5T_NATIVE_INT32, ghosts);
  }

  // Every byte of the lists, and some of the values.
  std::vector<std::pair<uint64_t, uint64_t>> places;
  {
    const hdf5::Handle file(H5Fopen(path("whole").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    for (const char* name : {"level_0/boxes", "level_1/boxes", "level_0/velocityData:offsets=0",
                             "level_1/thicknessData:offsets=0", "level_1/velocityData:datatype=0"}) {
      const hdf5::Handle data(H5Dopen2(file.id(), name, H5P_DEFAULT), H5Dclose);
      ASSERT_NE(H5Dget_offset(data.id()), HADDR_UNDEF) << name;
      places.emplace_back(H5Dget_offset(data.id()), std::min<uint64_t>(H5Dget_storage_size(data.id()), 256));
    }
  }
  int errors = 0;
  for (const auto& [begin, size] : places) {
    for (uint64_t at = begin; at < begin + size; ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x80);
      write_bytes(changed);
      if (!read_everything(path("changed")).ok()) ++errors;
    }
  }
  EXPECT_GT(errors, 100);
  for (const size_t size : {bytes.size() - 1, bytes.size() / 2, size_t{3000}, size_t{0}}) {
    write_bytes(bytes.substr(0, size));
    EXPECT_FALSE(read_everything(path("changed")).ok()) << size;
  }
  EXPECT_EQ(open_checkpoint(path("none")).status().code(), Code::failure);
}

TEST_F(Checkpoints, AFailureOnAnyRankLeavesTheEarlierFile) {
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  std::vector<Variable> variables = exact_variables();
  flatten(variables, 2);
  const Held held = hold(h, variables, world_rank(), world_size(), [&](size_t v, size_t l, size_t b) {
    return expected_values(h, variables[v], v, l, b);
  });
  ASSERT_TRUE(write_checkpoint(MPI_COMM_WORLD, path("file"), h, variables, held.boxes, {}).ok());
  test::barrier();
  const std::string earlier = test::read_file(path("file"));
  for (const char* strategy : {"skeleton", "aggregated", "independent"}) {
    for (const std::string phase :
         {"range", "plan", "encode", "place", "skeleton", "write", "sync", "rename"}) {
      for (int rank = 0; rank < world_size(); ++rank) {
        ::setenv("NEVE_FAULT", (phase + ":" + std::to_string(rank)).c_str(), 1);
        WriteOptions options;
        options.strategy = strategy;
        const Status status =
            write_checkpoint(MPI_COMM_WORLD, path("file"), h, variables, held.boxes, options).status();
        EXPECT_EQ(status.code(), Code::failure);
        EXPECT_NE(status.message().find("injected fault in phase " + phase), std::string::npos)
            << status.message();
        EXPECT_TRUE(test::same_on_all_ranks(status.message()));
        EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"file"});
        EXPECT_TRUE(test::read_file(path("file")) == earlier);
        test::barrier();
      }
    }
  }
}

TEST_F(Checkpoints, WhatMakesNoSenseIsNamedOnEveryRank) {
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  std::vector<Variable> good(1);
  good[0] = {"a", {"a"}, {1, 1, 0}, false};
  const Held held = hold(h, good, world_rank(), world_size(),
                         [&](size_t v, size_t l, size_t b) { return expected_values(h, good[v], v, l, b); });
  const auto refused = [&](const std::vector<Variable>& variables, const WriteOptions& options = {}) {
    const Status status =
        write_checkpoint(MPI_COMM_WORLD, path("file"), h, variables, held.boxes, options).status();
    EXPECT_EQ(status.code(), Code::usage) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    EXPECT_TRUE(test::list_directory(directory_).empty());
    return status.message();
  };
  EXPECT_NE(refused({}).find("at least one variable"), std::string::npos);
  std::vector<Variable> bad = good;
  bad[0].name = "a/b";
  EXPECT_NE(refused(bad).find("a/b"), std::string::npos);
  bad = {good[0], good[0]};
  EXPECT_NE(refused(bad).find("two variables are called \"a\""), std::string::npos);
  bad = good;
  bad[0].components = {};
  refused(bad);
  bad = good;
  bad[0].ghosts = {1, 1, 1};
  EXPECT_NE(refused(bad).find("ghosts in direction 2 is 1; allowed are 0 .. 0"), std::string::npos);
  bad = good;
  bad[0].ghosts = {2, 1, 0};
  EXPECT_NE(refused(bad).find("variable a: "), std::string::npos);
  bad = {good[0], {"b", {"b"}}};
  EXPECT_NE(refused(bad).find("boxes of 1 variables given for 2"), std::string::npos);
  WriteOptions options;
  options.strategy = "filtered";
  EXPECT_NE(refused(good, options).find("writes plotfiles only"), std::string::npos);
}

}  // namespace
}  // namespace neve
