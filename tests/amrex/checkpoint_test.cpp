// SPDX-License-Identifier: BSD-3-Clause
#include <AMReX_MultiFabUtil.H>
#include <AMReX_ParallelDescriptor.H>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fields.hpp"
#include "neve/amrex.hpp"

namespace {

using amrex::IndexType;
using amrex::MultiFab;
using amrex::Real;
using amrex::Vector;
using neve::test::const_pointers;
using neve::test::Directory;
using neve::test::make_field;
using neve::test::make_mesh;
using neve::test::Mesh;
using neve::test::pointers;
using neve::test::same_bits;
using neve::test::same_everywhere;

const IndexType cells = IndexType::TheCellType();
const IndexType nodes = IndexType::TheNodeType();
const IndexType x_faces(amrex::IntVect::TheDimensionVector(0));

Vector<MultiFab> make_levels(const Mesh& mesh, const IndexType& centring, int components, int ghosts,
                             bool box_matters = false) {
  Vector<MultiFab> levels;
  for (int l = 0; l < mesh.nlevels; ++l) {
    levels.push_back(make_field(mesh, l, centring, components, ghosts, box_matters));
  }
  return levels;
}

// The same boxes on other ranks, every value 5.
Vector<MultiFab> make_targets(const Vector<MultiFab>& like, int ghosts) {
  Vector<MultiFab> levels;
  for (const MultiFab& level : like) {
    amrex::Vector<int> owners = level.DistributionMap().ProcessorMap();
    for (int& owner : owners) owner = amrex::ParallelDescriptor::NProcs() - 1 - owner;
    levels.emplace_back(level.boxArray(), amrex::DistributionMapping(owners), level.nComp(), ghosts)
        .setVal(5);
  }
  return levels;
}

neve::Result<std::vector<neve::WriteReport>> write(const std::string& path, const Mesh& mesh,
                                                   const std::vector<neve::amrex::CheckpointField>& fields,
                                                   const std::string& header = "") {
  return neve::amrex::TryWriteCheckpoint(path, mesh.nlevels, fields, mesh.geom, mesh.time, mesh.steps,
                                         mesh.ref_ratio, header);
}

neve::Status read(const std::string& path, int nlevels, const std::string& name, Vector<MultiFab>& levels) {
  return neve::amrex::TryReadCheckpoint(path, nlevels, {{name, pointers(levels)}});
}

TEST(Checkpoint, EveryCentringComesBackToTheBitOnOtherRanks) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> state = make_levels(mesh, cells, 3, 2);
  const Vector<MultiFab> potential = make_levels(mesh, nodes, 1, 0, true);
  const Vector<MultiFab> velocity = make_levels(mesh, x_faces, 2, 1, true);
  neve::amrex::WriteCheckpoint(directory / "chk", mesh.nlevels,
                               {{"state", const_pointers(state)},
                                {"potential", const_pointers(potential)},
                                {"velocity", const_pointers(velocity)}},
                               mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio, "a header\n");
  EXPECT_EQ(directory.list(), std::vector<std::string>{"chk"});
  std::ostringstream header;
  header << std::ifstream(directory / "chk/Header").rdbuf();
  EXPECT_EQ(header.str(), "a header\n");

  Vector<MultiFab> state_back = make_targets(state, 1);
  Vector<MultiFab> potential_back = make_targets(potential, 0);
  Vector<MultiFab> velocity_back = make_targets(velocity, 1);
  neve::amrex::ReadCheckpoint(directory / "chk", mesh.nlevels,
                              {{"velocity", pointers(velocity_back)},
                               {"state", pointers(state_back)},
                               {"potential", pointers(potential_back)}});
  for (int l = 0; l < mesh.nlevels; ++l) {
    EXPECT_TRUE(same_bits(state_back[l], state[l])) << l;
    EXPECT_TRUE(same_bits(potential_back[l], potential[l])) << l;
    EXPECT_TRUE(same_bits(velocity_back[l], velocity[l])) << l;
    for (const int box : state_back[l].IndexArray()) {
      const amrex::FArrayBox& fab = state_back[l][box];
      EXPECT_EQ(fab(fab.box().smallEnd(), 0), Real(5)) << "a ghost cell was touched";
    }
  }
}

