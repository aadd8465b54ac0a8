// SPDX-License-Identifier: BSD-3-Clause
// Meshes that codes have beside the usual one: other ratios in each direction, boxes of one cell, ranks
// without boxes, levels that come and go. Each is written by AMReX and by Neve, and every value that AMReX
// reads from its own file is compared. With NEVE_TEST_KEEP=<folder> the files of both stay there, for other
// readers.
#include <AMReX_ParallelDescriptor.H>
#include <AMReX_VisMF.H>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "compare.hpp"
#include "fields.hpp"
#include "neve/amrex.hpp"
#include "neve/options.hpp"
#include "neve/plotfile_reader.hpp"

namespace {

using amrex::Box;
using amrex::BoxArray;
using amrex::BoxList;
using amrex::IndexType;
using amrex::IntVect;
using amrex::MultiFab;
using amrex::Real;
using amrex::Vector;
using neve::test::const_pointers;
using neve::test::Directory;
using neve::test::Mesh;
using neve::test::pointers;
using neve::test::same_bits;
using neve::test::same_everywhere;

IntVect in_directions(int x, int y, int z) {
  amrex::ignore_unused(y, z);
  return IntVect(AMREX_D_DECL(x, y, z));
}

// A mesh, and values on it.
struct Shape {
  Mesh mesh;
  Vector<std::string> names{"density", "speed"};
  Vector<IntVect> ghosts{};  // by level; none: 1
  // Of a cell's value; where it is empty, it stays.
  std::function<Real(Real value, const IntVect& cell, int component)> changed{};
  bool amrex_reads_its_own = true;  // false: its header states infinite values, which it does not read

