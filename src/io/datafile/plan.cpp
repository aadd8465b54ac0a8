// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/codecs/array_part.hpp"
#include "core/format/codec_choices.hpp"
#include "io/datafile/attributes.hpp"
#include "io/datafile/chunk_index.hpp"
#include "io/datafile/missing_values.hpp"
#include "io/datafile/netcdf_names.hpp"
#include "io/datafile/rule_uses.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/open_to_read.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

// A contiguous variable of fewer bytes stays contiguous: an index of chunks and a frame's header take more
// than is gained.
constexpr uint64_t min_bytes = 2048;

std::string reason_not_to_code(const Variable& variable) {
  if (variable.extent == H5S_NULL) return "no values";
  if (variable.extent == H5S_SCALAR || variable.dims.empty()) return "a single value";
  if (!variable.dtype) return variable.type;
  if (variable.chunk.empty() && variable.raw_bytes() < min_bytes) {
    return fmt::format("under {} bytes", min_bytes);
  }
  return {};
}

Extent plan_chunk(const Variable& variable, const CopyOptions& options) {
  const bool has_chunks = !variable.chunk.empty();
  if (has_chunks && !options.chunk_bytes) return variable.chunk;
  const Extent unit = has_chunks ? variable.chunk : Extent(variable.dims.size(), 1);
  return choose_chunk(variable.dims, unit, variable.element_bytes,
                      options.chunk_bytes.value_or(default_chunk_bytes));
}

// The range of the whole variable without fill values, as a bound relative to it needs. `blocks`: its
// written_blocks.
Result<ValueRange> scan_variable(hid_t dataset, const VariablePlan& plan,
                                 const std::vector<ElementBlock>& blocks, std::optional<double> fill) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const ChunkGrid grid = plan.grid();
  std::vector<std::byte> values(grid.chunk_elements() * plan.variable.element_bytes);
  ValueRange range;
  PieceWalk pieces(grid, blocks);
  while (const auto number = pieces.next()) {
    const Extent first = grid.first_element(*number);
    const Extent held = grid.held(first);
    NEVE_TRY(read_elements(dataset, first, held, type.id(), values.data()));
    FrameBox box;
    box.size[0] = static_cast<int64_t>(product(held));
    NEVE_ASSIGN(const ValueRange part,
                scan_range(*plan.variable.dtype, box, dense_box_data(values.data(), box), 0, fill,
                           plan.encode.missing));
    range.merge(part);
  }
  return range;
}

Status plan_bound(hid_t dataset, const CopyOptions& options, VariablePlan& plan) {
  if (plan.asked.mode != BoundMode::rel) {
    plan.encode.bound = plan.asked;
    return {};
  }
  NEVE_ASSIGN(const std::vector<ElementBlock> blocks, written_blocks(dataset, plan.variable));
  NEVE_ASSIGN(const ArrayMeasure whole,
              measure_values(*plan.variable.dtype, plan.encode.fill, options.use_fill,
                             [&](const std::optional<double>& fill) {
                               return scan_variable(dataset, plan, blocks, fill);
                             }));
  plan.encode.fill = whole.fill;
  const double bound_abs = absolute_bound(plan.asked, whole.range);
  plan.encode.bound = bound_abs > 0 ? Bound{BoundMode::abs, bound_abs} : Bound{BoundMode::lossless, 0};
  if (!(bound_abs > 0) && !can_keep_every_bit(plan.encode.codec)) plan.encode.codec = Codec::automatic;
  return {};
}

// A fill value that somebody gave goes first; what the file declares comes back bit for bit all the same.
void plan_missing(DeclaredMissing declared, ArrayOptions& encode) {
  encode.missing = std::move(declared.others);
  if (!encode.fill) {
    encode.fill = declared.fill;
  } else if (declared.fill && declared.fill != encode.fill) {
    encode.missing.fills.push_back(*declared.fill);
  }
  if (declared.unlikely) encode.missing.fills.push_back(*declared.unlikely);
  encode.missing.is_mask = encode.fill.has_value();
}

// No bound, and no codec that needs one.
void keep_every_bit(VariablePlan& plan) {
  plan.asked = {BoundMode::lossless, 0};
  if (!keeps_integers(plan.encode.codec)) plan.encode.codec = Codec::automatic;
}

