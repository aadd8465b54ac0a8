// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/amr/grow.hpp"
#include "core/bits/utf8.hpp"
#include "core/format/codec_choices.hpp"
#include "io/hdf5/skeleton.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "neve/checkpoint.hpp"
#include "neve/limits.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/file/rows.hpp"
#include "parallel/write/copied_write.hpp"
#include "parallel/write/encode_levels.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/file_write.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/grown_boxes.hpp"
#include "parallel/write/key_text.hpp"
#include "parallel/write/local_values.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/options_key.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/place_values.hpp"
#include "parallel/write/report.hpp"

namespace neve {
namespace {

using namespace mpi;

std::string variables_key(std::span<const Variable> variables) {
  std::string key;
  const auto add = [&](const std::string& text) { append_text(key, text); };
  for (const Variable& variable : variables) {
    add(variable.name);
    add(std::to_string(variable.components.size()));
    for (const std::string& component : variable.components) add(component);
    for (const int32_t layers : variable.ghosts) add(std::to_string(layers));
    add(variable.compress ? "compressed" : "uncompressed");
    add(to_string(variable.bound));
    add(std::string(codec_name(variable.codec)));
  }
  return key;
}

Status check_variables(const Hierarchy& hierarchy, std::span<const Variable> variables) {
  if (variables.empty()) return usage_error("a checkpoint needs at least one variable");
  std::set<std::string> names;
  for (const Variable& variable : variables) {
    if (variable.name.empty() ||
        variable.name.find_first_of(std::string("/\n\r\0", 4)) != std::string::npos) {
      return usage_error("variable \"" + variable.name + "\": a name is not empty and holds no '/'");
    }
    if (!names.insert(variable.name).second) {
      return usage_error("two variables are called \"" + variable.name + "\"; names must differ");
    }
    Hierarchy as_fields = hierarchy;
    as_fields.components = variable.components;
    NEVE_TRY(check_utf8("a variable", variable.name));
    NEVE_TRY(check_hierarchy(as_fields).in("variable " + variable.name));
    NEVE_TRY(check_names(as_fields).in("variable " + variable.name));
    NEVE_TRY(check_codec(variable.codec).in("variable " + variable.name));
    NEVE_TRY(check_bound(variable.bound).in("variable " + variable.name));
    for (int d = 0; d < max_dims; ++d) {
      const int32_t layers = variable.ghosts[static_cast<size_t>(d)];
      const int32_t allowed = d < hierarchy.dims ? max_ghosts : 0;
      if (layers >= 0 && layers <= allowed) continue;
      return usage_error("variable " + variable.name + ": ghosts in direction " + std::to_string(d) + " is " +
                         std::to_string(layers) + "; allowed are 0 .. " + std::to_string(allowed));
    }
  }
  return {};
}

Status check_checkpoint_options(const Hierarchy& hierarchy, const WriteOptions& options) {
  NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
  if (strategy == Strategy::filtered || strategy == Strategy::amrex_1d) {
    return usage_error("strategy " + options.strategy + " writes plotfiles only; for checkpoints " +
                       joined(strategies_of_values, " and ") + " are allowed");
  }
  if (options.cross_level) {
    return usage_error(
        "cross-level prediction has no meaning for a checkpoint, whose boxes may share ghost cells");
  }
  if (!options.fields.empty()) return usage_error("fields have no meaning for a checkpoint; variables have");
  return check_options(hierarchy, options);
}

// What the writer is told about a variable.
WriteOptions options_of(const WriteOptions& given, const Variable& variable) {
  WriteOptions options = given;
  options.compress = variable.compress;
  options.ghosts = variable.ghosts;
  options.bound = variable.bound;
  options.codec = variable.codec;
  options.covered = Covered::keep;
  options.memory = nullptr;
  return options;
}

// One variable on its way into the file. A compressed one is encoded as a hierarchy of its own, whose boxes
// have its ghosts in them.
struct Part {
  Part(const Variable& of, const Hierarchy& of_file, const WriteOptions& given)
      : variable(of), hierarchy(of_file), options(options_of(given, of)) {
    hierarchy.components = variable.components;
  }

