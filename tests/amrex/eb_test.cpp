// SPDX-License-Identifier: BSD-3-Clause
// Embedded boundaries: a ball is cut out of the mesh. Where AMReX was built without them, CMake leaves this
// test out.
#include <AMReX_EB2.H>
#include <AMReX_EB2_IF_Sphere.H>
#include <AMReX_EBFabFactory.H>
#include <AMReX_EBMultiFabUtil.H>
#include <AMReX_MultiFabUtil.H>
#include <AMReX_PlotFileUtil.H>
#include <AMReX_VisMF.H>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

#include "compare.hpp"
#include "fields.hpp"
#include "neve/amrex.hpp"
#include "neve/options.hpp"
#include "neve/plotfile_reader.hpp"

namespace {

using amrex::MultiFab;
using amrex::Real;
using amrex::Vector;
using neve::test::const_pointers;
using neve::test::Directory;
using neve::test::largest_distance;
using neve::test::Mesh;
using neve::test::pointers;
using neve::test::same_bits;
using neve::test::same_everywhere;

const Vector<std::string> names{"density", "speed"};

class EmbeddedBoundary : public testing::Test {
 protected:
  EmbeddedBoundary() {
    amrex::EB2::SphereIF ball(Real(0.4), {AMREX_D_DECL(Real(0.1), Real(1), Real(3))}, false);
    amrex::EB2::Build(amrex::EB2::makeShop(ball), mesh.geom[1], 1, 1);
    for (int l = 0; l < 2; ++l) {
      factories.push_back(amrex::makeEBFabFactory(mesh.geom[l], mesh.boxes[l], mesh.owners[l], {2, 2, 2},
                                                  amrex::EBSupport::full));
    }
  }

  // Covered cells hold `covered`, or what they hold elsewhere.
  Vector<MultiFab> levels(const Real* covered) const {
    Vector<MultiFab> all;
    for (int l = 0; l < 2; ++l) {
      const MultiFab plain = neve::test::make_field(mesh, l, amrex::IndexType::TheCellType(), 2, 1);
      MultiFab& level = all.emplace_back(mesh.boxes[l], mesh.owners[l], 2, 1, amrex::MFInfo(),
                                         *factories[static_cast<size_t>(l)]);
      MultiFab::Copy(level, plain, 0, 0, 2, 1);
      if (covered != nullptr) amrex::EB_set_covered(level, *covered);
    }
    return all;
  }

  neve::Result<neve::WriteReport> write(const std::string& path, const Vector<const MultiFab*>& levels,
                                        const neve::WriteOptions& options) const {
    return neve::amrex::TryEB_WriteMultiLevelPlotfile(path, 2, levels, names, mesh.geom, mesh.time,
                                                      mesh.steps, mesh.ref_ratio, options);
  }

  void expect_same(const std::string& path, const Vector<MultiFab>& wanted,
                   const std::function<double(size_t level, size_t component)>& bound) const {
    const auto file = neve::open_plotfile(path);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->hierarchy().components, (std::vector<std::string>{"density", "speed", "vfrac"}));
    for (int l = 0; l < 2; ++l) {
      const auto i = static_cast<size_t>(l);
      for (int c = 0; c < 2; ++c)
        EXPECT_LE(largest_distance(**file, l, c, wanted[l], c), bound(i, static_cast<size_t>(c)))
            << l << " " << c;
      EXPECT_LE(largest_distance(**file, l, 2, factories[i]->getVolFrac(), 0), bound(i, 2)) << l;
    }
  }

  const Mesh mesh = neve::test::make_mesh();
  std::vector<std::unique_ptr<amrex::EBFArrayBoxFactory>> factories;
  const Directory directory;
};

