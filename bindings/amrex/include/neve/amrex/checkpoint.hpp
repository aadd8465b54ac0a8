// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: a directory with one Neve file for each named set of MultiFabs, each lossless or within a
// bound of its own, of any centring, with or without ghost cells. It appears under its name only when it is
// whole.
#pragma once

#include <AMReX_DistributionMapping.H>
#include <AMReX_MultiFab.H>
#include <AMReX_ParReduce.H>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neve/amrex/agree.hpp"
#include "neve/amrex/checkpoint_directory.hpp"
#include "neve/amrex/checkpoint_layout.hpp"
#include "neve/amrex/inputs.hpp"
#include "neve/amrex/plot_directory.hpp"
#include "neve/amrex/run_log.hpp"
#include "neve/amrex/spread.hpp"
#include "neve/amrex/view.hpp"
#include "neve/plotfile_reader.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::amrex {

struct CheckpointField {
  std::string name;                                  // of the file: <checkpoint>/<name>.h5
  ::amrex::Vector<const ::amrex::MultiFab*> levels;  // coarsest first
  Bound bound{BoundMode::lossless, 0};
  bool ghosts = false;                        // keep the ghost cells, too
  ::amrex::Vector<std::string> components{};  // their names; empty: <name>, or <name>_0, <name>_1, ...
};

struct RestartField {
  std::string name;
  // A MultiFab that is not defined yet is defined: on the boxes of the file, with the ghost cells it holds.
  ::amrex::Vector<::amrex::MultiFab*> levels;
};

namespace detail {

// A field ready to be written.
struct PreparedField {
  Hierarchy hierarchy;
  ::amrex::IntVect ghosts;  // that are kept
  WriteOptions options;
};

inline Status check_field_names(const std::vector<CheckpointField>& fields) {
  std::set<std::string> seen;
  for (const CheckpointField& field : fields) {
    if (field.name.empty() || field.name.find('/') != std::string::npos) {
      return usage_error("field \"" + field.name +
                         "\": a name is the name of a file, not empty and without '/'");
    }
    if (!seen.insert(field.name).second) return usage_error("two fields are called \"" + field.name + "\"");
  }
  return {};
}

// Boxes that overlap are moved apart, and then have no place in the levels' domains nor above one another:
// the levels get one domain around all of them, and nothing counts as covered.
inline Status place_boxes(const CheckpointField& field, const ::amrex::IntVect& ghosts,
                          PreparedField& prepared) {
  Hierarchy& h = prepared.hierarchy;
  CheckpointLayout layout;
  layout.centring = field.levels[0]->ixType();
  layout.ghosts = ghosts;
  Box around;
  bool apart = false;
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::vector<Box> cells = cell_boxes(field.levels[static_cast<int>(l)]->boxArray());
    const Spread spread = spread_of(cells, layout.centring, ghosts);
    for (const Box& box : cells) h.levels[l].boxes.push_back(spread.place(box));
    layout.spreads.push_back(spread);
    apart = apart || spread.reach != IntVect{0, 0, 0};
    if (l == 0) around = h.levels[0].boxes[0];
    for (const Box& box : h.levels[l].boxes) around = hull(around, box);
  }
  h.side_files[CheckpointLayout::file_name] = layout.to_text();
  if (!apart) return {};
  for (Level& level : h.levels) {
    level.domain = around;
    level.ref_ratio = {1, 1, 1};
  }
  prepared.options.covered = Covered::keep;
  return {};
}

inline Result<std::vector<std::string>> component_names(const CheckpointField& field, int count) {
  if (!field.components.empty()) {
    NEVE_TRY(check_count(field.components, "names of components", count).in("field " + field.name));
    return std::vector<std::string>(field.components.begin(), field.components.end());
  }
  std::vector<std::string> names;
  for (int c = 0; c < count; ++c) {
    names.push_back(count == 1 ? field.name : field.name + "_" + std::to_string(c));
  }
  return names;
}

inline Result<PreparedField> prepare(const CheckpointField& field, int nlevels, const Hierarchy& levels,
                                     const WriteOptions& options) {
  NEVE_TRY(check_levels(nlevels, field.levels, "field " + field.name));
  const ::amrex::MultiFab& coarsest = *field.levels[0];
  const ::amrex::IntVect ghosts = field.ghosts ? coarsest.nGrowVect() : ::amrex::IntVect(0);
  PreparedField prepared{levels, ghosts, with_threads_of_run(options)};
  prepared.options.bound = field.bound;
  NEVE_ASSIGN(prepared.hierarchy.components, component_names(field, coarsest.nComp()));
  NEVE_TRY(place_boxes(field, ghosts, prepared));
  for (int l = 0; l < nlevels; ++l) {
    const ::amrex::MultiFab& mf = *field.levels[l];
    if (field.ghosts && mf.nGrowVect() != ghosts) {
      return usage_error("level " + std::to_string(l) + " of field " + field.name +
                         " has other ghost cells than level 0");
    }
  }
  return prepared;
}