  const Variable& variable;
  Hierarchy hierarchy;  // with the variable's components
  WriteOptions options;
  std::vector<LocalBox> boxes;       // of values in memory: from the first value to be kept on
  HeldBoxes copies;                  // of those, where they are copied
  std::optional<LocalValues> owned;  // of them, or those that are read
  EncodedLevels encoded;             // compressed
  std::optional<ReportSums> sums;    // compressed
  ValuePlaces places;                // uncompressed
  std::vector<LevelReport> levels;
};

// What a write that copies its values is told, for as long as it takes.
struct CheckpointArguments {
  std::string path;
  Hierarchy hierarchy;
  std::vector<Variable> variables;
  std::vector<std::vector<LocalBox>> boxes;
  WriteOptions options;
};

// All variables together.
class CheckpointWrite final : FileWrite {
 public:
  // `given`: what has become of this rank's work before. `boxes` of values in memory; else `values`.
  CheckpointWrite(KeptComm& kept, const Status& given, const std::string& path, const Hierarchy& hierarchy,
                  std::span<const Variable> variables, std::span<const std::vector<LocalBox>> boxes,
                  std::vector<LocalValues> values, const WriteOptions& options)
      : FileWrite(kept, path, hierarchy, options),
        given_(given),
        variables_(variables),
        boxes_(boxes),
        values_(std::move(values)) {}

  // Collective.
  WriteOutcome run() { return outcome(write()); }

  // The same in three steps (CopiedOf).
  CheckpointWrite(KeptComm& kept, const Status& given, const CheckpointArguments& copied)
      : CheckpointWrite(kept, given, copied.path, copied.hierarchy, copied.variables, copied.boxes, {},
                        copied.options) {}
  Status copy() {
    NEVE_TRY(begin());
    if (mine_.ok()) {
      mine_ = guarded("copy", [&]() -> Status {
        for (Part& part : parts_) {
          NEVE_ASSIGN(part.copies, copy_boxes(part.hierarchy, part.boxes));
          part.owned = LocalValues(part.copies.boxes);
        }
        return {};
      });
    }
    report_.plan_seconds += stopwatch_.lap();
    show("write", 1);
    return {};
  }
  void encode_copies() {
    if (mine_.ok()) static_cast<void>(encode_all());  // its error is in mine_
    for (Part& part : parts_) part.copies = {};
  }
  Status place_copies() {
    NEVE_TRY(place());
    hand_over();
    return {};
  }
  using FileWrite::fail;
  using FileWrite::outcome;

 private:
  // Collective: the first exchange.
  Status begin() {
    show("plan", 0);
    const std::array<SameArgument, 4> same = {{{"the hierarchy", [&] { return hierarchy_key(hierarchy_); }},
                                               {"the variables", [&] { return variables_key(variables_); }},
                                               {options_argument, [&] { return options_key(options_); }},
                                               {"the path", [&] { return path_; }}}};
    return open(
        given_, same, [&] { return check_arguments(); }, [&] { return prepare(); });
  }

  // Collective.
  Status write() {
    NEVE_TRY(begin());
    NEVE_TRY(encode_all());
    show("write", 0);
    NEVE_TRY(place());
    if (is_behind()) {
      hand_over();
    } else {
      NEVE_TRY(put_all());
      describe([&] { return write_structure(nullptr); });
      NEVE_TRY(close());
    }
    show("write", 1);
    return {};
  }

  Status check_arguments() const {
    NEVE_TRY(check_hierarchy(hierarchy_));
    NEVE_TRY(check_names(hierarchy_));
    NEVE_TRY(check_variables(hierarchy_, variables_));
    NEVE_TRY(check_checkpoint_options(hierarchy_, options_));
    for (const Variable& variable : variables_) {
      if (variable.compress)
        NEVE_TRY(check_options(hierarchy_, options_of(options_, variable)).in("variable " + variable.name));
      else
        NEVE_TRY(check_behind(options_of(options_, variable)).in("variable " + variable.name));
    }
    const bool are_read = !values_.empty() && !values_.front().are_in_memory();
    return is_behind() && are_read ? behind_values_that_are_read() : Status();
  }

