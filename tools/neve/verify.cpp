// SPDX-License-Identifier: BSD-3-Clause
// `neve verify`: does the copy keep what it promises of the original?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/hdf5/checkpoint_source.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "neve/plotfile_writer.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/ranks.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/array_file.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/compare.hpp"
#include "tools/neve/data_file.hpp"
#include "tools/neve/grown_source.hpp"
#include "tools/neve/pairing.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/variable_source.hpp"
#include "tools/neve/verify_structure.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string original, copy;
  OpenOptions open;
  bool json = false;
};

struct FieldVerdict {
  std::string name;
  uint64_t raw_bytes = 0, stored_bytes = 0;
  std::optional<double> bound_abs;
  std::string codec;
  Comparison found;

  bool ok() const { return found.violations == 0 && found.special_mismatches == 0; }
  double ratio() const {
    return stored_bytes > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes) : 0;
  }
};

using Verdict = std::vector<std::vector<FieldVerdict>>;  // [level][field]

// Box by box: memory holds two copies of one component of one box.
Status compare_boxes(const Ranks& ranks, const Args& args, PlotfileSource& original, PlotfileSource& copy,
                     const Pairing& pairing, const std::vector<std::vector<CompareRule>>& rules,
                     Progress& progress, std::vector<Comparison>& sums) {
  const Hierarchy& h = original.hierarchy();
  const size_t value_bytes = dtype_bytes(h.dtype);
  const size_t components = h.components.size();
  const auto owner = distribute_boxes(h, ranks.size());
  std::vector<std::byte> a, b;
  size_t done = 0, total = 0;
  for (const auto& level : owner)
    total += static_cast<size_t>(std::count(level.begin(), level.end(), ranks.rank()));
  for (size_t level = 0; level < owner.size(); ++level) {
    for (size_t box = 0; box < owner[level].size(); ++box) {
      if (owner[level][box] != ranks.rank()) continue;
      const auto cells = static_cast<uint64_t>(h.levels[level].boxes[box].cells());
      a.resize(cells * value_bytes);
      b.resize(cells * value_bytes);
      const int copy_box = pairing.box[level][box];
      for (size_t component = 0; component < components; ++component) {
        const int copy_component = pairing.component[component];
        NEVE_TRY(naming_file(original.read_box(static_cast<int>(level), static_cast<int>(box),
                                               static_cast<int>(component), a.data()),
                             args.original));
        NEVE_TRY(naming_file(copy.read_box(static_cast<int>(level), copy_box, copy_component, b.data()),
                             args.copy));
        NEVE_ASSIGN(const std::vector<uint8_t> left_out,
                    copy.left_out(static_cast<int>(level), copy_box, copy_component));
        compare_values(h.dtype, a.data(), b.data(), cells, left_out, rules[level][component],
                       sums[level * components + component]);
      }
      progress.show("verify", static_cast<double>(++done) / static_cast<double>(total));
    }
  }
  return {};
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json verdict_json(const Verdict& verdict, bool ok, uint64_t raw_bytes, uint64_t stored) {
  nlohmann::ordered_json j;
  j["ok"] = ok;
  j["raw_bytes"] = raw_bytes;
  j["stored_bytes"] = stored;
  j["ratio"] = stored > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(stored) : 0.0;
  j["levels"] = nlohmann::ordered_json::array();
  for (size_t level = 0; level < verdict.size(); ++level) {
    nlohmann::ordered_json l = {{"level", level}, {"fields", nlohmann::ordered_json::array()}};
    for (const FieldVerdict& field : verdict[level]) {
      const Comparison& c = field.found;
      nlohmann::ordered_json f;
      f["name"] = field.name;
      f["ok"] = field.ok();
      f["cells"] = c.cells;
      f["raw_bytes"] = field.raw_bytes;
      f["stored_bytes"] = field.stored_bytes;
      f["ratio"] = field.ratio();
      f["bound_abs"] =
          field.bound_abs.has_value() ? nlohmann::ordered_json(*field.bound_abs) : nlohmann::ordered_json();
      f["max_abs_error"] = number_or_null(c.max_abs_error);
      f["psnr_db"] = number_or_null(c.psnr_db());
      f["special_mismatches"] = c.special_mismatches;
      f["codec"] = field.codec;
      f["special_cells"] = c.special_cells;
      f["violations"] = c.violations;
      f["left_out"] = {{"cells", c.left_out_cells},
                       {"max_abs_error", number_or_null(c.left_out_max_abs_error)},
                       {"beyond_bound", c.left_out_violations}};
      l["fields"].push_back(std::move(f));
    }
    j["levels"].push_back(std::move(l));
  }
  return j;
}

std::string verdict_table(const Verdict& verdict) {
  Table table({"level field", "ratio", "bound", "max error", "PSNR dB", "special", "left out",
               "max error left out", ""});
  for (size_t level = 0; level < verdict.size(); ++level) {
    for (const FieldVerdict& field : verdict[level]) {
      const Comparison& c = field.found;
      table.add({fmt::format("{} {}", level, field.name), human_ratio(field.ratio()),
                 field.bound_abs.has_value() ? human_error(*field.bound_abs) : "none",
                 human_error(c.max_abs_error), human_psnr(c.psnr_db()),
                 c.special_mismatches == 0
                     ? std::to_string(c.special_cells)
                     : fmt::format("{} LOST of {}", c.special_mismatches, c.special_cells),
                 std::to_string(c.left_out_cells),
                 c.left_out_cells > 0 ? human_error(c.left_out_max_abs_error) : "-",
                 field.ok() ? "ok" : "VIOLATED"});
    }
  }
  return table.text();
}

// The first field that breaks its promise, in words.
Status verdict_status(const Verdict& verdict) {
  for (size_t level = 0; level < verdict.size(); ++level) {
    for (const FieldVerdict& field : verdict[level]) {
      const Comparison& c = field.found;
      if (c.special_mismatches > 0) {
        return {
            Code::bound_violated,
            fmt::format(
                "level {} field {}: {} of {} special values (NaN, infinities, -0, fill) did not come back "
                "bit for bit; allowed: 0",
                level, field.name, c.special_mismatches, c.special_cells)};
      }
      if (c.violations > 0) {
        return {Code::bound_violated,
                fmt::format("level {} field {}: error {:.9g} in {} of {} cells; allowed: {:.9g}", level,
                            field.name, c.max_abs_error, c.violations, c.compared_cells,
                            field.bound_abs.value_or(0))};
      }
    }
  }
  return {};
}

// `differences`: what is not as in the original beside the fields' values, in words.
void print(const Args& args, const Verdict& verdict, uint64_t stored,
           const std::vector<std::string>& differences = {}) {
  uint64_t raw_bytes = 0;
  for (const auto& level : verdict) {
    for (const FieldVerdict& field : level) raw_bytes += field.raw_bytes;
  }
  const bool ok = verdict_status(verdict).ok() && differences.empty();
  if (args.json) {
    nlohmann::ordered_json j = verdict_json(verdict, ok, raw_bytes, stored);
    j["differences"] = differences;
    std::cout << json_text(j) << std::endl;
    return;
  }
  const bool judged = std::any_of(verdict.front().begin(), verdict.front().end(),
                                  [](const FieldVerdict& field) { return field.bound_abs.has_value(); });
  const bool holds = verdict_status(verdict).ok();
  const char* judgement = !holds   ? "A BOUND IS VIOLATED"
                          : !ok    ? "MISMATCH"
                          : judged ? "every bound holds"
                                   : "no bounds recorded";
  std::cout << visible(verdict_table(verdict));
  for (const std::string& difference : differences) std::cout << "DIFFERS: " << visible(difference) << "\n";
  std::cout << fmt::format("{}: {} raw, {} stored, {}, {}\n", visible(args.copy), human_bytes(raw_bytes),
                           human_bytes(stored),
                           human_change(
                               stored > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(stored) : 0),
                           judgement)
            << std::flush;
}

// What the copy says of itself; nothing for files Neve did not compress.
Result<std::vector<std::vector<hdf5::FieldRecord>>> read_records(const std::string& path,
                                                                 const OpenOptions& options) {
  std::vector<std::vector<hdf5::FieldRecord>> records;
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  if (kind != InputKind::hdf5) return records;
  NEVE_ASSIGN(hdf5::PlotfileStorage storage, hdf5::describe_hdf5_plotfile(path, options));
  if (!storage.written_by_neve) return records;
  for (hdf5::LevelStorage& level : storage.levels) records.push_back(std::move(level.fields));
  return records;
}

// The verdict before anything is compared: what was asked, and what is stored.
Verdict expectations(const Hierarchy& h, const std::vector<std::vector<hdf5::FieldRecord>>& records,
                     std::vector<std::vector<CompareRule>>& rules) {
  Verdict verdict(h.levels.size());
  rules.assign(h.levels.size(), std::vector<CompareRule>(h.components.size()));
  for (size_t level = 0; level < h.levels.size(); ++level) {
    uint64_t cells = 0;
    for (const Box& box : h.levels[level].boxes) cells += static_cast<uint64_t>(box.cells());
    for (size_t component = 0; component < h.components.size(); ++component) {
      FieldVerdict& field = verdict[level].emplace_back();
      field.name = h.components[component];
      field.raw_bytes = field.stored_bytes = cells * dtype_bytes(h.dtype);
      field.codec = "none";
      if (level >= records.size()) continue;
      for (const hdf5::FieldRecord& record : records[level]) {
        if (record.name != field.name) continue;
        field.bound_abs = record.bound_abs;
        field.stored_bytes = record.stored_bytes;
        field.codec = record.codec;
        rules[level][component] = {record.bound_abs, record.fill};
      }
    }
  }
  return verdict;
}

// Where both have the same layers of ghosts these are compared too: the sources become such of larger boxes,
// and `held` keeps what they read from.
void compare_with_ghosts(std::unique_ptr<PlotfileSource>& original, std::unique_ptr<PlotfileSource>& copy,
                         std::vector<std::unique_ptr<PlotfileSource>>& held) {
  const Result<IntVect> of_original = stored_ghosts(*original), of_copy = stored_ghosts(*copy);
  constexpr IntVect none{0, 0, 0};
  const bool are_same = of_original.ok() && of_copy.ok() && *of_original == *of_copy;
  if (!are_same || *of_original == none) return;
  for (std::unique_ptr<PlotfileSource>* source : {&original, &copy}) {
    held.push_back(std::move(*source));
    *source = std::make_unique<GrownSource>(*held.back(), *of_original);
  }
}

Status verify_plotfiles(const Ranks& ranks, const Args& args) {
  std::vector<std::unique_ptr<PlotfileSource>> grown;
  std::unique_ptr<PlotfileSource> original, copy;
  Pairing pairing;
  std::vector<std::vector<CompareRule>> rules;
  Verdict verdict;
  uint64_t stored = 0;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(original, open_source(args.original, args.open));
    NEVE_ASSIGN(copy, open_source(args.copy, args.open));
    compare_with_ghosts(original, copy, grown);
    NEVE_ASSIGN(pairing, pair_up(original->hierarchy(), copy->hierarchy()));
    NEVE_ASSIGN(const auto records, read_records(args.copy, args.open));
    verdict = expectations(original->hierarchy(), records, rules);
    NEVE_ASSIGN(stored, stored_bytes(args.copy));
    return {};
  })));
  const Hierarchy& h = original->hierarchy();
  std::vector<Comparison> sums(h.levels.size() * h.components.size());
  {
    Progress progress(ranks.first());
    NEVE_TRY(ranks.agree(mpi::guarded("verify", [&] {
      return compare_boxes(ranks, args, *original, *copy, pairing, rules, progress, sums);
    })));
  }
  NEVE_TRY(merge_over_ranks(ranks, sums));
  for (size_t i = 0; i < sums.size(); ++i) {
    verdict[i / h.components.size()][i % h.components.size()].found = sums[i];
  }
  if (ranks.first()) {
    if (!verdict.front().front().bound_abs.has_value()) {
      say("verify", fmt::format("{} ({}) records no bounds: its errors are reported, not judged", args.copy,
                                copy->kind()));
    }
    print(args, verdict, stored);
  }
  return verdict_status(verdict);
}

