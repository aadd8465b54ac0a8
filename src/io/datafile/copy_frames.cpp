// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/copy_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "io/datafile/ordered_work.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/stored_chunks.hpp"
#include "io/plotfile/file.hpp"
#include "neve/frame.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;
using Seconds = std::chrono::duration<double>;

constexpr uint32_t all_filters_skipped = 1;  // the first filter is the only one

// A chunk that HDF5 stores as it is says so by a filter mask.
struct Job {
  const VariablePlan* plan = nullptr;
  bool is_resumed = false;  // the frame is that of an interrupted copy
  Extent first;
  std::vector<std::byte> values, frame;
  FrameRecord record;                       // but for where it is
  std::vector<SelectionReport> selections;  // one, where they are to be explained
  std::vector<ComponentReport> components;  // BoxedFrame
};

std::string method_text(const FrameRecord& record) {
  if (record.filter_mask != 0) return "as they are";
  std::string text(codec_name(record.codec));
  if (record.codec == Codec::lossless) text += fmt::format(" {}", lossless_method_name(record.method));
  return text;
}

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

Status encode(Job& job) {
  if (job.is_resumed) return {};
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
      : source_(source),
        target_(target),
        structure_(structure),
        plan_(plan),
        options_(options),
        journal_(journal),
        reports_(reports) {
    for (const VariablePlan& variable : plan.variables) {
      if (variable.is_coded) total_bytes_ += variable.variable.raw_bytes();
    }
    for (const EarlierFrame& earlier : journal.earlier()) {
      earlier_.emplace(std::pair(earlier.record.variable, earlier.record.chunk), earlier);
    }
  }

  Status run() {
    OrderedWork<Job> work(options_.threads, encode);
    NEVE_TRY(work.run([this] { return next(); }, [this](Job& job) { return finish(job); }));
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

  struct At {
    size_t variable = SIZE_MAX;
    Handle dataset, type;
  };

  Status open_source(size_t variable) {
    At& at = source_at_;
    if (at.variable == variable) return {};
    const std::string& path = plan_.variables[variable].variable.path;
    at.dataset = hdf5::open_dataset_to_read(source_, path);
    at.type = Handle(H5Dget_type(at.dataset.id()), H5Tclose);
    if (!at.dataset.valid() || !at.type.valid()) {
      return corrupt(fmt::format("{} cannot be opened: {}", path, last_error()));
    }
    at.variable = variable;
    return {};
  }

  Result<std::optional<Job>> next() {
    for (; variable_ < plan_.variables.size(); ++variable_, chunks_.reset()) {
      const VariablePlan& plan = plan_.variables[variable_];
      if (!plan.is_coded) continue;
      NEVE_TRY(open_source(variable_));
      if (!chunks_) {
        const auto blocks = written_blocks(source_at_.dataset.id(), plan.variable);
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

  // Nothing where the source does not hold the chunk either.
  Result<std::optional<Job>> read(const VariablePlan& plan, uint64_t number) {
    Job job;
    job.plan = &plan;
    job.record.variable = variable_;
    job.record.chunk = number;
    job.first = plan.grid().first_element(number);
    const Extent held = plan.grid().held(job.first);
    if (plan.same_chunks) {
      const std::vector<hsize_t> offset(job.first.begin(), job.first.end());
      NEVE_ASSIGN(const auto stored, hdf5::stored_chunk_bytes(source_at_.dataset.id(), offset));
      if (!stored) return std::optional<Job>();
    }
    const size_t element_bytes = plan.variable.element_bytes;
    job.values.resize(product(plan.chunk) * element_bytes);
    if (held == plan.chunk) {
      NEVE_TRY(
          read_elements(source_at_.dataset.id(), job.first, held, source_at_.type.id(), job.values.data()));
      return std::optional(std::move(job));
    }
    std::vector<std::byte> values(product(held) * element_bytes);
    NEVE_TRY(read_elements(source_at_.dataset.id(), job.first, held, source_at_.type.id(), values.data()));
    NEVE_TRY(fill_chunk(plan, job.values));
    place_held(values, held, element_bytes, plan.chunk, job.values);
    // What lies past an end that can move must be the fill value: HDF5 shows it once the dataset grows.
    std::vector<uint8_t> repeated(plan.chunk.size());
    for (size_t d = 0; d < repeated.size(); ++d) repeated[d] = !plan.variable.can_grow(d);
    repeat_last_values(job.values, element_bytes, plan.chunk, held, repeated);
    return std::optional(std::move(job));
  }

  Status fill_chunk(const VariablePlan& plan, std::vector<std::byte>& values) {
    const Handle creation(H5Dget_create_plist(source_at_.dataset.id()), H5Pclose);
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    std::vector<std::byte> fill(plan.variable.element_bytes);
    if (H5Pfill_value_defined(creation.id(), &defined) < 0) return corrupt("its fill value cannot be read");
    if (defined == H5D_FILL_VALUE_UNDEFINED) return {};
    if (H5Pget_fill_value(creation.id(), source_at_.type.id(), fill.data()) < 0) {
      return corrupt("its fill value cannot be read");
    }
    for (size_t at = 0; at < values.size(); at += fill.size()) {
      std::copy(fill.begin(), fill.end(), values.begin() + static_cast<ptrdiff_t>(at));
    }
    return {};
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
    ++report.methods[method_text(job.record)];
    done_bytes_ += product(job.plan->chunk) * job.plan->variable.element_bytes;
    options_.progress("encode", static_cast<double>(done_bytes_) / static_cast<double>(total_bytes_));
  }

  hid_t source_;
  TargetFile& target_;
  StructureCopy& structure_;
  CopyPlan& plan_;
  const CopyOptions& options_;
  Journal& journal_;
  std::vector<VariableReport>& reports_;
  std::map<Key, EarlierFrame> earlier_;
  std::map<std::string, std::shared_ptr<plotfile::File>> files_;  // that they are in
  uint64_t resumed_chunks_ = 0;
  At source_at_;
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