  // Whatever the exchanges need is made here, so that nobody can fail to take part in one.
  Status prepare() {
    if (values_.empty()) values_.assign(boxes_.begin(), boxes_.end());
    if (values_.size() != variables_.size()) {
      return usage_error("boxes of " + std::to_string(values_.size()) + " variables given for " +
                         std::to_string(variables_.size()));
    }
    NEVE_ASSIGN(strategy_, parse_strategy(options_.strategy));
    NEVE_TRY(target_.prepare(comm_.rank(), path_, options_));
    for (const Variable& variable : variables_)
      report_.raw_bytes += valid_bytes(hierarchy_, variable.components.size());
    fields_.resize(variables_.size());
    parts_.reserve(variables_.size());
    for (size_t v = 0; v < variables_.size(); ++v) {
      parts_.emplace_back(variables_[v], hierarchy_, options_);
      NEVE_TRY(prepare_part(v).in("variable " + variables_[v].name));
    }
    size_t minima = 0, sums = 0, datasets = 0;
    for (const Part& part : parts_) {
      if (!part.sums) continue;
      minima += part.sums->minima();
      sums += part.sums->sums();
      datasets += levels();
    }
    prepare_exchanges(minima, sums, datasets);
    if (comm_.rank() == 0) NEVE_TRY(create_file(target_.temporary_path(), target_.hints()));
    return prepare_behind();
  }

  Status prepare_part(size_t v) {
    Part& part = parts_[v];
    const LocalValues& values = values_[v];
    if (values.are_in_memory()) part.boxes.assign(values.boxes().begin(), values.boxes().end());
    part.owned = values.are_in_memory() ? LocalValues(part.boxes) : values;
    NEVE_TRY(check_owned(part.hierarchy, values));
    NEVE_TRY(check_ghosts_held(values.boxes(), part.variable.ghosts));
    if (part.variable.compress) {
      grow_boxes(part.hierarchy, part.boxes, part.variable.ghosts);
      part.sums.emplace(levels(), part.variable.components.size(), options_.encode.explain);
    }
    return fields_[v].prepare(comm_, part.hierarchy, *part.owned, part.options);
  }

  // Collective for values that are read; else not.
  Status encode_all() {
    const bool are_read = !values_.front().are_in_memory();
    if (are_read) open_spool();
    if (are_read) NEVE_TRY(agree(comm_, mine_));
    for (size_t v = 0; v < variables_.size(); ++v) {
      if (const Status encoded = encode(v); !encoded.ok())
        return encoded.in("variable " + variables_[v].name);
      if (are_read) NEVE_TRY(agree(comm_, mine_));
      show("encode", static_cast<double>(v + 1) / static_cast<double>(variables_.size()));
    }
    return {};
  }

  // Collective for values that are read; else not.
  Status encode(size_t v) {
    Part& part = parts_[v];
    OpeningFields& fields = fields_[v];
    if (part.variable.compress && !part.owned->are_in_memory()) {
      NEVE_TRY(measure_read(comm_, part.hierarchy, *part.owned, part.options, false, fields.measured,
                            fields.plan));
    }
    if (mine_.ok()) {
      mine_ = guarded("plan", [&] { return plan(part, fields).in("variable " + part.variable.name); });
    }
    report_.plan_seconds += stopwatch_.lap();
    if (!part.variable.compress) return {};
    const bool is_planned = mine_.ok();
    NEVE_TRY(encode_levels(comm_, part.hierarchy, *part.owned, part.options, fields.plan, nullptr,
                           [](const char*, double) {}, part.encoded, mine_,
                           {stage_of_frames(), spool_ ? &*spool_ : nullptr, nullptr}));
    if (is_planned && !mine_.ok())
      mine_ = guarded("encode", [&] { return mine_.in("variable " + part.variable.name); });
    report_.encode_seconds += stopwatch_.lap();
    return {};
  }

