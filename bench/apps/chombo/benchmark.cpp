// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/apps/chombo/fields.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/amr/grow.hpp"
#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "core/catalog/strategies.hpp"
#include "neve/checkpoint.hpp"
#include "neve/plotfile_reader.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {
namespace {

using apps::timed;
using mpi::Comm;

constexpr int checkpoint_ghosts[] = {5, 4};

IntVect in_dims(int layers, int dims) {
  IntVect ghosts{0, 0, 0};
  for (int d = 0; d < dims; ++d) ghosts[d] = layers;
  return ghosts;
}

// This rank's boxes of some components, with ghosts.
struct Held {
  std::vector<std::unique_ptr<double[]>> storage;
  std::vector<LocalBox> boxes;
};

Held make_boxes(const Hierarchy& h, const std::vector<std::vector<int>>& owner, int rank,
                const Fields& fields, int first_component, int components, const IntVect& ghosts) {
  Held held;
  for (size_t level = 0; level < h.levels.size(); ++level) {
    for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
      if (owner[level][b] != rank) continue;
      const Box cells = amr::grow(h.levels[level].boxes[b], ghosts);
      const auto count = static_cast<size_t>(cells.cells());
      // Not value-initialised: every value is computed next.
      std::unique_ptr<double[]> values(new double[count * static_cast<size_t>(components)]);
      for (int c = 0; c < components; ++c) {
        fields.fill(static_cast<int>(level), cells, first_component + c,
                    values.get() + static_cast<size_t>(c) * count);
      }
      LocalBox local;
      local.level = static_cast<int>(level);
      local.box = static_cast<int>(b);
      local.ghosts = ghosts;
      local.data.component_stride = static_cast<int64_t>(count);
      local.data.stride[1] = cells.size(0);
      local.data.stride[2] = cells.size(0) * cells.size(1);
      const int64_t first_valid =
          ghosts[0] + ghosts[1] * local.data.stride[1] + ghosts[2] * local.data.stride[2];
      local.data.data = values.get() + first_valid;
      held.boxes.push_back(local);
      held.storage.push_back(std::move(values));
    }
  }
  return held;
}

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

// Bounds of every level and component; all 0 where values are as they were.
std::vector<std::vector<double>> bounds_of(const Hierarchy& h, const WriteReport& report, bool compressed) {
  std::vector<std::vector<double>> bounds(h.levels.size(), std::vector<double>(h.components.size(), 0.0));
  if (!compressed) return bounds;
  for (size_t l = 0; l < report.levels.size(); ++l) {
    for (size_t c = 0; c < report.levels[l].fields.size(); ++c)
      bounds[l][c] = report.levels[l].fields[c].bound_abs;
  }
  return bounds;
}

struct Verification {
  uint64_t values = 0, wrong = 0;
  double max_abs_error = 0;

  // Bit for bit where the bound is 0.
  void compare(const std::vector<double>& wanted, const std::vector<double>& got, double bound) {
    values += wanted.size();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::memcmp(&wanted[i], &got[i], sizeof(double)) == 0) continue;
      const double error = std::abs(wanted[i] - got[i]);
      max_abs_error = std::max(max_abs_error, error);
      if (!(error <= bound) || bound == 0) ++wrong;
    }
  }
};

// Every rank reads boxes that others wrote, where there are others.
bool reads(const Comm& comm, int owner) { return (owner + 1) % comm.size() == comm.rank(); }

// A checkpoint's variables: those of Table II are 4 or 5 layers of ghosts wide.
struct Group {
  Variable variable;
  int first_component = 0;
};

