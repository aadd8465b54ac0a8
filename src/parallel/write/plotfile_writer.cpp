// SPDX-License-Identifier: BSD-3-Clause
#include "neve/plotfile_writer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/amr/morton.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/file/space.hpp"
#include "parallel/write/copied_write.hpp"
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/encode_levels.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/file_write.hpp"
#include "parallel/write/filtered_write.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/grown_boxes.hpp"
#include "parallel/write/held_boxes.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/options_key.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/place_hint.hpp"
#include "parallel/write/place_values.hpp"
#include "parallel/write/report.hpp"

namespace neve {
namespace {

using namespace mpi;

// For the log: of what all ranks report alike, which times are not.
Choice choice_of(const FieldReport& field, const CodecTuning& tuning, const Selection& selection, int level) {
  Choice choice;
  choice.variable = field.name;
  choice.level = level;
  choice.selection = selection;
  choice.performance =
      selection_score(selection.codec, selection.method, static_cast<double>(field.raw_bytes),
                      static_cast<double>(field.stored_bytes), tuning);
  choice.raw_bytes = field.raw_bytes;
  choice.coded_bytes = field.stored_bytes;
  return choice;
}

// What `auto` settled on, for the next step.
void remember_selections(const WritePlan& plan, const WriteOptions& options, const WriteReport& report) {
  for (size_t level = 0; level < report.levels.size(); ++level) {
    const std::vector<FieldReport>& fields = report.levels[level].fields;
    for (size_t c = 0; c < fields.size(); ++c) {
      const ComponentSpec& spec = plan.levels[level].fields[c].spec;
      const bool chooses = spec.codec == Codec::automatic || spec.codec == Codec::lossless;
      if (!chooses || spec.tuning.method != LosslessMethod::automatic || fields[c].cells == 0) continue;
      const Result<Codec> codec = parse_codec(fields[c].codec);
      const Result<Arrangement> arrangement = parse_arrangement(fields[c].arrangement);
      const int number = static_cast<int>(level);
      if (!codec.ok()) {  // constant: cannot be asked for
        options.memory->log(choice_of(fields[c], spec.tuning, {Codec::constant, {}, {}}, number));
        continue;
      }
      const Selection selection{*codec, arrangement.ok() ? *arrangement : Arrangement::automatic,
                                fields[c].method};
      Choice choice = choice_of(fields[c], spec.tuning, selection, number);
      choice.reason = options.memory->reason_to_choose(options.encode.effort, number, fields[c].name);
      options.memory->note(
          options.encode.effort, number, fields[c].name, selection,
          static_cast<double>(fields[c].raw_bytes) / static_cast<double>(fields[c].stored_bytes));
      options.memory->log(std::move(choice));
    }
  }
}

// What a write that copies its values is told, for as long as it takes.
struct PlotfileArguments {
  std::string path;
  Hierarchy hierarchy;
  std::vector<LocalBox> owned;
  WriteOptions options;
};

class PlotfileWrite final : FileWrite {
 public:
  // `given`: what has become of this rank's work before.
  PlotfileWrite(KeptComm& kept, const Status& given, const std::string& path, const Hierarchy& hierarchy,
                const LocalValues& owned, const WriteOptions& options)
      : FileWrite(kept, path, hierarchy, options), given_(given), stored_(&hierarchy), held_(owned) {}

  // Collective.
  WriteOutcome run() { return outcome(write()); }

  // The same in three steps (CopiedOf).
  PlotfileWrite(KeptComm& kept, const Status& given, const PlotfileArguments& copied)
      : PlotfileWrite(kept, given, copied.path, copied.hierarchy, copied.owned, copied.options) {}
  Status copy() {
    NEVE_TRY(begin());
    if (mine_.ok()) {
      mine_ = guarded("copy", [&]() -> Status {
        NEVE_ASSIGN(copies_, copy_boxes(*stored_, held_.boxes()));
        held_ = LocalValues(copies_.boxes);
        return plan();
      });
    }
    report_.covered = options_.covered;
    report_.raw_bytes = valid_bytes(hierarchy_, hierarchy_.components.size());
    report_.plan_seconds += stopwatch_.lap();
    end();
    return {};
  }
  void encode_copies() {
    if (mine_.ok())
      static_cast<void>(encode({stage_of_frames(), nullptr, nullptr}));  // its error is in mine_
    grown_owned_ = {};
    copies_ = {};
  }
  Status place_copies() {
    NEVE_TRY(place_frames());
    hand_over();
    return {};
  }
  using FileWrite::fail;
  using FileWrite::outcome;

