// SPDX-License-Identifier: BSD-3-Clause
// AMReX's plotfile calls of codes with embedded boundaries, which add the cells' volume fractions as "vfrac".
// For an AMReX that was built with them (AMReX_EB=ON, USE_EB=TRUE).
#pragma once

#include <AMReX_EBFabFactory.H>
#include <AMReX_MultiFab.H>

#include <string>

#include "neve/amrex/agree.hpp"
#include "neve/amrex/plotfile.hpp"

namespace neve::amrex {

namespace detail {

// Not collective. Copies of the levels, each with its volume fractions behind.
inline Status add_volume_fractions(int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                                   ::amrex::Vector<::amrex::MultiFab>& copies) {
  for (int l = 0; l < nlevels; ++l) {
    if (!mf[l]->hasEBFabFactory()) {
      return usage_error("level " + std::to_string(l) +
                         " of mf has no EBFArrayBoxFactory, which knows the volume fractions; make the "
                         "MultiFab with one, or call WriteMultiLevelPlotfile");
    }
    const int components = mf[l]->nComp();
    ::amrex::MultiFab& copy =
        copies.emplace_back(mf[l]->boxArray(), mf[l]->DistributionMap(), components + 1, 0);
    ::amrex::MultiFab::Copy(copy, *mf[l], 0, 0, components, 0);
    const auto& factory = dynamic_cast<const ::amrex::EBFArrayBoxFactory&>(mf[l]->Factory());
    ::amrex::MultiFab::Copy(copy, factory.getVolFrac(), 0, components, 1, 0);
  }
  return {};
}

}  // namespace detail

// Collective. As TryWriteMultiLevelPlotfile; the values are copied here, as AMReX copies them, but for all
// levels at once.
inline Result<WriteReport> TryEB_WriteMultiLevelPlotfile(
    const std::string& plotfilename, int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
    const ::amrex::Vector<std::string>& varnames, const ::amrex::Vector<::amrex::Geometry>& geom,
    ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
    const ::amrex::Vector<::amrex::IntVect>& ref_ratio, const CallOptions& options = {}) {
  ::amrex::Vector<::amrex::MultiFab> copies;
  const Status copied = detail::agreed([&]() -> Status {
    NEVE_TRY(describe_plotfile(nlevels, mf, varnames, geom, time, level_steps, ref_ratio).status());
    return detail::add_volume_fractions(nlevels, mf, copies);
  });
  NEVE_TRY(copied);
  ::amrex::Vector<const ::amrex::MultiFab*> levels;
  for (const ::amrex::MultiFab& copy : copies) levels.push_back(&copy);
  ::amrex::Vector<std::string> names = varnames;
  names.push_back("vfrac");
  return TryWriteMultiLevelPlotfile(plotfilename, nlevels, levels, names, geom, time, level_steps, ref_ratio,
                                    options);
}

// The same, ending the run through amrex::Abort on an error.
inline WriteReport EB_WriteMultiLevelPlotfile(const std::string& plotfilename, int nlevels,
                                              const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                                              const ::amrex::Vector<std::string>& varnames,
                                              const ::amrex::Vector<::amrex::Geometry>& geom,
                                              ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
                                              const ::amrex::Vector<::amrex::IntVect>& ref_ratio,
                                              const CallOptions& options) {
  return detail::value_or_abort("EB_WriteMultiLevelPlotfile",
                                TryEB_WriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time,
                                                              level_steps, ref_ratio, options));
}

// AMReX's own list of arguments; what they mean, and neve.plotfiles = 0, is as for WriteMultiLevelPlotfile.
inline WriteReport EB_WriteMultiLevelPlotfile(
    const std::string& plotfilename, int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
    const ::amrex::Vector<std::string>& varnames, const ::amrex::Vector<::amrex::Geometry>& geom,
    ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
    const ::amrex::Vector<::amrex::IntVect>& ref_ratio, const std::string& versionName = "HyperCLaw-V1.1",
    const std::string& levelPrefix = "Level_", const std::string& mfPrefix = "Cell",
    const ::amrex::Vector<std::string>& extra_dirs = {}, const CallOptions& options = {}) {
  if (!options.given && ReadInputs().plotfiles == 0) {
    ::amrex::EB_WriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time, level_steps,
                                        ref_ratio, versionName, levelPrefix, mfPrefix, extra_dirs);
    return WriteReport();
  }
  WriteReport report = EB_WriteMultiLevelPlotfile(plotfilename, nlevels, mf, varnames, geom, time,
                                                  level_steps, ref_ratio, options);
  detail::make_extra_directories(plotfilename, levelPrefix, nlevels, extra_dirs);
  return report;
}

inline WriteReport EB_WriteSingleLevelPlotfile(
    const std::string& plotfilename, const ::amrex::MultiFab& mf,
    const ::amrex::Vector<std::string>& varnames, const ::amrex::Geometry& geom, ::amrex::Real time,
    int level_step, const std::string& versionName = "HyperCLaw-V1.1",
    const std::string& levelPrefix = "Level_", const std::string& mfPrefix = "Cell",
    const ::amrex::Vector<std::string>& extra_dirs = {}, const CallOptions& options = {}) {
  return EB_WriteMultiLevelPlotfile(plotfilename, 1, {&mf}, varnames, {geom}, time, {level_step}, {},
                                    versionName, levelPrefix, mfPrefix, extra_dirs, options);
}

}  // namespace neve::amrex