  Vector<MultiFab> levels(const IndexType& centring = IndexType::TheCellType()) const {
    Vector<MultiFab> all;
    for (int l = 0; l < mesh.nlevels; ++l) {
      const IntVect layers = ghosts.empty() ? IntVect(1) : ghosts[l];
      MultiFab field = neve::test::make_field(mesh, l, centring, static_cast<int>(names.size()), layers,
                                              !centring.cellCentered());
      for (const int box : field.IndexArray()) {
        if (!changed) continue;
        for (int c = 0; c < field.nComp(); ++c) {
          amrex::LoopOnCpu(field.box(box), [&](int i, int j, int k) {
            const IntVect cell(AMREX_D_DECL(i, j, k));
            field[box](cell, c) = changed(field[box](cell, c), cell, c);
            amrex::ignore_unused(j, k);
          });
        }
      }
      all.push_back(std::move(field));
    }
    return all;
  }
};

// The domains follow from the coarsest and the ratios. `boxes` by level.
Mesh mesh_of(const Box& domain, const Vector<IntVect>& ratios, const Vector<BoxArray>& boxes,
             amrex::CoordSys::CoordType coordinates = amrex::CoordSys::cartesian,
             const amrex::RealBox& place = amrex::RealBox({AMREX_D_DECL(Real(-1), Real(0.5), Real(2))},
                                                          {AMREX_D_DECL(Real(1), Real(2), Real(4))})) {
  Mesh mesh;
  mesh.nlevels = static_cast<int>(boxes.size());
  mesh.ref_ratio = ratios;
  mesh.boxes = boxes;
  mesh.steps.clear();
  amrex::Array<int, AMREX_SPACEDIM> periodic{};
  periodic[AMREX_SPACEDIM - 1] = 1;
  Box of_level = domain;
  for (int l = 0; l < mesh.nlevels; ++l) {
    if (l > 0) of_level.refine(ratios[l - 1]);
    mesh.geom.emplace_back(of_level, place, coordinates, periodic);
    mesh.owners.emplace_back(boxes[l]);
    mesh.steps.push_back(3 << l);
  }
  return mesh;
}

BoxArray pieces(const Box& box, const IntVect& most) {
  BoxArray boxes(box);
  boxes.maxSize(most);
  return boxes;
}
BoxArray pieces(const Box& box, int most) { return pieces(box, IntVect(most)); }

BoxArray listed(const std::vector<Box>& boxes) {
  BoxList list;
  for (const Box& box : boxes) list.push_back(box);
  return BoxArray(std::move(list));
}

const Box domain16(IntVect(0), IntVect(15));

Shape ratios_by_direction(const IntVect& first, const IntVect& second) {
  const Box middle = amrex::refine(Box(IntVect(4), IntVect(11)), first);
  const Box inner = amrex::refine(amrex::refine(Box(IntVect(6), IntVect(9)), first), second);
  return {mesh_of(domain16, {first, second}, {pieces(domain16, 8), pieces(middle, 8), pieces(inner, 16)})};
}

// Pieces of one cell, of one by N by one, and what is left; on a finer level they end inside coarse cells.
Shape boxes_of_one_cell() {
  const Box domain(IntVect(0), IntVect(7));
  std::vector<Box> fine;
  for (int i = 0; i < 5; ++i) fine.emplace_back(IntVect(3 * i), IntVect(3 * i));
  fine.emplace_back(in_directions(1, 0, 5), in_directions(1, 14, 5));
  fine.emplace_back(in_directions(15, 15, 15), in_directions(15, 15, 15));
  if (AMREX_SPACEDIM == 1) fine[5] = Box(IntVect(1), IntVect(1));
  Shape shape{mesh_of(domain, {IntVect(2)}, {pieces(domain, 1), listed(fine)})};
  return shape;
}

Shape slabs() {
  const IntVect thin = in_directions(1, 16, 1);
  return {mesh_of(domain16, {IntVect(2)},
                  {pieces(domain16, thin), pieces(Box(IntVect(7), IntVect(20)), in_directions(16, 1, 16))})};
}

// The coarsest level has gaps, and the fine level lies partly above nothing, off the coarse cells' edges.
Shape holes() {
  return {mesh_of(domain16, {IntVect(2)},
                  {listed({Box(IntVect(0), IntVect(3)), Box(IntVect(9), IntVect(14))}),
                   listed({Box(IntVect(5), IntVect(11)), Box(IntVect(13), IntVect(21))})})};
}

Shape domain_below_zero() {
  const Box domain(in_directions(-13, 5, -100), in_directions(2, 20, -85));
  const Box middle(domain.smallEnd() + 3, domain.smallEnd() + 10);
  return {mesh_of(domain, {IntVect(2)}, {pieces(domain, 8), pieces(amrex::refine(middle, 2), 8)})};
}

Shape coordinates() {
  const auto kind = AMREX_SPACEDIM == 1   ? amrex::CoordSys::SPHERICAL
                    : AMREX_SPACEDIM == 2 ? amrex::CoordSys::RZ
                                          : amrex::CoordSys::cartesian;
  const amrex::RealBox place({AMREX_D_DECL(Real(0.25), Real(-3), Real(0))},
                             {AMREX_D_DECL(Real(1.25), Real(-1), Real(1))});
  return {mesh_of(domain16, {IntVect(2)}, {pieces(domain16, 8), pieces(Box(IntVect(4), IntVect(19)), 8)},
                  kind, place)};
}

Shape all_on(int owner) {
  Shape shape{neve::test::make_mesh()};
  for (int l = 0; l < 2; ++l) {
    const Vector<int> owners(static_cast<size_t>(shape.mesh.boxes[l].size()), l == 0 ? owner : 0);
    shape.mesh.owners[l] = amrex::DistributionMapping(owners);
  }
  return shape;
}

Shape one_box_and_one_cell() {
  return {mesh_of(domain16, {IntVect(4)}, {BoxArray(domain16), listed({Box(IntVect(33), IntVect(33))})})};
}

Shape many_boxes() {
  const int side = AMREX_SPACEDIM == 1 ? 4096 : AMREX_SPACEDIM == 2 ? 128 : 32;
  const Box domain(IntVect(0), IntVect(side - 1));
  return {mesh_of(domain, {IntVect(2)},
                  {pieces(domain, 2), pieces(Box(IntVect(side / 2), IntVect(side - 1)), 4)})};
}

Shape ghosts_by_level() {
  Shape shape{neve::test::make_mesh()};
  shape.ghosts = {IntVect(0), in_directions(3, 0, 2)};
  return shape;
}

// As under embedded boundaries: much of the domain is filled.
Shape filled(Real fill) {
  Shape shape{neve::test::make_mesh()};
  shape.changed = [fill](Real value, const IntVect& cell, int component) {
    return component == 0 && cell[0] % 16 < 7 ? fill : value;
  };
  return shape;
}

Shape values_of_all_kinds() {
  Shape shape{neve::test::make_mesh()};
  shape.amrex_reads_its_own = false;
  shape.changed = [](Real value, const IntVect& cell, int component) {
    using limits = std::numeric_limits<Real>;
    const Real odd[] = {limits::quiet_NaN(),  limits::infinity(), -limits::infinity(), Real(-0.0),
                        limits::denorm_min(), limits::max(),      limits::lowest(),    limits::min()};
    const int which = (cell.sum() % 32 + 32) % 32 + component;
    return which < 8 ? odd[which] : value;
  };
  return shape;
}

Shape constant() {
  Shape shape{neve::test::make_mesh()};
  shape.changed = [](Real, const IntVect&, int component) { return Real(component == 0 ? 0 : -2.5); };
  return shape;
}

Shape odd_names() {
  Shape shape{neve::test::make_mesh()};
  shape.names = {"mass fraction (H2O)", "a/b",         "\"quoted\"", "\\back", "\xc3\xa9nergie", "%d",
                 std::string(300, 'n'), "component_0", "x=1;y,z:w"};
  return shape;
}

Shape four_levels() {
  Vector<BoxArray> boxes{pieces(domain16, 8)};
  for (int l = 1; l < 4; ++l) {
    const int middle = 8 << l;
    boxes.push_back(pieces(Box(IntVect(middle - 6), IntVect(middle + 5)), 7));
  }
  return {mesh_of(domain16, Vector<IntVect>(3, IntVect(2)), boxes)};
}

// Made in the test: MultiFabs need AMReX, which begins after the tests are listed.
struct NamedShape {
  const char* name;
  Shape (*make)();
};
void PrintTo(const NamedShape& shape, std::ostream* out) { *out << shape.name; }

const NamedShape named_shapes[] = {
    {"ratios_422_211", [] { return ratios_by_direction(in_directions(4, 2, 2), in_directions(2, 1, 1)); }},
    {"ratios_224_313", [] { return ratios_by_direction(in_directions(2, 2, 4), in_directions(3, 1, 3)); }},
    {"boxes_of_one_cell", boxes_of_one_cell},
    {"slabs", slabs},
    {"holes", holes},
    {"domain_below_zero", domain_below_zero},
    {"coordinates", coordinates},
    {"all_on_the_first_rank", [] { return all_on(0); }},
    {"all_on_the_last_rank", [] { return all_on(amrex::ParallelDescriptor::NProcs() - 1); }},
    {"one_box_and_one_cell", one_box_and_one_cell},
    {"many_boxes", many_boxes},
    {"ghosts_by_level", ghosts_by_level},
    {"filled_with_nan", [] { return filled(std::numeric_limits<Real>::quiet_NaN()); }},
    {"filled_with_zero", [] { return filled(0); }},
    {"filled_with_huge", [] { return filled(Real(1e30)); }},
    {"values_of_all_kinds", values_of_all_kinds},
    {"constant", constant},
    {"odd_names", odd_names},
    {"four_levels", four_levels}};

neve::WriteOptions parsed(const std::string& text) {
  auto options = neve::parse_write_options(text);
  EXPECT_TRUE(options.ok()) << options.status().message();
  return options.ok() ? *options : neve::WriteOptions();
}

void expect_same_header(const neve::Hierarchy& ours, const Shape& shape) {
  const Mesh& mesh = shape.mesh;
  EXPECT_EQ(ours.dims, AMREX_SPACEDIM);
  EXPECT_EQ(ours.components, std::vector<std::string>(shape.names.begin(), shape.names.end()));
  EXPECT_EQ(ours.coord_sys, static_cast<int>(mesh.geom[0].Coord()));
  ASSERT_EQ(ours.levels.size(), static_cast<size_t>(mesh.nlevels));
  for (int l = 0; l < mesh.nlevels; ++l) {
    const neve::Level& level = ours.levels[static_cast<size_t>(l)];
    EXPECT_EQ(level.domain, neve::amrex::to_neve(mesh.geom[l].Domain()));
    EXPECT_EQ(level.step, mesh.steps[l]);
    if (l + 1 < mesh.nlevels) {
      EXPECT_EQ(level.ref_ratio, neve::amrex::to_neve(mesh.ref_ratio[l], 1));
    }
    for (int d = 0; d < AMREX_SPACEDIM; ++d) {
      const auto i = static_cast<size_t>(d);
      EXPECT_EQ(ours.prob_lo[i], double{mesh.geom[0].ProbLo(d)});
      EXPECT_EQ(ours.prob_hi[i], double{mesh.geom[0].ProbHi(d)});
      EXPECT_EQ(level.dx[i], double{mesh.geom[l].CellSize(d)});
    }
  }
}

void expect_same_values(const std::string& native, const std::string& path, const Shape& shape,
                        const std::function<double(int level, int component)>& bound) {
  const auto ours = neve::open_plotfile(path);
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  expect_same_header((*ours)->hierarchy(), shape);
  for (int l = 0; l < shape.mesh.nlevels; ++l) {
    MultiFab values;
    if (shape.amrex_reads_its_own) {
      amrex::VisMF::Read(values, amrex::MultiFabFileFullPrefix(l, native, "Level_", "Cell"));
    } else {
      values = std::move(shape.levels()[l]);
    }
    ASSERT_EQ(values.boxArray(), shape.mesh.boxes[l]);
    ASSERT_EQ((*ours)->hierarchy().levels[static_cast<size_t>(l)].boxes.size(),
              static_cast<size_t>(values.size()));
    for (int c = 0; c < values.nComp(); ++c) {
      EXPECT_LE(neve::test::largest_distance(**ours, l, c, values, c), bound(l, c))
          << "level " << l << " " << shape.names[c];
    }
  }
}

void write_native(const std::string& path, const Shape& shape, const Vector<MultiFab>& levels) {
  amrex::WriteMultiLevelPlotfile(path, shape.mesh.nlevels, const_pointers(levels), shape.names,
                                 shape.mesh.geom, shape.mesh.time, shape.mesh.steps, shape.mesh.ref_ratio);
  amrex::AsyncOut::Finish();
  amrex::ParallelDescriptor::Barrier();
}

neve::Result<neve::WriteReport> write_ours(const std::string& path, const Shape& shape,
                                           const Vector<MultiFab>& levels,
                                           const neve::WriteOptions& options) {
  return neve::amrex::TryWriteMultiLevelPlotfile(path, shape.mesh.nlevels, const_pointers(levels),
                                                 shape.names, shape.mesh.geom, shape.mesh.time,
                                                 shape.mesh.steps, shape.mesh.ref_ratio, options);
}

void keep_for_other_readers(const Directory& directory, const std::string& name) {
  const char* folder = std::getenv("NEVE_TEST_KEEP");
  if (folder == nullptr) return;
  if (amrex::ParallelDescriptor::IOProcessor()) {
    const auto how =
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
    const std::string kept = std::string(folder) + "/" + std::to_string(AMREX_SPACEDIM) + "d_" + name;
    std::filesystem::create_directories(kept);
    std::filesystem::copy(directory / "plt", kept + "/plt", how);
    std::filesystem::copy(directory / "plt.h5", kept + "/plt.h5", how);
  }
  amrex::ParallelDescriptor::Barrier();
}

class Shapes : public testing::TestWithParam<NamedShape> {};
INSTANTIATE_TEST_SUITE_P(Mesh, Shapes, testing::ValuesIn(named_shapes),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(Shapes, PlotfilesHoldWhatAmrexsOwnHold) {
  const Shape shape = GetParam().make();
  const Directory directory;
  const Vector<MultiFab> levels = shape.levels();
  write_native(directory / "plt", shape, levels);
  for (const std::string text :
       {"rel=1e-4", "abs=1e-3;covered=auto", "abs=1e-3;effort=max;cross_level=true", "lossless",
        "abs=1e-3;covered=auto;effort=balanced", "abs=1e-3;codec=context", "abs=1e-3;strategy=amrex-1d",
        "abs=1e-3;strategy=aggregated"}) {
    SCOPED_TRACE(text);
    const auto report = write_ours(directory / "plt", shape, levels, parsed(text));
    ASSERT_TRUE(report.ok()) << report.status().message();
    expect_same_values(directory / "plt", directory / "plt.h5", shape, [&](int l, int c) {
      return report->levels[static_cast<size_t>(l)].fields[static_cast<size_t>(c)].bound_abs;
    });
  }
  neve::WriteOptions plain;
  plain.compress = false;
  ASSERT_TRUE(write_ours(directory / "plt", shape, levels, plain).ok());
  expect_same_values(directory / "plt", directory / "plt.h5", shape, [](int, int) { return 0; });
  ASSERT_TRUE(write_ours(directory / "plt", shape, levels, parsed("abs=1e-3")).ok());
  keep_for_other_readers(directory, GetParam().name);
}

TEST_P(Shapes, PlotfilesWrittenBehindHoldTheSame) {
  const Shape shape = GetParam().make();
  const Directory directory;
  write_native(directory / "plt", shape, shape.levels());
  for (const std::string text :
       {"abs=1e-3;behind=encode", "abs=1e-3;behind=copy", "lossless;behind=copy;covered=keep"}) {
    SCOPED_TRACE(text);
    {
      Vector<MultiFab> levels = shape.levels();
      const auto report = write_ours(directory / "plt", shape, levels, parsed(text));
      ASSERT_TRUE(report.ok()) << report.status().message();
      for (MultiFab& level : levels) level.setVal(-7);
    }
    const neve::Status waited = neve::amrex::TryWaitForWrites();
    ASSERT_TRUE(waited.ok()) << waited.message();
    const double bound = text[0] == 'l' ? 0 : 1e-3;
    expect_same_values(directory / "plt", directory / "plt.h5", shape, [&](int, int) { return bound; });
  }
}

// As many layers as every level has.
TEST_P(Shapes, GhostsChangeNoValue) {
  const Shape shape = GetParam().make();
  const Directory directory;
  const Vector<MultiFab> levels = shape.levels();
  write_native(directory / "plt", shape, levels);
  neve::WriteOptions options = parsed("abs=1e-3");
  for (int d = 0; d < AMREX_SPACEDIM; ++d) options.ghosts[static_cast<size_t>(d)] = 1;
  const auto report = write_ours(directory / "plt", shape, levels, options);
  if (shape.ghosts.empty()) {
    ASSERT_TRUE(report.ok()) << report.status().message();
    expect_same_values(directory / "plt", directory / "plt.h5", shape, [](int, int) { return 1e-3; });
  } else {
    EXPECT_NE(report.status().message().find("1 are to be written"), std::string::npos)
        << report.status().message();
    EXPECT_TRUE(same_everywhere(report.status()));
  }
}

TEST_P(Shapes, CheckpointsOfEveryCentringComeBackToTheBit) {
  const Shape shape = GetParam().make();
  const Directory directory;
  const Mesh& mesh = shape.mesh;
  std::vector<IndexType> centrings{IndexType::TheCellType(), IndexType::TheNodeType()};
  for (int d = 0; d < AMREX_SPACEDIM; ++d) centrings.push_back(IndexType(IntVect::TheDimensionVector(d)));
  std::vector<Vector<MultiFab>> written, read;
  std::vector<neve::amrex::CheckpointField> fields;
  std::vector<neve::amrex::RestartField> back;
  const bool with_ghosts = shape.ghosts.empty();
  for (const IndexType& centring : centrings) {
    written.push_back(shape.levels(centring));
    auto& targets = read.emplace_back();
    for (const MultiFab& level : written.back()) {
      Vector<int> owners = level.DistributionMap().ProcessorMap();
      for (int& owner : owners) owner = amrex::ParallelDescriptor::NProcs() - 1 - owner;
      targets
          .emplace_back(level.boxArray(), amrex::DistributionMapping(owners), level.nComp(),
                        level.nGrowVect())
          .setVal(5);
    }
  }
  for (size_t f = 0; f < centrings.size(); ++f) {
    const std::string name = "field " + std::to_string(f);
    fields.push_back(
        {name, const_pointers(written[f]), {neve::BoundMode::lossless, 0}, with_ghosts && f % 2 == 0});
    back.push_back({name, pointers(read[f])});
  }
  const auto reports = neve::amrex::TryWriteCheckpoint(directory / "chk", mesh.nlevels, fields, mesh.geom,
                                                       mesh.time, mesh.steps, mesh.ref_ratio, "header");
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  const neve::Status status = neve::amrex::TryReadCheckpoint(directory / "chk", mesh.nlevels, back);
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t f = 0; f < centrings.size(); ++f) {
    for (int l = 0; l < mesh.nlevels; ++l) {
      EXPECT_TRUE(same_bits(read[f][l], written[f][l], fields[f].ghosts ? 1 : 0)) << f << " level " << l;
    }
  }
}

// A series in one directory, whose levels vanish and return; a memory of what codec auto chose goes along.
TEST(Series, LevelsVanishAndReturn) {
  std::vector<Shape> steps;
  for (const int nlevels : {4, 1, 3, 2, 4, 1}) {
    Shape shape = four_levels();
    shape.mesh.nlevels = nlevels;
    shape.mesh.boxes.resize(nlevels);
    if (nlevels == 3) shape.mesh.boxes[2] = pieces(Box(IntVect(30), IntVect(40)), 3);
    shape.mesh.owners.resize(nlevels);
    shape.mesh.owners[nlevels - 1] = amrex::DistributionMapping(shape.mesh.boxes[nlevels - 1]);
    steps.push_back(std::move(shape));
  }
  for (const std::string behind : {"none", "encode", "copy"}) {
    SCOPED_TRACE(behind);
    const Directory directory;
    neve::WriteOptions options = parsed("abs=1e-3;effort=balanced;behind=" + behind);
    options.memory = std::make_shared<neve::SelectionMemory>();
    for (const std::string name : {"same", "step"}) {
      for (size_t s = 0; s < steps.size(); ++s) {
        const std::string of_step = name == "same" ? name : name + std::to_string(s);
        Vector<MultiFab> levels = steps[s].levels();
        write_native(directory / of_step, steps[s], levels);
        const auto report = write_ours(directory / of_step, steps[s], levels, options);
        ASSERT_TRUE(report.ok()) << report.status().message();
        for (MultiFab& level : levels) level.setVal(-7);
        if (name != "same") continue;
        ASSERT_TRUE(neve::amrex::TryWaitForWrites().ok());
        expect_same_values(directory / of_step, directory / (of_step + ".h5"), steps[s],
                           [](int, int) { return 1e-3; });
      }
    }
    ASSERT_TRUE(neve::amrex::TryWaitForWrites().ok());
    for (size_t s = 0; s < steps.size(); ++s) {
      const std::string path = directory / ("step" + std::to_string(s));
      expect_same_values(path, path + ".h5", steps[s], [](int, int) { return 1e-3; });
    }
  }
}

TEST(Series, CheckpointsOfOtherLevelsReplaceEachOther) {
  const Directory directory;
  for (const int nlevels : {4, 1, 3}) {
    Shape shape = four_levels();
    shape.mesh.nlevels = nlevels;
    const Vector<MultiFab> levels = shape.levels();
    const Mesh& mesh = shape.mesh;
    neve::amrex::WriteCheckpoint(directory / "chk", nlevels, {{"state", const_pointers(levels)}}, mesh.geom,
                                 mesh.time, mesh.steps, mesh.ref_ratio);
    Vector<MultiFab> back(nlevels);
    neve::amrex::ReadCheckpoint(directory / "chk", nlevels, {{"state", pointers(back)}});
    for (int l = 0; l < nlevels; ++l) EXPECT_TRUE(same_bits(back[l], levels[l])) << l;
  }
}

// Fields of one checkpoint with other ghost cells each, in other directions, kept or not.
TEST(Series, FieldsOfACheckpointHaveTheirOwnGhosts) {
  const Directory directory;
  const Mesh mesh = neve::test::make_mesh();
  const std::vector<IntVect> layers{IntVect(0), IntVect(3), in_directions(2, 0, 1), in_directions(0, 1, 0)};
  for (const IndexType& centring : {IndexType::TheCellType(), IndexType(IntVect::TheDimensionVector(0))}) {
    std::vector<Vector<MultiFab>> written, read;
    std::vector<neve::amrex::CheckpointField> fields;
    std::vector<neve::amrex::RestartField> back;
    for (const IntVect& ghosts : layers) {
      auto& levels = written.emplace_back();
      for (int l = 0; l < 2; ++l)
        levels.push_back(neve::test::make_field(mesh, l, centring, 2, ghosts, true));
      read.emplace_back(2);
    }
    for (size_t f = 0; f < layers.size(); ++f) {
      fields.push_back({"f" + std::to_string(f), const_pointers(written[f]), {}, true});
      fields.back().bound = {neve::BoundMode::lossless, 0};
      back.push_back({"f" + std::to_string(f), pointers(read[f])});
    }
    neve::amrex::WriteCheckpoint(directory / "chk", 2, fields, mesh.geom, mesh.time, mesh.steps,
                                 mesh.ref_ratio);
    neve::amrex::ReadCheckpoint(directory / "chk", 2, back);
    for (size_t f = 0; f < layers.size(); ++f) {
      for (int l = 0; l < 2; ++l) {
        EXPECT_EQ(read[f][l].nGrowVect(), layers[f]);
        bool same = true;
        MultiFab moved(written[f][l].boxArray(), written[f][l].DistributionMap(), 2, layers[f]);
        moved.Redistribute(read[f][l], 0, 0, 2, layers[f]);
        for (const int b : moved.IndexArray()) {
          same = same && std::memcmp(moved[b].dataPtr(), written[f][l][b].dataPtr(), moved[b].nBytes()) == 0;
        }
        EXPECT_TRUE(same) << f << " level " << l;
      }
    }
  }
}

class Strange : public testing::Test {
 protected:
  neve::Status plotfile(const Shape& shape, const Vector<const MultiFab*>& levels,
                        const std::string& name = "plt") {
    const neve::Status status = neve::amrex::TryWriteMultiLevelPlotfile(
                                    directory / name, shape.mesh.nlevels, levels, shape.names,
                                    shape.mesh.geom, shape.mesh.time, shape.mesh.steps, shape.mesh.ref_ratio)
                                    .status();
    return status;
  }
  neve::Status checkpoint(const Mesh& mesh, const std::vector<neve::amrex::CheckpointField>& fields) {
    return neve::amrex::TryWriteCheckpoint(directory / "chk", mesh.nlevels, fields, mesh.geom, mesh.time,
                                           mesh.steps, mesh.ref_ratio)
        .status();
  }
  void expect(const neve::Status& status, const std::string& part) {
    EXPECT_FALSE(status.ok()) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_TRUE(same_everywhere(status));
    EXPECT_TRUE(directory.list().empty());
    amrex::ParallelDescriptor::Barrier();
  }
  const Directory directory;
};

TEST_F(Strange, MultiFabsAreRefusedByName) {
  Shape shape{neve::test::make_mesh()};
  Vector<MultiFab> levels = shape.levels();
  const Vector<const MultiFab*> good = const_pointers(levels);
  expect(plotfile(shape, {good[0], nullptr}), "level 1 of mf is a null pointer");
  expect(plotfile(shape, {good[0]}), "mf has 1 entries; 2 are needed");
  const MultiFab undefined;
  expect(plotfile(shape, {good[0], &undefined}), "level 1 of mf has no boxes");
  const int last = amrex::ParallelDescriptor::NProcs() - 1;
  const bool mine = amrex::ParallelDescriptor::MyProc() == last;
  expect(plotfile(shape, {good[0], mine ? nullptr : good[1]}), "level 1 of mf is a null pointer");
  const neve::Bound lossless{neve::BoundMode::lossless, 0};
  expect(checkpoint(shape.mesh, {{"a", good}, {"b", {nullptr, good[1]}}}),
         "level 0 of field b is a null pointer");
  expect(checkpoint(shape.mesh, {{"a", {good[0], &undefined}}}), "level 1 of field a has no boxes");
  expect(checkpoint(shape.mesh, {{"a", {good[0]}}}), "field a has 1 entries; 2 are needed");
  shape.ghosts = {IntVect(2), IntVect(1)};
  const Vector<MultiFab> differing = shape.levels();
  expect(checkpoint(shape.mesh, {{"a", const_pointers(differing), lossless, true}}),
         "level 1 of field a has other ghost cells than level 0");
  const Vector<MultiFab> nodal = shape.levels(IndexType::TheNodeType());
  expect(checkpoint(shape.mesh, {{"a", {good[0], &nodal[1]}}}), "level 1 of field a has another centring");
  expect(plotfile(shape, {good[0], &nodal[1]}), "level 1 of mf has another centring than level 0");
  shape.names = {"one"};
  const Vector<MultiFab> one = shape.levels();
  expect(checkpoint(shape.mesh, {{"a", {good[0], &one[1]}}}),
         "level 1 of field a has 1 components, level 0 2");
}

TEST_F(Strange, NoComponentsAreRefusedByName) {
  Shape shape{neve::test::make_mesh()};
  shape.names = {};
  Vector<MultiFab> levels;
  for (int l = 0; l < 2; ++l) levels.emplace_back(shape.mesh.boxes[l], shape.mesh.owners[l], 0, 1);
  expect(plotfile(shape, const_pointers(levels)), "0 components");
  expect(checkpoint(shape.mesh, {{"a", const_pointers(levels)}}), "0 components");
}

TEST_F(Strange, MeshesAreRefusedByName) {
  const auto expect_mesh = [&](const Mesh& mesh, const std::string& part) {
    const Shape shape{mesh};
    const Vector<MultiFab> levels = shape.levels();
    expect(plotfile(shape, const_pointers(levels)), part);
    expect(checkpoint(mesh, {{"state", const_pointers(levels)}}), part);
  };
  expect_mesh(mesh_of(domain16, {}, {listed({Box(IntVect(0), IntVect(8)), Box(IntVect(8), IntVect(15))})}),
              "boxes 0 and 1 of level 0 overlap");
  expect_mesh(mesh_of(domain16, {}, {listed({Box(IntVect(8), IntVect(16))})}), "outside the level's domain");
  Mesh mesh = neve::test::make_mesh();
  mesh.ref_ratio[0] = IntVect(4);
  expect_mesh(mesh, "level 0 refined by 4");
  mesh = neve::test::make_mesh();
  mesh.ref_ratio[0] = IntVect(0);
  expect_mesh(mesh, "ref_ratio of level 0 in direction 0 is 0");
}

TEST_F(Strange, NamesAreRefusedByName) {
  const auto expect_names = [&](const Vector<std::string>& names, const std::string& part) {
    Shape shape{neve::test::make_mesh()};
    shape.names = names;
    expect(plotfile(shape, const_pointers(shape.levels())), part);
  };
  expect_names({"density", ""}, "component 1 has an empty name");
  expect_names({"two\nlines"}, "name of component 0 holds a line break");
  expect_names({std::string("a\0b", 3)}, "name of component 0 holds a line break or a zero byte");
  expect_names({"density", "density"}, "names must differ");
  const Vector<MultiFab> levels = Shape{neve::test::make_mesh()}.levels();
  for (const std::string name : {"", "a/b"})
    expect(checkpoint(neve::test::make_mesh(), {{name, const_pointers(levels)}}), "field \"" + name + "\"");
}

}  // namespace