 private:
  // Collective.
  Status write() {
    NEVE_TRY(begin());
    NEVE_TRY(options_.compress ? write_frames() : write_values());
    if (!is_behind()) NEVE_TRY(close());
    end();
    return {};
  }

  // Collective: the first exchange.
  Status begin() {
    show("plan", 0);
    const std::array<SameArgument, 3> same = {{{"the hierarchy", [&] { return hierarchy_key(hierarchy_); }},
                                               {options_argument, [&] { return options_key(options_); }},
                                               {"the path", [&] { return path_; }}}};
    return open(
        given_, same, [&] { return check_arguments(); }, [&] { return prepare(); });
  }
  void end() const {
    show("write", 1);
    if (comm_.rank() == 0) say_where_yt_places_it(hierarchy_);
  }

  Status check_arguments() const {
    NEVE_TRY(check_hierarchy(hierarchy_));
    NEVE_TRY(check_names(hierarchy_));
    NEVE_TRY(check_options(hierarchy_, options_));
    return is_behind() && !held_.are_in_memory() ? behind_values_that_are_read() : Status();
  }

  // Whatever the exchanges need is made here, so that nobody can fail to take part in one.
  Status prepare() {
    NEVE_ASSIGN(strategy_, parse_strategy(options_.strategy));
    NEVE_TRY(target_.prepare(comm_.rank(), path_, options_));
    NEVE_TRY(check_owned(hierarchy_, held_));
    NEVE_TRY(check_ghosts_held(held_.boxes(), options_.ghosts));
    if (options_.compress && options_.ghosts != IntVect{0, 0, 0}) grow();
    fields_.resize(1);
    NEVE_TRY(fields_[0].prepare(comm_, *stored_, held_, options_));
    if (options_.compress) sums_.emplace(levels(), hierarchy_.components.size(), options_.encode.explain);
    prepare_exchanges(sums_ ? sums_->minima() : 0, sums_ ? sums_->sums() : 0, levels());
    if (options_.compress && held_.are_in_memory()) NEVE_TRY(recall_exchanges());
    const bool hdf5_creates = strategy_ == Strategy::filtered;
    if (comm_.rank() == 0 && !hdf5_creates) NEVE_TRY(create_file(target_.temporary_path(), target_.hints()));
    NEVE_TRY(prepare_behind());
    return options_.compress ? Status() : injected_fault(Phase::plan, comm_.rank());
  }

  // Who sends averages to whom, as in the write before, where the boxes are the same.
  Status recall_exchanges() {
    lacking_ = 1;
    if (!settles_by_values(options_, fields_[0].plan)) return {};
    exchanges_key_ = boxes_key(*stored_);
    for (const LocalBox& local : held_.boxes()) {
      for (const int number : {local.level, local.box}) exchanges_key_ += std::to_string(number) + ',';
    }
    for (const int32_t layers : options_.ghosts) exchanges_key_ += std::to_string(layers) + ';';
    const auto* const kept = static_cast<const KeptExchanges*>(kept_.attached().get());
    lacking_ = kept == nullptr || kept->key != exchanges_key_ ? 1 : 0;
    return lacking_ != 0 ? Status() : make_check(kept->exchanges);
  }
  Status make_check(const CoverageCheck::Exchanges& exchanges) {
    check_.reset();
    NEVE_ASSIGN(CoverageCheck made,
                CoverageCheck::make(comm_, *stored_, held_, options_, fields_[0].plan, exchanges));
    check_.emplace(std::move(made));
    return {};
  }

  // Collective, behind the plan, where the values decide what is left out and some rank has no check yet.
  Status plan_check() {
    const std::vector<uint64_t>& covered = fields_[0].plan.covered_cells;
    const bool has_covered =
        std::any_of(covered.begin(), covered.end(), [](uint64_t cells) { return cells > 0; });
    if (!has_covered || !settles_by_values(options_, fields_[0].plan)) {
      check_.reset();
      return {};
    }
    if (lacking_ == 0 && held_.are_in_memory()) return {};
    if (mine_.ok()) {
      mine_ = guarded("coverage check", [&]() -> Status {
        const auto kept = std::make_shared<KeptExchanges>();
        kept->exchanges = CoverageCheck::plan_exchanges(comm_, *stored_, fields_[0].plan);
        kept->key = exchanges_key_;
        NEVE_TRY(make_check(kept->exchanges));
        if (held_.are_in_memory()) kept_.attached() = kept;
        return {};
      });
    }
    return agree(comm_, mine_);
  }

