// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/apps/ensemble/member_file.hpp"
#include "bench/apps/ensemble/team.hpp"
#include "bench/harness/check_range.hpp"
#include "bench/harness/random.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/bits/checksum.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::ensemble {
namespace {

using apps::check_range;
using apps::Random;
using apps::timed;
using mpi::Comm;
using mpi::mpi_status;

constexpr double seconds_per_hour = 3600;
// Of Random: the truth and the members have small ones.
constexpr uint64_t network_stream = uint64_t{1} << 32, noise_stream = uint64_t{2} << 32;

uint64_t bytes_of(const std::vector<Field>& fields) {
  uint64_t values = 0;
  for (const Field& field : fields) values += value_count(field.shape);
  return values * sizeof(float);
}

uint64_t hash_of(const float* values, size_t count) {
  return checksum(std::as_bytes(std::span(values, count)));
}

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options) : comm_(std::move(comm)), options_(options), grid_(options.grid) {
    filter_ranks_ = options.filter_ranks > 0 ? options.filter_ranks : comm_.size();
    band_ = band_of(comm_.rank());
  }

  Result<BenchmarkResult> run() {
    if (filter_ranks_ > comm_.size()) {
      return usage_error(fmt::format("{} LETKF processes on {} ranks; at most as many are allowed",
                                     filter_ranks_, comm_.size()));
    }
    NEVE_TRY(form_teams());
    result_.cycles.resize(static_cast<size_t>(options_.cycles));
    place_stations();
    NEVE_TRY(guarded("the truth", [&] { return run_truth(); }));
    NEVE_TRY(share_truth());
    NEVE_TRY(guarded("spin-up", [&] { return spin_up(); }));
    NEVE_TRY(run_free());
    std::optional<std::vector<uint64_t>> first_end;
    for (const Method& method : options_.methods) {
      NEVE_TRY(run_method(method));
      NEVE_ASSIGN(const std::vector<uint64_t> end, hashes_of_members());
      if (!first_end) first_end = end;
      if (end != *first_end) {
        return Status(Code::bound_violated, fmt::format("method {} ends in another ensemble than method {}",
                                                        method.name, options_.methods[0].name));
      }
    }
    return result_;
  }

 private:
  // Not collective work, agreed on by all ranks.
  template <class Work>
  Status guarded(const std::string& what, Work&& work) const {
    return mpi::agree(comm_, mpi::guarded(what, std::forward<Work>(work)).in(what));
  }
  template <class Work>
  Status phase(const std::string& what, double Phases::*seconds, MethodResult& result, Work&& work) {
    moved_bytes_ = 0;
    NEVE_ASSIGN(const double taken, timed(comm_, [&] { return guarded(what, work); }));
    result.seconds.*seconds += taken;
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &moved_bytes_, 1, MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of bytes"));
    if (options_.storage_bytes_per_second > 0) {
      result.imitated.*seconds += static_cast<double>(moved_bytes_) / options_.storage_bytes_per_second;
    }
    return {};
  }

  Status form_teams() {
    NEVE_ASSIGN(const TeamPlan plan,
                plan_teams(comm_.size(), options_.members, options_.member_ranks, grid_.ny));
    NEVE_ASSIGN(Team team, Team::make(comm_, grid_, plan));
    team_.emplace(std::move(team));
    result_.member_ranks = plan.ranks;
    model_ = std::make_unique<Model>(grid_, team_->rows(), team_->is_split() ? &*team_ : nullptr);
    whole_constants_ = team_->is_split() ? Model(grid_).constants() : model_->constants();
    result_.step_seconds = model_->step_seconds();
    return {};
  }

  // Collective over each team, which fails together: what runs a member exchanges rows.
  template <class Work>
  Status for_my_members(Work&& work) const {
    for (int m = 0; m < options_.members; ++m) {
      if (team_->runs(m))
        NEVE_TRY(
            mpi::agree(team_->comm(), mpi::guarded(fmt::format("member {}", m), [&] { return work(m); })));
    }
    return {};
  }
  // On the rank alone that reads and writes the files of the member.
  template <class Work>
  Status for_led_members(Work&& work) const {
    for (int m = 0; m < options_.members; ++m) {
      if (team_->leads(m)) NEVE_TRY(work(m));
    }
    return {};
  }

  // Whole chunks, so that none is read or made twice.
  Band band_of(int rank) const {
    const int chunk_count = (grid_.ny + Storage().chunk_rows - 1) / Storage().chunk_rows;
    const int chunk_rows = (grid_.ny + chunk_count - 1) / chunk_count;
    const auto first = [&](int r) {
      return std::min(grid_.ny, chunk_count * std::min(r, filter_ranks_) / filter_ranks_ * chunk_rows);
    };
    Band band;
    band.first_row = first(rank);
    band.rows = first(rank + 1) - band.first_row;
    return band;
  }

  // --- truth, observations, ensembles -------------------------------------------------------------------

  size_t station_values() const {
    return static_cast<size_t>(options_.outputs * analysed_variables * grid_.layers);
  }

  void place_stations() {
    Random random(options_.seed, network_stream);
    network_.outputs = options_.outputs;
    for (int s = 0; s < options_.stations; ++s) {
      Station& station = network_.stations.emplace_back();
      station.x = static_cast<int>(random.uniform() * grid_.nx);
      station.y = static_cast<int>(random.uniform() * grid_.ny);
      station.first = static_cast<size_t>(s) * station_values();
      for (int output = 0; output < options_.outputs; ++output) {
        for (const double noise : observation_noise) {
          network_.error_stddev.insert(network_.error_stddev.end(), static_cast<size_t>(grid_.layers), noise);
        }
      }
    }
    result_.observations = network_.error_stddev.size();
    network_.background.resize(static_cast<Eigen::Index>(result_.observations), options_.members);
  }

  // The row of the network for what a station sees at an output.
  size_t observation(const Station& station, int output, int variable, int layer) const {
    return station.first +
           static_cast<size_t>((output * analysed_variables + variable) * grid_.layers + layer);
  }
  size_t cell(int layer, int y, int x) const {
    return (static_cast<size_t>(layer) * static_cast<size_t>(grid_.ny) + static_cast<size_t>(y)) *
               static_cast<size_t>(grid_.nx) +
           static_cast<size_t>(x);
  }

  double output_seconds() const { return options_.cycle_hours * seconds_per_hour / options_.outputs; }

  // By the team of member 0: what is observed, and the state that errors are taken from. Members see neither.
  Status run_truth() {
    observed_.assign(static_cast<size_t>(options_.cycles), std::vector<double>(result_.observations));
    true_states_.assign(static_cast<size_t>(options_.cycles) * analysed_variables,
                        std::vector<float>(grid_.cells()));
    if (!team_->runs(0)) return {};
    return mpi::agree(team_->comm(), mpi::guarded("the truth", [&] { return run_truth_in_team(); }));
  }

  Status run_truth_in_team() {
    State truth = model_->initial_state(options_.seed, 0, options_.perturbation);
    NEVE_TRY(spin_up(truth));
    for (int c = 0; c < options_.cycles; ++c) {
      Random noise(options_.seed, noise_stream + static_cast<uint64_t>(c));
      for (int output = 0; output < options_.outputs; ++output) {
        NEVE_TRY(model_->advance(truth, output_seconds()));
        observe_truth(truth, c, output, noise);
      }
      for (int v = 0; v < analysed_variables; ++v) {
        NEVE_ASSIGN(std::vector<float> whole, team_->gather(analysed(truth, v)));
        if (team_->leads(0)) true_state(c, v) = std::move(whole);
      }
    }
    return {};
  }

  // Noise is drawn for all stations, values are taken where their row is.
  void observe_truth(const State& truth, int cycle, int output, Random& noise) {
    const Rows& rows = team_->rows();
    for (const Station& station : network_.stations) {
      const bool is_here = station.y >= rows.first && station.y < rows.first + rows.count;
      for (int v = 0; v < analysed_variables; ++v) {
        for (int k = 0; k < grid_.layers; ++k) {
          const double error = observation_noise[static_cast<size_t>(v)] * noise.normal();
          if (!is_here) continue;
          const size_t at = (static_cast<size_t>(k) * static_cast<size_t>(rows.count) +
                             static_cast<size_t>(station.y - rows.first)) *
                                static_cast<size_t>(grid_.nx) +
                            static_cast<size_t>(station.x);
          observed_[static_cast<size_t>(cycle)][observation(station, output, v, k)] =
              static_cast<double>(analysed(truth, v)[at]) + error;
        }
      }
    }
  }

  std::vector<float>& true_state(int cycle, int variable) {
    return true_states_[static_cast<size_t>(cycle * analysed_variables + variable)];
  }

  Status share_truth() {
    // Each value is one rank's, and 0 elsewhere.
    for (std::vector<double>& values : observed_) {
      NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                                        MPI_DOUBLE, MPI_SUM, comm_.get()),
                          "merging of observations"));
    }
    for (std::vector<float>& values : true_states_) {
      NEVE_TRY(
          mpi_status(MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_FLOAT, 0, comm_.get()),
                     "broadcast of the truth"));
    }
    return {};
  }

  Status spin_up(State& state) {
    return options_.spinup_hours > 0 ? model_->advance(state, options_.spinup_hours * seconds_per_hour)
                                     : Status();
  }
  Status spin_up() {
    return for_my_members([&](int m) -> Status {
      start_.push_back(model_->initial_state(options_.seed, m + 1, options_.perturbation));
      return spin_up(start_.back());
    });
  }

  State& mine(std::vector<State>& states, int member) const {
    return states[static_cast<size_t>(team_->place_of(member))];
  }

  // The ensemble that sees no observations.
  Status run_free() {
    std::vector<State> states = start_;
    for (int c = 0; c < options_.cycles; ++c) {
      NEVE_TRY(guarded("the free run", [&] {
        return for_my_members(
            [&](int m) { return model_->advance(mine(states, m), options_.cycle_hours * seconds_per_hour); });
      }));
      NEVE_ASSIGN(result_.cycles[static_cast<size_t>(c)].free, error_of_mean(states, c));
    }
    return {};
  }

  // Members are added up in their order, on every rank alike.
  Result<Errors> error_of_mean(std::vector<State>& states, int cycle) {
    Errors errors{};
    std::vector<float> member(grid_.cells());
    for (int v = 0; v < analysed_variables; ++v) {
      std::vector<double> sum(grid_.cells());
      for (int m = 0; m < options_.members; ++m) {
        if (team_->runs(m)) {
          NEVE_ASSIGN(std::vector<float> whole, team_->gather(analysed(mine(states, m), v)));
          if (team_->leads(m)) member = std::move(whole);
        }
        NEVE_TRY(mpi_status(MPI_Bcast(member.data(), static_cast<int>(member.size()), MPI_FLOAT,
                                      team_->leader_of(m), comm_.get()),
                            "broadcast of a member"));
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(member[i]);
      }
      double squares = 0;
      for (size_t i = 0; i < sum.size(); ++i) {
        const double error = sum[i] / options_.members - static_cast<double>(true_state(cycle, v)[i]);
        squares += error * error;
      }
      errors[static_cast<size_t>(v)] = std::sqrt(squares / static_cast<double>(sum.size()));
    }
    return errors;
  }

  // --- one method ------------------------------------------------------------------------------------------

  std::string path_of(const Method& method, int cycle, const std::string& rest) const {
    return (std::filesystem::path(options_.folder) /
            fmt::format("{}c{}_{}", file_prefix(method), cycle, rest))
        .string();
  }
  std::string forecast_path(const Method& method, int cycle, int member, int output) const {
    return path_of(method, cycle, fmt::format("m{}_t{}.h5", member, output));
  }
  std::string flat_forecast_path(const Method& method, int cycle, int member, int output) const {
    return path_of(method, cycle, fmt::format("m{}_t{}.bin", member, output));
  }
  std::string revised_path(const Method& method, int cycle, int rank) const {
    return path_of(method, cycle, fmt::format("revised{}.{}", rank, method.converts ? "bin" : "h5"));
  }
  std::string converted_path(const Method& method, int cycle, int member) const {
    return path_of(method, cycle, fmt::format("m{}_revised.h5", member));
  }

  Status run_method(const Method& method) {
    MethodResult& result = result_.methods.emplace_back();
    result.name = method.name;
    states_ = start_;
    memory_ = std::make_unique<SelectionMemory>(options_.delta);
    revised_memory_ = std::make_unique<SelectionMemory>(options_.delta);
    raw_bytes_ = 0;
    for (int c = 0; c < options_.cycles; ++c) {
      NEVE_TRY(run_cycle(method, c, result).in(fmt::format("method {}, cycle {}", method.name, c)));
      if (c > 0) NEVE_TRY(remove_files(method, c - 1));
    }
    if (!options_.keep) NEVE_TRY(remove_files(method, options_.cycles - 1));
    if (is_chosen(method)) result.choices = memory_->choices();
    std::array<uint64_t, 5> sums = {raw_bytes_, result.forecast_bytes, result.converted_bytes,
                                    result.revised_bytes, result.verified_values};
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T,
                                      MPI_SUM, comm_.get()),
                        "merging of sizes"));
    result_.raw_bytes = sums[0];
    result.forecast_bytes = sums[1];
    result.converted_bytes = sums[2];
    result.revised_bytes = sums[3];
    result.verified_values = sums[4];
    return {};
  }

  Status run_cycle(const Method& method, int cycle, MethodResult& result) {
    std::vector<uint64_t> written;  // hashes of what was written
    for (int output = 0; output < options_.outputs; ++output) {
      NEVE_TRY(forecast(method, cycle, output, result, written));
    }
    if (method.converts) {
      NEVE_TRY(
          phase("conversion", &Phases::conversion, result, [&] { return flatten(method, cycle, result); }));
    }
    network_.values = observed_[static_cast<size_t>(cycle)];
    NEVE_TRY(phase("read", &Phases::read, result, [&] { return read_background(method, cycle); }));
    CycleErrors errors;
    NEVE_TRY(errors_of_band(cycle, &errors.background, &errors.background_spread));
    NEVE_TRY(assimilate(result, errors.inflation));
    NEVE_TRY(errors_of_band(cycle, &errors.analysis, &errors.analysis_spread));
    CycleErrors& of_cycle = result_.cycles[static_cast<size_t>(cycle)];
    errors.free = of_cycle.free;
    of_cycle = errors;
    NEVE_TRY(phase("write of the revised state", &Phases::write, result,
                   [&] { return write_revised(method, cycle, result); }));
    if (method.converts) {
      NEVE_TRY(phase("conversion back", &Phases::conversion, result,
                     [&] { return convert_back(method, cycle, result); }));
    }
    NEVE_TRY(
        phase("preprocessing", &Phases::preprocessing, result, [&] { return load_states(method, cycle); }));
    return options_.verify ? verify(method, cycle, written, result) : Status();
  }

  // Runs the members to the next output and writes their files. Adds hashes of what was written.
  Status forecast(const Method& method, int cycle, int output, MethodResult& result,
                  std::vector<uint64_t>& written) {
    std::vector<Diagnostics> diagnostics;
    const auto advance = [&](int m) -> Status {
      NEVE_TRY(model_->advance(mine(states_, m), output_seconds()));
      NEVE_ASSIGN(diagnostics.emplace_back(), model_->diagnose(mine(states_, m)));
      return {};
    };
    NEVE_TRY(phase("model", &Phases::model, result, [&] { return for_my_members(advance); }));
    const auto write = [&](int m) -> Status {
      NEVE_ASSIGN(const WholeMember whole,
                  gather(mine(states_, m), diagnostics[static_cast<size_t>(team_->place_of(m))]));
      if (!team_->leads(m)) return {};
      const std::vector<Field> fields = fields_of(grid_, whole.state, whole.diagnostics, whole_constants_);
      NEVE_ASSIGN(const uint64_t bytes,
                  write_fields(forecast_path(method, cycle, m, output), fields, method.storage, *memory_));
      result.forecast_bytes += bytes;
      moved_bytes_ += bytes;
      raw_bytes_ += bytes_of(fields);
      if (!options_.verify) return {};
      for (const Field& field : fields) written.push_back(hash_of(field.values, value_count(field.shape)));
      return {};
    };
    return phase("write", &Phases::write, result, [&] { return for_my_members(write); });
  }

  struct WholeMember {
    State state;
    Diagnostics diagnostics;
  };

  // Collective over the team: on its leader all rows.
  Result<WholeMember> gather(const State& state, const Diagnostics& diagnostics) const {
    WholeMember whole{state, diagnostics};
    if (!team_->is_split()) return whole;
    State& s = whole.state;
    Diagnostics& d = whole.diagnostics;
    for (std::vector<float>* field : {&s.u, &s.v, &s.thickness, &s.vapour, &s.cloud, &s.rain, &d.w, &d.height,
                                      &d.pressure, &d.cloud_cover, &d.condensed, &d.surface_stress}) {
      NEVE_ASSIGN(*field, team_->gather(*field));
    }
    return whole;
  }

  // Every member's netCDF-like file as a flat one.
  Status flatten(const Method& method, int cycle, MethodResult& result) {
    return for_led_members([&](int m) -> Status {
      for (int output = 0; output < options_.outputs; ++output) {
        NEVE_ASSIGN(const auto held, read_all(forecast_path(method, cycle, m, output)));
        NEVE_ASSIGN(const uint64_t bytes,
                    write_flat(flat_forecast_path(method, cycle, m, output), views_of(held)));
        result.converted_bytes += bytes;
        moved_bytes_ += bytes;
      }
      return {};
    });
  }

  struct HeldField {
    std::string name;
    Shape shape;
    std::vector<float> values;
  };
  static std::vector<Field> views_of(const std::vector<HeldField>& held) {
    std::vector<Field> fields;
    for (const HeldField& field : held) fields.push_back({field.name, field.shape, field.values.data()});
    return fields;
  }

  // Names and shapes, which are those of any member.
  std::vector<Field> any_fields() const {
    return fields_of(grid_, State(grid_), Diagnostics(), whole_constants_);
  }

  Result<std::vector<HeldField>> read_all(const std::string& path) {
    NEVE_ASSIGN(const FieldFile file, FieldFile::open(path));
    std::vector<HeldField> held;
    for (const Field& field : any_fields()) {
      HeldField& read = held.emplace_back(HeldField{field.name, field.shape, {}});
      read.values.resize(value_count(field.shape));
      NEVE_ASSIGN(const uint64_t bytes,
                  file.read(field.name, Shape(field.shape.size(), 0), field.shape, read.values.data()));
      moved_bytes_ += bytes;
    }
    return held;
  }

  // The band at the end of the window, and what members have where something was observed.
  Status read_background(const Method& method, int cycle) {
    network_.background.setZero();
    band_.values.resize(static_cast<size_t>(analysed_variables * options_.members) *
                        band_.block_values(grid_));
    if (band_.rows == 0) return {};
    for (int m = 0; m < options_.members; ++m) {
      for (int output = 0; output < options_.outputs; ++output) {
        const std::string path = method.converts ? flat_forecast_path(method, cycle, m, output)
                                                 : forecast_path(method, cycle, m, output);
        NEVE_ASSIGN(const MemberFile file, MemberFile::open(grid_, path, method.converts));
        if (output + 1 == options_.outputs) {
          for (int v = 0; v < analysed_variables; ++v) {
            float* const block = band_.block(grid_, v, m, options_.members);
            NEVE_ASSIGN(const uint64_t bytes, file.read_rows(v, band_.first_row, band_.rows, block));
            moved_bytes_ += bytes;
            observe(m, output, v, band_.first_row, band_.rows, block);
          }
        } else {
          NEVE_TRY(read_observed(file, m, output));
        }
      }
    }
    return {};
  }

  // Of an earlier output only the rows between the first and the last station.
  Status read_observed(const MemberFile& file, int member, int output) {
    int first = band_.first_row + band_.rows, last = -1;
    for (const Station& station : network_.stations) {
      if (station.y < band_.first_row || station.y >= band_.first_row + band_.rows) continue;
      first = std::min(first, station.y);
      last = std::max(last, station.y);
    }
    if (last < 0) return {};
    const int rows = last - first + 1;
    std::vector<float> values(static_cast<size_t>(rows) * static_cast<size_t>(grid_.nx * grid_.layers));
    for (int v = 0; v < analysed_variables; ++v) {
      NEVE_ASSIGN(const uint64_t bytes, file.read_rows(v, first, rows, values.data()));
      moved_bytes_ += bytes;
      observe(member, output, v, first, rows, values.data());
    }
    return {};
  }

  void observe(int member, int output, int variable, int first_row, int rows, const float* values) {
    for (const Station& station : network_.stations) {
      if (station.y < first_row || station.y >= first_row + rows) continue;
      for (int k = 0; k < grid_.layers; ++k) {
        const size_t at = (static_cast<size_t>(k) * static_cast<size_t>(rows) +
                           static_cast<size_t>(station.y - first_row)) *
                              static_cast<size_t>(grid_.nx) +
                          static_cast<size_t>(station.x);
        network_.background(static_cast<Eigen::Index>(observation(station, output, variable, k)), member) =
            static_cast<double>(values[at]);
      }
    }
  }

  Status assimilate(MethodResult& result, GroupInflation& inflation) {
    NEVE_ASSIGN(const double seconds, timed(comm_, [&]() -> Status {
                  // Each value is one rank's, and 0 elsewhere.
                  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, network_.background.data(),
                                                    static_cast<int>(network_.background.size()), MPI_DOUBLE,
                                                    MPI_SUM, comm_.get()),
                                      "merging of the observed background"));
                  return guarded("LETKF", [&]() -> Status {
                    inflation = analyse(grid_, options_.members, network_, options_.filter, band_);
                    return {};
                  });
                }));
    result.seconds.filter += seconds;
    return {};
  }

  // Collective. Rows are summed one by one, so that the sum does not depend on who has which.
  Status errors_of_band(int cycle, Errors* of_mean, Errors* of_members) {
    const auto ny = static_cast<size_t>(grid_.ny);
    std::vector<double> sums(2 * analysed_variables * ny);
    for (int v = 0; v < analysed_variables; ++v) {
      for (int row = 0; row < band_.rows; ++row) {
        double error = 0, spread = 0;
        for (int k = 0; k < grid_.layers; ++k) {
          for (int x = 0; x < grid_.nx; ++x) {
            const size_t at = static_cast<size_t>(k) * band_.layer_values(grid_) +
                              static_cast<size_t>(row) * static_cast<size_t>(grid_.nx) +
                              static_cast<size_t>(x);
            const auto value = [&](int m) {
              return static_cast<double>(band_.block(grid_, v, m, options_.members)[at]);
            };
            double mean = 0;
            for (int m = 0; m < options_.members; ++m) mean += value(m) / options_.members;
            for (int m = 0; m < options_.members; ++m) {
              spread += (value(m) - mean) * (value(m) - mean) / (options_.members - 1);
            }
            const double wrong =
                mean - static_cast<double>(true_state(cycle, v)[cell(k, band_.first_row + row, x)]);
            error += wrong * wrong;
          }
        }
        const size_t at = static_cast<size_t>(v) * ny + static_cast<size_t>(band_.first_row + row);
        sums[at] = error;
        sums[analysed_variables * ny + at] = spread;
      }
    }
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE,
                                      MPI_SUM, comm_.get()),
                        "merging of errors"));
    const auto root_mean = [&](size_t variable) {
      double sum = 0;
      for (size_t y = 0; y < ny; ++y) sum += sums[variable * ny + y];
      return std::sqrt(sum / static_cast<double>(grid_.cells()));
    };
    for (size_t v = 0; v < analysed_variables; ++v) {
      (*of_mean)[v] = root_mean(v);
      (*of_members)[v] = root_mean(analysed_variables + v);
    }
    return {};
  }

  Shape band_shape(const Band& band) const {
    return {static_cast<uint64_t>(options_.members), static_cast<uint64_t>(grid_.layers),
            static_cast<uint64_t>(band.rows), static_cast<uint64_t>(grid_.nx)};
  }

  // One file of every LETKF process: all members' rows that it has.
  Status write_revised(const Method& method, int cycle, MethodResult& result) {
    if (band_.rows == 0) return {};
    std::vector<Field> fields;
    for (int v = 0; v < analysed_variables; ++v) {
      fields.push_back({analysed_names[static_cast<size_t>(v)], band_shape(band_),
                        band_.block(grid_, v, 0, options_.members)});
    }
    raw_bytes_ += bytes_of(fields);
    const std::string path = revised_path(method, cycle, comm_.rank());
    NEVE_ASSIGN(const uint64_t bytes, method.converts
                                          ? write_flat(path, fields)
                                          : write_fields(path, fields, method.storage, *revised_memory_));
    result.revised_bytes += bytes;
    moved_bytes_ += bytes;
    return {};
  }

  // One file of an LETKF process.
  struct RevisedFile {
    std::shared_ptr<plotfile::File> flat;
    std::optional<FieldFile> fields;
  };
  static Result<RevisedFile> open_revised(const std::string& path, bool is_flat) {
    RevisedFile file;
    if (is_flat) {
      NEVE_ASSIGN(file.flat, plotfile::File::open(path));
    } else {
      NEVE_ASSIGN(file.fields, FieldFile::open(path));
    }
    return file;
  }

  // Rows of a member's variable in the file of a band, [layer][row][x]; the first is counted in the band.
  Status read_revised_rows(const RevisedFile& file, const Band& band, int variable, int member,
                           const Rows& rows, float* out) {
    const auto nx = static_cast<uint64_t>(grid_.nx), count = static_cast<uint64_t>(rows.count);
    if (file.fields) {
      Shape shape = band_shape(band);
      shape[0] = 1;
      shape[2] = count;
      NEVE_ASSIGN(const uint64_t bytes,
                  file.fields->read(analysed_names[static_cast<size_t>(variable)],
                                    {static_cast<uint64_t>(member), 0, static_cast<uint64_t>(rows.first), 0},
                                    shape, out));
      moved_bytes_ += bytes;
      return {};
    }
    for (int k = 0; k < grid_.layers; ++k) {
      const uint64_t layer = static_cast<uint64_t>((variable * options_.members + member) * grid_.layers + k);
      const uint64_t first = layer * band.layer_values(grid_) + static_cast<uint64_t>(rows.first) * nx;
      NEVE_TRY(read_flat(*file.flat, first, count * nx, out + static_cast<uint64_t>(k) * count * nx));
      moved_bytes_ += count * nx * sizeof(float);
    }
    return {};
  }

  // Rows of the revised variables of a member, out of the files of all LETKF processes that have some.
  Status read_revised(const Method& method, int cycle, int member, const Rows& wanted, State& state) {
    std::vector<float> values;
    for (int rank = 0; rank < filter_ranks_; ++rank) {
      const Band band = band_of(rank);
      const int first = std::max(band.first_row, wanted.first);
      const int end = std::min(band.first_row + band.rows, wanted.first + wanted.count);
      if (first >= end) continue;
      NEVE_ASSIGN(const RevisedFile file, open_revised(revised_path(method, cycle, rank), method.converts));
      const size_t block = static_cast<size_t>(end - first) * static_cast<size_t>(grid_.nx);
      values.resize(block * static_cast<size_t>(grid_.layers));
      for (int v = 0; v < analysed_variables; ++v) {
        NEVE_TRY(
            read_revised_rows(file, band, v, member, {first - band.first_row, end - first}, values.data()));
        for (size_t k = 0; k < static_cast<size_t>(grid_.layers); ++k) {
          const size_t row =
              k * static_cast<size_t>(wanted.count) + static_cast<size_t>(first - wanted.first);
          std::copy_n(values.data() + k * block, block,
                      analysed(state, v).data() + row * static_cast<size_t>(grid_.nx));
        }
      }
    }
    return {};
  }

  Status convert_back(const Method& method, int cycle, MethodResult& result) {
    return for_led_members([&](int m) -> Status {
      State state(grid_);
      NEVE_TRY(read_revised(method, cycle, m, {0, grid_.ny}, state));
      std::vector<Field> fields = fields_of(grid_, state, Diagnostics(), whole_constants_);
      fields.resize(analysed_variables);
      NEVE_ASSIGN(const uint64_t bytes,
                  write_fields(converted_path(method, cycle, m), fields, method.storage, *memory_));
      result.converted_bytes += bytes;
      moved_bytes_ += bytes;
      return {};
    });
  }

  // What the next cycle starts from: the revised variables, and the rest as forecast.
  Status load_states(const Method& method, int cycle) {
    return for_my_members([&](int m) { return load_state(method, cycle, m); });
  }

  // This rank's rows.
  Status load_state(const Method& method, int cycle, int member) {
    const Rows& rows = team_->rows();
    const auto first = static_cast<uint64_t>(rows.first);
    const Shape columns = {static_cast<uint64_t>(rows.count), static_cast<uint64_t>(grid_.nx)};
    const Shape cells = {static_cast<uint64_t>(grid_.layers), columns[0], columns[1]};
    State state(model_->grid());
    const auto read = [&](const FieldFile& file, const char* name, const Shape& count,
                          std::vector<float>& out) -> Status {
      const Shape start = count.size() == 3 ? Shape{0, first, 0} : Shape{first, 0};
      NEVE_ASSIGN(const uint64_t bytes, file.read(name, start, count, out.data()));
      moved_bytes_ += bytes;
      return {};
    };
    NEVE_ASSIGN(const FieldFile forecast,
                FieldFile::open(forecast_path(method, cycle, member, options_.outputs - 1)));
    NEVE_TRY(read(forecast, "QCLOUD", cells, state.cloud));
    NEVE_TRY(read(forecast, "RAINNC", columns, state.rain));
    if (method.converts) {
      NEVE_ASSIGN(const FieldFile revised, FieldFile::open(converted_path(method, cycle, member)));
      for (int v = 0; v < analysed_variables; ++v) {
        NEVE_TRY(read(revised, analysed_names[static_cast<size_t>(v)], cells, analysed(state, v)));
      }
    } else {
      NEVE_TRY(read_revised(method, cycle, member, rows, state));
    }
    mine(states_, member) = std::move(state);
    return {};
  }

  // Collective. All values of all members' files, read by another rank than wrote them, where there is one.
  Status verify(const Method& method, int cycle, const std::vector<uint64_t>& written, MethodResult& result) {
    const size_t fields = any_fields().size();
    const auto members = static_cast<size_t>(options_.members);
    // [output][member][field], what was written before what was read; each is one rank's, and 0 elsewhere.
    const size_t count = static_cast<size_t>(options_.outputs) * members * fields;
    std::vector<uint64_t> hashes(2 * count);
    NEVE_TRY(guarded("verifying", [&]() -> Status {
      size_t next = 0;
      for (int output = 0; output < options_.outputs; ++output) {
        for (int m = 0; m < options_.members; ++m) {
          const size_t at = (static_cast<size_t>(output) * members + static_cast<size_t>(m)) * fields;
          if (team_->leads(m)) {
            std::copy_n(written.begin() + static_cast<ptrdiff_t>(next), fields,
                        hashes.begin() + static_cast<ptrdiff_t>(at));
            next += fields;
          }
          if ((team_->leader_of(m) + 1) % comm_.size() != comm_.rank()) continue;
          NEVE_ASSIGN(const auto held, read_all(forecast_path(method, cycle, m, output)));
          for (size_t f = 0; f < fields; ++f) {
            hashes[count + at + f] = hash_of(held[f].values.data(), held[f].values.size());
            result.verified_values += held[f].values.size();
          }
        }
      }
      return {};
    }));
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, hashes.data(), static_cast<int>(hashes.size()),
                                      MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of hashes"));
    for (size_t i = 0; i < count; ++i) {
      if (hashes[i] == hashes[count + i]) continue;
      const auto all = any_fields();
      return {Code::bound_violated,
              fmt::format("{}: {} read back differs from what was written",
                          forecast_path(method, cycle, static_cast<int>(i / fields % members),
                                        static_cast<int>(i / fields / members)),
                          all[i % fields].name)};
    }
    return {};
  }

  Result<std::vector<uint64_t>> hashes_of_members() {
    std::vector<uint64_t> hashes(static_cast<size_t>(options_.members * analysed_variables));
    for (int m = 0; m < options_.members; ++m) {
      if (!team_->runs(m)) continue;
      for (int v = 0; v < analysed_variables; ++v) {
        NEVE_ASSIGN(const std::vector<float> values, team_->gather(analysed(mine(states_, m), v)));
        if (!team_->leads(m)) continue;
        hashes[static_cast<size_t>(m * analysed_variables + v)] = hash_of(values.data(), values.size());
      }
    }
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, hashes.data(), static_cast<int>(hashes.size()),
                                      MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "merging of hashes"));
    return hashes;
  }

  Status remove_files(const Method& method, int cycle) const {
    return guarded("removing", [&]() -> Status {
      std::vector<std::string> paths;
      NEVE_TRY(for_led_members([&](int m) -> Status {
        for (int output = 0; output < options_.outputs; ++output) {
          paths.push_back(forecast_path(method, cycle, m, output));
          paths.push_back(flat_forecast_path(method, cycle, m, output));
        }
        paths.push_back(converted_path(method, cycle, m));
        return {};
      }));
      paths.push_back(revised_path(method, cycle, comm_.rank()));
      for (const std::string& path : paths) {
        std::error_code error;
        std::filesystem::remove(path, error);
        if (error) return failure(path + ": " + error.message());
      }
      return {};
    });
  }

  Comm comm_;
  const Case& options_;
  const Grid grid_;
  std::optional<Team> team_;
  std::unique_ptr<Model> model_;  // of the team's members, this rank's rows
  Constants whole_constants_;
  int filter_ranks_ = 1;
  Band band_;
  Network network_;
  std::vector<std::vector<double>> observed_;    // of each cycle
  std::vector<std::vector<float>> true_states_;  // at the end of each cycle, each analysed variable
  std::vector<State> start_, states_;            // of this rank's members
  std::unique_ptr<SelectionMemory> memory_, revised_memory_;  // of the method that runs
  uint64_t raw_bytes_ = 0;
  uint64_t moved_bytes_ = 0;  // read and written by this rank in the phase that runs
  BenchmarkResult result_;
};

