// SPDX-License-Identifier: BSD-3-Clause
// What a mini-app stores step after step by every output, measured, with the texts by which ParaView and
// VisIt read it.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/output/output.hpp"
#include "bench/harness/output/xdmf.hpp"
#include "bench/harness/workplace.hpp"

namespace neve::apps {

// Files of one kind: a file for each output and step, called STEM_OUTPUT_STEP.
class FileSeries {
 public:
  FileSeries(std::string stem, std::vector<Output> outputs)
      : stem_(std::move(stem)), outputs_(std::move(outputs)), results_(outputs_.size()) {}

  // Collective. The parts by one output after the other, so that a disturbance of the machine meets all of
  // them. What was stored, in the order of the outputs.
  Result<std::vector<XdmfFile>> store(const mpi::Comm& comm, int step, std::span<const ArrayPart> parts,
                                      const StoreOptions& options);

  // Of all steps so far, in the order of the outputs.
  const std::vector<StoreResult>& results() const { return results_; }

 private:
  std::string stem_;
  std::vector<Output> outputs_;
  std::vector<StoreResult> results_;
};

// What is stored, as grids in time: a text for each output, called STEM_OUTPUT.xdmf.
class XdmfSeries {
 public:
  XdmfSeries(std::string stem, std::vector<Output> outputs)
      : stem_(std::move(stem)), outputs_(std::move(outputs)), grids_(outputs_.size()) {}

  // A step of an output, by its number: what xdmf_uniform or xdmf_cells makes of it.
  void add(size_t output, std::string grid) { grids_[output].push_back(std::move(grid)); }

  // Collective. Writes them where files are kept.
  Status keep(const mpi::Comm& comm, const StoreOptions& options) const {
    return keep_xdmf(comm, outputs_, options, stem_, grids_);
  }

 private:
  std::string stem_;
  std::vector<Output> outputs_;
  std::vector<std::vector<std::string>> grids_;  // by output, a step each
};

Status check_outputs(std::span<const Output> outputs);

// Collective. run_in_own_folder of a case that has `outputs` and `store`; `stems` are those of its series.
template <class Benchmark, class Case>
auto run_series(MPI_Comm comm, const Case& options, std::span<const std::string> stems)
    -> decltype(std::declval<Benchmark&>().run()) {
  NEVE_TRY(check_outputs(options.outputs));
  NEVE_TRY(check_options(options.store));
  const std::vector<std::string> names = file_stems(stems, options.outputs);
  return run_in_own_folder<Benchmark>(comm, options, names,
                                      [](Case& of) -> StoreOptions& { return of.store; });
}

}  // namespace neve::apps