  // From here on the ghosts that are compressed are part of the boxes.
  void grow() {
    grown_ = hierarchy_;
    if (held_.are_in_memory()) grown_owned_.assign(held_.boxes().begin(), held_.boxes().end());
    grow_boxes(grown_, grown_owned_, options_.ghosts);
    stored_ = &grown_;
    if (held_.are_in_memory()) held_ = LocalValues(grown_owned_);
  }

  // Collective.
  Status write_frames() {
    NEVE_TRY(held_.are_in_memory() ? encode_held() : encode_read());
    show("write", 0);
    NEVE_TRY(place_frames());
    if (strategy_ == Strategy::filtered) return write_by_hdf5();
    if (is_behind()) {
      hand_over();
      return {};
    }
    FilePieces pieces;
    if (mine_.ok()) {
      mine_ = guarded("write", [&]() -> Status {
        pieces.add_frames(levels_.chunks, places_->addresses(0), 0);
        return {};
      });
    }
    NEVE_TRY(put(pieces, static_cast<uint32_t>(levels()), places_->end(), puts_frames_directly()));
    describe([&]() -> Status {
      NEVE_TRY(places_->finish_gather());
      return hdf5::write_skeleton(target_.temporary_path(), hierarchy_,
                                  places_->placements(0, report_.levels), options_.like, places_->end())
          .status();
    });
    return {};
  }

  // Not collective where all cells are kept or dropped.
  Status encode_held() {
    if (mine_.ok()) mine_ = guarded("plan", [&] { return plan(); });
    show("plan", 1);
    report_.plan_seconds += stopwatch_.lap();
    NEVE_TRY(encode({stage_of_frames(), nullptr, nullptr}));
    return {};
  }

  Status plan() {
    NEVE_TRY(injected_fault(Phase::plan, comm_.rank()));
    fields_[0].plan.owners = fields_[0].owners;
    return plan_levels(*stored_, options_, fields_[0].measured, fields_[0].plan);
  }

  // Collective where encode_levels is.
  Status encode(const PassingBy& passing) {
    const ShowEncoding progress = [&](const char* phase, double fraction) { show(phase, fraction); };
    NEVE_TRY(plan_check());
    NEVE_TRY(encode_levels(comm_, *stored_, held_, options_, fields_[0].plan, check_ ? &*check_ : nullptr,
                           progress, levels_, mine_, passing));
    show(options_.cross_level ? "cross-level" : "encode", 1);
    report_.plan_seconds += std::exchange(levels_.coverage_seconds, 0);
    report_.encode_seconds += std::exchange(levels_.encode_seconds, 0);
    stopwatch_.lap();
    return {};
  }

  // Collective. Values that are read, whose frames are put aside. With ranges that the source only states all
  // is done again where the values do not confirm them.
  Status encode_read() {
    open_spool();
    NEVE_TRY(agree(comm_, mine_));
    for (bool takes_stated = true;; takes_stated = false) {
      stopwatch_.lap();
      WritePlan& plan_of = fields_[0].plan;
      NEVE_TRY(measure_read(comm_, *stored_, held_, options_, takes_stated, fields_[0].measured, plan_of));
      FieldRanges seen;
      mine_ = guarded("plan", [&]() -> Status {
        seen.resize(plan_of.ranges_are_stated ? levels() * hierarchy_.components.size() : 0);
        return plan();
      });
      NEVE_TRY(agree(comm_, mine_));
      show("plan", 1);
      report_.plan_seconds += stopwatch_.lap();
      NEVE_TRY(encode({nullptr, &*spool_, plan_of.ranges_are_stated ? &seen : nullptr}));
      NEVE_TRY(agree(comm_, mine_));
      if (!plan_of.ranges_are_stated) return {};
      NEVE_ASSIGN(const bool is_confirmed, confirm_ranges(comm_, std::move(seen), plan_of));
      if (is_confirmed) return {};
      levels_.chunks.clear();
      NEVE_TRY(agree(comm_, spool_->clear()));
    }
  }

  std::span<uint64_t> minima_of_report() { return placing_->minima().first(sums_->minima()); }
  std::span<uint64_t> sums_of_report() { return placing_->sums().first(sums_->sums()); }