bool same_records(const std::vector<hdf5::FieldRecord>& a, const std::vector<hdf5::FieldRecord>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const hdf5::FieldRecord& x, const hdf5::FieldRecord& y) {
                      return x.name == y.name && x.asked == y.asked && x.bound_abs == y.bound_abs &&
                             x.max_abs_error == y.max_abs_error && x.stored_bytes == y.stored_bytes;
                    });
}

// What a copy's variable says of itself. One that is not compressed, and one that was written before there
// were records, promises what was asked for it; a bound relative to a range that nobody noted is none.
// Copies of Chombo's checkpoints record every bound they have, and those that earlier copies had.
std::vector<std::vector<hdf5::FieldRecord>> variable_records(const hdf5::VariableStorage& copy,
                                                             const hdf5::VariableStorage& original,
                                                             bool is_chombo, DType dtype) {
  const Variable& variable = copy.variable;
  const bool is_exact = is_chombo || !variable.compress || variable.bound.mode == BoundMode::lossless;
  std::vector<std::vector<hdf5::FieldRecord>> records;
  for (size_t l = 0; l < copy.levels.size(); ++l) {
    const bool is_inherited = is_chombo && l < original.levels.size() &&
                              same_records(copy.levels[l].fields, original.levels[l].fields);
    records.push_back(is_inherited ? std::vector<hdf5::FieldRecord>() : copy.levels[l].fields);
    if (!records.back().empty() || (!is_exact && variable.bound.mode == BoundMode::rel)) continue;
    uint64_t cells = 0;
    for (const Box& box : copy.hierarchy.levels[l].boxes) cells += static_cast<uint64_t>(box.cells());
    for (const std::string& name : variable.components) {
      hdf5::FieldRecord& record = records.back().emplace_back();
      record.name = name;
      record.bound_abs = is_exact ? 0 : variable.bound.value;
      record.stored_bytes = variable.compress ? copy.levels[l].stored_bytes / variable.components.size()
                                              : cells * dtype_bytes(dtype);
      record.codec = variable.compress ? codec_name(variable.codec) : "none";
    }
  }
  return records;
}