Status check_filter(const FilterSettings& filter) {
  NEVE_TRY(check_range("inflation", filter.inflation, 1, 10));
  NEVE_TRY(check_range("max-inflation", filter.max_inflation, filter.inflation, 10));
  NEVE_TRY(check_range("relaxation", filter.relaxation, 0, 1));
  NEVE_TRY(check_range("radius", filter.radius_m / 1e3, 1, 1e5));
  NEVE_TRY(check_range("radius-layers", filter.radius_layers, 0.1, 1e3));
  NEVE_TRY(check_range("thickness-for-winds", filter.thickness_for_winds, 0, 1));
  NEVE_TRY(check_range("winds-for-thickness", filter.winds_for_thickness, 0, 1));
  return check_range("weight-spacing", filter.weight_spacing, 1, 64);
}

Status check_case(const Case& options) {
  NEVE_TRY(check_range("nx", options.grid.nx, 8, 4096));
  NEVE_TRY(check_range("ny", options.grid.ny, 8, 4096));
  NEVE_TRY(check_range("layers", options.grid.layers, 1, 64));
  NEVE_TRY(check_range("spacing", options.grid.spacing_m / 1e3, 1, 1000));
  NEVE_TRY(check_range("members", options.members, 2, 1000));
  NEVE_TRY(check_range("member-ranks", options.member_ranks, 0, 1e6));
  NEVE_TRY(check_range("letkf-ranks", options.filter_ranks, 0, 1e6));
  NEVE_TRY(check_range("cycles", options.cycles, 1, 1000));
  NEVE_TRY(check_range("cycle-hours", options.cycle_hours, 0.01, 240));
  NEVE_TRY(check_range("outputs", options.outputs, 1, 100));
  NEVE_TRY(check_range("spinup-hours", options.spinup_hours, 0, 2400));
  NEVE_TRY(check_range("perturbation", options.perturbation, 0, 2));
  NEVE_TRY(check_range("stations", options.stations, 1, 10000));
  NEVE_TRY(check_filter(options.filter));
  NEVE_TRY(check_range("storage", options.storage_bytes_per_second / 1e6, 0, 1e6));
  if (options.methods.empty()) return usage_error("no method is given; at least one is needed");
  for (size_t i = 0; i < options.methods.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (options.methods[i].name == options.methods[j].name) {
        return usage_error(fmt::format("method {} is given twice", options.methods[i].name));
      }
    }
  }
  return {};
}

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  std::vector<std::string> names;
  for (const Method& method : options.methods) names.push_back(file_prefix(method));
  return apps::run_in_own_folder<Benchmark>(comm, options, names, [](Case& of) -> Case& { return of; });
}

}  // namespace neve::ensemble
