// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/checkpoint_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "core/amr/chunking.hpp"
#include "core/amr/grow.hpp"
#include "core/codecs/array_part.hpp"
#include "io/datafile/boxed_chunk.hpp"
#include "io/datafile/setting_uses.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/plotfile_header.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

// An index of chunks and a frame's header take more than is gained.
constexpr uint64_t min_bytes = 2048;

struct Boxed {
  const hdf5::BoxedDataset* data = nullptr;
  const hdf5::BoxedLevel* level = nullptr;
};

class Planner {
 public:
  Planner(hid_t file, const Contents& contents, const CheckpointCopyOptions& options)
      : file_(file),
        contents_(contents),
        options_(options),
        matched_(options.copy.rules.size()),
        settings_(options.copy) {}

  Result<CheckpointPlan> run() {
    NEVE_TRY(check_rules());
    NEVE_ASSIGN(dims_, hdf5::read_space_dims(file_));
    NEVE_ASSIGN(levels_, hdf5::read_boxed_datasets(file_));
    for (const hdf5::BoxedLevel& level : levels_) {
      for (const hdf5::BoxedDataset& data : level.datasets) boxed_["/" + data.path] = {&data, &level};
    }
    size_t done = 0;
    for (const Entry& entry : contents_.entries) {
      options_.copy.progress("plan",
                             static_cast<double>(done++) / static_cast<double>(contents_.entries.size()));
      if (entry.kind != EntryKind::dataset) continue;
      const Handle dataset = hdf5::open_dataset_to_read(file_, entry.path);
      if (!dataset.valid()) return corrupt(fmt::format("{} cannot be opened: {}", entry.path, last_error()));
      auto planned = plan_dataset(dataset.id(), entry.path);
      if (!planned.ok()) return planned.status().in(entry.path);
      plan_.copy.variables.push_back(std::move(*planned));
    }
    NEVE_TRY(check_uses());
    for (const VariablePlan& variable : plan_.copy.variables) settings_.note_variable(variable);
    if (options_.compress) NEVE_TRY(settings_.check());
    return std::move(plan_);
  }

 private:
  Status check_rules() const {
    const auto check = [](const CodecTuning& tuning, const std::string& place) {
      if (tuning.arrangement == Arrangement::automatic || tuning.arrangement == Arrangement::linear)
        return Status();
      return usage_error(
          fmt::format("{}: arrangement {} is not possible in a checkpoint of Chombo, whose chunks "
                      "are cut without regard to boxes; allowed are auto and linear",
                      place, arrangement_name(tuning.arrangement)));
    };
    NEVE_TRY(check(options_.copy.tuning, "--arrangement"));
    for (const VariableRule& rule : options_.copy.rules) {
      if (rule.tuning) NEVE_TRY(check(*rule.tuning, "--field " + rule.pattern));
      if (rule.effort) {
        return usage_error(fmt::format(
            "--field {}: effort is for the whole file, as chunks hold several components", rule.pattern));
      }
    }
    return {};
  }

  Result<VariablePlan> plan_dataset(hid_t dataset, const std::string& path) {
    VariablePlan plan;
    NEVE_ASSIGN(plan.variable, describe_variable(dataset, path));
    plan.asked = {BoundMode::lossless, 0};
    plan.encode.bound = plan.asked;
    plan.encode.detect_fill = false;
    plan.encode.encode.effort = options_.copy.effort;
    plan.encode.encode.explain = options_.copy.explain;
    const auto found = boxed_.find(path);
    if (found == boxed_.end()) {
      plan.why_not = "not values of boxes";
      return plan;
    }
    const Variable& variable = plan.variable;
    const bool is_list = variable.extent == H5S_SIMPLE && variable.dims.size() == 1;
    if (!is_list || !variable.dtype || variable.raw_bytes() < min_bytes) {
      plan.why_not = !variable.dtype ? variable.type : fmt::format("under {} bytes", min_bytes);
    }
    if (!options_.compress) {
      plan.why_not = "uncompressed";
      plan.is_plain = true;
      if (is_list && variable.can_grow(0)) plan.chunk = variable.chunk;
    }
    NEVE_TRY(plan_boxes(dataset, found->second, plan));
    return plan;
  }

