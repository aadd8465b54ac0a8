// SPDX-License-Identifier: BSD-3-Clause
// For codes built on AMReX's Amr and AmrLevel: an Amr whose plotfiles and checkpoints are Neve's. Needs an
// AMReX with AmrLevel (AMReX_AMRLEVEL=ON, USE_AMRLEVEL=TRUE); not part of neve/amrex.hpp for that reason.
#pragma once

#include <AMReX_Amr.H>
#include <AMReX_AsyncOut.H>
#include <AMReX_ParmParse.H>
#include <AMReX_Print.H>

#include <string>
#include <utility>
#include <vector>

#include "neve/amrex/amr_checkpoint.hpp"
#include "neve/amrex/amr_plotfile.hpp"
#include "neve/amrex/amr_restart.hpp"
#include "neve/amrex/inputs.hpp"

namespace neve::amrex {

// Stands where the program has its amrex::Amr, with the same arguments. What Amr calls at amr.plot_int and
// amr.check_int, and what the program calls itself, then writes Neve's files, under the names of AMReX's,
// with the options of the input file; neve.plotfiles = 0 and neve.checkpoints = 0 give AMReX's own again.
// amr.restart takes Neve's checkpoints and AMReX's. Small plotfiles are AMReX's. Errors end the run through
// amrex::Abort, with the same message on every rank. All functions are collective.
class Amr : public ::amrex::Amr {
 public:
  using ::amrex::Amr::Amr;

  void init(::amrex::Real start, ::amrex::Real stop) override {
    (void)ReadInputs();  // a wrong one is told before the first step
    if (restart_chkfile.empty() || restart_chkfile == "init") return ::amrex::Amr::init(start, stop);
    const Result<std::vector<detail::SavedState>> saved = detail::find_saved_states(restart_chkfile);
    if (!saved.ok()) detail::abort_run("Amr::init", saved.status().in(restart_chkfile));
    if (saved->empty()) return ::amrex::Amr::init(start, stop);
    const Status status = restart_from(*saved);
    if (!status.ok()) detail::abort_run("Amr::init", status.in(restart_chkfile));
  }

  void writePlotFile() override {
    if (!ReadInputs().plotfiles) return ::amrex::Amr::writePlotFile();
    const std::string name = ::amrex::Concatenate(plot_file_root, level_steps[0], file_name_digits);
    if (Plot_Files_Output()) say("PLOTFILE: file = " + name);
    WritePlotfile(*this, name);
  }

  void checkPoint() override {
    const RunInputs inputs = ReadInputs();
    bool has_output = true;
    ::amrex::ParmParse("amr").query("checkpoint_files_output", has_output);
    if (!inputs.checkpoints || !has_output) return ::amrex::Amr::checkPoint();
    const std::string name = ::amrex::Concatenate(check_file_root, level_steps[0], file_name_digits);
    say("CHECKPOINT: file = " + name);
    const double begin = ::amrex::second();
    const WriteReport report = detail::value_or_abort("Amr::checkPoint", write_checkpoint(name, inputs));
    detail::RunLog::of_run().add(
        {detail::WrittenFile::checkpoint, name, level_steps[0], static_cast<double>(cumtime),
         ::amrex::second() - begin, detail::checkpoint_options(inputs), false, inputs.checkpoint_bound},
        report, inputs);
  }

 private:
  void say(const std::string& words) {
    if (verbose > 0) ::amrex::Print() << words << '\n';
    if (record_run_info != 0 && ::amrex::ParallelDescriptor::IOProcessor()) runlog << words << '\n';
  }

  // What Amr and the code's levels write of a checkpoint beside the states' values, as `folder`/<digits>;
  // with the values of `state`.
  void write_all_but_values(const std::string& folder, int state) {
    const detail::StatesLeftOut left_out(state);
    const std::string root = std::exchange(check_file_root, folder + "/");
    const int said = std::exchange(verbose, 0);
    const int recorded = std::exchange(record_run_info, 0);
    ::amrex::Amr::checkPoint();
    record_run_info = recorded;
    verbose = said;
    check_file_root = root;
    if (!::amrex::AsyncOut::UseAsyncOut()) return;
    ::amrex::AsyncOut::Finish();  // the folder is about to be renamed, by one rank for all
    ::amrex::ParallelDescriptor::Barrier();
  }

  Result<WriteReport> write_checkpoint(const std::string& name, const RunInputs& inputs) {
    detail::CheckpointDirectory directory(name);
    NEVE_TRY(detail::agreed([&] { return directory.create(); }));
    const std::string inside = ::amrex::Concatenate("", level_steps[0], file_name_digits);
    Status earlier;
    Result<WriteReport> report = fill_checkpoint(directory.temporary_path(), inside, inputs, earlier);
    NEVE_TRY(detail::agreed([&]() -> Status {
      if (report.ok()) return directory.commit_inside(inside);
      directory.clear();
      return {};
    }));
    return detail::with_earlier(earlier, std::move(report));
  }

  Result<WriteReport> fill_checkpoint(const std::string& folder, const std::string& inside,
                                      const RunInputs& inputs, Status& earlier) {
    const int seen = inputs.old_data < 0 ? old_data_.state_to_see(*this) : detail::no_state;
    write_all_but_values(folder, seen);
    const std::string directory = folder + "/" + inside;
    if (seen != detail::no_state) NEVE_TRY(old_data_.see(*this, seen, directory));
    const bool takes_old = inputs.old_data < 0 ? old_data_.takes_old() : inputs.old_data == 1;
    return detail::write_states(*this, detail::states_to_save(*this, takes_old), seen, directory, inputs,
                                earlier);
  }

  // Amr::restart reads AMReX's files: the states' values are written as such into a hidden folder beside the
  // run's own checkpoints, for as long as it takes.
  Status restart_from(const std::vector<detail::SavedState>& saved) {
    say("restarting from the Neve checkpoint " + restart_chkfile);
    detail::CheckpointDirectory folder(check_file_root + "restart");
    NEVE_TRY(detail::agreed([&] { return folder.create(); }));
    const Status unpacked = detail::unpack_states(restart_chkfile, saved, folder.temporary_path());
    // Headers of an earlier restart of this process, which are gone: AMReX forgets to forget them.
    ::amrex::StateData::SetFAHeaderMapPtr(nullptr);
    if (unpacked.ok()) restart(folder.temporary_path());
    NEVE_TRY(detail::agreed([&]() -> Status {
      folder.clear();
      return {};
    }));
    return unpacked;
  }

  detail::OldDataOfCode old_data_;
};

}  // namespace neve::amrex
