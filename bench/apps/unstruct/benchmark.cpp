// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/unstruct/benchmark.hpp"

#include <fmt/format.h>

#include "bench/harness/output/xdmf.hpp"
#include "bench/harness/rows.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::unstruct {
namespace {

using apps::ArrayPart;
using mpi::Comm;

Status check_range(const char* what, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return usage_error(fmt::format("{} is {}; {} to {} is allowed", what, value, least, most));
}

Status check_case(const Case& c) {
  NEVE_TRY(check_range("points", static_cast<double>(c.shells.points), 1, 2e9));
  for (double roundness : {c.shells.latitude_roundness, c.shells.longitude_roundness, c.shells.latitude_end,
                           c.shells.longitude_end}) {
    NEVE_TRY(check_range("roundness", roundness, 0.01, 10));
  }
  NEVE_TRY(check_range("inner", c.shells.inner, 0.01, 0.99));
  NEVE_TRY(check_range("steps", c.steps, 1, 1e6));
  NEVE_TRY(check_range("chunk-rows", c.chunk_rows, 1, 1e9));
  if (c.outputs.empty()) return usage_error("no outputs are given; at least one is needed");
  for (const apps::Output& output : c.outputs) {
    if (output.container == apps::Output::Container::plotfile) {
      return usage_error(fmt::format("output {} is a plot file, which holds grids alone", output.name));
    }
  }
  return {};
}

std::vector<apps::ArraySpec> specs_of(const std::vector<ArrayPart>& parts) {
  std::vector<apps::ArraySpec> specs;
  for (const ArrayPart& part : parts) specs.push_back(part.spec);
  return specs;
}

// Corners of cells as VTK holds them: one list, whose columns no predictor takes for a second dimension.
ArrayPart corners_part(const std::string& name, const apps::RowShare& cells, uint64_t corners,
                       uint64_t chunk_cells, const void* values) {
  const apps::RowShare all = {cells.first * corners, cells.mine * corners, cells.all * corners,
                              cells.max_over_mean};
  return apps::rows_part(name, DType::i32, all, 1, chunk_cells * corners, values);
}

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options)
      : comm_(std::move(comm)), options_(options), grid_(shell_grid(options.shells.points)) {}

  Result<BenchmarkResult> run() {
    result_.values.resize(options_.outputs.size());
    result_.connectivity.resize(options_.outputs.size());
    wedge_texts_.resize(options_.outputs.size());
    triangle_texts_.resize(options_.outputs.size());
    for (int step = 0; step < options_.steps; ++step) NEVE_TRY(run_step(step));
    NEVE_TRY(apps::keep_xdmf(comm_, options_.outputs, options_.store, "neve_unstruct_wedges", wedge_texts_));
    NEVE_TRY(
        apps::keep_xdmf(comm_, options_.outputs, options_.store, "neve_unstruct_triangles", triangle_texts_));
    return result_;
  }

 private:
  Status run_step(int step) {
    const double progress = options_.steps == 1 ? 0 : static_cast<double>(step) / (options_.steps - 1);
    const int number = options_.first_step + step;
    Shells shells;
    NEVE_ASSIGN(const double seconds, apps::timed(comm_, [&] {
                  return mpi::agree(comm_, mpi::guarded("making of shells", [&]() -> Status {
                                      shells = make_shells(options_.shells, grid_, progress, number,
                                                           comm_.rank(), comm_.size());
                                      return {};
                                    }));
                }));
    result_.make_seconds += seconds;
    NEVE_ASSIGN(const apps::RowShare points, apps::share_of_rows(comm_, shells.points.size()));
    NEVE_ASSIGN(const apps::RowShare wedges, apps::share_of_rows(comm_, shells.wedges.size()));
    NEVE_ASSIGN(const apps::RowShare triangles, apps::share_of_rows(comm_, shells.triangles.size()));
    result_.points = points.all;
    result_.wedges = wedges.all;
    result_.triangles = triangles.all;
    const auto chunk = static_cast<uint64_t>(options_.chunk_rows);
    std::vector<ArrayPart> values = {
        apps::rows_part("points", DType::f32, points, 3, chunk, shells.points.data()),
        apps::rows_part("noise", DType::f32, points, 1, chunk, shells.noise.data())};
    // A coordinate a chunk: on a regular shell each repeats in its own way.
    values.front().spec.chunk.back() = 1;
    NEVE_TRY(apps::set_bounds(comm_, options_.bound, values));
    const std::vector<ArrayPart> connectivity = {
        corners_part("wedges", wedges, 6, chunk, shells.wedges.data()),
        corners_part("triangles", triangles, 3, chunk, shells.triangles.data())};
    for (size_t o = 0; o < options_.outputs.size(); ++o) {
      const apps::Output& output = options_.outputs[o];
      const auto file = [&](const char* what, const std::vector<ArrayPart>& parts, apps::StoreResult& into,
                            apps::XdmfFile& stored) -> Status {
        const std::string name = fmt::format("neve_unstruct_{}_{}_{:06}", what, output.name, number);
        stored = {output, apps::path_of(output, options_.store.folder, name), specs_of(parts),
                  static_cast<double>(number)};
        return apps::store(comm_, output, name, parts, options_.store, into);
      };
      apps::XdmfFile values_file, cells_file;
      NEVE_TRY(file("values", values, result_.values[o], values_file));
      NEVE_TRY(file("connectivity", connectivity, result_.connectivity[o], cells_file));
      wedge_texts_[o].push_back(apps::xdmf_cells(cells_file, values_file, {"Wedge", 6, 0, 0, {1}}));
      triangle_texts_[o].push_back(apps::xdmf_cells(cells_file, values_file, {"Triangle", 3, 1, 0, {1}}));
    }
    return {};
  }

  Comm comm_;
  const Case& options_;
  ShellGrid grid_;
  std::vector<std::vector<std::string>> wedge_texts_, triangle_texts_;
  BenchmarkResult result_;
};

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  NEVE_TRY(apps::check_options(options.store));
  const std::vector<std::string> parts = {"neve_unstruct_wedges", "neve_unstruct_triangles"};
  const std::vector<std::string> names = apps::file_stems(parts, options.outputs);
  return apps::run_in_own_folder<Benchmark>(comm, options, names,
                                            [](Case& of) -> apps::StoreOptions& { return of.store; });
}

}  // namespace neve::unstruct
