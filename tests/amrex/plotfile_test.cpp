// SPDX-License-Identifier: BSD-3-Clause
#include <AMReX_ParallelDescriptor.H>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cfenv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "fields.hpp"
#include "neve/amrex.hpp"
#include "neve/plotfile_reader.hpp"

namespace {

using amrex::MultiFab;
using amrex::Real;
using amrex::Vector;
using neve::test::Directory;
using neve::test::make_field;
using neve::test::make_mesh;
using neve::test::Mesh;
using neve::test::same_everywhere;

constexpr double bound_abs = 1e-3;
const Vector<std::string> names{"density", "speed"};

Vector<MultiFab> two_ghosted_levels(const Mesh& mesh) {
  Vector<MultiFab> levels;
  for (int l = 0; l < mesh.nlevels; ++l) {
    levels.push_back(make_field(mesh, l, amrex::IndexType::TheCellType(), 2, 2));
  }
  return levels;
}

neve::WriteOptions absolute() {
  neve::WriteOptions options;
  options.bound = {neve::BoundMode::abs, bound_abs};
  return options;
}

// Every rank looks at every box.
double largest_error(const std::string& path, const Mesh& mesh) {
  auto source = neve::open_plotfile(path);
  EXPECT_TRUE(source.ok()) << source.status().message();
  if (!source.ok()) return INFINITY;
  const neve::Hierarchy& h = (*source)->hierarchy();
  double largest = 0;
  for (int l = 0; l < mesh.nlevels; ++l) {
    for (int b = 0; b < mesh.boxes[l].size(); ++b) {
      const amrex::Box box = mesh.boxes[l][b];
      for (int c = 0; c < static_cast<int>(h.components.size()); ++c) {
        std::vector<Real> values(static_cast<size_t>(box.numPts()));
        const neve::Status read = (*source)->read_box(l, b, c, reinterpret_cast<std::byte*>(values.data()));
        EXPECT_TRUE(read.ok()) << read.message();
        for (amrex::Long i = 0; i < box.numPts(); ++i) {
          const double wanted = neve::test::field_value(mesh, l, c, box.atOffset(i));
          largest = std::max(largest, std::abs(double{values[static_cast<size_t>(i)]} - wanted));
        }
      }
    }
  }
  return largest;
}

neve::WriteReport write(const std::string& path, const Mesh& mesh, const Vector<MultiFab>& levels,
                        const neve::WriteOptions& options) {
  return neve::amrex::WriteMultiLevelPlotfile(path, mesh.nlevels, neve::test::const_pointers(levels), names,
                                              mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio, options);
}

// The values are the code's again when the call returns.
void expect_written_behind(const neve::WriteOptions& options, bool is_behind) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  for (const std::string name : {"plt0", "plt1", "plt2"}) {
    Vector<MultiFab> levels = two_ghosted_levels(mesh);
    const neve::WriteReport report = write(directory / name, mesh, levels, options);
    EXPECT_EQ(report.file_bytes == 0, is_behind);
    for (MultiFab& level : levels) level.setVal(-7);
  }
  neve::amrex::WaitForWrites();
  EXPECT_EQ(directory.list(),
            (std::vector<std::string>{"plt0", "plt0.h5", "plt1", "plt1.h5", "plt2", "plt2.h5"}));
  for (const std::string name : {"plt0.h5", "plt2.h5"})
    EXPECT_LE(largest_error(directory / name, mesh), bound_abs);
}

// In the call, whatever is done behind it: the next kernels change them.
TEST(Plotfile, ValuesInTheMemoryOfADeviceAreCopied) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  neve::WriteOptions options = absolute();
  options.ghosts = {1, AMREX_SPACEDIM > 1 ? 1 : 0, AMREX_SPACEDIM > 2 ? 1 : 0};
  for (const neve::Behind behind : {neve::Behind::none, neve::Behind::encode, neve::Behind::copy}) {
    options.behind = behind;
    for (const bool is_shared : {false, true}) {
      Vector<MultiFab> levels =
          neve::test::in_arena(two_ghosted_levels(mesh), neve::test::device_arena(is_shared));
      write(directory / "plt", mesh, levels, options);
      for (MultiFab& level : levels) level.setVal(-7);
      neve::amrex::WaitForWrites();
      EXPECT_LE(largest_error(directory / "plt.h5", mesh), bound_abs);
    }
  }
}