// One variable of two checkpoints.
struct VariablePair {
  std::unique_ptr<VariableSource> original, copy;
  Pairing pairing;
  std::vector<std::vector<CompareRule>> rules;
  Verdict verdict;
};

Result<VariablePair> pair_variable(Checkpoint& original, size_t number, Checkpoint& copy,
                                   const hdf5::CheckpointStorage& of_original,
                                   const hdf5::CheckpointStorage& stored) {
  const Variable& variable = original.variables()[number];
  const auto& others = copy.variables();
  const auto found = std::find_if(others.begin(), others.end(),
                                  [&](const Variable& other) { return other.name == variable.name; });
  if (found == others.end()) {
    return failure(fmt::format("not comparable: the copy has no variable '{}'", variable.name));
  }
  if (found->ghosts != variable.ghosts) {
    return failure(
        fmt::format("not comparable: variable {} has {} layers of ghost cells in the original, {} "
                    "in the copy",
                    variable.name, fmt::join(variable.ghosts, ", "), fmt::join(found->ghosts, ", ")));
  }
  const auto place = static_cast<size_t>(found - others.begin());
  VariablePair pair;
  pair.original = std::make_unique<VariableSource>(original, static_cast<int>(number));
  pair.copy = std::make_unique<VariableSource>(copy, static_cast<int>(place));
  auto paired = pair_up(pair.original->hierarchy(), pair.copy->hierarchy());
  if (!paired.ok()) return paired.status().in("variable " + variable.name);
  pair.pairing = std::move(*paired);
  pair.verdict = expectations(
      pair.original->hierarchy(),
      variable_records(stored.variables[place], of_original.variables[number],
                       stored.is.kind == hdf5::AmrFileKind::chombo_checkpoint, stored.hierarchy.dtype),
      pair.rules);
  for (auto& level : pair.verdict) {
    for (size_t c = 0; c < level.size(); ++c) level[c].name = variable_field_name(variable, c);
  }
  return pair;
}

