// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints and restart of codes on Amr and AmrLevel. Where AMReX was built without them, CMake leaves this
// test out.
#include <AMReX_AmrLevel.H>
#include <AMReX_LevelBld.H>
#include <AMReX_ParmParse.H>
#include <AMReX_TagBox.H>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fields.hpp"
#include "neve/amrex/amr.hpp"

// Amr asks every program for one; nothing to prepare here.
extern "C" void amrex_probinit(const int*, const int*, const int*, const amrex::Real*, const amrex::Real*) {}

namespace {

using amrex::MultiFab;
using amrex::Real;

enum State : int { source, gas, scratch, pressure, energy, last_scratch, state_count };
constexpr State stored_states[] = {gas, pressure, energy};

// On cells with a layer of ghost cells, on nodes, on cells again, and before, between and behind them those
// that checkpoints leave out. A step changes every value, by what it was and by the time.
class MovingLevel : public amrex::AmrLevel {
 public:
  MovingLevel() = default;
  MovingLevel(amrex::Amr& amr, int lev, const amrex::Geometry& place, const amrex::BoxArray& boxes,
              const amrex::DistributionMapping& owners, Real time)
      : AmrLevel(amr, lev, place, boxes, owners, time) {}

  static void set_up() {
    const amrex::StateDescriptor::BndryFunc no_boundary([](Real*, const int*, const int*, const int*,
                                                           const int*, const Real*, const Real*, const Real*,
                                                           const int*) {});
    const amrex::BCRec periodic(amrex::IntVect(0).begin(), amrex::IntVect(0).begin());
    const amrex::IndexType cells, nodes(amrex::IntVect::TheNodeVector());
    desc_lst.addDescriptor(gas, cells, amrex::StateDescriptor::Point, 1, 2, &amrex::cell_cons_interp);
    desc_lst.setComponent(gas, 0, "density", periodic, no_boundary);
    desc_lst.setComponent(gas, 1, "energy", periodic, no_boundary);
    desc_lst.addDescriptor(pressure, nodes, amrex::StateDescriptor::Interval, 0, 1,
                           &amrex::node_bilinear_interp);
    desc_lst.setComponent(pressure, 0, "pressure", periodic, no_boundary);
    desc_lst.addDescriptor(energy, cells, amrex::StateDescriptor::Point, 0, 2, &amrex::cell_cons_interp);
    for (int c = 0; c < 2; ++c) desc_lst.setComponent(energy, c, "energy", periodic, no_boundary);
    const bool extrapolates = false, is_stored = false;
    for (const State type : {source, scratch, last_scratch}) {
      desc_lst.addDescriptor(type, cells, amrex::StateDescriptor::Point, 0, 1, &amrex::cell_cons_interp,
                             extrapolates, is_stored);
      desc_lst.setComponent(type, 0, "scratch" + std::to_string(type), periodic, no_boundary);
    }
  }

  static void clean_up() { desc_lst.clear(); }

  void initData() override {
    for (int type = 0; type < state_count; ++type) change(get_new_data(type), 0, type + 1);
  }
  Real advance(Real time, Real dt, int, int) override {
    for (int type = 0; type < state_count; ++type) {
      state[type].allocOldData();
      state[type].swapTimeLevels(dt);
      MultiFab::Copy(get_new_data(type), get_old_data(type), 0, 0, get_new_data(type).nComp(),
                     get_new_data(type).nGrowVect());
      change(get_new_data(type), Real(0.9), time + Real(0.1) * static_cast<Real>(type));
    }
    return dt;
  }
  void errorEst(amrex::TagBoxArray& tags, int, int tagval, Real, int, int) override {
    tags.setVal(static_cast<amrex::TagBox::TagVal>(tagval), amrex::Box(amrex::IntVect(8), amrex::IntVect(23)),
                0, 1);
  }
  void computeInitialDt(int finest, int, amrex::Vector<int>&, const amrex::Vector<amrex::IntVect>&,
                        amrex::Vector<Real>& dt, Real) override {
    for (int l = 0; l <= finest; ++l) dt[l] = parent->subCycle() && l > 0 ? dt[l - 1] / 2 : Real(0.25);
  }
  void computeNewDt(int, int, amrex::Vector<int>&, const amrex::Vector<amrex::IntVect>&, amrex::Vector<Real>&,
                    amrex::Vector<Real>&, Real, int) override {}
  void checkPoint(const std::string& dir, std::ostream& os, amrex::VisMF::How how, bool dump_old) override {
    AmrLevel::checkPoint(dir, os, how, dump_old && wants_old);
    if (!amrex::ParallelDescriptor::IOProcessor()) return;
    os << "of the code " << level << '\n';
    std::ofstream(dir + "/side" + std::to_string(level)) << "side file\n";
  }
  // A code's own restart meets its values.
  void restart(amrex::Amr& amr, std::istream& is, bool reads_special) override {
    AmrLevel::restart(amr, is, reads_special);
    std::string word;
    for (int i = 0; i < 4; ++i) is >> word;
    sum_at_restart = get_new_data(gas).sum(0);
    EXPECT_TRUE(std::filesystem::exists(amr.theRestartFile() + "/side" + std::to_string(level)));
  }
  void post_regrid(int, int) override {}
  void post_init(Real) override {}
  void init(AmrLevel&) override {}
  void init() override {}