TEST(WrittenBehind, PlotfilesComeBackWithinTheBound) {
  for (const neve::Behind behind : {neve::Behind::encode, neve::Behind::copy}) {
    neve::WriteOptions options = absolute();
    options.behind = behind;
    expect_written_behind(options, true);
  }
}

// A file that cannot become long enough on one rank: what comes next is whole all the same.
TEST(WrittenBehind, ALostPlotfileTakesNothingWithIt) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  neve::WriteOptions options = absolute();
  options.behind = neve::Behind::encode;
  const auto try_write = [&](const std::string& name) {
    return neve::amrex::TryWriteMultiLevelPlotfile(directory / name, mesh.nlevels,
                                                   neve::test::const_pointers(levels), names, mesh.geom,
                                                   mesh.time, mesh.steps, mesh.ref_ratio, options)
        .status();
  };
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  const auto lose = [&](const std::string& name) {
    neve::amrex::WaitForWrites();  // what is under way is not to be lost
    rlimit limited = unlimited;
    limited.rlim_cur = 2100;
    ::setrlimit(RLIMIT_FSIZE, &limited);
    EXPECT_TRUE(try_write(name).ok());
    ::usleep(300000);
    ::setrlimit(RLIMIT_FSIZE, &unlimited);
  };
  lose("plt0");
  const neve::Status told = try_write("plt1");
  EXPECT_NE(told.message().find("plt0.h5, which was written behind, is lost"), std::string::npos)
      << told.message();
  EXPECT_TRUE(same_everywhere(told));
  lose("plt2");
  const auto checkpoint = neve::amrex::TryWriteCheckpoint(directory / "chk", mesh.nlevels,
                                                          {{"state", neve::test::const_pointers(levels)}},
                                                          mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio);
  EXPECT_NE(checkpoint.status().message().find("plt2.h5"), std::string::npos)
      << checkpoint.status().message();
  lose("plt3");
  EXPECT_THROW(write(directory / "plt4", mesh, levels, options), std::runtime_error);
  EXPECT_EQ(directory.list(),
            (std::vector<std::string>{"chk", "plt0", "plt1", "plt1.h5", "plt2", "plt3", "plt4", "plt4.h5"}));
  EXPECT_LE(largest_error(directory / "plt1.h5", mesh), bound_abs);
  Vector<MultiFab> back(2);
  EXPECT_TRUE(
      neve::amrex::TryReadCheckpoint(directory / "chk", 2, {{"state", neve::test::pointers(back)}}).ok());
}

TEST(WrittenBehind, PlotfilesFollowAmrexAsyncOutWhereTheyCan) {
  const bool is_asked = amrex::AsyncOut::UseAsyncOut();
  expect_written_behind(absolute(), is_asked);
  neve::WriteOptions plain;
  plain.compress = false;
  expect_written_behind(plain, false);
}

TEST(Plotfile, GhostedLevelsComeBackWithinTheBound) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  const neve::WriteReport report = write(directory / "plt", mesh, levels, absolute());
  EXPECT_EQ(directory.list(), (std::vector<std::string>{"plt", "plt.h5"}));
  EXPECT_EQ(report.raw_bytes,
            2 * sizeof(Real) * static_cast<uint64_t>(mesh.boxes[0].numPts() + mesh.boxes[1].numPts()));
  EXPECT_EQ(report.file_bytes, std::filesystem::file_size(directory / "plt.h5"));
  // A coarse cell that was left out comes back as the average of the finer ones, which is as close.
  EXPECT_LE(largest_error(directory / "plt.h5", mesh), bound_abs);
}

