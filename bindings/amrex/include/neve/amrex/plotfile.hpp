// SPDX-License-Identifier: BSD-3-Clause
// AMReX's plotfile calls with Neve behind them.
#pragma once

#include <AMReX_AsyncOut.H>
#include <AMReX_PlotFileUtil.H>

#include <string>
#include <vector>

#include "neve/amrex/agree.hpp"
#include "neve/amrex/inputs.hpp"
#include "neve/amrex/plot_directory.hpp"
#include "neve/amrex/run_log.hpp"
#include "neve/amrex/view.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::amrex {

namespace detail {

// As AMReX's own plotfiles do, they are written behind the run's back where amrex.async_out is set, unless
// the options say how themselves or ask for something that has no such way.
inline WriteOptions following_async_out(const WriteOptions& options) {
  WriteOptions followed = with_threads_of_run(options);
  if (!::amrex::AsyncOut::UseAsyncOut() || behind_of(options) != Behind::none) return followed;
  followed.behind = Behind::encode;
  if (!check_behind(followed).ok()) followed.behind = Behind::none;
  return followed;
}

// Whether the input file wants the file of this step. Codes write other things into its directory all the
// same.
inline bool is_wanted(const RunInputs& inputs, const ::amrex::Vector<int>& level_steps) {
  return level_steps.empty() || level_steps[0] % inputs.every == 0;
}

// Collective. What TryWriteMultiLevelPlotfile does; `earlier` gets the error of a file that an earlier call
// was to write behind and that is lost.
inline Result<WriteReport> write_multi_level(const std::string& plotfilename, int nlevels,
                                             const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                                             const ::amrex::Vector<std::string>& varnames,
                                             const ::amrex::Vector<::amrex::Geometry>& geom,
                                             ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
                                             const ::amrex::Vector<::amrex::IntVect>& ref_ratio,
                                             const CallOptions& options, Status& earlier) {
  const double begin = ::amrex::second();
  RunInputs inputs;
  Hierarchy hierarchy;
  std::vector<LocalBox> owned;
  HostValues host;
  PlotDirectory directory;
  std::string path;
  WriteOptions used;
  const Status read = caught([&]() -> Status {
    NEVE_ASSIGN(inputs, TryReadInputs());
    used = inputs.says_behind && !options.given
               ? with_threads_of_run(inputs.options)
               : following_async_out(options.given ? *options.given : inputs.options);
    return {};
  });
  if (read.ok() && !is_wanted(inputs, level_steps)) {
    NEVE_TRY(make_directories(without_last_slashes(plotfilename)));
    return WriteReport();
  }
  // The ranks agree on it in the write.
  const Status described = caught([&]() -> Status {
    NEVE_TRY(read);
    const std::string name = without_last_slashes(plotfilename);
    path = name + ".h5";
    NEVE_ASSIGN(hierarchy, describe_plotfile(nlevels, mf, varnames, geom, time, level_steps, ref_ratio));
    for (int l = 0; l < nlevels; ++l) NEVE_TRY(add_owned(*mf[l], l, ::amrex::IntVect(0), owned, host));
    return directory.make(name);
  });
  Result<WriteReport> report =
      write_plotfile_if(communicator(), described, path, hierarchy, owned, used, &earlier);
  if (!report.ok()) {
    directory.take_back();
    return report;
  }
  RunLog::of_run().add({WrittenFile::plotfile, path, level_steps[0], static_cast<double>(time),
                        ::amrex::second() - begin, used, options.given.has_value()},
                       *report, inputs);
  return report;
}

// Collective. Those that AMReX's call makes inside a plotfile's directory.
inline void make_extra_directories(const std::string& plotfilename, const std::string& level_prefix,
                                   int nlevels, const ::amrex::Vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool call_barrier = true;
    ::amrex::PreBuildDirectorHierarchy(plotfilename + "/" + name, level_prefix, nlevels, call_barrier);
  }
}

}  // namespace detail

// Collective. Writes `plotfilename`.h5: the valid cells of `mf` and options.ghosts layers around each box,
// read where they lie, or copied to pinned memory first where that is a device's. As AMReX does, it makes the
// directory `plotfilename` and what that lies in, where codes put what else belongs to a plotfile; one that
// is there is kept with what it holds. Without `options` those of the input file are used (inputs.hpp). An
// error is the same on every rank and leaves no file behind; an earlier file of that name stays whole.
// Written behind (amrex.async_out, options.behind), the file may come after the directory; where an earlier
// one is lost, the error says so, and this call's plotfile is written all the same.
inline Result<WriteReport> TryWriteMultiLevelPlotfile(
    const std::string& plotfilename, int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
    const ::amrex::Vector<std::string>& varnames, const ::amrex::Vector<::amrex::Geometry>& geom,
    ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
    const ::amrex::Vector<::amrex::IntVect>& ref_ratio, const CallOptions& options = {}) {
  Status earlier;
  Result<WriteReport> report = detail::write_multi_level(plotfilename, nlevels, mf, varnames, geom, time,
                                                         level_steps, ref_ratio, options, earlier);
  return detail::with_earlier(earlier, std::move(report));
}