std::string file_name(const Way& way) { return fmt::format("neve_chombo_{}.h5", way.name); }

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options) : comm_(std::move(comm)), options_(options) {}

  Result<BenchmarkResult> run() {
    NEVE_TRY(prepare());
    std::vector<std::vector<WriteReport>> reports(options_.ways.size());
    std::vector<std::vector<double>> totals(options_.ways.size());
    result_.ways.resize(options_.ways.size());
    // The ways take turns, so that a disturbance of the machine meets all of them.
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      const bool is_last = repeat + 1 == options_.repeats;
      for (size_t w = 0; w < options_.ways.size(); ++w) {
        const std::string path = path_of(options_.ways[w]);
        WriteReport report;
        NEVE_ASSIGN(const double seconds, timed(comm_, [&]() -> Status {
                      NEVE_ASSIGN(report, write(options_.ways[w], path));
                      return {};
                    }));
        totals[w].push_back(seconds);
        if (options_.verify && is_last) NEVE_TRY(verify(options_.ways[w], path, report, result_.ways[w]));
        reports[w].push_back(std::move(report));
        if (!(options_.keep && is_last)) NEVE_TRY(remove(path));
      }
    }
    for (size_t w = 0; w < options_.ways.size(); ++w)
      summarise(options_.ways[w], totals[w], reports[w], result_.ways[w]);
    return result_;
  }

 private:
  Status prepare() {
    NEVE_ASSIGN(hierarchy_, make_hierarchy());
    NEVE_ASSIGN(owner_, distribute_boxes(hierarchy_, comm_.size(), {options_.distribution, {}}));
    fields_.emplace(hierarchy_);
    const auto components = static_cast<int>(hierarchy_.components.size());
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("making of fields", [&]() -> Status {
                          if (options_.file == FileKind::plot) {
                            held_.push_back(make_boxes(hierarchy_, owner_, comm_.rank(), *fields_, 0,
                                                       components,
                                                       in_dims(options_.ghosts, hierarchy_.dims)));
                            return {};
                          }
                          for (int c = 0; c < components; ++c) {
                            Group& group = groups_.emplace_back();
                            group.first_component = c;
                            group.variable.name = hierarchy_.components[static_cast<size_t>(c)];
                            group.variable.components = {group.variable.name};
                            group.variable.compress = false;
                            group.variable.ghosts = in_dims(checkpoint_ghosts[c % 2], hierarchy_.dims);
                            held_.push_back(make_boxes(hierarchy_, owner_, comm_.rank(), *fields_, c, 1,
                                                       group.variable.ghosts));
                          }
                          return {};
                        })));
    describe();
    return {};
  }

  Result<Hierarchy> make_hierarchy() const {
    if (options_.grid == Grid::bisicles)
      return amr::ice_grid({options_.box_cells, options_.components, DType::f64});
    return amr::chombo_grid({options_.units, options_.box_cells, options_.components, DType::f64});
  }

  void describe() {
    const amr::Loads loads = amr::cell_loads(hierarchy_);
    for (const Level& level : hierarchy_.levels) {
      result_.boxes += level.boxes.size();
      for (const Box& box : level.boxes) {
        result_.value_bytes +=
            static_cast<uint64_t>(box.cells()) * hierarchy_.components.size() * sizeof(double);
      }
    }
    result_.finest_boxes = hierarchy_.levels.back().boxes.size();
    result_.max_over_mean = amr::balance_of_all(loads, owner_, comm_.size()).max_over_mean();
    result_.max_over_mean_finest =
        amr::balance_of_level(loads.back(), owner_.back(), comm_.size()).max_over_mean();
    std::vector<int> of_rank(static_cast<size_t>(comm_.size()), 0);
    for (int rank : owner_.back()) ++of_rank[static_cast<size_t>(rank)];
    result_.max_finest_boxes = *std::max_element(of_rank.begin(), of_rank.end());
    result_.min_finest_boxes = *std::min_element(of_rank.begin(), of_rank.end());
  }

  // Frames hold ghosts only where asked for.
  IntVect ghosts_of(const Way& way, const IntVect& held) const {
    return way.compress && !options_.compress_ghosts ? IntVect{0, 0, 0} : held;
  }

  std::string path_of(const Way& way) const {
    return (std::filesystem::path(options_.folder) / file_name(way)).string();
  }

  WriteOptions write_options(const Way& way) const {
    WriteOptions options;
    options.compress = way.compress;
    options.strategy = way.strategy;
    options.aggregate_boxes = way.strategy == "aggregated" ? options_.aggregate_boxes : 0;
    options.ghosts = ghosts_of(way, in_dims(options_.ghosts, hierarchy_.dims));
    options.bound = options_.bound;
    options.covered = way.compress ? options_.covered : default_covered;
    options.encode.effort = options_.effort;
    options.layout = options_.layout;
    return options;
  }

  Result<WriteReport> write(const Way& way, const std::string& path) const {
    WriteOptions options = write_options(way);
    if (options_.file == FileKind::plot) {
      return write_plotfile(comm_.get(), path, hierarchy_, held_.front().boxes, options);
    }
    std::vector<Variable> variables;
    for (const Group& group : groups_) {
      variables.push_back(group.variable);
      if (!way.compress) continue;
      variables.back().compress = true;
      variables.back().ghosts = ghosts_of(way, group.variable.ghosts);
      variables.back().bound = options_.bound;
    }
    std::vector<std::vector<LocalBox>> boxes;
    for (const Held& held : held_) boxes.push_back(held.boxes);
    return write_checkpoint(comm_.get(), path, hierarchy_, variables, boxes, options);
  }

  Status remove(const std::string& path) const {
    return mpi::agree(comm_, mpi::guarded("removing", [&]() -> Status {
                        std::error_code error;
                        if (comm_.rank() == 0) std::filesystem::remove(path, error);
                        return error ? failure(path + ": " + error.message()) : Status();
                      }));
  }

  // Collective: what the file holds against what was written.
  Status verify(const Way& way, const std::string& path, const WriteReport& report, WayResult& into) const {
    Verification mine;
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("verifying", [&]() -> Status {
                          return options_.file == FileKind::plot ? verify_plot(way, path, report, mine)
                                                                 : verify_checkpoint(way, path, report, mine);
                        })));
    std::array<uint64_t, 2> counts = {mine.values, mine.wrong};
    NEVE_TRY(
        mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of what was verified"));
    NEVE_TRY(
        mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &mine.max_abs_error, 1, MPI_DOUBLE, MPI_MAX, comm_.get()),
                        "merging of errors"));
    into.verified_values = counts[0];
    into.max_abs_error = mine.max_abs_error;
    if (counts[1] == 0) return {};
    return {Code::bound_violated,
            fmt::format("{}: {} of {} values read back differ from what was written (largest error {})", path,
                        counts[1], counts[0], mine.max_abs_error)};
  }

  Status verify_plot(const Way& way, const std::string& path, const WriteReport& report,
                     Verification& mine) const {
    NEVE_ASSIGN(const auto source, open_plotfile(path));
    const Hierarchy& found = source->hierarchy();
    const auto bounds = bounds_of(hierarchy_, report, way.compress);
    NEVE_TRY(check_same_boxes(found, path));
    std::vector<double> wanted, got;
    for (size_t l = 0; l < found.levels.size(); ++l) {
      for (size_t b = 0; b < found.levels[l].boxes.size(); ++b) {
        if (!reads(comm_, owner_[l][b])) continue;
        const Box& box = found.levels[l].boxes[b];
        wanted.resize(static_cast<size_t>(box.cells()));
        got.resize(wanted.size());
        for (size_t c = 0; c < found.components.size(); ++c) {
          NEVE_TRY(source->read_box(static_cast<int>(l), static_cast<int>(b), static_cast<int>(c),
                                    reinterpret_cast<std::byte*>(got.data())));
          fields_->fill(static_cast<int>(l), box, static_cast<int>(c), wanted.data());
          mine.compare(wanted, got, bounds[l][c]);
        }
      }
    }
    return {};
  }

  Status verify_checkpoint(const Way& way, const std::string& path, const WriteReport& report,
                           Verification& mine) const {
    NEVE_ASSIGN(const auto checkpoint, open_checkpoint(path));
    const Hierarchy& found = checkpoint->hierarchy();
    NEVE_TRY(check_same_boxes(found, path));
    std::vector<double> wanted, got;
    for (size_t v = 0; v < groups_.size(); ++v) {
      const IntVect ghosts = ghosts_of(way, groups_[v].variable.ghosts);
      for (size_t l = 0; l < found.levels.size(); ++l) {
        for (size_t b = 0; b < found.levels[l].boxes.size(); ++b) {
          if (!reads(comm_, owner_[l][b])) continue;
          const Box cells = amr::grow(found.levels[l].boxes[b], ghosts);
          wanted.resize(static_cast<size_t>(cells.cells()));
          got.resize(wanted.size());
          NEVE_TRY(checkpoint->read_box(static_cast<int>(v), static_cast<int>(l), static_cast<int>(b), 0,
                                        reinterpret_cast<std::byte*>(got.data())));
          fields_->fill(static_cast<int>(l), cells, groups_[v].first_component, wanted.data());
          mine.compare(wanted, got, report.variables[v].levels[l].fields.front().bound_abs);
        }
      }
    }
    return {};
  }

  Status check_same_boxes(const Hierarchy& found, const std::string& path) const {
    if (found.levels.size() != hierarchy_.levels.size() || found.components != hierarchy_.components) {
      return corrupt(path + ": not the levels and components that were written");
    }
    for (size_t l = 0; l < found.levels.size(); ++l) {
      if (found.levels[l].boxes != hierarchy_.levels[l].boxes) {
        return corrupt(fmt::format("{}: not the boxes of level {} that were written", path, l));
      }
    }
    return {};
  }

  static void summarise(const Way& way, const std::vector<double>& totals,
                        const std::vector<WriteReport>& reports, WayResult& into) {
    const auto median_stage = [&](double WriteReport::*seconds) {
      std::vector<double> values;
      for (const WriteReport& report : reports) values.push_back(report.*seconds);
      return apps::median_of(values);
    };
    const WriteReport& last = reports.back();
    into.name = way.name;
    into.mpi_writes = last.mpi_writes;
    into.data_bytes = last.data_bytes;
    into.file_bytes = last.file_bytes;
    into.bound_abs = way.compress ? largest_bound(last) : 0;
    into.total_seconds = apps::median_of(totals);
    into.min_seconds = *std::min_element(totals.begin(), totals.end());
    into.plan_seconds = median_stage(&WriteReport::plan_seconds);
    into.encode_seconds = median_stage(&WriteReport::encode_seconds);
    into.place_seconds = median_stage(&WriteReport::place_seconds);
    into.write_seconds = median_stage(&WriteReport::write_seconds);
    into.sync_seconds = median_stage(&WriteReport::sync_seconds);
    into.hints = last.hints;
  }

  Comm comm_;
  const Case& options_;
  Hierarchy hierarchy_;
  std::vector<std::vector<int>> owner_;
  std::optional<Fields> fields_;
  std::vector<Group> groups_;  // of a checkpoint
  std::vector<Held> held_;     // one, or one for each group
  BenchmarkResult result_;
};