  // What the options and the rules say of a component; a rule may leave all of the dataset as it is.
  // `matching`: the rules that match.
  ComponentSpec spec_of(const std::string& base, const std::string& name, VariablePlan& plan,
                        std::vector<size_t>& matching) {
    ComponentSpec spec;
    spec.asked = options_.copy.bound;
    spec.codec = options_.copy.codec;
    spec.tuning = options_.copy.tuning;
    spec.fill = options_.copy.use_fill ? options_.copy.fill : std::nullopt;
    known_.insert(name == base ? name : base + " " + name);
    for (size_t r = 0; r < options_.copy.rules.size(); ++r) {
      const VariableRule& rule = options_.copy.rules[r];
      if (!matches(rule.pattern, base, name)) continue;
      matched_[r] = true;
      matching.push_back(r);
      if (rule.bound) spec.asked = *rule.bound;
      if (rule.codec) spec.codec = *rule.codec;
      if (rule.tuning) spec.tuning = *rule.tuning;
      if (rule.fill) spec.fill = rule.fill;
      if (rule.is_unchanged && plan.why_not.empty()) plan.why_not = unchanged_by_rule;
    }
    spec.tuning.arrangement = Arrangement::linear;
    return spec;
  }

  // Rules are matched whether or not the dataset is coded: a level that is small must not make one a mistake.
  Status plan_boxes(hid_t dataset, const Boxed& boxed, VariablePlan& plan) {
    const hdf5::BoxedDataset& data = *boxed.data;
    const std::vector<std::string> names = hdf5::boxed_component_names(file_, data);
    std::vector<ComponentSpec> specs;
    std::vector<std::vector<size_t>> matching(names.size());
    for (size_t c = 0; c < names.size(); ++c) {
      specs.push_back(spec_of(data.base, names[c], plan, matching[c]));
    }
    plan.is_coded = plan.why_not.empty();
    if (!plan.is_coded) {
      if (plan.why_not != unchanged_by_rule) return {};
      for (const std::vector<size_t>& rules : matching) settings_.note(std::nullopt, rules);
      return {};
    }
    const bool is_float = !is_integer(*plan.variable.dtype);
    const bool any_bound = std::any_of(specs.begin(), specs.end(), [](const ComponentSpec& spec) {
      return spec.asked.mode != BoundMode::lossless;
    });
    if (!data.not_cells.empty() || !is_float) {
      if (any_bound) {
        options_.copy.say(fmt::format("{} is kept bit for bit: {}", plan.variable.path,
                                      is_float ? data.not_cells : "its values are integers"));
      }
      for (ComponentSpec& spec : specs) spec.asked = {BoundMode::lossless, 0};
    }
    if (!data.not_cells.empty()) {  // a line of values
      plan.encode.codec = keeps_integers(options_.copy.codec) ? options_.copy.codec : Codec::automatic;
      plan.chunk = list_chunk(plan.variable, options_.copy.chunk_bytes.value_or(default_chunk_bytes));
      plan.same_chunks = plan.chunk == plan.variable.chunk;
      return {};
    }
    for (size_t c = 0; c < specs.size(); ++c) {
      const ComponentSpec& spec = specs[c];
      settings_.note(options::use_of("", spec.codec, options_.copy.effort, spec.asked, {}), matching[c]);
    }
    settle_gain(specs, plan);
    auto of_boxes = std::make_shared<BoxedPlan>(BoxedPlan{BoxRuns(dims_, boxed.level->boxes, data), {}});
    NEVE_TRY(settle_bounds(dataset, of_boxes->runs, *plan.variable.dtype, specs));
    of_boxes->specs = std::move(specs);
    NEVE_ASSIGN(plan.chunk, choose_boxed_chunk(dataset, plan.variable, *of_boxes, options_.copy));
    plan.same_chunks = plan.chunk == plan.variable.chunk;
    if (of_boxes->is_lossy()) note_bounds(data, names, *of_boxes, plan);
    plan.boxed = std::move(of_boxes);
    return {};
  }

  // As it is stored it may be smaller already.
  static void settle_gain(const std::vector<ComponentSpec>& specs, VariablePlan& plan) {
    const bool asks = std::any_of(specs.begin(), specs.end(), [](const ComponentSpec& spec) {
      return spec.codec != Codec::automatic || spec.tuning.method != LosslessMethod::automatic;
    });
    const bool is_elsewhere = plan.variable.is_external || plan.variable.layout == H5D_VIRTUAL;
    if (!asks && !is_elsewhere) plan.no_gain_bytes = plan.variable.stored_bytes;
  }

