// SPDX-License-Identifier: BSD-3-Clause
#include "datafile/copy_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "datafile/ordered_work.hpp"
#include "hdf5/errors.hpp"
#include "neve/frame.hpp"
#include "plotfile/file.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;
using Seconds = std::chrono::duration<double>;

constexpr uint32_t all_filters_skipped = 1;  // the first filter is the only one

// A chunk that HDF5 stores as it is says so by a filter mask.
struct Job {
  const VariablePlan* plan = nullptr;
  Extent first;
  std::vector<std::byte> values, frame;
  FrameRecord record;                       // but for where it is
  std::vector<SelectionReport> selections;  // one, where they are to be explained
};

std::string method_text(const FrameRecord& record) {
  if (record.filter_mask != 0) return "as they are";
  std::string text(codec_name(record.codec));
  if (record.codec == Codec::lossless) text += fmt::format(" {}", lossless_method_name(record.method));
  return text;
}

Status encode(Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  const VariablePlan& plan = *job.plan;
  FrameReport report;
  auto frame = encode_array(*plan.variable.dtype, plan.chunk, job.values.data(), plan.encode, &report);
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

class FrameCopy {
 public:
  FrameCopy(hid_t source, TargetFile& target, const CopyPlan& plan, const CopyOptions& options,
            Journal& journal, std::vector<VariableReport>& reports)
      : source_(source),
        target_(target),
        plan_(plan),
        options_(options),
        journal_(journal),
        reports_(reports),
        taken_(plan.variables.size()) {
    for (const VariablePlan& variable : plan.variables) {
      if (variable.is_coded) total_bytes_ += variable.variable.raw_bytes();
    }
  }

  Status run() {
    NEVE_TRY(take_over_earlier());
    OrderedWork<Job> work(options_.threads, encode);
    return work.run([this] { return next(); }, [this](Job& job) { return finish(job); });
  }

 private:
  // The frames of interrupted copies whose bytes are what their records say. Only when all are here are the
  // files they came from removed: interrupted once more, nothing is lost.
  Status take_over_earlier() {
    std::map<std::string, std::shared_ptr<plotfile::File>> files;
    for (const EarlierFrame& earlier : journal_.earlier()) {
      const FrameRecord& record = earlier.record;
      if (record.variable >= plan_.variables.size()) continue;
      const VariablePlan& plan = plan_.variables[record.variable];
      if (!plan.is_coded || record.chunk >= plan.grid().count() || is_taken(record)) continue;
      // A frame is smaller than its chunk, or it is the chunk as it is.
      if (record.bytes > plan.grid().chunk_elements() * plan.variable.element_bytes) continue;
      auto& file = files[earlier.file];
      if (file == nullptr) {
        auto opened = plotfile::File::open(earlier.file);
        if (!opened.ok()) continue;
        file = std::move(*opened);
      }
      Job job;
      job.plan = &plan;
      job.record = record;
      job.frame.resize(record.bytes);
      if (!file->read(static_cast<int64_t>(record.address), job.frame).ok()) continue;
      if (frame_checksum(job.frame) != record.checksum) continue;
      job.first = plan.grid().first_element(record.chunk);
      NEVE_TRY(finish(job));
      taken_[record.variable].insert(record.chunk);
      ++reports_[record.variable].resumed_chunks;
    }
    if (!journal_.earlier().empty()) {
      uint64_t chunks = 0;
      for (const VariableReport& report : reports_) chunks += report.resumed_chunks;
      options_.say(fmt::format("going on with an interrupted copy: {} chunks are kept", chunks));
      journal_.forget_earlier();
    }
    return {};
  }

  bool is_taken(const FrameRecord& record) const { return taken_[record.variable].contains(record.chunk); }

  struct At {
    size_t variable = SIZE_MAX;
    Handle dataset, type;
  };

  Status open(At& at, hid_t file, size_t variable) {
    if (at.variable == variable) return {};
    const std::string& path = plan_.variables[variable].variable.path;
    // Larger source chunks than HDF5's cache are decoded once, when a chunk of the result takes whole ones.
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    constexpr size_t slots = 1021, cache_bytes = size_t{16} << 20;
    H5Pset_chunk_cache(access.id(), slots, cache_bytes, 1.0);
    at.dataset = Handle(H5Dopen2(file, path.c_str(), access.id()), H5Dclose);
    at.type = Handle(H5Dget_type(at.dataset.id()), H5Tclose);
    if (!at.dataset.valid() || !at.type.valid()) {
      return corrupt(fmt::format("{} cannot be opened: {}", path, last_error()));
    }
    at.variable = variable;
    return {};
  }

  Result<std::optional<Job>> next() {
    for (; variable_ < plan_.variables.size(); ++variable_, chunk_ = 0) {
      const VariablePlan& plan = plan_.variables[variable_];
      if (!plan.is_coded) continue;
      // A contiguous one that was never written has no storage.
      if (plan.variable.stored_bytes == 0 && plan.variable.layout != H5D_VIRTUAL) continue;
      for (const uint64_t chunks = plan.grid().count(); chunk_ < chunks;) {
        const uint64_t number = chunk_++;
        if (taken_[variable_].contains(number)) continue;
        NEVE_TRY(open(source_at_, source_, variable_));
        auto job = read(plan, number);
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
      NEVE_ASSIGN(const auto stored, stored_chunk_bytes(source_at_.dataset.id(), job.first));
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

  Status finish(Job& job) {
    const size_t variable = job.record.variable;
    NEVE_TRY(open(target_at_, target_.id(), variable));
    auto address = target_.put_chunk(target_at_.dataset.id(), job.first, job.record.filter_mask, job.frame);
    if (!address.ok()) return address.status().in(job.plan->variable.path);
    job.record.address = *address;
    NEVE_TRY(journal_.note(job.record));

    VariableReport& report = reports_[variable];
    ++report.chunks;
    report.unfiltered_chunks += job.record.filter_mask != 0;
    report.stored_now += job.record.bytes;
    report.max_abs_error = std::max(report.max_abs_error, job.record.max_abs_error);
    report.encode_seconds += job.record.encode_seconds;
    if (report.explanation) {
      for (const SelectionReport& selection : job.selections) report.explanation->selection.add(selection);
    }
    ++report.methods[method_text(job.record)];
    done_bytes_ += product(job.plan->chunk) * job.plan->variable.element_bytes;
    options_.progress("encode", static_cast<double>(done_bytes_) / static_cast<double>(total_bytes_));
    return {};
  }

  hid_t source_;
  TargetFile& target_;
  const CopyPlan& plan_;
  const CopyOptions& options_;
  Journal& journal_;
  std::vector<VariableReport>& reports_;
  std::vector<std::set<uint64_t>> taken_;  // chunks of each variable from earlier copies
  At source_at_, target_at_;
  size_t variable_ = 0;
  uint64_t chunk_ = 0;
  uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace

Status copy_frames(hid_t source, TargetFile& target, const CopyPlan& plan, const CopyOptions& options,
                   Journal& journal, std::vector<VariableReport>& reports) {
  return FrameCopy(source, target, plan, options, journal, reports).run();
}

}  // namespace neve::datafile
