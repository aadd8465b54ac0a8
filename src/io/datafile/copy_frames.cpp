// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/copy_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/codecs/frame_selection.hpp"
#include "io/datafile/frame_survey.hpp"
#include "io/datafile/ordered_work.hpp"
#include "io/datafile/source_chunks.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/plotfile/file.hpp"
#include "neve/frame.hpp"
#include "neve/series.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using Seconds = std::chrono::duration<double>;

constexpr uint32_t all_filters_skipped = 1;  // the first filter is the only one
// Variables of more bytes that keep their method are read piece by piece, several times where they must, and
// coded one after the other; smaller ones are coded at the same time.
constexpr uint64_t most_held_bytes = uint64_t{16} << 20;

// All chunks of a variable that keeps its method from step to step of a series.
struct Step {
  SelectionMemory* memory = nullptr;
  std::vector<uint64_t> chunks;  // by number
  std::vector<std::vector<std::byte>> frames;

  bool any() const { return memory != nullptr; }
};

// A chunk that HDF5 stores as it is says so by a filter mask.
struct Job {
  const VariablePlan* plan = nullptr;
  bool is_resumed = false;  // the frame is that of an interrupted copy
  Extent first;
  std::vector<std::byte> values, frame;
  FrameRecord record;                       // but for where it is
  std::vector<SelectionReport> selections;  // one, where they are to be explained
  std::vector<ComponentReport> components;  // BoxedFrame
  Step step;                                // of which `values` are those of all chunks
};

Result<std::vector<std::byte>> encode_values(Job& job, FrameReport& report) {
  const VariablePlan& plan = *job.plan;
  if (plan.boxed == nullptr) {
    return encode_array(*plan.variable.dtype, plan.chunk, job.values.data(), plan.encode, &report);
  }
  NEVE_ASSIGN(BoxedFrame made,
              encode_boxed_chunk(*plan.variable.dtype, *plan.boxed, job.first.front(),
                                 plan.grid().held(job.first).front(), job.values, plan.encode.encode));
  report = std::move(made.report);
  job.components = std::move(made.components);
  return std::move(made.frame);
}

// `piece` gives the values of one of the step's chunks.
Status encode_step_of(Job& job, const std::function<const void*(size_t)>& piece, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  const VariablePlan& plan = *job.plan;
  ArrayOptions options = plan.encode;
  options.encode.threads = threads;
  auto frames = encode_step(*plan.variable.dtype, plan.chunk, job.step.chunks.size(), piece, options,
                            *job.step.memory, plan.variable.path);
  if (!frames.ok()) return frames.status().in(plan.variable.path);
  job.step.frames = std::move(*frames);
  job.record.encode_seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
  return {};
}

Status encode(Job& job) {
  if (job.is_resumed) return {};
  if (job.step.any()) {
    const uint64_t bytes = chunk_bytes(*job.plan);
    return encode_step_of(
        job, [&](size_t i) { return job.values.data() + i * bytes; }, 1);
  }
  const auto begin = std::chrono::steady_clock::now();
  const VariablePlan& plan = *job.plan;
  FrameReport report;
  auto frame = encode_values(job, report);
  if (!frame.ok()) return frame.status().in(plan.variable.path);
  job.selections = std::move(report.selections);
  if (frame->size() < job.values.size()) {
    const ComponentReport& component = report.components.front();
    job.record.max_abs_error = component.max_abs_error;
    job.record.codec = component.codec;
    job.record.method = component.method;
    job.frame = std::move(*frame);
  } else {
    job.record.codec = Codec::exact;
    job.record.filter_mask = all_filters_skipped;
    job.frame = std::move(job.values);
  }
  job.values = {};
  job.record.bytes = job.frame.size();
  job.record.checksum = frame_checksum(job.frame);
  job.record.encode_seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
  return {};
}

void add_components(const Job& job, std::vector<ComponentReport>& all) {
  all.resize(std::max(all.size(), job.components.size()));
  for (size_t c = 0; c < job.components.size(); ++c) {
    const ComponentReport& of_chunk = job.components[c];
    ComponentReport& report = all[c];
    if (of_chunk.cells > report.cells) report.codec = of_chunk.codec;
    report.cells += of_chunk.cells;
    report.stored_bytes += of_chunk.stored_bytes;
    report.special_cells += of_chunk.special_cells;
    report.exact_cells += of_chunk.exact_cells;
    report.max_abs_error = std::max(report.max_abs_error, of_chunk.max_abs_error);
  }
}