TEST(Checkpoint, GhostCellsAreKeptWhereAskedFor) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  for (const IndexType& centring : {cells, nodes}) {
    Vector<MultiFab> levels = make_levels(mesh, centring, 2, 2, true);
    for (int l = 0; l < mesh.nlevels; ++l) {
      for (const int box : levels[l].IndexArray()) {
        levels[l][box](levels[l][box].box().bigEnd(), 1) = Real(-7.25) - Real(box);
      }
    }
    ASSERT_TRUE(write(directory / "chk", mesh,
                      {{"phi", const_pointers(levels), {neve::BoundMode::lossless, 0}, true}})
                    .ok());
    Vector<MultiFab> back = make_targets(levels, 3);
    const neve::Status status = read(directory / "chk", mesh.nlevels, "phi", back);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int l = 0; l < mesh.nlevels; ++l) EXPECT_TRUE(same_bits(back[l], levels[l], 2)) << l;
  }
}

TEST(Checkpoint, EachFieldHasItsOwnBound) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  for (const IndexType& centring : {cells, x_faces}) {
    const Vector<MultiFab> exact = make_levels(mesh, centring, 1, 1);
    const Vector<MultiFab> loose = make_levels(mesh, centring, 1, 1, true);
    constexpr double bound = 1e-2;
    auto reports = write(
        directory / "chk", mesh,
        {{"exact", const_pointers(exact)}, {"loose", const_pointers(loose), {neve::BoundMode::abs, bound}}});
    ASSERT_TRUE(reports.ok()) << reports.status().message();
    EXPECT_LT((*reports)[1].file_bytes, (*reports)[0].file_bytes);
    Vector<MultiFab> exact_back = make_targets(exact, 0);
    Vector<MultiFab> loose_back = make_targets(loose, 0);
    ASSERT_TRUE(read(directory / "chk", mesh.nlevels, "exact", exact_back).ok());
    ASSERT_TRUE(read(directory / "chk", mesh.nlevels, "loose", loose_back).ok());
    for (int l = 0; l < mesh.nlevels; ++l) {
      EXPECT_TRUE(same_bits(exact_back[l], exact[l]));
      MultiFab difference(loose[l].boxArray(), loose[l].DistributionMap(), 1, 0);
      difference.Redistribute(loose_back[l], 0, 0, 1, amrex::IntVect(0));
      MultiFab::Subtract(difference, loose[l], 0, 0, 1, 0);
      const double error = difference.norm0();
      EXPECT_LE(error, bound);
      EXPECT_GT(error, 0) << "kept exactly: the bound was not used";
    }
  }
}

// In double, AMReX's average of finer cells and Neve's have the same bits, and the file leaves them out. In
// float AMReX adds in float and Neve in double, so they are kept.
TEST(Checkpoint, AveragedCoarseCellsComeBackToTheBit) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  Vector<MultiFab> state = make_levels(mesh, cells, 2, 0);
  amrex::average_down(state[1], state[0], 0, 2, mesh.ref_ratio[0]);
  auto reports = write(directory / "chk", mesh, {{"state", const_pointers(state)}});
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  Vector<MultiFab> back = make_targets(state, 1);
  ASSERT_TRUE(read(directory / "chk", mesh.nlevels, "state", back).ok());
  for (int l = 0; l < mesh.nlevels; ++l) EXPECT_TRUE(same_bits(back[l], state[l])) << l;
}