Status check_case(const Case& options) {
  if (options.ways.empty()) return usage_error("no strategies are given; at least one is needed");
  if (options.repeats < 1 || options.repeats > 1000) {
    return usage_error(fmt::format("repeats is {}; 1 to 1000 are allowed", options.repeats));
  }
  if (options.ghosts < 0 || options.ghosts > amr::max_sample_ghosts) {
    return usage_error(
        fmt::format("ghosts is {}; 0 to {} are allowed", options.ghosts, amr::max_sample_ghosts));
  }
  for (size_t i = 0; i < options.ways.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (options.ways[i].name == options.ways[j].name) {
        return usage_error(fmt::format("strategy {} is given twice", options.ways[i].name));
      }
    }
  }
  return {};
}

}  // namespace

Result<Way> parse_way(const std::string& name) {
  for (const StrategyRow& row : strategies_of_values) {
    if (name == row.name) return Way{name, false, name};
  }
  if (name == "compressed") return Way{name, true, "skeleton"};
  return usage_error(
      fmt::format("unknown strategy '{}'; allowed are {}, compressed", name, joined(strategies_of_values)));
}

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  std::vector<std::string> names;
  for (const Way& way : options.ways) names.push_back(file_name(way));
  return apps::run_in_own_folder<Benchmark>(comm, options, names, [](Case& of) -> Case& { return of; });
}

}  // namespace neve::chombo
