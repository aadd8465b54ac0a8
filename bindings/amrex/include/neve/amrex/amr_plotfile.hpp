// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles of codes built on AMReX's Amr and AmrLevel, where the library, not the program, assembles a
// plotfile.
#pragma once

#include <AMReX_Amr.H>
#include <AMReX_AmrLevel.H>
#ifdef AMREX_USE_EB
#include <AMReX_EB2.H>
#include <AMReX_EBFabFactory.H>
#endif

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "neve/amrex/plotfile.hpp"

namespace neve::amrex {

namespace detail {

// What Amr keeps for those derived from it: whether its levels have chosen the variables of plotfiles, which
// Amr::writePlotFile lets them do once, and the step of the last plotfile.
struct PlotState : ::amrex::Amr {
  static void choose_variables(::amrex::Amr& amr) {
    if (std::exchange(first_plotfile, false)) amr.getLevel(0).setPlotVariables();
  }
  static void set_last_plotfile(::amrex::Amr& amr) { amr.*(&PlotState::last_plotfile) = amr.levelSteps(0); }
};

// What Amr::writePlotFile writes: the state and derived quantities chosen by amr.plot_vars and
// amr.derive_plot_vars.
struct PlotVariables {
  std::vector<std::pair<int, int>> states;  // state type and component
  std::vector<const ::amrex::DeriveRec*> derived;
  bool volume_fraction = false;
  ::amrex::Vector<std::string> names;
};

inline PlotVariables plot_variables() {
  PlotVariables variables;
  const ::amrex::DescriptorList& states = ::amrex::AmrLevel::get_desc_lst();
  for (int type = 0; type < states.size(); ++type) {
    if (states[type].getType() != ::amrex::IndexType::TheCellType()) continue;
    for (int c = 0; c < states[type].nComp(); ++c) {
      if (!::amrex::Amr::isStatePlotVar(states[type].name(c))) continue;
      variables.states.emplace_back(type, c);
      variables.names.push_back(states[type].name(c));
    }
  }
  for (const ::amrex::DeriveRec& record : ::amrex::AmrLevel::get_derive_lst().dlist()) {
    if (!::amrex::Amr::isDerivePlotVar(record.name())) continue;
    variables.derived.push_back(&record);
    for (int c = 0; c < record.numDerive(); ++c) variables.names.push_back(record.variableName(c));
  }
#ifdef AMREX_USE_EB
  variables.volume_fraction = ::amrex::EB2::TopIndexSpaceIfPresent() != nullptr;
  if (variables.volume_fraction) variables.names.push_back("vfrac");
#endif
  return variables;
}

inline std::unique_ptr<::amrex::MultiFab> plot_values(::amrex::AmrLevel& level,
                                                      const PlotVariables& variables) {
  const int components = static_cast<int>(variables.names.size());
  auto values = std::make_unique<::amrex::MultiFab>(level.boxArray(), level.DistributionMap(), components, 0,
                                                    ::amrex::MFInfo(), level.Factory());
  int next = 0;
  for (const auto& [type, component] : variables.states) {
    ::amrex::MultiFab::Copy(*values, level.get_new_data(type), component, next++, 1, 0);
  }
  for (const ::amrex::DeriveRec* record : variables.derived) {
    level.derive(record->name(), level.get_state_data(0).curTime(), *values, next);
    next += record->numDerive();
  }
#ifdef AMREX_USE_EB
  if (variables.volume_fraction) {
    const auto& factory = dynamic_cast<const ::amrex::EBFArrayBoxFactory&>(level.Factory());
    ::amrex::MultiFab::Copy(*values, factory.getVolFrac(), 0, next, 1, 0);
  }
#endif
  return values;
}

// Whether the input file leaves out this step. Wrong options do not: the write tells of them.
inline bool is_left_out(const ::amrex::Vector<int>& steps) {
  const Result<RunInputs> inputs = TryReadInputs();
  return inputs.ok() && !is_wanted(*inputs, steps);
}

inline Result<WriteReport> write_levels(::amrex::Amr& amr, const std::string& plotfilename, int nlevels,
                                        const CallOptions& options, Status& earlier) {
  ::amrex::Vector<int> steps;
  for (int l = 0; l < nlevels; ++l) steps.push_back(amr.levelSteps(l));
  if (is_left_out(steps)) return WriteReport();  // before values are derived for it

  const PlotVariables variables = plot_variables();
  std::vector<std::unique_ptr<::amrex::MultiFab>> values;
  ::amrex::Vector<const ::amrex::MultiFab*> mf;
  for (int l = 0; l < nlevels; ++l) {
    mf.push_back(values.emplace_back(plot_values(amr.getLevel(l), variables)).get());
  }
  return write_multi_level(plotfilename, nlevels, mf, variables.names, amr.Geom(), amr.cumTime(), steps,
                           amr.refRatio(), options, earlier);
}

// Collective. The rank that does AMReX's output has the text.
inline Status keep_header_text(const std::string& path, const std::string& text) {
  return agreed([&]() -> Status {
    if (text.empty() || !::amrex::ParallelDescriptor::IOProcessor()) return {};
    std::ofstream file(path, std::ios::trunc);
    file << text;
    file.close();
    return file ? Status() : failure("cannot write " + path);
  });
}

// Collective. What TryWritePlotfile does of plotfiles that are asked for; `earlier` as of write_multi_level.
inline Result<WriteReport> write_plotfile(::amrex::Amr& amr, const std::string& plotfilename,
                                          const CallOptions& options, Status& earlier) {
  const int nlevels = std::min(amr.plotMaxLevel(), amr.finestLevel()) + 1;
  const std::string directory = without_last_slashes(plotfilename);
  PlotDirectory made;
  NEVE_TRY(agreed([&] { return made.make(directory); }));
  std::ostringstream header_text;
  for (int l = 0; l < nlevels; ++l) amr.getLevel(l).writePlotFilePre(directory, header_text);
  Result<WriteReport> report = write_levels(amr, directory, nlevels, options, earlier);
  if (!report.ok()) {
    made.take_back();
    return report;
  }
  for (int l = 0; l < nlevels; ++l) amr.getLevel(l).writePlotFilePost(directory, header_text);
  NEVE_TRY(keep_header_text(directory + "/header_text", header_text.str()));
  PlotState::set_last_plotfile(amr);
  return report;
}

}  // namespace detail

// Collective. Writes `plotfilename`.h5 with the levels and variables that amr.writePlotFile() writes at this
// moment, and calls what it calls: setPlotVariables of level 0 before the first plotfile, then of every level
// writePlotFilePre and, when the file is whole, writePlotFilePost, with the directory `plotfilename`. What
// these write to the stream of AMReX's text header, which this plotfile does not have, becomes the file
// `header_text` in that directory. Derived quantities need memory, so the values are copied here, as AMReX
// copies them, but for all levels at once. A class's own writePlotFile is not called. As in
// AMReX, nothing is written, and the report is empty, where amr.plot_files_output is 0 or no variable is
// chosen.
inline Result<WriteReport> TryWritePlotfile(::amrex::Amr& amr, const std::string& plotfilename,
                                            const CallOptions& options = {}) {
  if (!::amrex::Amr::Plot_Files_Output()) return WriteReport();
  detail::PlotState::choose_variables(amr);
  if (::amrex::Amr::statePlotVars().empty() && ::amrex::Amr::derivePlotVars().empty()) return WriteReport();

  Status earlier;
  Result<WriteReport> report = detail::write_plotfile(amr, plotfilename, options, earlier);
  return detail::with_earlier(earlier, std::move(report));
}

// The same, ending the run through amrex::Abort on an error.
inline WriteReport WritePlotfile(::amrex::Amr& amr, const std::string& plotfilename,
                                 const CallOptions& options = {}) {
  return detail::value_or_abort("WritePlotfile", TryWritePlotfile(amr, plotfilename, options));
}

}  // namespace neve::amrex
