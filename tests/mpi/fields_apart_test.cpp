// SPDX-License-Identifier: BSD-3-Clause
// Components that were allocated apart (BoxData::component_offsets): the same files, in as many writes, as of
// one array with all of them, in every way of writing.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "neve/checkpoint.hpp"
#include "neve/options.hpp"
#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

// The values of other boxes again, ghosts in them: each component in an array of its own, the last one first
// in memory, at distances that no stride has.
class Apart {
 public:
  Apart(const Hierarchy& h, const std::vector<LocalBox>& together, const IntVect& ghosts) {
    const size_t components = h.components.size(), value_bytes = dtype_bytes(h.dtype);
    for (const LocalBox& local : together) {
      const BoxData& data = local.data;
      const auto bytes = static_cast<size_t>(data.component_stride) * value_bytes;
      std::byte* const room = arrays_.emplace_back(new std::byte[(bytes + 64) * components * 2]).get();
      size_t before = 0;  // bytes of ghosts before the first valid value
      for (size_t d = 0; d < max_dims; ++d) {
        before += static_cast<size_t>(ghosts[d] * data.stride[d]) * value_bytes;
      }
      std::vector<const void*> fields(components);
      size_t at = 0;
      for (size_t c = components; c-- > 0; at += bytes + 16 * (c % 3 + 1)) {
        std::memcpy(room + at, static_cast<const std::byte*>(data.data) - before + c * bytes, bytes);
        fields[c] = room + at + before;
      }
      auto offsets = component_offsets(h.dtype, fields);
      EXPECT_TRUE(offsets.ok()) << offsets.status().message();
      LocalBox& box = boxes_.emplace_back(local);
      box.data.data = fields[0];
      box.data.component_stride = 0;
      box.data.component_offsets =
          offsets_.emplace_back(std::make_unique<std::vector<int64_t>>(*offsets))->data();
    }
  }
  const std::vector<LocalBox>& boxes() const { return boxes_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> arrays_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> offsets_;
  std::vector<LocalBox> boxes_;
};

IntVect layers(int dims) {
  IntVect one{0, 0, 0};
  std::fill_n(one.begin(), dims, 1);
  return one;
}

// In one array each, with the layer of ghosts that is around them.
class Together {
 public:
  explicit Together(const Hierarchy& h)
      : owned_(h, distribute_boxes(h, world_size()), world_rank()), boxes_(owned_.boxes()) {
    for (LocalBox& box : boxes_) box.ghosts = layers(h.dims);
  }
  const std::vector<LocalBox>& boxes() const { return boxes_; }

 private:
  test::OwnedBoxes owned_;
  std::vector<LocalBox> boxes_;
};

class FieldsApart : public testing::Test {
 protected:
  FieldsApart() : directory_(test::make_directory("fields_apart")) {}
  ~FieldsApart() override {
    test::barrier();
    test::remove_directory(directory_);
  }
  // What `write(path)` makes, or its error.
  template <class Write>
  std::string made(const Write& write) const {
    const std::string path = directory_ + "/made";
    const Status status = write(path);
    EXPECT_TRUE(status.ok()) << status.message();
    const Status waited = wait_for_writes(MPI_COMM_WORLD);
    EXPECT_TRUE(waited.ok()) << waited.message();
    test::barrier();
    std::string found = test::contents(path);
    EXPECT_FALSE(found.empty());
    test::barrier();
    return found;
  }
  std::string directory_;
};

TEST_F(FieldsApart, MakeTheSamePlotfiles) {
  for (const auto& [dims, dtype] :
       {std::pair{1, DType::f64}, {2, DType::f32}, {3, DType::f64}, {3, DType::f32}}) {
    const Hierarchy h = test::make_hierarchy({dims, dtype});
    const Together together(h);
    const Apart apart(h, together.boxes(), layers(dims));
    for (const char* text : {"rel=1e-3",
                             "lossless",
                             "abs=1e-4;covered=auto",
                             "abs=1e-4;covered=drop;threads=2",
                             "rel=1e-3;ghosts=1",
                             "rel=1e-3;effort=max;codec=context",
                             "codec=interpolation;cross_level",
                             "behind=encode",
                             "behind=copy",
                             "strategy=filtered",
                             "strategy=amrex-1d",
                             "strategy=collective",
                             "fill=none",
                             "uncompressed",
                             "uncompressed;ghosts=1",
                             "uncompressed;strategy=independent",
                             "uncompressed;strategy=collective",
                             "uncompressed;strategy=aggregated",
                             "uncompressed;strategy=aggregated;aggregate_boxes=1",
                             "uncompressed;strategy=aggregated;aggregate_boxes=3;ghosts=1"}) {
      SCOPED_TRACE(std::to_string(dims) + "D " + text);
      auto options = parse_write_options(text);
      ASSERT_TRUE(options.ok()) << options.status().message();
      for (int d = dims; d < max_dims; ++d) options->ghosts[static_cast<size_t>(d)] = 0;
      uint64_t writes[2] = {};
      const auto write_of = [&](int way, const std::vector<LocalBox>& boxes) {
        return made([&](const std::string& path) {
          const auto report = write_plotfile(MPI_COMM_WORLD, path, h, boxes, *options);
          if (report.ok()) writes[way] = report->mpi_writes;
          return report.status();
        });
      };
      EXPECT_TRUE(write_of(0, together.boxes()) == write_of(1, apart.boxes()));
      EXPECT_EQ(writes[0], writes[1]);
    }
  }
}

TEST_F(FieldsApart, MakeTheSameAmrexPlotfile) {
  const Hierarchy h = test::make_hierarchy({2, DType::f64});
  const Together together(h);
  const Apart apart(h, together.boxes(), layers(2));
  const auto of = [&](const std::vector<LocalBox>& boxes) {
    return made(
        [&](const std::string& path) { return write_amrex_plotfile(MPI_COMM_WORLD, path, h, boxes); });
  };
  EXPECT_TRUE(of(together.boxes()) == of(apart.boxes()));
}

TEST_F(FieldsApart, MakeTheSameCheckpoints) {
  const Hierarchy h = test::make_hierarchy({3, DType::f64});
  const Together together(h);
  const Apart apart(h, together.boxes(), layers(3));
  std::vector<Variable> variables(3);
  variables[0] = {"gas", h.components, {1, 1, 1}};
  variables[1] = {"loose", h.components, {0, 0, 0}, true, {BoundMode::abs, 1e-3}};
  variables[2] = {"plain", h.components, {1, 1, 1}, false};
  for (const Behind behind : {Behind::none, Behind::encode, Behind::copy}) {
    std::vector<Variable> written = variables;
    if (behind != Behind::none) written.pop_back();  // uncompressed values are not written behind
    const auto of = [&](const std::vector<LocalBox>& boxes) {
      const std::vector<std::vector<LocalBox>> all(written.size(), boxes);
      WriteOptions options;
      options.behind = behind;
      return made([&](const std::string& path) {
        return write_checkpoint(MPI_COMM_WORLD, path, h, written, all, options).status();
      });
    };
    EXPECT_TRUE(of(together.boxes()) == of(apart.boxes()));
  }
}

}  // namespace
}  // namespace neve