TEST(Checkpoint, DefinesWhatIsNotDefined) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> state = make_levels(mesh, cells, 2, 1);
  const Vector<MultiFab> flux = make_levels(mesh, x_faces, 1, 1);
  ASSERT_TRUE(write(directory / "chk", mesh,
                    {{"state", const_pointers(state)},
                     {"flux", const_pointers(flux), {neve::BoundMode::lossless, 0}, true}})
                  .ok());
  Vector<MultiFab> state_back(2);
  Vector<MultiFab> flux_back(2);
  const neve::Status status = neve::amrex::TryReadCheckpoint(
      directory / "chk", 2, {{"state", pointers(state_back)}, {"flux", pointers(flux_back)}});
  ASSERT_TRUE(status.ok()) << status.message();
  for (int l = 0; l < 2; ++l) {
    EXPECT_TRUE(same_bits(state_back[l], state[l]));
    EXPECT_TRUE(same_bits(flux_back[l], flux[l], 1));
    EXPECT_EQ(flux_back[l].nGrowVect(), amrex::IntVect(1));
    EXPECT_EQ(state_back[l].DistributionMap(), flux_back[l].DistributionMap());
  }
}

// Ghost cells that the file does not hold keep their values there, too.
TEST(Checkpoint, ValuesInTheMemoryOfADeviceComeBack) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  for (const bool is_shared : {false, true}) {
    ::amrex::Arena& arena = neve::test::device_arena(is_shared);
    const Vector<MultiFab> state = make_levels(mesh, cells, 2, 1);
    const Vector<MultiFab> on_device = neve::test::in_arena(state, arena);
    for (const bool with_ghosts : {false, true}) {
      const std::string path = directory / ("chk" + std::to_string(is_shared) + std::to_string(with_ghosts));
      const neve::Bound lossless{neve::BoundMode::lossless, 0};
      ASSERT_TRUE(write(path, mesh, {{"state", const_pointers(on_device), lossless, with_ghosts}}).ok());
      Vector<MultiFab> read = neve::test::in_arena(make_targets(state, 1), arena);
      const neve::Status status = neve::amrex::TryReadCheckpoint(path, 2, {{"state", pointers(read)}});
      ASSERT_TRUE(status.ok()) << status.message();
      const Vector<MultiFab> back = neve::test::on_host(read);
      Vector<MultiFab> wanted = make_targets(state, 1);
      const neve::Status on_host = neve::amrex::TryReadCheckpoint(path, 2, {{"state", pointers(wanted)}});
      ASSERT_TRUE(on_host.ok()) << on_host.message();
      for (int l = 0; l < 2; ++l) {
        EXPECT_TRUE(same_bits(back[l], wanted[l], 1));
      }
    }
  }
}

// Codes leave anything in ghosts, here 1e30, beside values around 1, and mark cells inside a body.
TEST(Checkpoint, RangesAreThoseOfValuesInValidCellsWhereGhostsAreKept) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  Vector<MultiFab> state = make_levels(mesh, cells, 2, 1);
  constexpr double part = 1e-2;
  constexpr amrex::Real body = -999;
  std::vector<double> ranges;
  for (MultiFab& mf : state) {
    for (int c = 0; c < 2; ++c) ranges.push_back(mf.max(c) - mf.min(c));
    for (const int b : mf.IndexArray()) {
      const amrex::Box box = mf.box(b);
      mf[b](box.smallEnd(), 1) = body;
    }
  }
  ASSERT_TRUE(write(directory / "chk", mesh,
                    {{"state", const_pointers(state), {neve::BoundMode::rel, part}, true}}, "")
                  .ok());
  Vector<MultiFab> back(2);
  const neve::Status read = neve::amrex::TryReadCheckpoint(directory / "chk", 2, {{"state", pointers(back)}});
  ASSERT_TRUE(read.ok()) << read.message();
  for (int l = 0; l < 2; ++l) {
    MultiFab written(back[l].boxArray(), back[l].DistributionMap(), 2, 0);
    written.ParallelCopy(state[l], 0, 0, 2);
    for (int c = 0; c < 2; ++c) {
      const double range = ranges[static_cast<size_t>(2 * l + c)];
      MultiFab difference(written.boxArray(), written.DistributionMap(), 1, 0);
      MultiFab::Copy(difference, written, c, 0, 1, 0);
      MultiFab::Subtract(difference, back[l], c, 0, 1, 0);
      EXPECT_LE(difference.norm0(), part * range) << l << " " << c;
      EXPECT_GT(difference.norm0(), 0) << l << " " << c;
    }
  }
}