// Ghost cells as asked for, without a copy: bits as they are, or within the bound, which 1e30 in them leaves
// alone.
TEST(Plotfile, GhostsAreWrittenWhereAskedFor) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  for (const bool compress : {false, true}) {
    neve::WriteOptions options;
    options.compress = compress;
    for (int d = 0; d < AMREX_SPACEDIM; ++d) options.ghosts[static_cast<size_t>(d)] = d == 0 ? 2 : 1;
    const auto report = neve::amrex::TryWriteMultiLevelPlotfile(
        directory / "plt", mesh.nlevels, neve::test::const_pointers(levels), names, mesh.geom, mesh.time,
        mesh.steps, mesh.ref_ratio, options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    double bound = 0;
    for (const neve::LevelReport& level : report->levels) {
      for (const neve::FieldReport& field : level.fields) bound = std::max(bound, field.bound_abs);
    }
    EXPECT_LE(bound, compress ? 1.0 : 0.0) << "ghosts count for no range";
    EXPECT_LE(largest_error(directory / "plt.h5", mesh), bound);
    if (!compress) {
      uint64_t stored = 0;
      for (int l = 0; l < mesh.nlevels; ++l) {
        for (int b = 0; b < mesh.boxes[l].size(); ++b) {
          amrex::IntVect ghosts(1);
          ghosts[0] = 2;
          stored += 2 * sizeof(Real) * static_cast<uint64_t>(amrex::grow(mesh.boxes[l][b], ghosts).numPts());
        }
      }
      EXPECT_EQ(report->data_bytes, stored);
    }
    options.ghosts[0] = 3;
    const neve::Status status = neve::amrex::TryWriteMultiLevelPlotfile(
                                    directory / "more", mesh.nlevels, neve::test::const_pointers(levels),
                                    names, mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio, options)
                                    .status();
    EXPECT_NE(status.message().find("3 are to be written"), std::string::npos) << status.message();
    EXPECT_TRUE(same_everywhere(status));
  }
}

// The header is held against what AMReX itself writes of the same step.
TEST(Plotfile, TellsWhatAmrexsOwnPlotfileTells) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  const auto mf = neve::test::const_pointers(levels);
  amrex::WriteMultiLevelPlotfile(directory / "plt", mesh.nlevels, mf, names, mesh.geom, mesh.time, mesh.steps,
                                 mesh.ref_ratio);
  neve::amrex::WriteMultiLevelPlotfile(directory / "plt", mesh.nlevels, mf, names, mesh.geom, mesh.time,
                                       mesh.steps, mesh.ref_ratio);
  amrex::ParallelDescriptor::Barrier();
  const auto native = neve::open_plotfile(directory / "plt");
  const auto ours = neve::open_plotfile(directory / "plt.h5");
  ASSERT_TRUE(native.ok() && ours.ok()) << native.status().message() << ours.status().message();
  const neve::Hierarchy& a = (*native)->hierarchy();
  const neve::Hierarchy& b = (*ours)->hierarchy();
  EXPECT_EQ(a.dims, b.dims);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.components, b.components);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.coord_sys, b.coord_sys);
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    const auto i = static_cast<size_t>(d);
    EXPECT_DOUBLE_EQ(a.prob_lo[i], b.prob_lo[i]);
    EXPECT_DOUBLE_EQ(a.prob_hi[i], b.prob_hi[i]);
  }
  for (size_t l = 0; l < a.levels.size(); ++l) {
    EXPECT_EQ(a.levels[l].domain, b.levels[l].domain);
    EXPECT_EQ(a.levels[l].boxes, b.levels[l].boxes);
    EXPECT_EQ(a.levels[l].ref_ratio, b.levels[l].ref_ratio);
    EXPECT_EQ(a.levels[l].step, b.levels[l].step);
    EXPECT_EQ(a.levels[l].time, b.levels[l].time);
    for (size_t d = 0; d < AMREX_SPACEDIM; ++d) EXPECT_DOUBLE_EQ(a.levels[l].dx[d], b.levels[l].dx[d]);
  }
}