  // Collective: the second exchange. Each rank knows the places of its frames, and the report.
  Status place_frames() {
    stage_settled(levels_.chunks);
    const FrameSet set{&fields_[0].plan, levels_.chunks};
    if (mine_.ok()) {
      mine_ = guarded("place", [&]() -> Status {
        sums_->add(levels_.chunks);
        return places_->prepare(comm_, std::span(&set, 1));
      });
    }
    sums_->put(minima_of_report(), sums_of_report());
    NEVE_TRY(exchange_places());
    sums_->take(minima_of_report(), sums_of_report());
    places_->settle(hdf5::data_begin, dataset_bytes());
    NEVE_TRY(places_->begin_gather(comm_));
    mine_ = guarded("report", [&]() -> Status {
      WriteReport made = sums_->report(hierarchy_, fields_[0].plan);
      made.plan_seconds = report_.plan_seconds;
      made.encode_seconds = report_.encode_seconds;
      made.covered = options_.covered;
      made.staged_bytes = report_.staged_bytes;
      report_ = std::move(made);
      if (options_.memory != nullptr) remember_selections(fields_[0].plan, options_, report_);
      return {};
    });
    stopwatch_.lap();
    return {};
  }

  Status fill(FileBehind::Contents& contents) override {
    contents.pieces.add_frames(levels_.chunks, places_->addresses(0), 0);
    if (comm_.rank() == 0) {
      NEVE_TRY(places_->finish_gather());
      NEVE_TRY(hdf5::write_skeleton(target_.temporary_path(), hierarchy_,
                                    places_->placements(0, report_.levels), {}, places_->end(),
                                    &contents.structure)
                   .status());
    }
    contents.take(std::move(levels_.chunks));
    return {};
  }

  // Collective. Gives up the frames.
  Status write_by_hdf5() {
    if (mine_.ok() && comm_.rank() == 0) mine_ = guarded("place", [&] { return places_->finish_gather(); });
    describe([&] { return describe_for_hdf5(); });
    NEVE_TRY(agree(comm_, mine_));
    const std::string& path = target_.temporary_path();
    const double describe_seconds = report_.place_seconds;
    NEVE_ASSIGN(const FilteredTimes times,
                write_filtered(comm_, path, target_.hints(), hierarchy_, fields_[0].plan, levels_.chunks));
    report_.place_seconds = describe_seconds + times.create_seconds;
    report_.write_seconds = times.pieces.write_seconds;
    report_.sync_seconds = times.pieces.sync_seconds;
    return {};
  }

  // Rank 0: everything but the levels' datasets, and room for what they will need.
  Status describe_for_hdf5() {
    const std::string& path = target_.temporary_path();
    NEVE_TRY(create_file(path, target_.hints()));
    NEVE_TRY(
        hdf5::write_description(path, hierarchy_, places_->placements(0, report_.levels), options_.like));
    std::error_code error;
    const uint64_t described = std::filesystem::file_size(path, error);
    if (error) return failure(path + ": " + error.message());
    return reserve_space(path,
                         described + places_->bytes() + dataset_metadata_bytes(levels(), places_->frames()));
  }

  // Collective.
  Status write_values() {
    show("plan", 1);
    show("write", 0);
    ValuePlaces places;
    FilePieces pieces;
    if (mine_.ok()) {
      mine_ = guarded("write", [&]() -> Status {
        NEVE_TRY(injected_fault(Phase::place, comm_.rank()));
        const double plan_seconds = report_.plan_seconds;
        report_ = report_values(hierarchy_, options_.ghosts);
        report_.plan_seconds = plan_seconds;
        report_.covered = options_.covered;
        places = place_values(hierarchy_, options_.ghosts, hdf5::data_begin);
        pieces.add_values(hierarchy_, options_.ghosts, held_, places.addresses, 0);
        return {};
      });
    }
    NEVE_TRY(put(pieces, static_cast<uint32_t>(levels()), places.end, false));
    describe([&]() -> Status {
      std::vector<hdf5::LevelPlacement> levels =
          value_placements(hierarchy_, fields_[0].owners, options_.ghosts, places);
      for (size_t l = 0; l < levels.size(); ++l) levels[l].fields = field_records(report_.levels[l]);
      return hdf5::write_skeleton(target_.temporary_path(), hierarchy_, levels, options_.like, places.end)
          .status();
    });
    return {};
  }