// Bounds are for floating point; fill values of integers are found in the data.
void keep_integers(bool detect_fill, VariablePlan& plan) {
  keep_every_bit(plan);
  plan.encode.fill.reset();
  plan.encode.missing = {};
  plan.encode.detect_fill = detect_fill;
}

// Whether HDF5 can make a dataset with these filters; it reads some that it cannot write (szip).
bool can_be_made_again(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const int count = H5Pget_nfilters(creation.id());
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0, of_filter = 0;
    size_t words = 0;
    const H5Z_filter_t id =
        H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &words, nullptr, 0, nullptr, &config);
    if (id < 0 || H5Zfilter_avail(id) <= 0 || H5Zget_filter_info(id, &of_filter) < 0) return false;
    if ((of_filter & H5Z_FILTER_CONFIG_ENCODE_ENABLED) == 0) return false;
  }
  return count >= 0;
}

// Whether HDF5 has the filters of a variable whose values are read; chunks that are copied need none.
Status check_can_be_read(hid_t dataset, const VariablePlan& plan) {
  const Variable& variable = plan.variable;
  if (!plan.is_coded && !variable.has_pointers && !variable.has_references) return {};
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const Status status = check_filters(creation.id());
  if (status.ok() || !plan.is_coded) return status;
  return {status.code(), fmt::format("{}, or copy it unchanged: --field {}:unchanged", status.message(),
                                     netcdf_path(variable.path))};
}

// How the variable is coded, but for its chunks and what its values decide.
Result<VariablePlan> plan_settings(hid_t dataset, const std::vector<std::string>& names,
                                   const CopyOptions& options, std::optional<GridReason> grid,
                                   RuleUses& uses) {
  VariablePlan plan;
  NEVE_ASSIGN(plan.variable, describe_variable(dataset, names.front()));
  plan.asked = options.bound;
  plan.encode.codec = options.codec;
  plan.encode.tuning = options.tuning;
  plan.encode.encode.effort = options.effort;
  plan.encode.encode.explain = options.explain;
  plan.encode.fill = options.use_fill ? options.fill : std::nullopt;
  plan.why_not = reason_not_to_code(plan.variable);
  if (is_bare_dimension(dataset)) return plan;
  uses.apply(names, std::move(grid), plan);
  plan.is_coded = plan.why_not.empty();
  if (plan.is_coded && is_integer(*plan.variable.dtype)) {
    keep_integers(options.use_fill, plan);
  } else if (plan.is_coded) {
    if (options.use_fill) plan_missing(declared_missing(dataset), plan.encode);
    plan.encode.detect_fill = options.use_fill;
    if (plan.kept_as_grid) keep_every_bit(plan);
  }
  uses.note(plan);
  return plan;
}

Result<VariablePlan> plan_variable(hid_t dataset, const std::vector<std::string>& names,
                                   const CopyOptions& options, std::optional<GridReason> grid,
                                   RuleUses& uses) {
  NEVE_ASSIGN(VariablePlan plan, plan_settings(dataset, names, options, std::move(grid), uses));
  NEVE_TRY(check_can_be_read(dataset, plan).in(names.front()));
  if (!plan.is_coded) return plan;
  plan.chunk = plan_chunk(plan.variable, options);
  plan.same_chunks = plan.chunk == plan.variable.chunk;
  plan.can_stay = can_be_made_again(dataset);
  NEVE_TRY(plan_bound(dataset, options, plan).in(names.front()));
  return plan;
}

// Needs all variables' chunks to be planned.
void plan_min_gain(VariablePlan& plan, unsigned half_rank) {
  const CodecTuning& tuning = plan.encode.tuning;
  const bool is_demanded =
      plan.encode.codec != Codec::automatic || tuning.method != LosslessMethod::automatic;
  if (!plan.is_coded || is_demanded || !plan.can_stay) return;
  const Variable& variable = plan.variable;
  const bool is_virtual = variable.layout == H5D_VIRTUAL;  // its values would lie here in one piece
  const uint64_t before = (is_virtual ? variable.raw_bytes() : variable.stored_bytes) +
                          index_bytes(variable.dims, variable.chunk, half_rank);
  const uint64_t index = index_bytes(variable.dims, plan.chunk, half_rank);
  plan.no_gain_bytes = before > index ? before - index : 0;
}

}  // namespace

