// SPDX-License-Identifier: BSD-3-Clause
// How covered cells are decided on, and how their averages travel.
#include <map>
#include <tuple>

#include "core/amr/morton.hpp"
#include "core/catalog/choices.hpp"
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/reader_values.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::OwnedBoxes;
using test::world_rank;
using test::world_size;

// The exchanges of all ranks of a run, worked out by one process.
std::vector<AverageExchange> all_exchanges(const Hierarchy& h, int ranks, const ExchangeLimits& limits) {
  const Ownership owners = amr::distribute(h, ranks);
  const amr::BoxIndex index(h.levels[0].boxes);
  std::vector<AverageExchange> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(plan_average_exchange(h, 0, index, owners, rank, limits));
  }
  return all;
}

TEST(AverageExchange, BothSidesExpectTheSameMessages) {
  // Large boxes: no value of them is ever made, only their exchange is planned.
  Hierarchy h;
  h.dims = 3;
  h.components = {"a"};
  h.levels.resize(2);
  h.levels[0].domain = {{-512, 0, 0}, {511, 511, 511}};
  h.levels[0].boxes = {
      {{-512, 0, 0}, {-1, 511, 511}}, {{0, 0, 0}, {511, 511, 255}}, {{0, 0, 256}, {511, 511, 511}}};
  h.levels[0].ref_ratio = {2, 2, 2};
  h.levels[1].domain = refine(h.levels[0].domain, {2, 2, 2});
  // One box across all coarse ones, one that is not aligned to the ratio, one inside a coarse box.
  h.levels[1].boxes = {
      {{-200, 100, 300}, {399, 899, 799}}, {{601, 1, 3}, {700, 100, 100}}, {{-900, 0, 0}, {-801, 99, 99}}};
  for (int ranks : {1, 2, 5}) {
    const auto all = all_exchanges(h, ranks, {});
    using Key = std::tuple<int, int, int, int, int>;  // round, from, to, slab, coarse box
    std::map<Key, Box> sent, received;
    int64_t sent_cells = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const AverageExchange& mine = all[static_cast<size_t>(rank)];
      EXPECT_EQ(mine.rounds, all[0].rounds);
      std::map<int, int64_t> bytes_by_round;
      for (const AveragePart& p : mine.sends) {
        EXPECT_TRUE(sent.emplace(Key{p.round, rank, p.peer, p.slab, p.coarse_box}, p.cells).second);
        EXPECT_TRUE(h.levels[1].boxes[static_cast<size_t>(p.fine_box)].contains(refine(p.cells, {2, 2, 2})));
        EXPECT_LE(refine(p.cells, {2, 2, 2}).cells() * 8, ExchangeLimits{}.slab_bytes + (8 << 20));
        bytes_by_round[p.round] += p.cells.cells() * 8;
        sent_cells += p.cells.cells();
      }
      for (const auto& [round, bytes] : bytes_by_round)
        EXPECT_LE(bytes, 2 * ExchangeLimits{}.round_bytes) << round;
      for (const AveragePart& p : mine.receives) {
        EXPECT_TRUE(received.emplace(Key{p.round, p.peer, rank, p.slab, p.coarse_box}, p.cells).second);
      }
    }
    EXPECT_EQ(sent, received);
    // 300 x 400 x 250 of the first, 49 x 49 x 48 whole cells of the unaligned one (601..700 holds 602..699),
    // ...
    EXPECT_EQ(sent_cells, 300 * 400 * 250 + 49 * 49 * 48 + 50 * 50 * 50);
    EXPECT_GT(all[0].rounds, 1);
  }
}