  const Status& given_;
  const Hierarchy* stored_;  // with the ghosts that are compressed in its boxes
  LocalValues held_;         // of its boxes
  Hierarchy grown_;
  std::vector<LocalBox> grown_owned_;
  HeldBoxes copies_;
  EncodedLevels levels_;
  std::optional<ReportSums> sums_;
  std::string exchanges_key_;  // of the boxes that exchanges are kept for; lacking_: ranks that know of none
  std::optional<CoverageCheck> check_;
};

// Collective.
WriteOutcome write_held(KeptComm& kept, const Status& given, const std::string& path,
                        const Hierarchy& hierarchy, std::span<const LocalBox> owned,
                        const WriteOptions& options) {
  using Copied = CopiedOf<PlotfileWrite, PlotfileArguments>;
  if (options.behind != Behind::copy)
    return PlotfileWrite(kept, given, path, hierarchy, owned, options).run();
  std::unique_ptr<Copied> copied;
  const Status made = guarded("copy", [&]() -> Status {
    NEVE_TRY(given);
    copied = std::make_unique<Copied>(
        kept, PlotfileArguments{path, hierarchy, {owned.begin(), owned.end()}, options});
    return {};
  });
  if (!made.ok()) return PlotfileWrite(kept, made, path, hierarchy, owned, options).run();
  return Copied::run(kept, std::move(copied));
}

// Whether all values have to be in memory: frames that HDF5 writes, arrays that have no boxes, levels that
// are encoded again.
bool needs_all(const WriteOptions& options) {
  return options.compress &&
         (options.strategy == "filtered" || options.strategy == "amrex-1d" || options.cross_level);
}

WriteOutcome write_read_values(KeptComm& kept, const std::string& path, const Hierarchy& hierarchy,
                               PlotfileSource& source, const WriteOptions& options) {
  const Comm& comm = kept.comm();
  std::vector<LocalBox> boxes;
  std::optional<LocalValues> values;
  const Status listed = guarded("read", [&]() -> Status {
    NEVE_TRY(check_source(hierarchy, source.hierarchy(), options.ghosts));
    boxes = boxes_without_data(distribute_boxes(source.hierarchy(), comm.size()), comm.rank());
    for (LocalBox& box : boxes) box.ghosts = options.ghosts;
    values.emplace(boxes, source.hierarchy(), source);
    source.expect_all();
    return {};
  });
  NEVE_TRY(agree(comm, listed));
  NEVE_TRY(check_same_options(comm, options));  // before they lead the ranks to different exchanges
  const bool is_refused = behind_of(options) != Behind::none;  // by the write itself, before it reads
  if (!needs_all(options) || is_refused)
    return PlotfileWrite(kept, {}, path, hierarchy, *values, options).run();
  NEVE_ASSIGN(const HeldBoxes held, hold_all(comm, *values, source.hierarchy(), options.ghosts));
  return PlotfileWrite(kept, {}, path, hierarchy, held.boxes, options).run();
}

}  // namespace

std::vector<std::vector<int>> distribute_boxes(const Hierarchy& hierarchy, int ranks) {
  return amr::distribute(hierarchy, std::max(ranks, 1));
}

Result<WriteReport> write_plotfile_if(MPI_Comm comm, const Status& given, const std::string& path,
                                      const Hierarchy& hierarchy, Span<const LocalBox> owned,
                                      const WriteOptions& options, Status* earlier) {
  WriteOutcome outcome = with_kept_comm(comm, path, [&](KeptComm& kept) {
    const std::span<const LocalBox> boxes(owned.data(), owned.size());
    return write_held(kept, given, path, hierarchy, boxes, options);
  });
  return std::move(outcome).told_to(earlier);
}

Status wait_for_writes(MPI_Comm comm) {
  const Result<bool> waited = with_kept_comm(comm, "wait for writes", [&](KeptComm& kept) -> Result<bool> {
    WritesBehind* const behind = WritesBehind::of(kept);
    if (behind != nullptr && behind->has_any()) NEVE_TRY(behind->settle(kept.comm()));
    return true;
  });
  return waited.status();
}

Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   Span<const LocalBox> owned, const WriteOptions& options) {
  return write_plotfile_if(comm, {}, path, hierarchy, owned, options);
}

Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   PlotfileSource& values, const WriteOptions& options) {
  WriteOutcome outcome = with_kept_comm(
      comm, path, [&](KeptComm& kept) { return write_read_values(kept, path, hierarchy, values, options); });
  return std::move(outcome).told_to(nullptr);
}

}  // namespace neve