  Status plan(Part& part, OpeningFields& fields) {
    const Variable& variable = part.variable;
    if (variable.compress) {
      NEVE_TRY(injected_fault(Phase::plan, comm_.rank()));
      fields.plan.owners = fields.owners;
      return plan_levels(part.hierarchy, part.options, fields.measured, fields.plan);
    }
    Hierarchy with_ghosts = part.hierarchy;
    for (Level& level : with_ghosts.levels) amr::grow_boxes(level, variable.ghosts);
    part.levels = report_values(with_ghosts, amr::no_ghosts).levels;
    return {};
  }

  // Collective: the second exchange.
  Status place() {
    std::vector<FrameSet> sets;
    for (Part& part : parts_) stage_settled(part.encoded.chunks);
    if (mine_.ok()) {
      mine_ = guarded("place", [&]() -> Status {
        for (size_t v = 0; v < parts_.size(); ++v) {
          if (!parts_[v].sums) continue;
          parts_[v].sums->add(parts_[v].encoded.chunks);
          sets.push_back({&fields_[v].plan, parts_[v].encoded.chunks});
        }
        return places_->prepare(comm_, sets);
      });
    }
    for_each_sums([](ReportSums& of, auto least, auto added) { of.put(least, added); });
    NEVE_TRY(exchange_places());
    for_each_sums([](ReportSums& of, auto least, auto added) { of.take(least, added); });
    mine_ = guarded("report", [&]() -> Status {
      place_values_of_parts();
      for (size_t v = 0; v < parts_.size(); ++v) {
        Part& part = parts_[v];
        if (part.sums) part.levels = part.sums->report(part.hierarchy, fields_[v].plan).levels;
        report_.variables.push_back({part.variable.name, part.levels});
      }
      return {};
    });
    places_->settle(values_end_, dataset_bytes());
    return places_->begin_gather(comm_);
  }

  // Calls visit(sums, their minima, their sums) for each compressed variable.
  template <class Visit>
  void for_each_sums(const Visit& visit) {
    size_t minimum = 0, sum = 0;
    for (Part& part : parts_) {
      if (!part.sums) continue;
      visit(*part.sums, placing_->minima().subspan(minimum, part.sums->minima()),
            placing_->sums().subspan(sum, part.sums->sums()));
      minimum += part.sums->minima();
      sum += part.sums->sums();
    }
  }

  // Uncompressed variables lie before all frames.
  void place_values_of_parts() {
    for (Part& part : parts_) {
      if (part.variable.compress) continue;
      part.places = place_values(part.hierarchy, part.variable.ghosts, values_end_);
      values_end_ = part.places.end;
    }
  }

  // Collective where there are uncompressed variables or MPI-IO is asked for.
  Status put_all() {
    const bool has_values = !std::ranges::all_of(variables_, &Variable::compress);
    FilePieces pieces;
    if (mine_.ok()) {
      mine_ = guarded("write", [&]() -> Status {
        for (size_t v = 0, set = 0; v < parts_.size(); ++v) {
          const auto first_dataset = static_cast<uint32_t>(v * levels());
          const Part& part = parts_[v];
          if (part.variable.compress) {
            pieces.add_frames(part.encoded.chunks, places_->addresses(set++), first_dataset);
          } else {
            pieces.add_values(part.hierarchy, part.variable.ghosts, *part.owned, part.places.addresses,
                              first_dataset);
          }
        }
        return {};
      });
    }
    return put(pieces, static_cast<uint32_t>(variables_.size() * levels()), places_->end(),
               !has_values && puts_frames_directly());
  }

  Status fill(FileBehind::Contents& contents) override {
    for (size_t v = 0; v < parts_.size(); ++v) {
      const auto first_dataset = static_cast<uint32_t>(v * levels());
      contents.pieces.add_frames(parts_[v].encoded.chunks, places_->addresses(v), first_dataset);
    }
    if (comm_.rank() == 0) NEVE_TRY(write_structure(&contents.structure));
    for (Part& part : parts_) contents.take(std::move(part.encoded.chunks));
    return {};
  }

