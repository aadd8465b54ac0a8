// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/copy.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <span>

#include "io/datafile/contents.hpp"
#include "io/datafile/copy_frames.hpp"
#include "io/datafile/copy_planned.hpp"
#include "io/datafile/copy_structure.hpp"
#include "io/datafile/journal.hpp"
#include "io/datafile/plan.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/external_files.hpp"
#include "io/hdf5/filter.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

// What tells a file and its state from any other.
struct FileIdentity {
  uint64_t device = 0, number = 0, bytes = 0;
  int64_t seconds = 0, nanoseconds = 0;
};

Result<FileIdentity> identify(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  return FileIdentity{info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec,
                      info.st_mtim.tv_nsec};
}

uint64_t copy_key(const FileIdentity& source, const CopyPlan& plan, bool is_of_series) {
  const std::string text =
      fmt::format("{} {} {} {} {}{}\n{}", source.device, source.number, source.bytes, source.seconds,
                  source.nanoseconds, is_of_series ? " of a series" : "", plan.key());
  return frame_checksum(std::as_bytes(std::span(text.data(), text.size())));
}

// The copy will have what HDF5 gives for it.
void say_missing(hid_t source, const std::string& source_path, const CopyPlan& plan,
                 const CopyOptions& options) {
  for (const VariablePlan& of : plan.variables) {
    if (of.variable.layout != H5D_VIRTUAL && !of.variable.is_external) continue;
    const Handle dataset(H5Dopen2(source, of.variable.path.c_str(), H5P_DEFAULT), H5Dclose);
    for (const std::string& what : hdf5::missing_sources(dataset.id(), source_path)) {
      options.say(fmt::format("{}: {}; its values are {} in the copy, as HDF5 reads them", of.variable.path,
                              what, of.variable.is_external ? "0" : "the fill value"));
    }
  }
}