Status verify_checkpoints(const Ranks& ranks, const Args& args) {
  std::unique_ptr<Checkpoint> original, copy;
  std::vector<VariablePair> pairs;
  std::vector<std::string> differences;
  uint64_t stored = 0;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(original, open_checkpoint(args.original, args.open));
    NEVE_ASSIGN(copy, open_checkpoint(args.copy, args.open));
    NEVE_ASSIGN(const hdf5::CheckpointStorage storage, hdf5::describe_checkpoint(args.copy, args.open));
    NEVE_ASSIGN(const hdf5::CheckpointStorage of_original,
                hdf5::describe_checkpoint(args.original, args.open));
    stored = storage.file_bytes;
    if (ranks.first()) {
      NEVE_ASSIGN(differences,
                  checkpoint_differences(args.original, of_original, args.copy, storage, args.open));
    }
    for (size_t v = 0; v < original->variables().size(); ++v) {
      NEVE_ASSIGN(VariablePair pair, pair_variable(*original, v, *copy, of_original, storage));
      pairs.push_back(std::move(pair));
    }
    return {};
  })));
  Verdict verdict(original->hierarchy().levels.size());
  for (VariablePair& pair : pairs) {
    const size_t components = pair.verdict.front().size();
    std::vector<Comparison> sums(verdict.size() * components);
    Progress progress(ranks.first());
    NEVE_TRY(ranks.agree(mpi::guarded("verify", [&] {
      return compare_boxes(ranks, args, *pair.original, *pair.copy, pair.pairing, pair.rules, progress, sums);
    })));
    NEVE_TRY(merge_over_ranks(ranks, sums));
    for (size_t i = 0; i < sums.size(); ++i) {
      FieldVerdict& field = pair.verdict[i / components][i % components];
      field.found = sums[i];
      verdict[i / components].push_back(field);
    }
  }
  if (ranks.first()) print(args, verdict, stored, differences);
  NEVE_TRY(verdict_status(verdict));
  if (differences.empty()) return ranks.agree({});
  return ranks.agree(
      {Code::bound_violated,
       fmt::format(
           "{}{}", differences.front(),
           differences.size() > 1 ? fmt::format(", and {} more differences", differences.size() - 1) : "")});
}