class FrameCopy {
 public:
  FrameCopy(hid_t source, TargetFile& target, StructureCopy& structure, CopyPlan& plan,
            const CopyOptions& options, Journal& journal, std::vector<VariableReport>& reports)
      : target_(target),
        structure_(structure),
        plan_(plan),
        options_(options),
        journal_(journal),
        reports_(reports),
        source_(source) {
    for (const VariablePlan& variable : plan.variables) {
      if (variable.is_coded) total_bytes_ += variable.variable.raw_bytes();
    }
    for (const EarlierFrame& earlier : journal.earlier()) {
      earlier_.emplace(std::pair(earlier.record.variable, earlier.record.chunk), earlier);
    }
  }

  Status run() {
    OrderedWork<Job> work(options_.threads, encode);
    while (variable_ < plan_.variables.size()) {
      if (is_large_step(plan_.variables[variable_])) {
        NEVE_TRY(copy_large_step());
        ++variable_;
      } else {
        NEVE_TRY(work.run([this] { return next(); }, [this](Job& job) { return finish(job); }));
      }
    }
    NEVE_TRY(link_current());
    forget_earlier();
    return {};
  }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // variable and chunk

  // The frame of an interrupted copy, where its bytes are what its record says.
  std::optional<Job> take_over(const VariablePlan& plan, const Key& key) {
    const auto found = earlier_.find(key);
    if (found == earlier_.end()) return {};
    const auto& [record, path] = found->second;
    // A frame is smaller than its chunk, or it is the chunk as it is.
    if (record.bytes > plan.grid().chunk_elements() * plan.variable.element_bytes) return {};
    auto& file = files_[path];
    if (file == nullptr) {
      auto opened = plotfile::File::open(path);
      if (!opened.ok()) return {};
      file = std::move(*opened);
    }
    Job job;
    job.plan = &plan;
    job.is_resumed = true;
    job.record = record;
    job.frame.resize(record.bytes);
    if (!file->read(static_cast<int64_t>(record.address), job.frame).ok()) return {};
    if (frame_checksum(job.frame) != record.checksum) return {};
    job.first = plan.grid().first_element(record.chunk);
    return job;
  }

  // Called when all frames of interrupted copies are here, and no earlier: interrupted once more, nothing is
  // lost.
  void forget_earlier() {
    if (earlier_.empty()) return;
    options_.say(fmt::format("continuing an interrupted copy: {} chunks are reused", resumed_chunks_));
    earlier_.clear();
    files_.clear();
    journal_.forget_earlier();
  }

  // Whether all chunks of the variable are coded by the method that the series has for it.
  bool keeps_method(const VariablePlan& plan) const {
    const bool chooses = (plan.encode.codec == Codec::automatic || plan.encode.codec == Codec::lossless) &&
                         plan.encode.tuning.method == LosslessMethod::automatic;
    return options_.memory != nullptr && plan.is_coded && plan.boxed == nullptr && chooses &&
           plan.encode.bound.mode == BoundMode::lossless;
  }

  bool is_large_step(const VariablePlan& plan) const {
    return keeps_method(plan) && plan.grid().count() > most_held_bytes / chunk_bytes(plan);
  }

  // Nothing where the next variable is a large one that keeps its method.
  Result<std::optional<Job>> next() {
    for (; variable_ < plan_.variables.size(); ++variable_, chunks_.reset()) {
      const VariablePlan& plan = plan_.variables[variable_];
      if (is_large_step(plan)) break;
      if (!plan.is_coded) continue;
      NEVE_TRY(source_.open(plan));
      if (keeps_method(plan)) {
        auto job = read_step(plan, true);
        if (!job.ok()) return job.status().in(plan.variable.path);
        if (job->step.chunks.empty()) continue;
        ++variable_;
        return std::optional(std::move(*job));
      }
      if (!chunks_) {
        const auto blocks = source_.written();
        if (!blocks.ok()) return blocks.status().in(plan.variable.path);
        chunks_.emplace(plan.grid(), *blocks);
      }
      // One that is found to be no gain is coded no longer.
      while (plan.is_coded) {
        const auto number = chunks_->next();
        if (!number) break;
        if (auto job = take_over(plan, {variable_, *number})) return job;
        auto job = read(plan, *number);
        if (!job.ok()) return job.status().in(plan.variable.path);
        if (*job) return job;
      }
    }
    return std::optional<Job>();
  }