struct ValidRange {
  double least = 0, most = 0;
  long count_least = 0, count_most = 0;
};

// Collective. Smallest and largest of those finite values of a component in valid cells that lie between
// `above` and `below`, and how many are the smallest and the largest.
inline ValidRange valid_range(const ::amrex::MultiFab& mf, int component, ::amrex::Real above,
                              ::amrex::Real below) {
  using ::amrex::Real;
  const auto& values = mf.const_arrays();
  const Real highest = std::numeric_limits<Real>::max();
  const auto range = ::amrex::ParReduce(
      ::amrex::TypeList<::amrex::ReduceOpMin, ::amrex::ReduceOpMax>{}, ::amrex::TypeList<Real, Real>{}, mf,
      ::amrex::IntVect(0),
      [=] AMREX_GPU_DEVICE(int box, int i, int j, int k) noexcept -> ::amrex::GpuTuple<Real, Real> {
        const Real value = values[box](i, j, k, component);
        if (value - value == 0 && value > above && value < below) return {value, value};
        return {highest, -highest};
      });
  Real least = ::amrex::get<0>(range), most = ::amrex::get<1>(range);
  ::amrex::ParallelDescriptor::ReduceRealMin(least);
  ::amrex::ParallelDescriptor::ReduceRealMax(most);
  const auto counts = ::amrex::ParReduce(
      ::amrex::TypeList<::amrex::ReduceOpSum, ::amrex::ReduceOpSum>{}, ::amrex::TypeList<long, long>{}, mf,
      ::amrex::IntVect(0),
      [=] AMREX_GPU_DEVICE(int box, int i, int j, int k) noexcept -> ::amrex::GpuTuple<long, long> {
        const Real value = values[box](i, j, k, component);
        return {value == least ? 1 : 0, value == most ? 1 : 0};
      });
  long count_least = ::amrex::get<0>(counts), count_most = ::amrex::get<1>(counts);
  ::amrex::ParallelDescriptor::ReduceLongSum(count_least);
  ::amrex::ParallelDescriptor::ReduceLongSum(count_most);
  return {least, most, count_least, count_most};
}

// Collective. How far the values of a component on a level lie apart. An end of the range that several cells
// have may be a fill value, or what a code puts into cells inside a body, and does not count: a range that is
// too small makes a bound only tighter.
inline double spread_of_values(const ::amrex::MultiFab& mf, int component) {
  const ::amrex::Real all = std::numeric_limits<::amrex::Real>::infinity();
  const ValidRange whole = valid_range(mf, component, -all, all);
  const bool drops_least = whole.count_least > 1, drops_most = whole.count_most > 1;
  if (!drops_least && !drops_most) return std::max(0.0, whole.most - whole.least);
  const ValidRange inner =
      valid_range(mf, component, drops_least ? static_cast<::amrex::Real>(whole.least) : -all,
                  drops_most ? static_cast<::amrex::Real>(whole.most) : all);
  return std::max(0.0, inner.most - inner.least);
}

// Collective. What codes leave in ghost cells is no part of a range: where these are kept, a relative bound
// becomes an absolute one, from the level where values lie closest together; lossless, where one has no
// range.
inline WriteOptions options_of(const CheckpointField& field, int nlevels, const PreparedField& prepared) {
  WriteOptions options = prepared.options;
  if (prepared.ghosts == ::amrex::IntVect(0) || field.bound.mode != BoundMode::rel) return options;
  for (int c = 0; c < field.levels[0]->nComp(); ++c) {
    double smallest = std::numeric_limits<double>::infinity();
    for (int l = 0; l < nlevels; ++l) smallest = std::min(smallest, spread_of_values(*field.levels[l], c));
    const double bound = field.bound.value * smallest;
    const bool is_bound = bound > 0 && std::isfinite(bound);
    options.fields[prepared.hierarchy.components[static_cast<size_t>(c)]].bound =
        is_bound ? Bound{BoundMode::abs, bound} : Bound{BoundMode::lossless, 0};
  }
  return options;
}