  Real sum_at_restart = 0;
  static inline bool wants_old = true;  // in checkpoints, whatever AMReX says

 private:
  static void change(MultiFab& values, Real factor, Real plus) {
    for (const int b : values.IndexArray()) {
      amrex::FArrayBox& fab = values[b];
      for (int c = 0; c < fab.nComp(); ++c) {
        amrex::LoopOnCpu(fab.box(), [&](int i, int j, int k) {
          const amrex::IntVect at(AMREX_D_DECL(i, j, k));
          const Real before = factor == 0 ? 0 : factor * fab(at, c);
          Real phase = plus + static_cast<Real>(c);
          for (int d = 0; d < AMREX_SPACEDIM; ++d) phase += Real(0.1) * std::sqrt(Real(d + 2)) * at[d];
          fab(at, c) = before + std::sin(phase);
          amrex::ignore_unused(j, k);
        });
      }
    }
  }
};

class MovingBuilder : public amrex::LevelBld {
 public:
  void variableSetUp() override { MovingLevel::set_up(); }
  void variableCleanUp() override { MovingLevel::clean_up(); }
  amrex::AmrLevel* operator()() override { return new MovingLevel; }
  amrex::AmrLevel* operator()(amrex::Amr& amr, int lev, const amrex::Geometry& place,
                              const amrex::BoxArray& boxes, const amrex::DistributionMapping& owners,
                              Real time) override {
    return new MovingLevel(amr, lev, place, boxes, owners, time);
  }
};

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AmrCheckpoint : public testing::Test {
 protected:
  AmrCheckpoint() {
    say("geometry.prob_lo", std::vector<Real>(AMREX_SPACEDIM, 0));
    say("geometry.prob_hi", std::vector<Real>(AMREX_SPACEDIM, 1));
    say("geometry.is_periodic", std::vector<int>(AMREX_SPACEDIM, 1));
    say("amr.n_cell", std::vector<int>(AMREX_SPACEDIM, 32));
    say("amr.max_level", std::vector<int>{1});
    say("amr.blocking_factor", std::vector<int>{8});
    say("amr.max_grid_size", std::vector<int>{16});
    say("amr.regrid_int", std::vector<int>{-1});
    say("amr.checkpoint_files_output", std::vector<int>{1});
    say("amr.plot_int", std::vector<int>{-1});
    say("amr.check_int", std::vector<int>{2});
    say("amr.initial_grid_file", std::vector<std::string>{""});
    say("neve.verbose", std::vector<int>{0});
  }
  ~AmrCheckpoint() override {
    for (const std::string& entry : entries_) amrex::ParmParse().remove(entry.c_str());
  }

  template <class T>
  void say(const std::string& entry, const std::vector<T>& values) {
    amrex::ParmParse().remove(entry.c_str());
    amrex::ParmParse().addarr(entry.c_str(), values);
    entries_.push_back(entry);
  }
  // A run of its own, up to `step`, with its checkpoints under `root`.
  std::unique_ptr<neve::amrex::Amr> run(const std::string& root, int step, const std::string& restart = "") {
    say("amr.check_file", std::vector<std::string>{directory_ / root});
    say("amr.restart", std::vector<std::string>{restart.empty() ? "" : directory_ / restart});
    auto amr = std::make_unique<neve::amrex::Amr>(&builder_);
    amr->init(0, 100);
    while (amr->levelSteps(0) < step) amr->coarseTimeStep(100);
    return amr;
  }
  void finish(std::unique_ptr<neve::amrex::Amr>& amr) {
    amr.reset();
    amrex::ParallelDescriptor::Barrier();
  }
  neve::test::Directory directory_;
  MovingBuilder builder_;
  std::vector<std::string> entries_;
};

// variableCleanUp of one Amr clears what the other uses, so that a run is kept as copies of its values.
struct Values {
  explicit Values(amrex::Amr& amr) : time(amr.cumTime()) {
    for (int l = 0; l <= amr.finestLevel(); ++l) {
      for (const State type : stored_states) {
        const bool has_old = amr.getLevel(l).get_state_data(type).hasOldData();
        copies.push_back(copy_of(amr.getLevel(l).get_new_data(type)));
        copies.push_back(has_old ? copy_of(amr.getLevel(l).get_old_data(type)) : MultiFab());
      }
    }
  }
  static MultiFab copy_of(const MultiFab& mf) {
    MultiFab copy(mf.boxArray(), mf.DistributionMap(), mf.nComp(), mf.nGrowVect());
    MultiFab::Copy(copy, mf, 0, 0, mf.nComp(), mf.nGrowVect());
    return copy;
  }
  void expect_same(const Values& other) const {
    EXPECT_EQ(time, other.time);
    ASSERT_EQ(copies.size(), other.copies.size());
    for (size_t i = 0; i < copies.size(); ++i) {
      ASSERT_EQ(copies[i].empty(), other.copies[i].empty()) << i;
      if (!copies[i].empty()) {
        EXPECT_TRUE(neve::test::same_bits(copies[i], other.copies[i], copies[i].nGrow())) << i;
      }
    }
  }
  Real time;
  std::vector<MultiFab> copies;  // new and old of each state on each level
};

TEST_F(AmrCheckpoint, RestartGoesOnBitForBit) {
  auto amr = run("chk", 4);
  const Values uninterrupted(*amr);
  finish(amr);
  EXPECT_EQ(directory_.list(), (std::vector<std::string>{"chk00000", "chk00002", "chk00004"}));

  amr = run("again", 4, "chk00002");
  const Values continued(*amr);
  continued.expect_same(uninterrupted);
  EXPECT_NE(dynamic_cast<MovingLevel&>(amr->getLevel(1)).sum_at_restart, 0);
  finish(amr);
  EXPECT_EQ(directory_.list(), (std::vector<std::string>{"again00004", "chk00000", "chk00002", "chk00004"}));
}

TEST_F(AmrCheckpoint, RestartsFromStepZeroAndFromTheLast) {
  auto amr = run("chk", 2);
  const Values at_two(*amr);
  finish(amr);
  amr = run("zero", 2, "chk00000");  // where no state has old values
  at_two.expect_same(Values(*amr));
  finish(amr);
  amr = run("last", 2, "chk00002");
  at_two.expect_same(Values(*amr));
  finish(amr);
}

// So that whatever else reads it, AMReX itself at last, finds what it expects or misses a file by name.
TEST_F(AmrCheckpoint, HeaderIsThatOfAmrex) {
  auto amr = run("chk", 2);
  finish(amr);
  say("neve.checkpoints", std::vector<int>{0});
  amr = run("native", 2);
  finish(amr);
  for (const char* const step : {"00000", "00002"}) {
    const std::string ours = read_text(directory_ / (std::string("chk") + step + "/Header"));
    EXPECT_FALSE(ours.empty());
    EXPECT_EQ(ours, read_text(directory_ / (std::string("native") + step + "/Header")));
  }
  using std::filesystem::exists;
  EXPECT_TRUE(exists(directory_ / "native00002/Level_1/SD_1_New_MF_H"));
  for (const char* const level : {"chk00002/Level_0", "chk00002/Level_1"}) {
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / level));
  }
  for (const char* const name : {"SD_1_New.h5", "SD_1_Old.h5", "SD_3_New.h5", "SD_3_Old.h5", "SD_4_New.h5",
                                 "SD_4_Old.h5", "side0", "side1"}) {
    EXPECT_TRUE(exists(directory_ / (std::string("chk00002/") + name))) << name;
  }
  EXPECT_FALSE(exists(directory_ / "chk00002/SD_2_New.h5"));
  EXPECT_FALSE(exists(directory_ / "chk00000/SD_1_Old.h5"));
}

