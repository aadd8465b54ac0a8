// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/copy_checkpoint.hpp"

#include "io/datafile/checkpoint_plan.hpp"
#include "io/datafile/copy_planned.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/field_records.hpp"

namespace neve::datafile {
namespace {

std::vector<hdf5::FieldRecord> records_of(const BoundedDataset& dataset, const BoxedPlan& boxed,
                                          const VariableReport& report) {
  std::vector<hdf5::FieldRecord> records;
  for (size_t c = 0; c < boxed.specs.size(); ++c) {
    const ComponentSpec& spec = boxed.specs[c];
    hdf5::FieldRecord& record = records.emplace_back();
    record.name = dataset.components[c];
    record.asked = spec.asked;
    record.bound_abs = spec.bound_abs;
    record.range_min = spec.range.min;
    record.range_max = spec.range.max;
    record.cells = dataset.cells;
    record.fill = spec.fill;
    record.arrangement = arrangement_name(Arrangement::linear);
    record.covered = "none";
    record.chosen = spec.codec == Codec::automatic ? "by chunk" : "asked for";
    if (c >= report.components.size()) continue;
    const ComponentReport& found = report.components[c];
    record.max_abs_error = found.max_abs_error;
    record.special_cells = found.special_cells;
    record.exact_cells = found.exact_cells;
    record.stored_bytes = found.stored_bytes;
    record.codec = codec_name(found.codec);
  }
  return records;
}

// `made`: what the plan has come to.
Status write_tables(hid_t target, const CheckpointPlan& plan, const CopyPlan& made,
                    const CopyReport& report) {
  for (const auto& [number, dataset] : plan.bounded) {
    if (!made.variables[number].is_coded) continue;
    const hdf5::Handle group(H5Gopen2(target, dataset.group.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) {
      return failure(dataset.group + " cannot be opened again: " + hdf5::last_error());
    }
    const BoxedPlan& boxed = *made.variables[number].boxed;
    const std::string table = hdf5::boxed_field_table(dataset.base);
    // The source may be such a copy itself.
    if (H5Lexists(group.id(), table.c_str(), H5P_DEFAULT) > 0 &&
        H5Ldelete(group.id(), table.c_str(), H5P_DEFAULT) < 0) {
      return failure(table + " cannot be replaced: " + hdf5::last_error());
    }
    NEVE_TRY(
        hdf5::write_field_records(group.id(), table, records_of(dataset, boxed, report.variables[number]))
            .in(dataset.group));
  }
  return {};
}

}  // namespace

Result<CopyReport> copy_checkpoint(const std::string& source, const std::string& target,
                                   const CheckpointCopyOptions& options) {
  CopyOptions copy = options.copy;
  copy.resume = false;
  CheckpointPlan plan;
  CopySteps steps;
  steps.keeps_part = false;
  steps.plan = [&](hid_t file, const Contents& contents) -> Result<CopyPlan> {
    NEVE_ASSIGN(plan, make_checkpoint_plan(file, contents, options));
    return plan.copy;
  };
  steps.finish = [&](hid_t file, const CopyPlan& made, const CopyReport& report) {
    return write_tables(file, plan, made, report);
  };
  return copy_planned(source, target, copy, steps);
}

}  // namespace neve::datafile
