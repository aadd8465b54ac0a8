// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <memory>

#include "neve/checkpoint.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/explanation.hpp"
#include "tools/neve/source_to_write.hpp"
#include "tools/neve/variable_source.hpp"
#include "tools/neve/write_report.hpp"

namespace neve::cli {
namespace {

// What is to become of the variables, and that every rule is one of theirs.
Result<std::vector<Variable>> variables_to_write(const std::vector<Variable>& found,
                                                 const CheckpointConversion& conversion) {
  std::vector<Variable> variables = found;
  const WriteOptions& options = conversion.options;
  for (Variable& variable : variables) {
    variable.compress = options.compress;
    variable.bound = conversion.bound.value_or(Bound{BoundMode::lossless, 0});
    variable.codec = options.codec;
  }
  for (const auto& [name, rule] : options.fields) {
    const auto variable = std::find_if(variables.begin(), variables.end(),
                                       [&name = name](const Variable& v) { return v.name == name; });
    if (variable == variables.end()) {
      std::vector<std::string> names;
      for (const Variable& v : variables) names.push_back(v.name);
      return usage_error(
          fmt::format("--field: unknown variable '{}'; the variables are {}", name, fmt::join(names, ", ")));
    }
    if (rule.fill.has_value() || rule.tuning.has_value()) {
      return usage_error(
          fmt::format("--field {}: a checkpoint's variable takes only a bound and a codec", name));
    }
    variable->bound = rule.bound.value_or(variable->bound);
    variable->codec = rule.codec.value_or(variable->codec);
  }
  return variables;
}

// The variables' fields, one after another, as those of a plotfile.
void list_fields(const std::vector<Variable>& variables, WriteReport& report) {
  report.raw_bytes = 0;
  for (size_t v = 0; v < variables.size(); ++v) {
    const std::vector<LevelReport>& levels = report.variables[v].levels;
    report.levels.resize(levels.size());
    for (size_t l = 0; l < levels.size(); ++l) {
      LevelReport& into = report.levels[l];
      into.chunk_elements = std::max(into.chunk_elements, levels[l].chunk_elements);
      into.chunks += levels[l].chunks;
      into.stored_bytes += levels[l].stored_bytes;
      for (size_t c = 0; c < levels[l].fields.size(); ++c) {
        into.fields.push_back(levels[l].fields[c]);
        into.fields.back().name = variable_field_name(variables[v], c);
        report.raw_bytes += levels[l].fields[c].raw_bytes;
      }
    }
  }
}

}  // namespace

Status convert_checkpoint(const Ranks& ranks, CheckpointConversion conversion) {
  const double begin_seconds = MPI_Wtime();
  std::unique_ptr<Checkpoint> checkpoint;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(checkpoint, open_checkpoint(conversion.source, conversion.open));
    return {};
  })));
  NEVE_ASSIGN(const std::vector<Variable> variables, ranks.settle("options", [&] {
    return variables_to_write(checkpoint->variables(), conversion);
  }));

  const double open_seconds = MPI_Wtime() - begin_seconds;
  Progress progress(ranks.first());
  std::deque<VariableSource> of_variables;  // those that are written refer to them
  std::deque<SourceToWrite> to_write;
  std::vector<PlotfileSource*> values;
  for (size_t v = 0; v < variables.size(); ++v) {
    VariableSource& source = of_variables.emplace_back(*checkpoint, static_cast<int>(v));
    values.push_back(&to_write.emplace_back(source, conversion.source));
  }

  WriteOptions options = conversion.options;
  options.fields.clear();  // they have become the variables'
  options.progress = [&](const std::string& phase, double fraction) { progress.show(phase, fraction); };
  NEVE_ASSIGN(WriteReport report, write_checkpoint(ranks.comm(), conversion.destination,
                                                   checkpoint->hierarchy(), variables, values, options));
  if (!ranks.first()) return {};
  double read_seconds = open_seconds;
  for (const SourceToWrite& source : to_write) read_seconds += source.seconds();
  list_fields(variables, report);
  nlohmann::ordered_json j = {{"source", conversion.source},
                              {"source_kind", "Neve checkpoint"},
                              {"destination", conversion.destination},
                              {"destination_kind", "Neve checkpoint"},
                              {"ranks", ranks.size()}};
  const bool bound_is_default = !conversion.bound;
  const std::string bound = to_string(conversion.bound.value_or(Bound{BoundMode::lossless, 0}));
  if (conversion.options.compress) {
    j["bound"] = bound;
    j["bound_is_default"] = bound_is_default;
  }
  j.update(report_json(report));
  j["seconds"] = phases_json(report, read_seconds);
  j["seconds"]["total"] = MPI_Wtime() - begin_seconds;
  std::string summary =
      report_table(report) +
      (conversion.options.compress ? bound_line(bound, bound_is_default, " or --field") : "") +
      report_summary(conversion.destination, report) + explanations_text(report);
  if (options.layout != FileLayout{}) summary += hints_line(report);
  std::cout << (conversion.json ? json_text(j) + "\n" : summary) << std::flush;
  return {};
}

}  // namespace neve::cli