// As Nyx, Castro and others do without a word to anybody but AMReX.
TEST_F(AmrCheckpoint, OldValuesAreKeptWhereTheCodeAsksForThem) {
  MovingLevel::wants_old = false;
  auto amr = run("chk", 4);
  finish(amr);
  say("neve.checkpoints", std::vector<int>{0});
  amr = run("native", 4);
  finish(amr);
  MovingLevel::wants_old = true;
  for (const char* const step : {"00000", "00002", "00004"}) {
    const std::string folder = std::string("chk") + step;
    EXPECT_EQ(read_text(directory_ / (folder + "/Header")),
              read_text(directory_ / (std::string("native") + step + "/Header")));
    EXPECT_FALSE(std::filesystem::exists(directory_ / (folder + "/SD_1_Old.h5")));
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / (folder + "/Level_0")));
    EXPECT_FALSE(std::filesystem::exists(directory_ / (folder + "/FabArrayHeaders.txt")));
  }
}

TEST_F(AmrCheckpoint, RestartTakesAmrexCheckpointsToo) {
  auto amr = run("chk", 4);
  const Values uninterrupted(*amr);
  finish(amr);
  say("neve.checkpoints", std::vector<int>{0});
  amr = run("native", 2);
  finish(amr);
  amr = run("again", 4, "native00002");
  uninterrupted.expect_same(Values(*amr));
  finish(amr);
}