struct ReadArray {
  plotfile::NpyArray values;
  std::optional<CompareRule> promised;
  std::string codec = "none";
  uint64_t stored_bytes = 0;
};

Result<ReadArray> read_array(const std::string& path) {
  ReadArray array;
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  NEVE_ASSIGN(array.stored_bytes, stored_bytes(path));
  if (kind == InputKind::npy) {
    NEVE_ASSIGN(array.values, plotfile::read_npy(path));
    return array;
  }
  if (kind != InputKind::frame_or_unknown) {
    return usage_error(
        fmt::format("not comparable: {} is no array; allowed: two files of the same kind", path));
  }
  NEVE_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
  NEVE_TRY(check_is_compressed(bytes, path,
                               "two plotfiles, checkpoints, data files, or arrays (.npy or compressed)"));
  auto decoded = decode_compressed(bytes, 1);
  if (!decoded.ok()) return decoded.status().in(path);
  array.values = std::move(decoded->array);
  array.promised = CompareRule{decoded->bound_abs, decoded->fill};
  array.codec = decoded->codec;
  return array;
}

Status verify_arrays(const Args& args) {
  NEVE_ASSIGN(const ReadArray original, read_array(args.original));
  NEVE_ASSIGN(const ReadArray copy, read_array(args.copy));
  if (original.values.dtype != copy.values.dtype || original.values.shape != copy.values.shape) {
    return failure(fmt::format("not comparable: the original is {} of shape ({}), the copy {} of shape ({})",
                               dtype_name(original.values.dtype), fmt::join(original.values.shape, ", "),
                               dtype_name(copy.values.dtype), fmt::join(copy.values.shape, ", ")));
  }
  FieldVerdict field;
  field.name = "data";
  field.raw_bytes = original.values.values.size();
  field.stored_bytes = copy.stored_bytes;
  field.codec = copy.codec;
  CompareRule rule;
  if (copy.promised.has_value()) {
    field.bound_abs = copy.promised->bound_abs;
    rule = *copy.promised;
  } else {
    say("verify", fmt::format("{} (.npy) records no bounds: its errors are reported, not judged", args.copy));
  }
  compare_values(original.values.dtype, original.values.values.data(), copy.values.values.data(),
                 field.raw_bytes / dtype_bytes(original.values.dtype), {}, rule, field.found);
  const Verdict verdict = {{field}};
  print(args, verdict, copy.stored_bytes);
  return verdict_status(verdict);
}