  static bool matches(const std::string& pattern, const std::string& base, const std::string& component) {
    const std::string both = base + " " + component;
    return ::fnmatch(pattern.c_str(), base.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), component.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), both.c_str(), 0) == 0;
  }

  // Over valid cells alone: what a code leaves in ghosts says nothing of its solution.
  Result<ValueRange> scan(hid_t dataset, const BoxRuns& runs, DType dtype, int component,
                          std::optional<double> fill) {
    const Handle type(H5Dget_type(dataset), H5Tclose);
    const size_t value_bytes = dtype_bytes(dtype);
    std::vector<std::byte> values;
    ValueRange range;
    for (size_t b = 0; b < runs.boxes().size(); ++b) {
      const Box& grown = runs.boxes()[b];
      const auto cells = static_cast<uint64_t>(grown.cells());
      values.resize(cells * value_bytes);
      NEVE_TRY(read_elements(dataset, {runs.begin(b) + cells * static_cast<uint64_t>(component)}, {cells},
                             type.id(), values.data()));
      const Box valid = amr::shrink(grown, runs.ghosts());
      BoxData data = dense_box_data(values.data(), amr::frame_box(grown, amr::no_ghosts, {1, 1, 1}, nullptr));
      int64_t before = 0;
      for (size_t d = 0; d < max_dims; ++d) before += runs.ghosts()[d] * data.stride[d];
      data.data = values.data() + static_cast<size_t>(before) * value_bytes;
      const FrameBox box = amr::frame_box(valid, amr::no_ghosts, {1, 1, 1}, nullptr);
      NEVE_ASSIGN(const ValueRange of_box, scan_range(dtype, box, data, 0, fill));
      range.merge(of_box);
    }
    return range;
  }

  Status settle_bounds(hid_t dataset, const BoxRuns& runs, DType dtype, std::vector<ComponentSpec>& specs) {
    for (size_t c = 0; c < specs.size(); ++c) {
      ComponentSpec& spec = specs[c];
      if (spec.asked.mode == BoundMode::lossless) {
        spec.fill.reset();
        continue;
      }
      const auto component = static_cast<int>(c);
      NEVE_ASSIGN(
          const ArrayMeasure whole,
          measure_values(dtype, spec.fill, options_.copy.use_fill, [&](const std::optional<double>& fill) {
            return scan(dataset, runs, dtype, component, fill);
          }));
      spec.fill = whole.fill;
      spec.range = whole.range;
      spec.bound_abs = absolute_bound(spec.asked, spec.range);
    }
    return {};
  }

  void note_bounds(const hdf5::BoxedDataset& data, const std::vector<std::string>& names,
                   const BoxedPlan& boxed, VariablePlan& plan) {
    BoundedDataset& noted = plan_.bounded[plan_.copy.variables.size()];
    noted.group = plan.variable.path.substr(0, plan.variable.path.rfind('/'));
    noted.base = data.base;
    noted.components = names;
    for (const Box& box : boxed.runs.boxes()) noted.cells += static_cast<uint64_t>(box.cells());
    // For the report: of all components the loosest.
    for (const ComponentSpec& spec : boxed.specs) {
      if (spec.bound_abs > plan.encode.bound.value || plan.asked.mode == BoundMode::lossless) {
        plan.asked = spec.asked;
      }
    }
  }

  Status check_uses() const {
    for (size_t r = 0; r < matched_.size(); ++r) {
      if (matched_[r]) continue;
      return usage_error(fmt::format("the rule for '{}' matches no variable of the checkpoint; they are {}",
                                     options_.copy.rules[r].pattern, fmt::join(known_, ", ")));
    }
    return {};
  }

  hid_t file_;
  const Contents& contents_;
  const CheckpointCopyOptions& options_;
  int dims_ = 3;
  std::vector<hdf5::BoxedLevel> levels_;
  std::map<std::string, Boxed> boxed_;  // by path
  std::vector<bool> matched_;           // by rule
  SettingUses settings_;
  std::set<std::string> known_;  // names that rules may match
  CheckpointPlan plan_;
};

}  // namespace

Result<CheckpointPlan> make_checkpoint_plan(hid_t file, const Contents& contents,
                                            const CheckpointCopyOptions& options) {
  return Planner(file, contents, options).run();
}

}  // namespace neve::datafile