// Collective. The field's file, at `path`; `earlier` as of write_plotfile_if.
inline Result<WriteReport> write_field(const CheckpointField& field, int nlevels, const std::string& path,
                                       const PreparedField& prepared, Status& earlier) {
  std::vector<LocalBox> owned;
  HostValues host;  // of this field alone
  const Status added = caught([&]() -> Status {
    for (int l = 0; l < nlevels; ++l) NEVE_TRY(add_owned(*field.levels[l], l, prepared.ghosts, owned, host));
    return {};
  });
  return write_plotfile_if(communicator(), added, path, prepared.hierarchy, owned,
                           options_of(field, nlevels, prepared), &earlier);
}

// Collective. The files of all fields, in `directory`. `earlier`: the error of a plotfile that an earlier
// call was to write behind and that is lost.
inline Result<std::vector<WriteReport>> write_field_files(const std::string& directory, int nlevels,
                                                          const std::vector<CheckpointField>& fields,
                                                          const std::vector<PreparedField>& prepared,
                                                          Status& earlier) {
  std::vector<WriteReport> reports;
  for (size_t f = 0; f < fields.size(); ++f) {
    Status told;
    const std::string path = directory + "/" + fields[f].name + ".h5";
    Result<WriteReport> report = write_field(fields[f], nlevels, path, prepared[f], told);
    Status all_told = both(earlier, told);
    std::swap(earlier, all_told);  // (nvcc warns of an assignment that its result is not used)
    if (!report.ok()) return report.status().in("field " + fields[f].name);
    reports.push_back(std::move(*report));
  }
  return Result<std::vector<WriteReport>>(std::move(reports));
}

// Collective. The checkpoint's directory with all its files; `earlier` as of write_field_files.
inline Result<std::vector<WriteReport>> write_fields(const std::string& checkpoint, int nlevels,
                                                     const std::vector<CheckpointField>& fields,
                                                     const std::vector<PreparedField>& prepared,
                                                     const std::string& header, Status& earlier) {
  CheckpointDirectory directory(checkpoint);
  NEVE_TRY(agreed([&] { return directory.create(); }));
  auto reports = write_field_files(directory.temporary_path(), nlevels, fields, prepared, earlier);
  NEVE_TRY(agreed([&]() -> Status {
    if (reports.ok()) return directory.commit(header);
    directory.clear();
    return {};
  }));
  return reports;
}

// A field's file, opened on this rank.
struct OpenedField {
  std::unique_ptr<PlotfileSource> source;
  CheckpointLayout layout;
  std::vector<std::vector<Box>> cells;  // [level][box], the boxes that were written
};

inline Result<OpenedField> open_field(const std::string& path, const RestartField& field, int nlevels) {
  OpenedField opened;
  NEVE_ASSIGN(opened.source, open_plotfile(path));
  const Hierarchy& h = opened.source->hierarchy();
  const auto found = h.side_files.find(CheckpointLayout::file_name);
  if (found == h.side_files.end()) return usage_error("it is not a file of a Neve checkpoint");
  NEVE_ASSIGN(opened.layout, CheckpointLayout::parse(found->second, h));
  if (h.dtype != real_dtype) {
    return usage_error("it holds " + std::string(dtype_name(h.dtype)) + "; this program's amrex::Real is " +
                       std::string(dtype_name(real_dtype)));
  }
  if (nlevels != static_cast<int>(h.levels.size())) {
    return usage_error("it holds " + std::to_string(h.levels.size()) + " levels; nlevels is " +
                       std::to_string(nlevels));
  }
  NEVE_TRY(check_count(field.levels, "levels", nlevels));
  for (size_t l = 0; l < h.levels.size(); ++l) {
    if (field.levels[static_cast<int>(l)] == nullptr) {
      return usage_error("level " + std::to_string(l) + " is a null pointer");
    }
    auto& cells = opened.cells.emplace_back();
    for (const Box& box : h.levels[l].boxes) cells.push_back(opened.layout.spreads[l].cells(box));
  }
  return Result<OpenedField>(std::move(opened));  // (C++17 moves it there by itself in some compilers alone)
}

inline Status check_target(const OpenedField& opened, size_t l, const ::amrex::MultiFab& mf) {
  const Hierarchy& h = opened.source->hierarchy();
  const std::string level = "level " + std::to_string(l);
  if (mf.nComp() != static_cast<int>(h.components.size())) {
    return usage_error(level + ": the file has " + std::to_string(h.components.size()) +
                       " components, the MultiFab " + std::to_string(mf.nComp()));
  }
  if (mf.ixType() != opened.layout.centring)
    return usage_error(level + ": the MultiFab has another centring than the file");
  if (!mf.nGrowVect().allGE(opened.layout.ghosts)) {
    return usage_error(level + ": the file holds more ghost cells than the MultiFab has");
  }
  if (cell_boxes(mf.boxArray()) != opened.cells[l]) {
    return usage_error(
        level +
        ": the MultiFab has other boxes than the file. Read into a MultiFab that is not defined "
        "yet, which takes the file's, and use ParallelCopy");
  }
  return {};
}

