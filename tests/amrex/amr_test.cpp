// SPDX-License-Identifier: BSD-3-Clause
// Codes on Amr and AmrLevel. Where AMReX was built without them, CMake leaves this test out.
#include <AMReX_Amr.H>
#include <AMReX_AmrLevel.H>
#include <AMReX_LevelBld.H>
#include <AMReX_ParmParse.H>
#include <AMReX_TagBox.H>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "fields.hpp"
#include "neve/amrex/amr.hpp"
#include "neve/plotfile_reader.hpp"

// Amr asks every program for one; nothing to prepare here.
extern "C" void amrex_probinit(const int*, const int*, const int*, const amrex::Real*, const amrex::Real*) {}

namespace {

using amrex::Real;

// Two states on cells, one derived quantity; the middle of the domain is refined. Nothing ever advances.
class StillLevel : public amrex::AmrLevel {
 public:
  StillLevel() = default;
  StillLevel(amrex::Amr& amr, int lev, const amrex::Geometry& place, const amrex::BoxArray& boxes,
             const amrex::DistributionMapping& owners, Real time)
      : AmrLevel(amr, lev, place, boxes, owners, time) {}

  static void set_up() {
    const amrex::StateDescriptor::BndryFunc no_boundary([](Real*, const int*, const int*, const int*,
                                                           const int*, const Real*, const Real*, const Real*,
                                                           const int*) {});
    amrex::BCRec boundary;
    for (int d = 0; d < AMREX_SPACEDIM; ++d) {
      boundary.setLo(d, amrex::BCType::int_dir);
      boundary.setHi(d, amrex::BCType::int_dir);
    }
    desc_lst.addDescriptor(0, cells, amrex::StateDescriptor::Point, 1, 2, &amrex::cell_cons_interp);
    desc_lst.setComponent(0, 0, "density", boundary, no_boundary);
    desc_lst.setComponent(0, 1, "unplotted", boundary, no_boundary);
    desc_lst.addDescriptor(1, cells, amrex::StateDescriptor::Point, 0, 1, &amrex::cell_cons_interp);
    desc_lst.setComponent(1, 0, "energy", boundary, no_boundary);
    derive_lst.add(
        "twice", cells, 1,
        [](const amrex::Box& box, amrex::FArrayBox& out, int first, int, const amrex::FArrayBox& density,
           const amrex::Geometry&, Real, const int*, int) {
          amrex::LoopOnCpu(box, [&](int i, int j, int k) {
            const amrex::IntVect cell(AMREX_D_DECL(i, j, k));
            out(cell, first) = 2 * density(cell, 0);
            amrex::ignore_unused(j, k);
          });
        },
        amrex::DeriveRec::TheSameBox);
    derive_lst.addComponent("twice", desc_lst, 0, 0, 1);
  }

  void initData() override {
    for (int type = 0; type < 2; ++type) {
      amrex::MultiFab& state = get_new_data(type);
      state.setVal(0);
      for (const int b : state.IndexArray()) {
        amrex::LoopOnCpu(state.box(b), [&](int i, int j, int k) {
          const amrex::IntVect cell(AMREX_D_DECL(i, j, k));
          state[b](cell, 0) = static_cast<Real>(std::sin(0.1 * (cell.sum() + 5 * type)) + 3);
          amrex::ignore_unused(j, k);
        });
      }
    }
  }
  void errorEst(amrex::TagBoxArray& tags, int, int tagval, Real, int, int) override {
    const amrex::Box middle(amrex::IntVect(8), amrex::IntVect(23));
    tags.setVal(static_cast<amrex::TagBox::TagVal>(tagval), middle, 0, 1);
  }
  void computeInitialDt(int finest, int, amrex::Vector<int>&, const amrex::Vector<amrex::IntVect>&,
                        amrex::Vector<Real>& dt, Real) override {
    for (int l = 0; l <= finest; ++l) dt[l] = 1;
  }
  void computeNewDt(int, int, amrex::Vector<int>&, const amrex::Vector<amrex::IntVect>&, amrex::Vector<Real>&,
                    amrex::Vector<Real>&, Real, int) override {}
  Real advance(Real, Real dt, int, int) override { return dt; }
  void writePlotFilePre(const std::string& dir, std::ostream&) override {
    EXPECT_TRUE(std::filesystem::is_directory(dir));
    if (amrex::ParallelDescriptor::IOProcessor() && level == 0) std::ofstream(dir + "/began") << "yes";
  }
  void writePlotFilePost(const std::string& dir, std::ostream& header) override {
    if (!amrex::ParallelDescriptor::IOProcessor()) return;
    std::ofstream(dir + "/job_info") << "level " << level;
    header << "after " << level << "\n";
  }
  void post_regrid(int, int) override {}
  void post_init(Real) override {}
  void init(AmrLevel&) override {}
  void init() override {}

