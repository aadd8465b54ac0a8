// SPDX-License-Identifier: BSD-3-Clause
// The ensemble cycle of the ACOMPS slides: members of a small WRF-like model write files, LETKF processes
// read what they need, assimilate observations of a hidden truth and write the revised state, which the next
// cycle starts from. Done by several methods of storing, among them the detour over flat binary files.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/apps/ensemble/letkf.hpp"
#include "bench/apps/ensemble/member_file.hpp"
#include "bench/apps/ensemble/method.hpp"
#include "bench/apps/ensemble/model.hpp"

namespace neve::ensemble {

struct Case {
  Grid grid;
  int members = 40;
  int member_ranks = 0;  // that share a member's rows; 0: as many as there are for each member, at least 1
  int filter_ranks = 0;  // processes of the LETKF; 0: all ranks
  int cycles = 3;
  double cycle_hours = 3;
  int outputs = 3;  // files of a member and cycle; each is observed
  double spinup_hours = 12;
  double perturbation = 0.5;  // of the members' initial winds and humidity, against the weather
  int stations = 120;
  FilterSettings filter;
  double delta = SelectionMemory::default_delta;  // of the methods that are remembered
  uint64_t seed = 1;
  std::vector<Method> methods;
  Effort effort = Effort::fast;
  std::string folder = ".";
  // Of storage that all ranks share and that is imitated; 0: none is.
  double storage_bytes_per_second = 0;
  bool verify = false;
  bool keep = false;  // the files of the last cycle of each method
};

// Standard deviations of the observations' noise: winds 1 m/s, thickness 5 m, vapour 0.5 g/kg.
inline constexpr std::array<double, analysed_variables> observation_noise = {1.0, 1.0, 5.0, 5e-4};

// Root mean square differences over all cells, of each analysed variable.
using Errors = std::array<double, analysed_variables>;
struct CycleErrors {
  Errors free;        // of the mean of an ensemble without observations, from the truth
  Errors background;  // of the mean before the analysis
  Errors analysis;    // and after it
  // Of the members from their mean, before and after the analysis. Where it is the error's size, the ensemble
  // knows how far it is off.
  Errors background_spread, analysis_spread;
  GroupInflation inflation{};  // of the background's covariance, as estimated
};

// Wall seconds of the slowest rank, all cycles together. Barriers part them: their sum is the time end to
// end.
struct Phases {
  double model = 0;
  double write = 0;          // members' files and the revised state
  double conversion = 0;     // to flat files and back
  double read = 0;           // by the LETKF
  double filter = 0;         // the LETKF itself
  double preprocessing = 0;  // the next cycle's initial conditions out of the revised state and the forecast

  double total() const { return model + write + conversion + read + filter + preprocessing; }
};

struct MethodResult {
  std::string name;
  Phases seconds;
  // What imitated storage adds: bytes read and written in a phase, by all ranks, over its bandwidth.
  Phases imitated;
  // Rank 0's, of its members' files: what was chosen, by variable and step.
  std::vector<Choice> choices;
  // Of all cycles.
  uint64_t forecast_bytes = 0;   // members' files
  uint64_t converted_bytes = 0;  // flat files, and what is made of them
  uint64_t revised_bytes = 0;    // as the LETKF wrote it
  uint64_t verified_values = 0;

  uint64_t bytes() const { return forecast_bytes + converted_bytes + revised_bytes; }
};

struct BenchmarkResult {
  uint64_t raw_bytes = 0;   // of values in members' files and revised states
  size_t observations = 0;  // of a cycle
  double step_seconds = 0;
  int member_ranks = 1;
  std::vector<CycleErrors> cycles;
  std::vector<MethodResult> methods;
};

// Collective; the same on every rank, and but for times and bytes the same for any number of ranks. Files lie
// in case.folder, which must exist, under names of their own. bound_violated where a value is read back that
// was not written, or a method ends in another state than the first.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::ensemble
