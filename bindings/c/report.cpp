// SPDX-License-Identifier: BSD-3-Clause
// neve/report.h.
#include "bindings/c/report.hpp"

#include <algorithm>
#include <vector>

#include "bindings/c/bound_text.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/options.hpp"
#include "core/catalog/refusals.hpp"

namespace {

using neve::FieldReport;
using neve::LevelReport;
using neve::Status;
using neve::usage_error;
using neve::WriteReport;
using neve::capi::reported;

// Of each variable; a plotfile is one.
std::vector<const std::vector<LevelReport>*> variables_of(const WriteReport& report) {
  std::vector<const std::vector<LevelReport>*> all;
  for (const neve::VariableReport& variable : report.variables) all.push_back(&variable.levels);
  if (all.empty()) all.push_back(&report.levels);
  return all;
}

double worst_error(const WriteReport& report) {
  double worst = 0;
  for (const auto* levels : variables_of(report)) {
    for (const LevelReport& level : *levels) {
      for (const FieldReport& field : level.fields) {
        if (field.bound_abs > 0) worst = std::max(worst, field.max_abs_error / field.bound_abs);
      }
    }
  }
  return worst;
}

Status tell_totals(const neve_report* told, neve_write_report* out) {
  if (told == nullptr || out == nullptr)
    return usage_error(told == nullptr ? "report is NULL" : "totals is NULL");
  const WriteReport& report = told->report;
  neve_write_report totals{};
  totals.raw_bytes = report.raw_bytes;
  totals.file_bytes = report.file_bytes;
  totals.data_bytes = report.data_bytes;
  totals.mpi_writes = report.mpi_writes;
  totals.worst_error_over_bound = worst_error(report);
  totals.plan_seconds = report.plan_seconds;
  totals.encode_seconds = report.encode_seconds;
  totals.place_seconds = report.place_seconds;
  totals.write_seconds = report.write_seconds;
  totals.sync_seconds = report.sync_seconds;
  const auto variables = variables_of(report);
  totals.variables = static_cast<int>(variables.size());
  totals.levels = static_cast<int>(variables.front()->size());
  totals.staged_bytes = report.staged_bytes;
  return neve::capi::fill_struct("neve_write_report", "report.h", totals, out);
}

// `what` by its number.
template <class Items>
Status check_number(const char* what, int number, const Items& items) {
  if (items.empty()) return usage_error(std::string("the report has no ") + what + "s");
  if (number < 0 || static_cast<size_t>(number) >= items.size()) {
    return neve::out_of_range(what, number, 0, items.size() - 1);
  }
  return {};
}

neve_field_report told_of(const FieldReport& field) {
  neve_field_report told{};
  told.name = field.name.c_str();
  told.cells = field.cells;
  told.left_out_cells = field.left_out_cells;
  told.special_cells = field.special_cells;
  told.exact_cells = field.exact_cells;
  told.raw_bytes = field.raw_bytes;
  told.stored_bytes = field.stored_bytes;
  told.bound_mode = neve::capi::mode_name(field.asked.mode);
  told.bound_value = field.asked.mode == neve::BoundMode::lossless ? 0 : field.asked.value;
  told.bound_abs = field.bound_abs;
  told.max_abs_error = field.max_abs_error;
  told.range_min = field.range_min;
  told.range_max = field.range_max;
  told.has_fill = field.fill ? 1 : 0;
  told.fill = field.fill.value_or(0);
  told.codec = field.codec.c_str();
  told.arrangement = field.arrangement.c_str();
  told.chosen = field.chosen.c_str();
  told.covered = field.covered.c_str();
  return told;
}

Status tell_field(const neve_report* told, int variable, int level, int component, neve_field_report* out) {
  if (told == nullptr || out == nullptr)
    return usage_error(told == nullptr ? "report is NULL" : "field is NULL");
  const auto variables = variables_of(told->report);
  NEVE_TRY(check_number("variable", variable, variables));
  const std::vector<LevelReport>& levels = *variables[static_cast<size_t>(variable)];
  NEVE_TRY(check_number("level", level, levels));
  const std::vector<FieldReport>& fields = levels[static_cast<size_t>(level)].fields;
  NEVE_TRY(check_number("component", component, fields));
  return neve::capi::fill_struct("neve_field_report", "report.h",
                                 told_of(fields[static_cast<size_t>(component)]), out);
}

}  // namespace

int neve_report_totals(const neve_report* report, neve_write_report* totals) {
  return reported([&] { return tell_totals(report, totals); });
}

int neve_report_field(const neve_report* report, int variable, int level, int component,
                      neve_field_report* field) {
  return reported([&] { return tell_field(report, variable, level, component, field); });
}

void neve_report_free(neve_report* report) { delete report; }