 private:
  static constexpr amrex::IndexType cells{};
};

class StillBuilder : public amrex::LevelBld {
 public:
  void variableSetUp() override { StillLevel::set_up(); }
  void variableCleanUp() override {}
  amrex::AmrLevel* operator()() override { return new StillLevel; }
  amrex::AmrLevel* operator()(amrex::Amr& amr, int lev, const amrex::Geometry& place,
                              const amrex::BoxArray& boxes, const amrex::DistributionMapping& owners,
                              Real time) override {
    return new StillLevel(amr, lev, place, boxes, owners, time);
  }
};

void set_parameters(const std::string& plot_file) {
  amrex::ParmParse geometry("geometry");
  geometry.addarr("prob_lo", std::vector<Real>(AMREX_SPACEDIM, 0));
  geometry.addarr("prob_hi", std::vector<Real>(AMREX_SPACEDIM, 1));
  geometry.addarr("is_periodic", std::vector<int>(AMREX_SPACEDIM, 1));
  amrex::ParmParse amr("amr");
  amr.addarr("n_cell", std::vector<int>(AMREX_SPACEDIM, 32));
  amr.add("max_level", 1);
  amr.add("blocking_factor", 8);
  amr.add("max_grid_size", 16);
  amr.add("plot_file", plot_file);
  amr.add("plot_int", -1);
  amr.add("checkpoint_files_output", 0);
  amr.add("initial_grid_file", std::string());
  amr.addarr("plot_vars", std::vector<std::string>{"density", "energy"});
  amr.addarr("derive_plot_vars", std::vector<std::string>{"twice"});
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AmrPlotfile, HoldsWhatAmrWrites) {
  const neve::test::Directory directory;
  set_parameters(directory / "native");
  StillBuilder builder;
  amrex::Amr amr(&builder);
  amr.init(0, 1);
  constexpr double bound = 1e-4;
  neve::WriteOptions options;
  options.bound = {neve::BoundMode::abs, bound};
  // Before amr has written one itself, and so before it has asked the levels for the variables.
  neve::amrex::WritePlotfile(amr, directory / "diags/plt/", options);
  EXPECT_EQ(amr.stepOfLastPlotFile(), amr.levelSteps(0));
  if (amrex::ParallelDescriptor::IOProcessor()) {
    EXPECT_EQ(read_text(directory / "diags/plt/job_info"), "level 1");
    EXPECT_EQ(read_text(directory / "diags/plt/header_text"), "after 0\nafter 1\n");
    EXPECT_EQ(read_text(directory / "diags/plt/began"), "yes");
  }
  amr.writePlotFile();

  const auto native = neve::open_plotfile(directory / "native00000");
  const auto ours = neve::open_plotfile(directory / "diags/plt.h5");
  ASSERT_TRUE(native.ok() && ours.ok()) << native.status().message() << ours.status().message();
  const neve::Hierarchy& a = (*native)->hierarchy();
  const neve::Hierarchy& b = (*ours)->hierarchy();
  EXPECT_EQ(b.components, (std::vector<std::string>{"density", "energy", "twice"}));
  EXPECT_EQ(a.components, b.components);
  ASSERT_EQ(b.levels.size(), 2U);
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (size_t l = 0; l < a.levels.size(); ++l) {
    ASSERT_EQ(a.levels[l].boxes, b.levels[l].boxes);
    EXPECT_EQ(a.levels[l].domain, b.levels[l].domain);
    for (size_t box = 0; box < a.levels[l].boxes.size(); ++box) {
      for (int c = 0; c < 3; ++c) {
        std::vector<Real> wanted(static_cast<size_t>(a.levels[l].boxes[box].cells()));
        std::vector<Real> found(wanted.size());
        const auto read = [&](const auto& source, std::vector<Real>& values) {
          return source->read_box(static_cast<int>(l), static_cast<int>(box), c,
                                  reinterpret_cast<std::byte*>(values.data()));
        };
        ASSERT_TRUE(read(*native, wanted).ok() && read(*ours, found).ok());
        for (size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_LE(std::abs(double{wanted[i]} - double{found[i]}), bound) << l << " " << box << " " << c;
        }
      }
    }
  }
}

}  // namespace