Status verify(const Ranks& ranks, const Args& args) {
  NEVE_TRY(ranks.check_same_file(args.original));
  NEVE_TRY(ranks.check_same_file(args.copy));
  bool arrays = false, checkpoints = false, data_files = false;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(const bool is_data_original, is_data_file(args.original));
    NEVE_ASSIGN(const bool is_data_copy, is_data_file(args.copy));
    data_files = is_data_original && is_data_copy;
    NEVE_ASSIGN(const InputKind of_original, input_kind(args.original));
    NEVE_ASSIGN(const InputKind of_copy, input_kind(args.copy));
    // A .npy array that was converted into a plotfile is compared as a plotfile.
    arrays = of_copy == InputKind::frame_or_unknown ||
             (of_original == InputKind::npy && of_copy == InputKind::npy);
    checkpoints = of_original == InputKind::checkpoint;
    if (checkpoints != (of_copy == InputKind::checkpoint)) {
      return usage_error(
          fmt::format("not comparable: {} is a checkpoint and {} is not; allowed: two files of the same kind",
                      checkpoints ? args.original : args.copy, checkpoints ? args.copy : args.original));
    }
    return {};
  })));
  if (data_files) return verify_data_files(ranks, args.original, args.copy, args.open, args.json);
  if (checkpoints) return verify_checkpoints(ranks, args);
  if (!arrays) return verify_plotfiles(ranks, args);
  return ranks.on_first("verify", [&] { return verify_arrays(args); });
}

}  // namespace

Command add_verify(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("verify", "Compare a copy with its original against the bounds it records");
  auto args = std::make_shared<Args>();
  sub->add_option("ORIGINAL", args->original, "a plotfile, a checkpoint, an array or a data file")
      ->required();
  sub->add_option("COPY", args->copy, "the copy that was made of it")->required();
  sub->add_flag(follow_external_option, args->open.follow_external, follow_external_help);
  sub->add_flag("--json", args->json, "the verdict as JSON on stdout");
  sub->footer(
      "The exit code is 3 if a value lies outside its bound or a special value (NaN, infinity, -0, fill)\n"
      "did not come back bit for bit. Covered cells that the copy leaves out are read as the average of the\n"
      "finer cells, and compared and reported separately. For data files everything is compared: objects,\n"
      "links, attributes, extents, fill values.\n"
      "Examples:\n"
      "  neve verify plt00113 plt00113.h5\n"
      "  mpirun -n 4 neve verify plt00113 plt00113.h5 --json\n"
      "  neve verify field.npy field.neve\n"
      "  neve verify ocean.nc small.nc");
  Command command{sub, {}, {}};
  command.parallel = [args](const Ranks& ranks) { return verify(ranks, *args); };
  return command;
}

}  // namespace neve::cli