TEST(Checkpoint, AnEarlierOneIsMovedAwayWhenTheNewOneIsWhole) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> state = make_levels(mesh, cells, 1, 0);
  ASSERT_TRUE(write(directory / "chk/", mesh, {{"state", const_pointers(state)}}, "first").ok());
  // The second field fails when the first one is written already.
  const auto failed =
      write(directory / "chk", mesh,
            {{"state", const_pointers(state)}, {"broken", const_pointers(state), {neve::BoundMode::abs, -1}}},
            "second");
  EXPECT_NE(failed.status().message().find("field broken"), std::string::npos) << failed.status().message();
  EXPECT_TRUE(same_everywhere(failed.status()));
  EXPECT_EQ(directory.list(), std::vector<std::string>{"chk"});

  ASSERT_TRUE(write(directory / "chk", mesh, {{"state", const_pointers(state)}}, "third").ok());
  const std::vector<std::string> names = directory.list();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0], "chk");
  EXPECT_EQ(names[1].rfind("chk.old.", 0), 0U) << names[1];
  std::ostringstream header;
  header << std::ifstream(directory / (names[1] + "/Header")).rdbuf();
  EXPECT_EQ(header.str(), "first");
}

TEST(Checkpoint, RefusalsAreTheSameOnAllRanks) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> state = make_levels(mesh, cells, 2, 1);
  const auto expect = [](const neve::Status& status, const std::string& part) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_TRUE(same_everywhere(status));
  };
  expect(write(directory / "x", mesh, {{"a/b", const_pointers(state)}}).status(), "\"a/b\"");
  expect(write(directory / "x", mesh, {{"a", const_pointers(state)}, {"a", const_pointers(state)}}).status(),
         "two fields");
  EXPECT_TRUE(directory.list().empty());

  ASSERT_TRUE(write(directory / "chk", mesh, {{"state", const_pointers(state)}}).ok());
  Vector<MultiFab> back = make_targets(state, 0);
  expect(read(directory / "none", 2, "state", back), "none/state.h5");
  expect(read(directory / "chk", 1, "state", back), "it holds 2 levels; nlevels is 1");
  Vector<MultiFab> one_component = make_targets(make_levels(mesh, cells, 1, 0), 0);
  expect(read(directory / "chk", 2, "state", one_component), "the file has 2 components, the MultiFab 1");
  Vector<MultiFab> nodal = make_targets(make_levels(mesh, nodes, 2, 0), 0);
  expect(read(directory / "chk", 2, "state", nodal), "another centring");
  Mesh other = mesh;
  other.boxes[1].maxSize(8);
  other.owners[1] = amrex::DistributionMapping(other.boxes[1]);
  Vector<MultiFab> other_boxes = make_levels(other, cells, 2, 0);
  expect(read(directory / "chk", 2, "state", other_boxes), "level 1: the MultiFab has other boxes");

  neve::amrex::WriteMultiLevelPlotfile(directory / "plt", 2, const_pointers(state), {"a", "b"}, mesh.geom,
                                       mesh.time, mesh.steps, mesh.ref_ratio);
  expect(read(directory / ".", 2, "plt", back), "it is not a file of a Neve checkpoint");
}