TEST(Coverage, TheDecisionDoesNotDependOnHowTheAveragesTravel) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (int dims : {1, 2, 3}) {
    const Hierarchy h = test::make_hierarchy({.dims = dims, .box_cells = dims == 3 ? 8 : 32});
    const Ownership owners = distribute_boxes(h, world_size());
    const test::OwnedBoxes owned(h, owners, world_rank());
    WriteOptions options = test::leaving_out();
    options.codec = Codec::dual_quant;
    const auto decide = [&](const ExchangeLimits& limits) {
      Result<WritePlan> plan = plan_write(*comm, h, owners, owned.boxes(), options);
      EXPECT_TRUE(plan.ok()) << plan.status().message();
      Result<CoverageCheck> check = CoverageCheck::make(
          *comm, h, owned.boxes(), options, *plan, CoverageCheck::plan_exchanges(*comm, h, *plan, limits));
      EXPECT_TRUE(check.ok()) << check.status().message();
      for (size_t level = h.levels.size(); level-- > 0;) {
        EXPECT_FALSE(check->needs_finer_frames(level));
        Status mine;
        EXPECT_TRUE(check->settle_level(level, {}, mine).ok());
        EXPECT_TRUE(mine.ok()) << mine.message();
      }
      MissedCells missed = check->missed();
      std::string text;
      for (const LevelPlan& level : plan->levels) {
        for (const FieldPlan& field : level.fields) text += field.covered + "\n";
      }
      for (auto& box : missed) {
        for (auto& cells : box) std::sort(cells.begin(), cells.end());
      }
      return std::pair(text, missed);
    };
    const auto whole = decide({});
    const auto in_pieces = decide({.slab_bytes = 300, .round_bytes = 100});
    EXPECT_EQ(whole.first, in_pieces.first);
    EXPECT_EQ(whole.second, in_pieces.second);
    EXPECT_TRUE(test::same_on_all_ranks(whole.first));
    EXPECT_NE(whole.first.find("dropped"), std::string::npos);
    EXPECT_NE(whole.first.find("kept: average of finer cells misses"), std::string::npos);
  }
}

// The bytes that `values` gives for all boxes of this rank on one level, in regions of a few layers.
std::vector<std::byte> visit_all(const ReaderValues& values, const Hierarchy& h, size_t level, int component,
                                 const OwnedBoxes& owned, int threads) {
  const size_t value_bytes = dtype_bytes(h.dtype);
  const auto d = static_cast<size_t>(h.dims - 1);
  std::vector<BoxRegion> regions;
  for (const LocalBox& local : owned.boxes()) {
    if (static_cast<size_t>(local.level) != level) continue;
    const Box& box = h.levels[level].boxes[static_cast<size_t>(local.box)];
    constexpr int32_t layers = 3;
    for (int32_t lo = box.lo[d]; lo <= box.hi[d]; lo += layers) {
      Box cells = box;
      cells.lo[d] = lo;
      cells.hi[d] = std::min(lo + layers - 1, box.hi[d]);
      cells.lo[0] += cells.size(0) > 2 ? 1 : 0;  // not whole rows
      regions.push_back({local.box, cells});
    }
  }
  std::vector<std::vector<std::byte>> by_region(regions.size());
  const Status status = values.visit(regions, component, threads, [&](size_t i, const GetValues& get) {
    by_region[i].resize(static_cast<size_t>(regions[i].cells.cells()) * value_bytes);
    get_into(get, regions[i].cells, value_bytes, by_region[i].data());
  });
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::byte> all;
  for (const auto& bytes : by_region) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

TEST(ReaderValues, DecodedFramesAndRestoredValuesAgreeForCodecsThatHoldValuesAlone) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (const bool one_box : {false, true}) {  // in one box it is cut over several chunks
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Hierarchy h = test::make_hierarchy({.dtype = dtype, .box_cells = 16, .one_box = one_box});
      WriteOptions options = test::leaving_out();
      options.codec = Codec::dual_quant;
      options.chunk_bytes = 64 << 10;
      const Ownership owners = distribute_boxes(h, world_size());
      const OwnedBoxes owned(h, owners, world_rank());
      const Result<WritePlan> plan = plan_write(*comm, h, owners, owned.boxes(), options);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const MissedCells none(owned.boxes().size(), std::vector<std::vector<uint64_t>>(h.components.size()));
      for (size_t level = 0; level < h.levels.size(); ++level) {
        auto chunks = chunks_to_encode(world_rank(), *plan, level, level + 1);
        ASSERT_TRUE(encode_chunks(h, owned.boxes(), options, *plan, none, nullptr, chunks, nullptr).ok());
        for (EncodedChunk& chunk : chunks) {
          EXPECT_EQ(chunk.needs_decoding, std::vector<char>(h.components.size(), 0));
          chunk.needs_decoding.assign(h.components.size(),
                                      1);  // makes the reader's values come from the frames
        }
        const ReaderValues restored(h, owned.boxes(), *plan, level, {});
        const ReaderValues decoded(h, owned.boxes(), *plan, level, chunks);
        for (int c = 0; c < test::field_count; ++c) {
          const auto expected = visit_all(restored, h, level, c, owned, 1);
          for (const int threads : {1, 3}) {
            EXPECT_TRUE(visit_all(decoded, h, level, c, owned, threads) == expected)
                << "level " << level << " field " << c << " threads " << threads;
          }
        }
      }
    }
  }
}

