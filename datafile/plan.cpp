// SPDX-License-Identifier: BSD-3-Clause
#include "datafile/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "datafile/attributes.hpp"
#include "hdf5/errors.hpp"
#include "hdf5/filter.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

// A contiguous variable of fewer bytes stays contiguous: an index of chunks and a frame's header take more
// than is gained.
constexpr uint64_t least_bytes = 2048;

bool matches(const std::string& pattern, const std::string& path) {
  if (pattern.find('/') == std::string::npos) {
    return ::fnmatch(pattern.c_str(), path.c_str() + path.rfind('/') + 1, 0) == 0;
  }
  const std::string whole = pattern.front() == '/' ? pattern : "/" + pattern;
  return ::fnmatch(whole.c_str(), path.c_str(), 0) == 0;
}

// A rule that has matched nothing is a mistake, and so is a bound that no variable can have.
struct RuleUse {
  bool matched = false, bound_used = false;
};

std::string reason_not_to_code(const Variable& variable) {
  if (variable.extent == H5S_NULL) return "no values";
  if (variable.extent == H5S_SCALAR || variable.dims.empty()) return "a single value";
  if (!variable.dtype) return variable.type;
  if (variable.chunk.empty() && variable.raw_bytes() < least_bytes) {
    return fmt::format("under {} bytes", least_bytes);
  }
  return {};
}

std::optional<double> declared_fill(hid_t dataset) {
  for (const char* name : {"_FillValue", "missing_value"}) {
    const auto value = numeric_attribute(dataset, name);
    if (value && !std::isnan(*value)) return value;
  }
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double value = 0;
  if (H5Pfill_value_defined(creation.id(), &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED ||
      H5Pget_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &value) < 0 || std::isnan(value)) {
    return {};
  }
  return value;
}

Extent plan_chunk(const Variable& variable, const CopyOptions& options) {
  const bool has_chunks = !variable.chunk.empty();
  if (has_chunks && !options.chunk_bytes) return variable.chunk;
  const Extent unit = has_chunks ? variable.chunk : Extent(variable.dims.size(), 1);
  return choose_chunk(variable.dims, unit, variable.element_bytes,
                      options.chunk_bytes.value_or(default_chunk_bytes));
}

// The range of the whole variable, as a bound relative to it needs. `fill` as the data betray it where none
// is known.
Result<ValueRange> scan_variable(hid_t dataset, const VariablePlan& plan, std::optional<double> fill) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const ChunkGrid grid = plan.grid();
  std::vector<std::byte> values(grid.chunk_elements() * plan.variable.element_bytes);
  ValueRange range;
  for (uint64_t number = 0; number < grid.count(); ++number) {
    const Extent first = grid.first_element(number);
    const Extent held = grid.held(first);
    NEVE_TRY(read_elements(dataset, first, held, type.id(), values.data()));
    FrameBox box;
    box.size[0] = static_cast<int64_t>(product(held));
    range.merge(scan_range(*plan.variable.dtype, box, dense_box_data(values.data(), box), 0, fill));
  }
  return range;
}

Status plan_bound(hid_t dataset, const CopyOptions& options, VariablePlan& plan) {
  if (plan.asked.mode != BoundMode::rel) {
    plan.encode.bound = plan.asked;
    return {};
  }
  NEVE_ASSIGN(ValueRange range, scan_variable(dataset, plan, plan.encode.fill));
  if (!plan.encode.fill && options.use_fill) {
    if (const auto suspect = suspect_fill(*plan.variable.dtype, range); suspect) {
      NEVE_ASSIGN(const ValueRange others, scan_variable(dataset, plan, suspect));
      if (accept_fill(*suspect, others)) {
        plan.encode.fill = suspect;
        range = others;
      }
    }
  }
  const double bound_abs = absolute_bound(plan.asked, range);
  plan.encode.bound = bound_abs > 0 ? Bound{BoundMode::abs, bound_abs} : Bound{BoundMode::lossless, 0};
  return {};
}

// Bounds, and codecs that need one, are for floating point; fill values of integers are found in the data.
void keep_integers(bool detect_fill, VariablePlan& plan) {
  plan.asked = {BoundMode::lossless, 0};
  if (!keeps_integers(plan.encode.codec)) plan.encode.codec = Codec::automatic;
  plan.encode.fill.reset();
  plan.encode.detect_fill = detect_fill;
}

