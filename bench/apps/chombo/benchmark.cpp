// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "bench/apps/chombo/cb2_exchange.hpp"
#include "bench/apps/chombo/mpi_io.hpp"
#include "bench/apps/chombo/read_back.hpp"
#include "bench/apps/chombo/verify.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {
namespace {

using apps::timed;
using mpi::Comm;

double largest_bound(const WriteReport& report) {
  double bound = 0;
  const auto add = [&](const std::vector<LevelReport>& levels) {
    for (const LevelReport& level : levels) {
      for (const FieldReport& field : level.fields) bound = std::max(bound, field.bound_abs);
    }
  };
  add(report.levels);
  for (const VariableReport& variable : report.variables) add(variable.levels);
  return bound;
}

// "hdf5-aggregated, 4 boxes" lies in neve_chombo_hdf5-aggregated_4_boxes.h5.
std::string file_name(const Way& way) {
  std::string name;
  for (const char c : way.name) {
    if (c != ',') name += c == ' ' ? '_' : c;
  }
  return fmt::format("neve_chombo_{}.h5", name);
}

// Of one way.
struct Runs {
  std::vector<WayReport> reports;
  std::vector<double> total_seconds, read_seconds, published_seconds;
};

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options) : comm_(std::move(comm)), options_(options) {}

  Result<BenchmarkResult> run() {
    NEVE_ASSIGN(Contents made, Contents::make(comm_, options_.contents));
    contents_.emplace(std::move(made));
    describe();
    std::vector<Runs> runs(options_.ways.size());
    result_.ways.resize(options_.ways.size());
    // The ways take turns, so that a disturbance of the machine meets all of them.
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      const bool is_last = repeat + 1 == options_.repeats;
      for (size_t w = 0; w < options_.ways.size(); ++w)
        NEVE_TRY(run_once(options_.ways[w], is_last, runs[w], result_.ways[w]));
    }
    NEVE_ASSIGN(const MpiIo io, find_mpi_io(comm_, options_.folder));
    result_.mpi_io = io.name();
    for (size_t w = 0; w < options_.ways.size(); ++w) {
      const Way& way = options_.ways[w];
      summarise(way, runs[w], result_.ways[w]);
      NEVE_ASSIGN(const mpi::Hints hints, hints_of_way(way, options_.write.layout));
      result_.ways[w].reads_and_writes_back =
          reads_and_writes_back(way, io, {comm_.size(), contents_->smallest_box_bytes(), hints});
    }
    return result_;
  }

 private:
  void describe() {
    const Hierarchy& hierarchy = contents_->hierarchy();
    const mpi::Ownership& owner = contents_->owners();
    const amr::Loads loads = amr::cell_loads(hierarchy);
    for (const Level& level : hierarchy.levels) {
      result_.boxes += level.boxes.size();
      for (const Box& box : level.boxes)
        result_.value_bytes +=
            static_cast<uint64_t>(box.cells()) * hierarchy.components.size() * sizeof(double);
    }
    result_.finest_boxes = hierarchy.levels.back().boxes.size();
    result_.max_over_mean = amr::balance_of_all(loads, owner, comm_.size()).max_over_mean();
    result_.max_over_mean_finest =
        amr::balance_of_level(loads.back(), owner.back(), comm_.size()).max_over_mean();
    std::vector<int> of_rank(static_cast<size_t>(comm_.size()), 0);
    for (int rank : owner.back()) ++of_rank[static_cast<size_t>(rank)];
    result_.max_finest_boxes = *std::max_element(of_rank.begin(), of_rank.end());
    result_.min_finest_boxes = *std::min_element(of_rank.begin(), of_rank.end());
  }

  // Collective.
  Status run_once(const Way& way, bool is_last, Runs& runs, WayResult& into) {
    const std::string path = (std::filesystem::path(options_.folder) / file_name(way)).string();
    WayReport report;
    NEVE_ASSIGN(const double seconds, timed(comm_, [&]() -> Status {
                  NEVE_ASSIGN(report, write_way(comm_, way, *contents_, options_.write, path));
                  return {};
                }));
    runs.total_seconds.push_back(seconds);
    if (way.compresses && !options_.write.stage.empty()) {
      NEVE_ASSIGN(const double waited, timed(comm_, [&] { return wait_for_writes(comm_.get()); }));
      runs.published_seconds.push_back(seconds + waited);
      NEVE_TRY(read_size(path, report.write));
    }
    if (options_.read_back) {
      NEVE_ASSIGN(const double read_seconds, read_back(comm_, *contents_, way, options_.write, path));
      runs.read_seconds.push_back(read_seconds);
    }
    if (options_.verify && is_last) {
      NEVE_ASSIGN(const Verified verified,
                  verify(comm_, *contents_, way, options_.write, report.write, path));
      into.verified_values = verified.values;
      into.max_abs_error = verified.max_abs_error;
    }
    runs.reports.push_back(std::move(report));
    return options_.keep && is_last ? Status() : remove(path);
  }

  // Collective. What a call that leaves the file to be written behind does not know.
  Status read_size(const std::string& path, WriteReport& report) const {
    std::error_code error;
    report.file_bytes = std::filesystem::file_size(path, error);
    return mpi::agree(comm_, error ? failure(path + ": " + error.message()) : Status());
  }

  Status remove(const std::string& path) const {
    return mpi::agree(comm_, mpi::guarded("removing", [&]() -> Status {
                        std::error_code error;
                        if (comm_.rank() == 0) std::filesystem::remove(path, error);
                        return error ? failure(path + ": " + error.message()) : Status();
                      }));
  }

  static void summarise(const Way& way, const Runs& runs, WayResult& into) {
    const auto median_stage = [&](double WriteReport::*seconds) {
      std::vector<double> values;
      for (const WayReport& report : runs.reports) values.push_back(report.write.*seconds);
      return apps::median_of(values);
    };
    const WayReport& last = runs.reports.back();
    into.way = way;
    into.mpi_writes = last.write.mpi_writes;
    into.data_bytes = last.write.data_bytes;
    into.file_bytes = last.write.file_bytes;
    into.peak_buffer_bytes = last.peak_buffer_bytes;
    into.bound_abs = way.compresses ? largest_bound(last.write) : 0;
    into.total_seconds = apps::median_of(runs.total_seconds);
    into.min_seconds = *std::min_element(runs.total_seconds.begin(), runs.total_seconds.end());
    into.plan_seconds = median_stage(&WriteReport::plan_seconds);
    into.encode_seconds = median_stage(&WriteReport::encode_seconds);
    into.place_seconds = median_stage(&WriteReport::place_seconds);
    into.write_seconds = median_stage(&WriteReport::write_seconds);
    into.sync_seconds = median_stage(&WriteReport::sync_seconds);
    into.staged_bytes = last.write.staged_bytes;
    if (!runs.published_seconds.empty()) into.published_seconds = apps::median_of(runs.published_seconds);
    if (!runs.read_seconds.empty()) into.read_seconds = apps::median_of(runs.read_seconds);
    into.hints = last.write.hints;
  }

  Comm comm_;
  const Case& options_;
  std::optional<Contents> contents_;
  BenchmarkResult result_;
};

Status check_case(const Case& options) {
  if (options.ways.empty()) return usage_error("no strategies are given; at least one is needed");
  if (options.repeats < 1 || options.repeats > 1000)
    return usage_error(fmt::format("repeats is {}; 1 to 1000 are allowed", options.repeats));
  const int ghosts = options.contents.ghosts;
  if (ghosts < 0 || ghosts > amr::max_sample_ghosts)
    return usage_error(fmt::format("ghosts is {}; 0 to {} are allowed", ghosts, amr::max_sample_ghosts));
  const bool exchanges =
      std::ranges::any_of(options.ways, [](const Way& way) { return way.writer == Writer::cb2; });
  return exchanges ? check_cb2_layout(options.write.layout) : Status();
}

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  std::vector<std::string> names;
  for (const Way& way : options.ways) names.push_back(file_name(way));
  return apps::run_in_own_folder<Benchmark>(comm, options, names, [](Case& of) -> Case& { return of; });
}

}  // namespace neve::chombo