hdf5::FilterParameters VariablePlan::filter() const {
  hdf5::FilterParameters parameters;
  parameters.bound = encode.bound;
  parameters.codec = encode.codec;
  parameters.effort = encode.encode.effort;
  parameters.fill = encode.fill;
  parameters.detect_fill = encode.detect_fill;
  const std::vector<double>& fills = encode.missing.fills;
  // For people: the frames know all. One place is for the dataset's own fill value, which HDF5 knows.
  const size_t told = std::min(fills.size(), hdf5::max_missing - 1);
  parameters.missing.assign(fills.begin(), fills.begin() + static_cast<ptrdiff_t>(told));
  // Whoever changes the copy must not add an error to values that have theirs.
  parameters.has_bound_already = true;
  return parameters;
}

std::string CopyPlan::key() const {
  std::string key;
  for (const VariablePlan& plan : variables) {
    if (!plan.is_coded) continue;
    key +=
        fmt::format("{}|{}|{}|{}|{}|{}|{:a},{:a}\n", plan.variable.path, fmt::join(plan.variable.dims, ","),
                    fmt::join(plan.chunk, ","), fmt::join(hdf5::to_words(plan.filter()), ","),
                    options::tuning_text(plan.encode.tuning), fmt::join(plan.encode.missing.fills, ","),
                    plan.encode.missing.lowest, plan.encode.missing.highest);
  }
  return key;
}

Result<CopyPlan> make_plan(hid_t file, const Contents& contents, const CopyOptions& options) {
  CopyPlan plan;
  RuleUses uses(options);
  NEVE_ASSIGN(auto grid, find_grid_variables(file, contents));
  const DatasetNames names(contents, options.rules);
  size_t done = 0;
  for (const Entry& entry : contents.entries) {
    options.progress("plan", static_cast<double>(done++) / static_cast<double>(contents.entries.size()));
    if (entry.kind != EntryKind::dataset) continue;
    const std::string& path = entry.path;
    const Handle dataset = hdf5::open_dataset_to_read(file, path);
    if (!dataset.valid()) return corrupt(fmt::format("{} cannot be opened: {}", path, last_error()));
    NEVE_ASSIGN(VariablePlan variable, plan_variable(dataset.id(), names.of(path), options,
                                                     std::move(grid[plan.variables.size()]), uses));
    plan.variables.push_back(std::move(variable));
  }
  if (!options.are_settings_checked) NEVE_TRY(uses.check("the file"));
  const unsigned half_rank = best_half_rank(plan);
  for (VariablePlan& variable : plan.variables) plan_min_gain(variable, half_rank);
  return plan;
}

Status check_settings(const std::vector<std::string>& files, const CopyOptions& options) {
  const hdf5::QuietErrors quiet;
  const std::string where = files.size() == 1 ? "the file" : fmt::format("any of the {} files", files.size());
  RuleUses uses(options);
  for (const std::string& path : files) {
    if (uses.check(where).ok()) return {};
    NEVE_ASSIGN(const Handle file, open_source(path, options.open, hdf5::Reading::structure));
    const auto contents = list_contents(file.id());
    if (!contents.ok()) return contents.status().in(path);
    auto grid = find_grid_variables(file.id(), *contents);
    if (!grid.ok()) return grid.status().in(path);
    const DatasetNames names(*contents, options.rules);
    size_t number = 0;
    for (const Entry& entry : contents->entries) {
      if (entry.kind != EntryKind::dataset) continue;
      std::optional<GridReason> reason = std::move((*grid)[number++]);
      const Handle dataset = hdf5::open_dataset_to_read(file.id(), entry.path);
      if (!dataset.valid()) continue;  // its own copy says why
      NEVE_TRY(plan_settings(dataset.id(), names.of(entry.path), options, std::move(reason), uses)
                   .status()
                   .in(path));
    }
  }
  return uses.check(where);
}

}  // namespace neve::datafile