TEST_F(AmrCheckpoint, OldValuesCanBeLeftOut) {
  say("neve.old_data", std::vector<int>{0});
  auto amr = run("chk", 4);
  const Values uninterrupted(*amr);
  finish(amr);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "chk00002/SD_1_Old.h5"));
  amr = run("again", 4, "chk00002");  // whose steps make old values before they use any
  uninterrupted.expect_same(Values(*amr));
  finish(amr);
}

TEST_F(AmrCheckpoint, BoundHoldsAfterRestart) {
  say("neve.checkpoint_bound", std::vector<std::string>{"abs", "1e-3"});
  auto amr = run("chk", 2);
  const Values written(*amr);
  finish(amr);
  amr = run("again", 2, "chk00002");
  const Values read(*amr);
  finish(amr);
  ASSERT_EQ(written.copies.size(), read.copies.size());
  Real worst = 0;
  for (size_t i = 0; i < written.copies.size(); ++i) {
    MultiFab difference(read.copies[i].boxArray(), read.copies[i].DistributionMap(), read.copies[i].nComp(),
                        0);
    difference.ParallelCopy(written.copies[i], 0, 0, difference.nComp());  // which other ranks may own
    MultiFab::Subtract(difference, read.copies[i], 0, 0, difference.nComp(), 0);
    for (int c = 0; c < difference.nComp(); ++c) worst = std::max(worst, difference.norm0(c));
  }
  EXPECT_LE(worst, Real(1e-3));
  EXPECT_GT(worst, 0);
}

TEST_F(AmrCheckpoint, WrongInputsEndTheRunAtItsStart) {
  say("neve.checkpoint_bound", std::vector<std::string>{"rell", "1e-3"});
  try {
    auto amr = run("chk", 1);
    ADD_FAILURE() << "went on";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("neve.checkpoint_bound"), std::string::npos) << error.what();
  }
}

// Files of other checkpoints, and missing ones, by name; nothing hidden is left.
TEST_F(AmrCheckpoint, FilesThatDoNotBelongTogetherEndTheRestart) {
  auto amr = run("chk", 4);
  finish(amr);
  const auto refused = [&](const std::string& told) {
    amrex::ParallelDescriptor::Barrier();
    try {
      amr = run("again", 4, "chk00004");
      ADD_FAILURE() << "went on";
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find(told), std::string::npos) << error.what();
    }
    amrex::ParallelDescriptor::Barrier();
    EXPECT_EQ(directory_.list(), (std::vector<std::string>{"chk00000", "chk00002", "chk00004"}));
    amrex::ParallelDescriptor::Barrier();
  };
  const bool acts = amrex::ParallelDescriptor::IOProcessor();
  const std::string mine = directory_ / "chk00004/SD_4_New.h5";
  if (acts) std::filesystem::rename(mine, mine + ".away");
  refused("SD_4_New.h5, of which Header has level 0, is missing");
  if (acts) std::filesystem::copy_file(directory_ / "chk00002/SD_4_New.h5", mine);
  refused("SD_4_New.h5 is of time 0.5, Header of 1: they are not of one checkpoint");
}

TEST_F(AmrCheckpoint, DamagedFileEndsTheRestart) {
  auto amr = run("chk", 2);
  finish(amr);
  if (amrex::ParallelDescriptor::IOProcessor()) {
    std::filesystem::resize_file(directory_ / "chk00002/SD_3_New.h5", 1000);
  }
  amrex::ParallelDescriptor::Barrier();
  try {
    amr = run("again", 2, "chk00002");
    ADD_FAILURE() << "went on";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("SD_3_New.h5"), std::string::npos) << error.what();
  }
  amrex::ParallelDescriptor::Barrier();
  EXPECT_EQ(directory_.list(), (std::vector<std::string>{"chk00000", "chk00002"}));  // nothing hidden is left
}

}  // namespace