TEST(Plotfile, ValuesAreReadWhereTheyLie) {
  const Mesh mesh = make_mesh();
  const MultiFab field = make_field(mesh, 0, amrex::IndexType::TheCellType(), 2, 3);
  std::vector<neve::LocalBox> owned;
  ASSERT_TRUE(neve::amrex::add_owned(field, 0, amrex::IntVect(0), owned).ok());
  ASSERT_EQ(owned.size(), static_cast<size_t>(field.local_size()));
  for (const neve::LocalBox& local : owned) {
    const amrex::Box box = field.box(local.box);
    const auto* first = static_cast<const Real*>(local.data.data);
    int64_t last = local.data.component_stride;
    for (int d = 0; d < AMREX_SPACEDIM; ++d)
      last += local.data.stride[static_cast<size_t>(d)] * (box.length(d) - 1);
    EXPECT_EQ(first, &field[local.box](box.smallEnd(), 0));
    EXPECT_EQ(first + last, &field[local.box](box.bigEnd(), 1));
  }
}

// More ranks than boxes: all but one have none.
TEST(Plotfile, OneBoxOneLevel) {
  const Directory directory;
  Mesh mesh = make_mesh();
  mesh.nlevels = 1;
  mesh.boxes[0] = amrex::BoxArray(mesh.geom[0].Domain());
  mesh.owners[0] = amrex::DistributionMapping(mesh.boxes[0]);
  const MultiFab field = make_field(mesh, 0, amrex::IndexType::TheCellType(), 2, 1);
  neve::amrex::WriteSingleLevelPlotfile(directory / "one", field, names, mesh.geom[0], mesh.time, 7,
                                        absolute());
  EXPECT_LE(largest_error(directory / "one.h5", mesh), bound_abs);
}

// AMReX programs often run with amrex.fpe_trap_invalid=1 and the like, and a NaN is an ordinary value to a
// plotfile.
TEST(Plotfile, TrapsOfTheProgramStayQuiet) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  Vector<MultiFab> levels = two_ghosted_levels(mesh);
  for (MultiFab& level : levels) {
    for (const int box : level.IndexArray()) {
      const amrex::Box cells = level.box(box);
      level[box](cells.smallEnd(), 0) = std::numeric_limits<Real>::signaling_NaN();
      level[box](cells.smallEnd(), 1) = std::numeric_limits<Real>::infinity();
      level[box](cells.bigEnd(), 1) = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  std::feclearexcept(FE_ALL_EXCEPT);
  const int before = feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  const auto report = neve::amrex::TryWriteMultiLevelPlotfile(
      directory / "plt", mesh.nlevels, neve::test::const_pointers(levels), names, mesh.geom, mesh.time,
      mesh.steps, mesh.ref_ratio, absolute());
  const int during = fegetexcept();
  feclearexcept(FE_ALL_EXCEPT);
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(before);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(during, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) << "the program's traps are its own";
  uint64_t special = 0;
  for (const neve::LevelReport& level : report->levels) {
    for (const neve::FieldReport& field : level.fields) special += field.special_cells;
  }
  EXPECT_GT(special, 0U);
}

// Codes write there what else belongs to a plotfile; what they have written stays.
TEST(Plotfile, DirectoriesAreThere) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  for (const std::string name : {"diags/run/plt", "diags/run/plt/"}) {
    neve::amrex::WriteMultiLevelPlotfile(directory / name, mesh.nlevels, neve::test::const_pointers(levels),
                                         names, mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio);
    EXPECT_TRUE(std::filesystem::is_directory(directory / "diags/run/plt"));
    if (amrex::ParallelDescriptor::IOProcessor()) {
      std::ofstream(directory / "diags/run/plt/job_info", std::ios::app) << name << "\n";
    }
  }
  EXPECT_LE(largest_error(directory / "diags/run/plt.h5", mesh), 1.0);
  if (amrex::ParallelDescriptor::IOProcessor()) {
    std::ifstream file(directory / "diags/run/plt/job_info");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(text, "diags/run/plt\ndiags/run/plt/\n");
  }
}