// What was settled of the levels from the finest on, whose chunks `encode` gives, which the next coarser one
// may ask: `covered` of all fields, and the missed cells.
template <class Encode>
auto settle_all(const Comm& comm, const Hierarchy& h, const WriteOptions& options, const Encode& encode) {
  const Ownership owners = distribute_boxes(h, world_size());
  const OwnedBoxes owned(h, owners, world_rank());
  Result<WritePlan> plan = plan_write(comm, h, owners, owned.boxes(), options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  Result<CoverageCheck> check = CoverageCheck::make(comm, h, owned.boxes(), options, *plan,
                                                    CoverageCheck::plan_exchanges(comm, h, *plan));
  EXPECT_TRUE(check.ok()) << check.status().message();
  std::vector<EncodedChunk> finer;
  for (size_t level = h.levels.size(); level-- > 0;) {
    EXPECT_EQ(check->needs_finer_frames(level),
              options.codec != Codec::dual_quant && level + 1 < h.levels.size());
    Status mine;
    EXPECT_TRUE(check->settle_level(level, finer, mine).ok());
    EXPECT_TRUE(mine.ok()) << mine.message();
    finer = chunks_to_encode(world_rank(), *plan, level, level + 1);
    encode(level, *plan, finer, [&](const WritePlan& by) {
      EXPECT_TRUE(
          encode_chunks(h, owned.boxes(), options, by, check->missed(), nullptr, finer, nullptr).ok());
    });
  }
  std::string text;
  for (const LevelPlan& level : plan->levels) {
    for (const FieldPlan& field : level.fields) text += field.covered + "\n";
  }
  return std::pair(text, check->missed());
}

TEST(Coverage, IsSettledAlikeFromFramesAndFromValues) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (const int dims : {1, 2, 3}) {
    const Hierarchy h = test::make_hierarchy({.dims = dims, .levels = 4, .box_cells = dims == 3 ? 8 : 32});
    const auto settle = [&](Codec codec) {
      WriteOptions options = test::leaving_out();
      options.codec = codec;
      options.encode.effort = Effort::balanced;  // at effort fast `auto` is known to hold values alone
      return settle_all(*comm, h, options,
                        [&](size_t level, const WritePlan& plan, auto& chunks, auto encode) {
                          // Encoded as dual_quant either way, so that both must come to the same.
                          WritePlan as_dual_quant = plan;
                          for (FieldPlan& field : as_dual_quant.levels[level].fields)
                            field.spec.codec = Codec::dual_quant;
                          encode(as_dual_quant);
                          for (EncodedChunk& chunk : chunks)
                            chunk.needs_decoding.assign(h.components.size(), 1);
                        });
    };
    const auto from_values = settle(Codec::dual_quant);
    const auto from_frames = settle(Codec::automatic);
    EXPECT_EQ(from_values.first, from_frames.first);
    EXPECT_EQ(from_values.second, from_frames.second);
  }
}

// With axis_passes, whose values must be decoded where they were not averaged while they were encoded.
TEST(Coverage, IsSettledAlikeFromAveragesTakenWhileEncoding) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (const int dims : {1, 2, 3}) {
    const Hierarchy h = test::make_hierarchy({.dims = dims, .levels = 4, .box_cells = dims == 3 ? 8 : 32});
    const auto settle = [&](bool takes_averages) {
      WriteOptions options = test::leaving_out();
      options.codec = Codec::axis_passes;
      options.chunk_bytes = min_chunk_bytes;
      return settle_all(
          *comm, h, options, [&](size_t level, const WritePlan& plan, auto& chunks, auto encode) {
            for (size_t i = 0; takes_averages && level > 0 && i < chunks.size(); ++i) {
              const bool is_split = plan.levels[level].chunks.chunks[chunks[i].chunk].is_split;
              if (is_split || i % 3 == 2) continue;  // some are decoded
              chunks[i].averages = std::make_unique<ChunkAverages>(h, plan, level, chunks[i].chunk);
            }
            encode(plan);
          });
    };
    const auto decoded = settle(false);
    const auto averaged = settle(true);
    EXPECT_EQ(decoded.first, averaged.first);
    EXPECT_EQ(decoded.second, averaged.second);
    EXPECT_NE(decoded.first.find("dropped"), std::string::npos);
  }
}

}  // namespace
}  // namespace neve::mpi
