// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/unstruct/benchmark.hpp"

#include <fmt/format.h>

#include "bench/harness/check_range.hpp"
#include "bench/harness/output/series.hpp"
#include "bench/harness/rows.hpp"
#include "bench/harness/timed.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::unstruct {
namespace {

using apps::ArrayPart;
using apps::check_range;
using mpi::Comm;

Status check_case(const Case& c) {
  NEVE_TRY(check_range("points", static_cast<double>(c.shells.points), 1, 2e9));
  for (double roundness : {c.shells.latitude_roundness, c.shells.longitude_roundness, c.shells.latitude_end,
                           c.shells.longitude_end}) {
    NEVE_TRY(check_range("roundness", roundness, 0.01, 10));
  }
  NEVE_TRY(check_range("inner", c.shells.inner, 0.01, 0.99));
  NEVE_TRY(check_range("steps", c.steps, 1, 1e6));
  NEVE_TRY(check_range("chunk-rows", c.chunk_rows, 1, 1e9));
  for (const apps::Output& output : c.outputs) {
    if (output.container == apps::Output::Container::plotfile) {
      return usage_error(fmt::format("output {} is a plotfile, which holds only grids", output.name));
    }
  }
  return {};
}

// Corners of cells as VTK holds them: one list, whose columns no predictor takes for a second dimension.
ArrayPart corners_part(const std::string& name, const apps::RowShare& cells, uint64_t corners,
                       uint64_t chunk_cells, const void* values) {
  const apps::RowShare all = {cells.first * corners, cells.mine * corners, cells.all * corners,
                              cells.max_over_mean};
  return apps::rows_part(name, DType::i32, all, 1, chunk_cells * corners, values);
}

constexpr const char* values_stem = "neve_unstruct_values";
constexpr const char* connectivity_stem = "neve_unstruct_connectivity";
constexpr const char* wedges_stem = "neve_unstruct_wedges";
constexpr const char* triangles_stem = "neve_unstruct_triangles";

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options)
      : comm_(std::move(comm)),
        options_(options),
        grid_(shell_grid(options.shells.points)),
        values_(values_stem, options.outputs),
        connectivity_(connectivity_stem, options.outputs),
        wedge_texts_(wedges_stem, options.outputs),
        triangle_texts_(triangles_stem, options.outputs) {}

  Result<BenchmarkResult> run() {
    for (int step = 0; step < options_.steps; ++step) NEVE_TRY(run_step(step));
    NEVE_TRY(wedge_texts_.keep(comm_, options_.store));
    NEVE_TRY(triangle_texts_.keep(comm_, options_.store));
    result_.values = values_.results();
    result_.connectivity = connectivity_.results();
    return result_;
  }

 private:
  Status run_step(int step) {
    const double progress = options_.steps == 1 ? 0 : static_cast<double>(step) / (options_.steps - 1);
    const int number = options_.first_step + step;
    Shells shells;
    NEVE_ASSIGN(const double seconds, apps::timed_alone(comm_, "making of shells", [&]() -> Status {
                  shells = make_shells(options_.shells, grid_, progress, number, comm_.rank(), comm_.size());
                  return {};
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
    NEVE_ASSIGN(const auto points_files, values_.store(comm_, number, values, options_.store));
    NEVE_ASSIGN(const auto cells_files, connectivity_.store(comm_, number, connectivity, options_.store));
    for (size_t o = 0; o < points_files.size(); ++o) {
      wedge_texts_.add(o, apps::xdmf_cells(cells_files[o], points_files[o], {"Wedge", 6, 0, 0, {1}}));
      triangle_texts_.add(o, apps::xdmf_cells(cells_files[o], points_files[o], {"Triangle", 3, 1, 0, {1}}));
    }
    return {};
  }

  Comm comm_;
  const Case& options_;
  ShellGrid grid_;
  apps::FileSeries values_, connectivity_;
  apps::XdmfSeries wedge_texts_, triangle_texts_;
  BenchmarkResult result_;
};

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  const std::vector<std::string> stems = {values_stem, connectivity_stem, wedges_stem, triangles_stem};
  return apps::run_series<Benchmark>(comm, options, stems);
}

}  // namespace neve::unstruct