TEST(Plotfile, ExtraDirectoriesAreThere) {
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
  neve::amrex::WriteMultiLevelPlotfile(directory / "plt", mesh.nlevels, neve::test::const_pointers(levels),
                                       names, mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio,
                                       "HyperCLaw-V1.1", "Level_", "Cell", {"raw_fields"}, absolute());
  EXPECT_TRUE(std::filesystem::is_directory(directory / "plt/raw_fields/Level_1"));
  EXPECT_LE(largest_error(directory / "plt.h5", mesh), bound_abs);
}

class Refusals : public testing::Test {
 protected:
  neve::Status write(const Vector<std::string>& variables, const Vector<MultiFab>& levels, int nlevels,
                     const neve::WriteOptions& options = {}, const std::string& name = "plt") const {
    return neve::amrex::TryWriteMultiLevelPlotfile(directory / name, nlevels,
                                                   neve::test::const_pointers(levels), variables, mesh.geom,
                                                   mesh.time, mesh.steps, mesh.ref_ratio, options)
        .status();
  }
  void expect(const neve::Status& status, const std::string& part) const {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_TRUE(same_everywhere(status));
    EXPECT_TRUE(directory.list().empty());
    amrex::ParallelDescriptor::Barrier();  // the next call makes a directory before it is refused
  }
  const Directory directory;
  const Mesh mesh = make_mesh();
  const Vector<MultiFab> levels = two_ghosted_levels(mesh);
};

TEST_F(Refusals, NameWhatIsWrong) {
  expect(write({"density"}, levels, 2), "mf has 2 components, varnames 1 names");
  expect(write(names, levels, 3), "geom has 2 entries; 3 are needed");
  expect(write(names, levels, 0), "nlevels is 0");
  Vector<MultiFab> nodal;
  for (int l = 0; l < 2; ++l) nodal.push_back(make_field(mesh, l, amrex::IndexType::TheNodeType(), 2, 0));
  expect(write(names, nodal, 2), "not cell-centred");
  expect(write({"a", "a"}, levels, 2), "names must differ");
}

TEST_F(Refusals, NameTheDirectoryThatCannotBeMade) {
  if (amrex::ParallelDescriptor::IOProcessor()) std::ofstream(directory / "file") << "here";
  amrex::ParallelDescriptor::Barrier();
  const neve::Status status = write(names, levels, 2, {}, "file/plt");
  EXPECT_NE(status.message().find("cannot make the directory " + (directory / "file")), std::string::npos)
      << status.message();
  EXPECT_TRUE(same_everywhere(status));
}

TEST_F(Refusals, OfOneRankAreEveryRanks) {
  const int last = amrex::ParallelDescriptor::NProcs() - 1;
  const bool mine = amrex::ParallelDescriptor::MyProc() == last;
  const neve::Status status = write(mine ? Vector<std::string>{"density"} : names, levels, 2);
  expect(status, "varnames 1 names");
  if (last > 0) {
    expect(status, "rank " + std::to_string(last) + ": ");
    neve::WriteOptions options;
    if (mine) options.bound.value = 0.5;
    expect(write(names, levels, 2, options), "the ranks disagree about the write options");
  }
}

TEST_F(Refusals, AbortOnEveryRank) {
  try {
    neve::amrex::WriteMultiLevelPlotfile(directory / "plt", 2, neve::test::const_pointers(levels),
                                         {"density"}, mesh.geom, mesh.time, mesh.steps, mesh.ref_ratio);
    FAIL() << "no abort";
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("neve::amrex::WriteMultiLevelPlotfile: "), std::string::npos)
        << e.what();
  }
}

}  // namespace