  // The next variable as one job, with its values or without.
  Result<Job> read_step(const VariablePlan& plan, bool with_values) {
    Job job;
    job.plan = &plan;
    job.record.variable = variable_;
    job.step.memory = options_.memory;
    NEVE_ASSIGN(job.step.chunks, source_.numbers());
    for (size_t i = 0; with_values && i < job.step.chunks.size(); ++i) {
      NEVE_ASSIGN(const auto values, source_.values(plan.grid().first_element(job.step.chunks[i])));
      job.values.insert(job.values.end(), values.begin(), values.end());
    }
    return job;
  }

  // Values of one chunk of a step, once more.
  Result<std::vector<std::byte>> values_again(const Job& step, size_t i) {
    const VariablePlan& plan = *step.plan;
    if (step.values.empty()) return source_.values(plan.grid().first_element(step.step.chunks[i]));
    const auto begin = step.values.begin() + static_cast<ptrdiff_t>(i * chunk_bytes(plan));
    return std::vector<std::byte>(begin, begin + static_cast<ptrdiff_t>(chunk_bytes(plan)));
  }

  // One chunk of a step as it is to be stored: its frame, or its values where that is no smaller.
  Result<Job> chunk_of(Job& step, size_t i) {
    Job job;
    job.plan = step.plan;
    job.first = step.plan->grid().first_element(step.step.chunks[i]);
    job.record.variable = step.record.variable;
    job.record.chunk = step.step.chunks[i];
    job.frame = std::move(step.step.frames[i]);
    if (job.frame.size() < chunk_bytes(*step.plan)) {
      NEVE_ASSIGN(const FrameDescription description, describe_frame(job.frame));
      NEVE_ASSIGN(const Selection selection, frame_selection(job.frame, description));
      job.record.codec = selection.codec;
      job.record.method = selection.method;
    } else {
      job.record.codec = Codec::exact;
      job.record.filter_mask = all_filters_skipped;
      NEVE_ASSIGN(job.frame, values_again(step, i));
    }
    job.record.bytes = job.frame.size();
    job.record.checksum = frame_checksum(job.frame);
    return job;
  }

  // Nothing of a step is in the target before all its chunks are coded.
  Status finish_step(Job& step) {
    const VariablePlan& plan = *step.plan;
    uint64_t bytes = 0;
    for (const auto& frame : step.step.frames) bytes += std::min<uint64_t>(frame.size(), chunk_bytes(plan));
    reports_[step.record.variable].encode_seconds = step.record.encode_seconds;
    if (plan.no_gain_bytes && bytes >= *plan.no_gain_bytes) {
      let_stay(step.record.variable, bytes);
      return {};
    }
    for (size_t i = 0; i < step.step.chunks.size(); ++i) {
      auto job = chunk_of(step, i);
      if (!job.ok()) return job.status().in(plan.variable.path);
      NEVE_TRY(finish(*job));
    }
    return {};
  }

  Status copy_large_step() {
    const VariablePlan& plan = plan_.variables[variable_];
    NEVE_TRY(source_.open(plan));
    auto job = read_step(plan, false);
    if (!job.ok()) return job.status().in(plan.variable.path);
    Status read_status;
    std::vector<std::byte> values;
    const auto piece = [&](size_t i) -> const void* {
      auto found = values_again(*job, i);
      read_status = found.status();
      if (!found.ok()) return nullptr;
      values = std::move(*found);
      return values.data();
    };
    const Status encoded = encode_step_of(*job, piece, options_.threads);
    NEVE_TRY(read_status.in(plan.variable.path));
    NEVE_TRY(encoded);
    return finish_step(*job);
  }

  // Nothing where the source does not hold the chunk either.
  Result<std::optional<Job>> read(const VariablePlan& plan, uint64_t number) {
    Job job;
    job.plan = &plan;
    job.record.variable = variable_;
    job.record.chunk = number;
    job.first = plan.grid().first_element(number);
    NEVE_ASSIGN(const bool is_held, source_.holds(job.first));
    if (!is_held) return std::optional<Job>();
    NEVE_ASSIGN(job.values, source_.values(job.first));
    return std::optional(std::move(job));
  }

  // The variable whose frames have come until now is whole.
  Status link_current() {
    if (!dataset_.valid()) return {};
    NEVE_TRY(structure_.link(dataset_variable_, dataset_.id()));
    dataset_ = Handle();
    return {};
  }