  // `held`: as write_checkpoint_skeleton takes it.
  Status write_structure(hdf5::HeldFile* held) {
    NEVE_TRY(places_->finish_gather());
    std::vector<hdf5::VariablePlacement> all;
    for (size_t v = 0, set = 0; v < parts_.size(); ++v) {
      const Part& part = parts_[v];
      all.push_back({part.variable, part.variable.compress
                                        ? places_->placements(set++, part.levels)
                                        : value_placements(part.hierarchy, fields_[v].owners,
                                                           part.variable.ghosts, part.places)});
    }
    return hdf5::write_checkpoint_skeleton(target_.temporary_path(), hierarchy_, all, places_->end(), held)
        .status();
  }

  const Status& given_;
  std::span<const Variable> variables_;
  std::span<const std::vector<LocalBox>> boxes_;
  std::vector<LocalValues> values_;  // of the variables
  std::vector<Part> parts_;          // room for all: the opening refers to them
  uint64_t values_end_ = hdf5::data_begin;
};

// Collective.
WriteOutcome write_held(KeptComm& kept, const Status& given, const std::string& path,
                        const Hierarchy& hierarchy, std::span<const Variable> variables,
                        std::span<const std::vector<LocalBox>> boxes, const WriteOptions& options) {
  using Copied = CopiedOf<CheckpointWrite, CheckpointArguments>;
  std::unique_ptr<Copied> copied;
  const Status made = guarded("copy", [&]() -> Status {
    NEVE_TRY(given);
    if (options.behind == Behind::copy) {
      copied = std::make_unique<Copied>(
          kept,
          CheckpointArguments{
              path, hierarchy, {variables.begin(), variables.end()}, {boxes.begin(), boxes.end()}, options});
    }
    return {};
  });
  if (copied != nullptr) return Copied::run(kept, std::move(copied));
  return CheckpointWrite(kept, made, path, hierarchy, variables, boxes, {}, options).run();
}

WriteOutcome write_read_values(KeptComm& kept, const std::string& path, const Hierarchy& hierarchy,
                               std::span<const Variable> variables, std::span<PlotfileSource* const> sources,
                               const WriteOptions& options) {
  const Comm& comm = kept.comm();
  std::vector<std::vector<LocalBox>> boxes;
  std::vector<LocalValues> values;
  const Status listed = guarded("read", [&]() -> Status {
    for (size_t v = 0; v < sources.size() && v < variables.size(); ++v) {
      const Hierarchy& read = sources[v]->hierarchy();
      Hierarchy written = hierarchy;
      written.components = variables[v].components;
      NEVE_TRY(check_source(written, read, variables[v].ghosts).in("variable " + variables[v].name));
      std::vector<LocalBox>& of =
          boxes.emplace_back(boxes_without_data(distribute_boxes(read, comm.size()), comm.rank()));
      for (LocalBox& box : of) box.ghosts = variables[v].ghosts;
      sources[v]->expect_all();
    }
    for (size_t v = 0; v < boxes.size(); ++v)
      values.emplace_back(boxes[v], sources[v]->hierarchy(), *sources[v]);
    return {};
  });
  NEVE_TRY(agree(comm, listed));
  return CheckpointWrite(kept, {}, path, hierarchy, variables, {}, std::move(values), options).run();
}

}  // namespace

Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<const std::vector<LocalBox>> boxes,
                                     const WriteOptions& options, Status* earlier) {
  return write_checkpoint_if(comm, {}, path, hierarchy, variables, boxes, options, earlier);
}

Result<WriteReport> write_checkpoint_if(MPI_Comm comm, const Status& given, const std::string& path,
                                        const Hierarchy& hierarchy, Span<const Variable> variables,
                                        Span<const std::vector<LocalBox>> boxes, const WriteOptions& options,
                                        Status* earlier) {
  WriteOutcome outcome = with_kept_comm(comm, path, [&](KeptComm& kept) {
    return write_held(kept, given, path, hierarchy, std::span(variables.data(), variables.size()),
                      std::span(boxes.data(), boxes.size()), options);
  });
  return std::move(outcome).told_to(earlier);
}

Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<PlotfileSource* const> values,
                                     const WriteOptions& options) {
  WriteOutcome outcome = with_kept_comm(comm, path, [&](KeptComm& kept) {
    return write_read_values(kept, path, hierarchy, variables, values, options);
  });
  return std::move(outcome).told_to(nullptr);
}

}  // namespace neve