TEST(Checkpoint, OfOneRankThatFailsTheOthersHear) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> state = make_levels(mesh, cells, 1, 0);
  ASSERT_TRUE(write(directory / "chk", mesh, {{"state", const_pointers(state)}}).ok());
  const int last = amrex::ParallelDescriptor::NProcs() - 1;
  const bool mine = amrex::ParallelDescriptor::MyProc() == last;
  Vector<MultiFab> back = make_targets(state, 0);
  const neve::Status status = read(directory / "chk", mine ? 3 : 2, "state", back);
  EXPECT_NE(status.message().find("nlevels is 3"), std::string::npos) << status.message();
  EXPECT_TRUE(same_everywhere(status));
}

// Places of boxes that would overlap: apart, and found again.
TEST(Spread, KeepsBoxesApartAndComesBack) {
  uint64_t state = 1;
  const auto random = [&](int below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33) % static_cast<uint64_t>(below));
  };
  for (int round = 0; round < 200; ++round) {
    amrex::Box domain(amrex::IntVect(-20 + random(40)), amrex::IntVect(20 + random(20)));
    amrex::BoxArray boxes(domain);
    boxes.maxSize(amrex::IntVect(AMREX_D_DECL(1 + random(20), 1 + random(20), 8 + random(20))));
    amrex::IndexType centring;
    amrex::IntVect ghosts;
    for (int d = 0; d < AMREX_SPACEDIM; ++d) {
      if (random(2) == 1) centring.set(d);
      ghosts[d] = random(4);
    }
    const std::vector<neve::Box> of_cells = neve::amrex::cell_boxes(boxes);
    const neve::amrex::Spread spread = neve::amrex::spread_of(of_cells, centring, ghosts);
    std::vector<neve::Box> places;
    for (size_t b = 0; b < of_cells.size(); ++b) {
      places.push_back(spread.place(of_cells[b]));
      ASSERT_EQ(spread.cells(places[b]), of_cells[b]);
      const amrex::Box stored = amrex::grow(amrex::convert(boxes[static_cast<int>(b)], centring), ghosts);
      for (int d = 0; d < AMREX_SPACEDIM; ++d) ASSERT_EQ(places[b].size(d), stored.length(d));
      for (size_t a = 0; a < b; ++a) ASSERT_TRUE(neve::intersect(places[a], places[b]).empty()) << round;
    }
  }
}

TEST(CheckpointLayout, ReadsItsOwnTextAndRefusesOthers) {
  neve::Hierarchy h;
  h.dims = AMREX_SPACEDIM;
  h.levels.resize(2);
  for (neve::Level& level : h.levels) level.boxes = {neve::Box{{0, 0, 0}, {8, 0, 0}}};
  neve::amrex::CheckpointLayout layout;
  layout.centring = x_faces;
  layout.spreads.resize(2);
  layout.spreads[1].unit = {8, 1, 1};
  const std::string text = layout.to_text();
  auto parsed = neve::amrex::CheckpointLayout::parse(text, h);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->centring, x_faces);
  EXPECT_EQ(parsed->spreads[1].unit[0], 8);
  EXPECT_EQ(parsed->spreads[1].reach[0], 1);
  EXPECT_EQ(parsed->to_text(), text);

  for (const std::string& wrong :
       {std::string(), std::string("neve checkpoint 2\n"), std::string("neve checkpoint 1\ncentring 2 0 0\n"),
        text.substr(0, text.size() - 8), std::string("neve checkpoint 1\ncentring 0 0 0\nghosts -1 0 0\n"),
        std::string("neve checkpoint 1\ncentring 0 0 0\nghosts 900 0 0\nunit 1 1 1\nunit 1 1 1\n"),
        std::string("neve checkpoint 1\ncentring 0 0 0\nghosts 0 0 0\nunit 0 1 1\nunit 1 1 1\n")}) {
    EXPECT_EQ(neve::amrex::CheckpointLayout::parse(wrong, h).status().code(), neve::Code::corrupt) << wrong;
  }
}

}  // namespace