  // HDF5 removes the frames that are in the target already: nothing leads to them.
  void let_stay(size_t variable, uint64_t frames_took) {
    VariablePlan& plan = plan_.variables[variable];
    plan.is_coded = false;
    plan.why_not = "frames would be no smaller";
    const double encode_seconds = reports_[variable].encode_seconds;
    reports_[variable] = start_report(plan);
    reports_[variable].frames_took = frames_took;
    reports_[variable].encode_seconds = encode_seconds;
    if (dataset_variable_ == variable) dataset_ = Handle();
  }

  Status finish(Job& job) {
    if (job.step.any()) return finish_step(job);
    const size_t variable = job.record.variable;
    if (!earlier_.empty() && Key(variable, job.record.chunk) > earlier_.rbegin()->first) forget_earlier();
    if (!job.plan->is_coded) return {};
    reports_[variable].encode_seconds += job.record.encode_seconds;
    const uint64_t frames_take = reports_[variable].stored_now + job.record.bytes;
    if (job.plan->no_gain_bytes && frames_take >= *job.plan->no_gain_bytes) {
      let_stay(variable, frames_take);
      return {};
    }
    if (!dataset_.valid() || dataset_variable_ != variable) {
      NEVE_TRY(link_current());
      NEVE_ASSIGN(dataset_, structure_.make_unlinked(variable));
      dataset_variable_ = variable;
    }
    auto address = target_.put_chunk(dataset_.id(), job.first, job.record.filter_mask, job.frame);
    if (!address.ok()) return address.status().in(job.plan->variable.path);
    job.record.address = *address;
    NEVE_TRY(journal_.note(job.record));
    count(job);
    return {};
  }

  void count(const Job& job) {
    const size_t variable = job.record.variable;
    VariableReport& report = reports_[variable];
    ++report.chunks;
    report.unfiltered_chunks += job.record.filter_mask != 0;
    report.stored_now += job.record.bytes;
    report.max_abs_error = std::max(report.max_abs_error, job.record.max_abs_error);
    report.resumed_chunks += job.is_resumed;
    resumed_chunks_ += job.is_resumed;
    if (report.explanation) {
      for (const SelectionReport& selection : job.selections) report.explanation->selection.add(selection);
    }
    add_components(job, report.components);
    ++report.methods[chunk_method_text(job.record.codec, job.record.method, job.record.filter_mask != 0)];
    done_bytes_ += chunk_bytes(*job.plan);
    options_.progress("encode", static_cast<double>(done_bytes_) / static_cast<double>(total_bytes_));
  }

  TargetFile& target_;
  StructureCopy& structure_;
  CopyPlan& plan_;
  const CopyOptions& options_;
  Journal& journal_;
  std::vector<VariableReport>& reports_;
  std::map<Key, EarlierFrame> earlier_;
  std::map<std::string, std::shared_ptr<plotfile::File>> files_;  // that they are in
  uint64_t resumed_chunks_ = 0;
  SourceChunks source_;
  Handle dataset_;  // the variable that frames are put into; it has no link yet
  size_t dataset_variable_ = SIZE_MAX;
  size_t variable_ = 0;
  std::optional<PieceWalk> chunks_;  // of that variable; nothing before the first
  uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace

VariableReport start_report(const VariablePlan& plan) {
  VariableReport report;
  report.path = plan.variable.path;
  report.dims = plan.variable.dims;
  report.type = plan.variable.type;
  report.is_coded = plan.is_coded;
  report.why_not = plan.why_not;
  report.raw_bytes = plan.variable.raw_bytes();
  report.stored_before = plan.variable.stored_bytes;
  if (plan.kept_as_grid) report.lossless_because = plan.kept_as_grid->text();
  if (!plan.is_coded) return report;
  report.asked = plan.asked;
  report.bound_abs = plan.encode.bound.mode == BoundMode::abs ? plan.encode.bound.value : 0;
  report.chunk = plan.chunk;
  if (plan.encode.encode.explain) report.explanation = {{}, plan.encode.tuning};
  return report;
}

Status copy_frames(hid_t source, TargetFile& target, StructureCopy& structure, CopyPlan& plan,
                   const CopyOptions& options, Journal& journal, std::vector<VariableReport>& reports) {
  return FrameCopy(source, target, structure, plan, options, journal, reports).run();
}

}  // namespace neve::datafile