TEST_F(EmbeddedBoundary, PlotfilesHoldWhatAmrexsOwnHold) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), zero = 0, huge = Real(1e30);
  for (const Real* covered : {static_cast<const Real*>(nullptr), &zero, &huge, &nan}) {
    SCOPED_TRACE(covered == nullptr ? "as elsewhere" : std::to_string(*covered));
    const Vector<MultiFab> values = levels(covered);
    amrex::EB_WriteMultiLevelPlotfile(directory / "plt", 2, const_pointers(values), names, mesh.geom,
                                      mesh.time, mesh.steps, mesh.ref_ratio);
    const bool amrex_reads_its_own = covered != &nan;
    Vector<MultiFab> wanted = levels(covered);
    for (int l = 0; l < 2 && amrex_reads_its_own; ++l) {
      MultiFab read;
      amrex::VisMF::Read(read, amrex::MultiFabFileFullPrefix(l, directory / "plt", "Level_", "Cell"));
      wanted[l].Redistribute(read, 0, 0, 2, amrex::IntVect(0));
    }
    for (const std::string text :
         {"rel=1e-3", "abs=1e-3;covered=auto", "rel=1e-5;effort=max;cross_level=true",
          "abs=1e-3;behind=encode", "abs=1e-3;behind=copy", "lossless"}) {
      SCOPED_TRACE(text);
      const auto options = neve::parse_write_options(text);
      ASSERT_TRUE(options.ok()) << options.status().message();
      const auto report = write(directory / "plt", const_pointers(values), *options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      neve::amrex::WaitForWrites();
      expect_same(directory / "plt.h5", wanted, [&](size_t l, size_t c) {
        return options->behind != neve::Behind::none ? 1e-3 : report->levels[l].fields[c].bound_abs;
      });
    }
  }
}

// As AMReX calls it, with directories inside.
TEST_F(EmbeddedBoundary, TheCallHasAmrexsArguments) {
  const Vector<MultiFab> values = levels(nullptr);
  neve::amrex::EB_WriteMultiLevelPlotfile(directory / "plt", 2, const_pointers(values), names, mesh.geom,
                                          mesh.time, mesh.steps, mesh.ref_ratio, "HyperCLaw-V1.1", "Level_",
                                          "Cell", {"raw_fields"});
  EXPECT_TRUE(std::filesystem::is_directory(directory / "plt/raw_fields/Level_1"));
  neve::amrex::EB_WriteSingleLevelPlotfile(directory / "one", values[0], names, mesh.geom[0], mesh.time, 7);
  const auto file = neve::open_plotfile(directory / "one.h5");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->hierarchy().components.back(), "vfrac");
}

TEST_F(EmbeddedBoundary, RefusalsNameWhatIsWrong) {
  const Vector<MultiFab> values = levels(nullptr);
  const MultiFab plain = neve::test::make_field(mesh, 1, amrex::IndexType::TheCellType(), 2, 1);
  const auto expect = [&](const Vector<const MultiFab*>& given, const std::string& part) {
    const neve::Status status = write(directory / "plt", given, {}).status();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_TRUE(same_everywhere(status));
    EXPECT_TRUE(directory.list().empty());
  };
  expect({&values[0], &plain}, "level 1 of mf has no EBFArrayBoxFactory");
  expect({&values[0], nullptr}, "level 1 of mf is a null pointer");
}

// The levels stay those of the embedded boundary.
TEST_F(EmbeddedBoundary, CheckpointsComeBackToTheBit) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Vector<MultiFab> values = levels(&nan);
  for (const bool with_ghosts : {false, true}) {
    neve::amrex::WriteCheckpoint(
        directory / "chk", 2,
        {{"state", const_pointers(values), {neve::BoundMode::lossless, 0}, with_ghosts}}, mesh.geom,
        mesh.time, mesh.steps, mesh.ref_ratio);
    Vector<MultiFab> back = levels(nullptr);
    neve::amrex::ReadCheckpoint(directory / "chk", 2, {{"state", pointers(back)}});
    for (int l = 0; l < 2; ++l) {
      EXPECT_TRUE(back[l].hasEBFabFactory());
      EXPECT_TRUE(same_bits(back[l], values[l], with_ghosts ? 1 : 0)) << l;
    }
  }
}

}  // namespace