inline Result<WriteReport> TryWriteSingleLevelPlotfile(const std::string& plotfilename,
                                                       const ::amrex::MultiFab& mf,
                                                       const ::amrex::Vector<std::string>& varnames,
                                                       const ::amrex::Geometry& geom, ::amrex::Real time,
                                                       int level_step, const CallOptions& options = {}) {
  return TryWriteMultiLevelPlotfile(plotfilename, 1, {&mf}, varnames, {geom}, time, {level_step}, {},
                                    options);
}

// The same, ending the run through amrex::Abort on an error.
inline WriteReport WriteMultiLevelPlotfile(const std::string& plotfilename, int nlevels,
                                           const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                                           const ::amrex::Vector<std::string>& varnames,
                                           const ::amrex::Vector<::amrex::Geometry>& geom, ::amrex::Real time,
                                           const ::amrex::Vector<int>& level_steps,
                                           const ::amrex::Vector<::amrex::IntVect>& ref_ratio,
                                           const CallOptions& options) {
  return detail::value_or_abort("WriteMultiLevelPlotfile",
                                TryWriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time,
                                                           level_steps, ref_ratio, options));
}

// AMReX's own list of arguments, so that a call only needs another namespace. The file is one file and its
// version AMReX's first, so `versionName`, `levelPrefix` and `mfPrefix` have nothing to name. `extra_dirs`
// are made inside the directory `plotfilename`, as AMReX makes them, because the caller is about to write
// there. Where the input file says neve.plotfiles = 0, and the code passes no options, AMReX's own call is
// made instead, and the report is empty.
inline WriteReport WriteMultiLevelPlotfile(
    const std::string& plotfilename, int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
    const ::amrex::Vector<std::string>& varnames, const ::amrex::Vector<::amrex::Geometry>& geom,
    ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
    const ::amrex::Vector<::amrex::IntVect>& ref_ratio, const std::string& versionName = "HyperCLaw-V1.1",
    const std::string& levelPrefix = "Level_", const std::string& mfPrefix = "Cell",
    const ::amrex::Vector<std::string>& extra_dirs = {}, const CallOptions& options = {}) {
  if (!options.given && ReadInputs().plotfiles == 0) {
    ::amrex::WriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time, level_steps, ref_ratio,
                                     versionName, levelPrefix, mfPrefix, extra_dirs);
    return WriteReport();
  }
  WriteReport report = WriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time, level_steps,
                                               ref_ratio, options);
  detail::make_extra_directories(plotfilename, levelPrefix, nlevels, extra_dirs);
  return report;
}

inline WriteReport WriteSingleLevelPlotfile(const std::string& plotfilename, const ::amrex::MultiFab& mf,
                                            const ::amrex::Vector<std::string>& varnames,
                                            const ::amrex::Geometry& geom, ::amrex::Real time, int level_step,
                                            const WriteOptions& options) {
  return detail::value_or_abort(
      "WriteSingleLevelPlotfile",
      TryWriteSingleLevelPlotfile(plotfilename, mf, varnames, geom, time, level_step, options));
}

inline WriteReport WriteSingleLevelPlotfile(const std::string& plotfilename, const ::amrex::MultiFab& mf,
                                            const ::amrex::Vector<std::string>& varnames,
                                            const ::amrex::Geometry& geom, ::amrex::Real time, int level_step,
                                            const std::string& versionName = "HyperCLaw-V1.1",
                                            const std::string& levelPrefix = "Level_",
                                            const std::string& mfPrefix = "Cell",
                                            const ::amrex::Vector<std::string>& extra_dirs = {},
                                            const CallOptions& options = {}) {
  return WriteMultiLevelPlotfile(plotfilename, 1, {&mf}, varnames, {geom}, time, {level_step}, {},
                                 versionName, levelPrefix, mfPrefix, extra_dirs, options);
}

// Collective. Waits until all files that are written behind (amrex.async_out, WriteOptions::behind) have
// their names, as AMReX's AsyncOut::Finish does for its own; the end of the run waits as well. An error is
// that of a file that is lost, the same on every rank.
inline Status TryWaitForWrites() { return wait_for_writes(detail::communicator()); }

// The same, ending the run through amrex::Abort on an error.
inline void WaitForWrites() {
  if (const Status status = TryWaitForWrites(); !status.ok()) detail::abort_run("WaitForWrites", status);
}

}  // namespace neve::amrex