Status measure_others(hid_t target, std::vector<VariableReport>& reports) {
  for (VariableReport& report : reports) {
    if (report.is_coded) continue;
    const Handle dataset(H5Dopen2(target, report.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return failure(fmt::format("{} cannot be opened again", report.path));
    report.stored_now = H5Dget_storage_size(dataset.id());
  }
  return {};
}

uint64_t choices_so_far(const SelectionMemory* memory) {
  return memory == nullptr ? 0 : memory->choices_dropped() + memory->choices().size();
}

// Those that the memory has logged since it had `before`.
std::vector<StepChoice> choices_since(const SelectionMemory* memory, uint64_t before, const CopyPlan& plan) {
  std::vector<StepChoice> choices;
  if (memory == nullptr) return choices;
  std::map<std::string, const VariablePlan*> plan_of;
  for (const VariablePlan& of : plan.variables) plan_of.emplace(of.variable.path, &of);
  std::vector<Choice> all = memory->choices();
  const uint64_t dropped = memory->choices_dropped();
  for (uint64_t c = before > dropped ? before - dropped : 0; c < all.size(); ++c) {
    const VariablePlan& of = *plan_of.at(all[c].variable);
    choices.push_back({std::move(all[c]), of.encode.encode.effort, of.encode.tuning, of.is_coded});
  }
  // In the order of the file: they were made in that of the threads.
  std::stable_sort(choices.begin(), choices.end(), [&](const StepChoice& a, const StepChoice& b) {
    return plan_of.at(a.choice.variable) < plan_of.at(b.choice.variable);
  });
  return choices;
}

Status check_has_no_log(const Contents& contents) {
  for (const Entry& entry : contents.entries) {
    if (!is_of_choice_log(entry.path)) continue;
    return usage_error(fmt::format(
        "{} is there already, the log of another series' choices: convert what this file was made from, or "
        "leave the log out",
        entry.path));
  }
  return {};
}

Status fill_part(hid_t source, const std::string& source_path, const Contents& contents, CopyPlan& plan,
                 const CopyOptions& options, const CopySteps& steps, Journal& journal, CopyReport& report) {
  NEVE_ASSIGN(TargetFile target, TargetFile::create(source, journal.part(), plan));
  {
    // It holds objects of the target open.
    StructureCopy structure(source, target.id(), contents, plan, report.lost_references);
    const uint64_t choices_before = choices_so_far(options.memory);
    NEVE_TRY(copy_frames(source, target, structure, plan, options, journal, report.variables));
    report.choices = choices_since(options.memory, choices_before, plan);
    NEVE_TRY(structure.finish());
  }
  NEVE_TRY(measure_others(target.id(), report.variables));
  if (steps.finish) NEVE_TRY(steps.finish(target.id(), plan, report));
  NEVE_TRY(target.close());
  return copy_user_block(source, source_path, journal.part());
}

}  // namespace

Result<CopyReport> copy_data_file(const std::string& source_path, const std::string& target_path,
                                  const CopyOptions& options) {
  const bool has_log = options.choice_log != ChoiceLog::none;
  if (has_log && options.memory == nullptr)
    return usage_error("a log of choices is of a series: CopyOptions::memory is null");
  CopySteps steps;
  steps.plan = [&](hid_t source, const Contents& contents) -> Result<CopyPlan> {
    if (has_log) NEVE_TRY(check_has_no_log(contents));
    return make_plan(source, contents, options);
  };
  steps.keeps_part = options.memory == nullptr;
  if (has_log) {
    steps.finish = [&](hid_t target, const CopyPlan&, const CopyReport& report) {
      std::vector<Choice> choices;
      OwnTunings own;
      for (const StepChoice& of : report.choices) {
        if (!of.is_coded) continue;
        choices.push_back(of.choice);
        if (!is_chosen_alike(of.tuning, options.tuning)) own[of.choice.variable] = of.tuning;
      }
      return write_choice_log(target, choices, options.memory->rules(), options.tuning, own,
                              options.choice_log);
    };
  }
  return copy_planned(source_path, target_path, options, steps);
}

Result<CopyReport> copy_planned(const std::string& source_path, const std::string& target_path,
                                const CopyOptions& options, const CopySteps& steps) {
  const auto begin = std::chrono::steady_clock::now();
  NEVE_TRY(hdf5::register_filter());
  const hdf5::QuietErrors quiet;
  NEVE_ASSIGN(const FileIdentity identity, identify(source_path));
  if (const auto target = identify(target_path);
      target.ok() && target->device == identity.device && target->number == identity.number) {
    return usage_error(fmt::format("{} and {} are the same file", source_path, target_path));
  }
  NEVE_ASSIGN(const Handle source, open_source(source_path, options.open, hdf5::Reading::values));
  auto contents = list_contents(source.id());
  if (!contents.ok()) return contents.status().in(source_path);
  auto plan = steps.plan(source.id(), *contents);
  if (!plan.ok()) return plan.status().in(source_path);
  say_missing(source.id(), source_path, *plan, options);

  const bool is_of_series = options.memory != nullptr;
  const bool resume = options.resume && !is_of_series;
  NEVE_ASSIGN(Journal journal, Journal::beside(target_path, copy_key(identity, *plan, is_of_series), resume));
  if (journal.had_other_key() && resume) {
    options.say(fmt::format(
        "an interrupted copy to {} was made from another source or with other options: starting over",
        target_path));
  }
  CopyReport report;
  for (const VariablePlan& variable : plan->variables) report.variables.push_back(start_report(variable));
  report.source_bytes = identity.bytes;
  if (const Status status =
          fill_part(source.id(), source_path, *contents, *plan, options, steps, journal, report);
      !status.ok()) {
    // What the system refused (a full disk) may work later: the frames are kept for that.
    if (status.code() != Code::failure || !steps.keeps_part || !journal.holds_frames()) {
      journal.abandon();
      return status.in(source_path);
    }
    return failure(fmt::format(
        "{}; the finished part is in {}, and the same command continues from there once the cause is removed",
        status.message(), journal.part()));
  }
  NEVE_ASSIGN(const FileIdentity now, identify(source_path));
  if (now.bytes != identity.bytes || now.seconds != identity.seconds ||
      now.nanoseconds != identity.nanoseconds) {
    journal.abandon();
    return failure(fmt::format("{} changed while it was read", source_path));
  }
  NEVE_TRY(journal.commit());
  NEVE_ASSIGN(const FileIdentity made, identify(target_path));
  report.target_bytes = made.bytes;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace neve::datafile