// A box into `fab`, which is in the host's memory; ghost cells that the file does not hold keep their values.
inline Status read_fab(OpenedField& opened, size_t l, int box, const ::amrex::Box& stored,
                       ::amrex::FArrayBox& fab) {
  std::vector<::amrex::Real> values;
  const bool fills_fab = stored == fab.box();
  if (!fills_fab) values.resize(static_cast<size_t>(stored.numPts()));
  for (int c = 0; c < fab.nComp(); ++c) {
    ::amrex::Real* target = fills_fab ? fab.dataPtr(c) : values.data();
    NEVE_TRY(opened.source->read_box(static_cast<int>(l), box, c, reinterpret_cast<std::byte*>(target)));
    if (fills_fab) continue;
    const ::amrex::FArrayBox read(stored, 1, values.data());
    fab.copy<::amrex::RunOn::Host>(read, stored, 0, stored, c, 1);
  }
  return {};
}

inline Status read_level(OpenedField& opened, size_t l, ::amrex::MultiFab& mf) {
  NEVE_TRY(check_target(opened, l, mf));
  ::amrex::Gpu::streamSynchronize();
  for (const int box : mf.IndexArray()) {
    ::amrex::FArrayBox& fab = mf[box];
    const ::amrex::Box stored = ::amrex::grow(mf.box(box), opened.layout.ghosts);
    if (!is_of_device(*fab.arena())) {
      NEVE_TRY(read_fab(opened, l, box, stored, fab));
      continue;
    }
    ::amrex::FArrayBox host(fab.box(), fab.nComp(), ::amrex::The_Pinned_Arena());
    if (stored != fab.box()) copy_from_device(host, fab);
    ::amrex::Gpu::streamSynchronize();
    NEVE_TRY(read_fab(opened, l, box, stored, host));
    copy_to_device(fab, host);
    ::amrex::Gpu::streamSynchronize();
  }
  return {};
}

// MultiFabs of one level share a distribution where they have the same cells.
class Distributions {
 public:
  const ::amrex::DistributionMapping& of(const ::amrex::BoxArray& cells) {
    for (const auto& [known, mapping] : known_) {
      if (known == cells) return mapping;
    }
    return known_.emplace_back(cells, ::amrex::DistributionMapping(cells)).second;
  }
  void learn(const ::amrex::MultiFab& mf) {
    known_.emplace_back(::amrex::convert(mf.boxArray(), ::amrex::IndexType::TheCellType()),
                        mf.DistributionMap());
  }

 private:
  std::vector<std::pair<::amrex::BoxArray, ::amrex::DistributionMapping>> known_;
};

inline void define_missing(int nlevels, const std::vector<OpenedField>& opened,
                           const std::vector<RestartField>& fields) {
  for (int l = 0; l < nlevels; ++l) {
    Distributions distributions;
    for (const RestartField& field : fields) {
      if (!field.levels[l]->empty()) distributions.learn(*field.levels[l]);
    }
    for (size_t f = 0; f < fields.size(); ++f) {
      ::amrex::MultiFab& mf = *fields[f].levels[l];
      if (!mf.empty()) continue;
      ::amrex::BoxList list;
      for (const Box& box : opened[f].cells[static_cast<size_t>(l)]) list.push_back(to_amrex(box));
      const ::amrex::BoxArray cells(std::move(list));
      const auto components = static_cast<int>(opened[f].source->hierarchy().components.size());
      mf.define(::amrex::convert(cells, opened[f].layout.centring), distributions.of(cells), components,
                opened[f].layout.ghosts);
    }
  }
}

}  // namespace detail