Result<VariablePlan> plan_variable(hid_t dataset, const std::string& path, const CopyOptions& options,
                                   std::vector<RuleUse>& uses) {
  VariablePlan plan;
  NEVE_ASSIGN(plan.variable, describe_variable(dataset, path));
  const Variable& variable = plan.variable;
  plan.asked = options.bound;
  plan.encode.codec = options.codec;
  plan.encode.tuning = options.tuning;
  plan.encode.encode.effort = options.effort;
  plan.encode.encode.explain = options.explain;
  plan.encode.fill = options.use_fill ? options.fill : std::nullopt;
  plan.why_not = reason_not_to_code(variable);
  for (size_t r = 0; r < options.rules.size(); ++r) {
    const VariableRule& rule = options.rules[r];
    if (!matches(rule.pattern, path)) continue;
    uses[r].matched = true;
    uses[r].bound_used |= plan.why_not.empty() && !is_integer(*variable.dtype);
    if (rule.bound) plan.asked = *rule.bound;
    if (rule.codec) plan.encode.codec = *rule.codec;
    if (rule.tuning) plan.encode.tuning = *rule.tuning;
    if (rule.effort) plan.encode.encode.effort = *rule.effort;
    if (rule.fill) plan.encode.fill = rule.fill;
    if (rule.stays) plan.why_not = "a rule";
  }
  plan.is_coded = plan.why_not.empty();
  if (!plan.is_coded) return plan;
  if (is_integer(*variable.dtype)) {
    keep_integers(options.use_fill, plan);
  } else {
    if (!plan.encode.fill && options.use_fill) plan.encode.fill = declared_fill(dataset);
    plan.encode.detect_fill = options.use_fill;
  }
  plan.chunk = plan_chunk(variable, options);
  plan.same_chunks = plan.chunk == variable.chunk;
  NEVE_TRY(plan_bound(dataset, options, plan).in(path));
  return plan;
}

Status check_uses(const CopyOptions& options, const std::vector<RuleUse>& uses) {
  for (size_t r = 0; r < uses.size(); ++r) {
    const VariableRule& rule = options.rules[r];
    if (!uses[r].matched) {
      return usage_error(fmt::format("the rule for '{}' matches no variable of the file", rule.pattern));
    }
    const bool is_lossy = rule.bound && rule.bound->mode != BoundMode::lossless;
    if (is_lossy && !uses[r].bound_used) {
      return usage_error(fmt::format(
          "the rule for '{}' gives a bound, but no variable it matches has values that Neve codes "
          "within one",
          rule.pattern));
    }
  }
  return {};
}

}  // namespace

hdf5::FilterParameters VariablePlan::filter() const {
  hdf5::FilterParameters parameters;
  parameters.bound = encode.bound;
  parameters.codec = encode.codec;
  parameters.effort = encode.encode.effort;
  parameters.fill = encode.fill;
  parameters.detect_fill = encode.detect_fill;
  return parameters;
}

std::string CopyPlan::key() const {
  std::string key;
  for (const VariablePlan& plan : variables) {
    if (!plan.is_coded) continue;
    const CodecTuning& tuning = plan.encode.tuning;
    key += fmt::format("{}|{}|{}|{}|{},{},{},{},{},{},{}\n", plan.variable.path,
                       fmt::join(plan.variable.dims, ","), fmt::join(plan.chunk, ","),
                       fmt::join(hdf5::to_words(plan.filter()), ","), static_cast<int>(tuning.arrangement),
                       tuning.unit_cells, tuning.block_cells, tuning.merge_units,
                       static_cast<int>(tuning.method), tuning.speed_weight, tuning.ratio_weight);
  }
  return key;
}

Result<CopyPlan> make_plan(hid_t file, const Contents& contents, const CopyOptions& options) {
  CopyPlan plan;
  std::vector<RuleUse> uses(options.rules.size());
  size_t done = 0;
  for (const Entry& entry : contents.entries) {
    options.progress("plan", static_cast<double>(done++) / static_cast<double>(contents.entries.size()));
    if (entry.kind != EntryKind::dataset) continue;
    const Handle dataset(H5Dopen2(file, entry.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) {
      return corrupt(fmt::format("{} cannot be opened: {}", entry.path, last_error()));
    }
    NEVE_ASSIGN(VariablePlan variable, plan_variable(dataset.id(), entry.path, options, uses));
    plan.variables.push_back(std::move(variable));
  }
  NEVE_TRY(check_uses(options, uses));
  return plan;
}

}  // namespace neve::datafile