// Collective. Writes the directory `checkpoint`: <name>.h5 for each field, and `header`, unless empty, as
// Header. It is written in a hidden folder beside and renamed when whole; a directory that has the name
// already is then renamed to `checkpoint`.old.<digits>, as AMReX does. On an error nothing is left behind,
// and an earlier directory stays. In `options` the bound is not used and `fields` must be empty: each field
// has its own bound. Without `options` the input file's effort and threads hold, and what it says of how
// files are written (inputs.hpp). One report for each field.
inline Result<std::vector<WriteReport>> TryWriteCheckpoint(
    const std::string& checkpoint, int nlevels, const std::vector<CheckpointField>& fields,
    const ::amrex::Vector<::amrex::Geometry>& geom, ::amrex::Real time,
    const ::amrex::Vector<int>& level_steps, const ::amrex::Vector<::amrex::IntVect>& ref_ratio,
    const std::string& header = "", const CallOptions& call_options = {}) {
  const double begin = ::amrex::second();
  RunInputs inputs;
  WriteOptions options;
  std::vector<detail::PreparedField> prepared;
  const Status ready = detail::agreed([&]() -> Status {
    NEVE_ASSIGN(inputs, TryReadInputs());
    options = call_options.given ? *call_options.given : detail::checkpoint_options(inputs);
    NEVE_TRY(detail::check_field_names(fields));
    if (!options.fields.empty()) {
      return usage_error("options.fields names " + options.fields.begin()->first +
                         "; in a checkpoint a field's bound is in its CheckpointField");
    }
    if (behind_of(options) != Behind::none) {
      const bool is_staged = options.behind == Behind::none;
      return usage_error((is_staged ? "options.stage is " + options.stage
                                    : "options.behind is " + std::string(behind_name(options.behind))) +
                         "; checkpoints, which are several files, are complete when the call returns: none "
                         "is allowed");
    }
    NEVE_ASSIGN(const Hierarchy levels, describe_levels(nlevels, geom, time, level_steps, ref_ratio));
    for (const CheckpointField& field : fields) {
      NEVE_ASSIGN(detail::PreparedField next, detail::prepare(field, nlevels, levels, options));
      prepared.push_back(std::move(next));
    }
    return {};
  });
  NEVE_TRY(ready);

  Status earlier;
  auto reports = detail::write_fields(checkpoint, nlevels, fields, prepared, header, earlier);
  if (reports.ok()) {
    detail::RunLog::of_run().add(
        {detail::WrittenFile::checkpoint, detail::without_last_slashes(checkpoint), level_steps[0],
         static_cast<double>(time), ::amrex::second() - begin, options, call_options.given.has_value()},
        detail::sum_of(*reports), inputs);
  }
  return detail::with_earlier(earlier, std::move(reports));
}

// Collective. Reads fields back; each rank reads its own boxes only. A MultiFab that is defined must have the
// boxes, components and centring that were written, on any distribution; ghost cells that were not written
// keep their values. On an error the MultiFabs may be partly read.
inline Status TryReadCheckpoint(const std::string& checkpoint, int nlevels,
                                const std::vector<RestartField>& fields) {
  std::vector<detail::OpenedField> opened;
  const auto path = [&](const RestartField& field) { return checkpoint + "/" + field.name + ".h5"; };
  const Status found = detail::agreed([&]() -> Status {
    for (const RestartField& field : fields) {
      Result<detail::OpenedField> next = detail::open_field(path(field), field, nlevels);
      if (!next.ok()) return next.status().in(path(field));
      opened.push_back(std::move(*next));
    }
    return {};
  });
  NEVE_TRY(found);
  detail::define_missing(nlevels, opened, fields);
  return detail::agreed([&]() -> Status {
    for (size_t f = 0; f < fields.size(); ++f) {
      for (size_t l = 0; l < static_cast<size_t>(nlevels); ++l) {
        NEVE_TRY(
            detail::read_level(opened[f], l, *fields[f].levels[static_cast<int>(l)]).in(path(fields[f])));
      }
    }
    return {};
  });
}

// The same, ending the run through amrex::Abort on an error.
inline std::vector<WriteReport> WriteCheckpoint(const std::string& checkpoint, int nlevels,
                                                const std::vector<CheckpointField>& fields,
                                                const ::amrex::Vector<::amrex::Geometry>& geom,
                                                ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
                                                const ::amrex::Vector<::amrex::IntVect>& ref_ratio,
                                                const std::string& header = "",
                                                const CallOptions& options = {}) {
  return detail::value_or_abort(
      "WriteCheckpoint",
      TryWriteCheckpoint(checkpoint, nlevels, fields, geom, time, level_steps, ref_ratio, header, options));
}

inline void ReadCheckpoint(const std::string& checkpoint, int nlevels,
                           const std::vector<RestartField>& fields) {
  const Status status = TryReadCheckpoint(checkpoint, nlevels, fields);
  if (!status.ok()) detail::abort_run("ReadCheckpoint", status);
}

}  // namespace neve::amrex
