// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/cartiso/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/apps/cartiso/isosurface.hpp"
#include "bench/harness/checksum.hpp"
#include "bench/harness/output/series.hpp"
#include "bench/harness/rows.hpp"
#include "bench/harness/timed.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::cartiso {
namespace {

using apps::ArrayPart;
using apps::GridBox;
using mpi::Comm;
using mpi::mpi_status;

Status check_case(const Case& c) {
  for (int points : c.shape.points) {
    if (points < 2 || points > 1 << 20) {
      return usage_error(
          fmt::format("grid has {} points in a direction; 2 to {} are allowed", points, 1 << 20));
    }
  }
  for (int chunk : c.chunk) {
    if (chunk < 1) return usage_error(fmt::format("chunk is {}; at least 1 is allowed", chunk));
  }
  if (c.chunk_rows < 1)
    return usage_error(fmt::format("chunk-rows is {}; at least 1 is allowed", c.chunk_rows));
  if (c.steps < 1) return usage_error(fmt::format("steps is {}; at least 1 is allowed", c.steps));
  for (size_t d = 0; d < 3; ++d) {
    if (!(c.shape.sigma[d] > 0) || !(c.shape.sigma_end[d] > 0)) {
      return usage_error(
          fmt::format("sigma is {} to {}; it must be above 0", c.shape.sigma[d], c.shape.sigma_end[d]));
    }
  }
  return {};
}

constexpr const char* grid_stem = "neve_cartiso_grid";
constexpr const char* surface_stem = "neve_cartiso_surface";

// Plot files hold grids alone.
std::vector<apps::Output> of_surfaces(const std::vector<apps::Output>& outputs) {
  std::vector<apps::Output> found;
  for (const apps::Output& output : outputs) {
    if (output.container != apps::Output::Container::plotfile) found.push_back(output);
  }
  return found;
}

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options)
      : comm_(std::move(comm)),
        options_(options),
        grid_files_(grid_stem, options.outputs),
        surface_files_(surface_stem, of_surfaces(options.outputs)),
        grid_texts_(grid_stem, options.outputs),
        surface_texts_(surface_stem, of_surfaces(options.outputs)) {}

  Result<BenchmarkResult> run() {
    const std::array<int, 3>& points = options_.shape.points;
    const std::array<int, 3> ranks = apps::share_out(points, comm_.size());
    for (size_t d = 0; d < 3; ++d) {
      if (ranks[d] > points[d]) {
        return usage_error(fmt::format("{} ranks along {} points; each needs one", ranks[d], points[d]));
      }
    }
    box_ = apps::box_of_rank(points, ranks, comm_.rank());
    for (int step = 0; step < options_.steps; ++step) NEVE_TRY(run_step(step));
    NEVE_TRY(grid_texts_.keep(comm_, options_.store));
    NEVE_TRY(surface_texts_.keep(comm_, options_.store));
    result_.grid = grid_files_.results();
    result_.surface = surface_files_.results();
    return result_;
  }

 private:
  Status run_step(int step) {
    const Field field(options_.shape,
                      options_.steps == 1 ? 0 : static_cast<double>(step) / (options_.steps - 1));
    std::vector<float> values, around;
    Surface surface;
    std::vector<float> carried;
    NEVE_ASSIGN(const double made, apps::timed_alone(comm_, "making of the field", [&]() -> Status {
                  values.resize(box_.cells());
                  field.fill(box_, values.data());
                  return {};
                }));
    result_.make_seconds += made;
    NEVE_ASSIGN(const double extracted, apps::timed_alone(comm_, "extracting the surface", [&]() -> Status {
                  extract(field, around, surface, carried);
                  return {};
                }));
    result_.extract_seconds += extracted;
    NEVE_ASSIGN(result_.field_checksum, apps::field_checksum(comm_, options_.shape.points, box_, values));
    NEVE_TRY(store_grid(step, values));
    return store_surface(step, surface, carried);
  }

  void extract(const Field& field, std::vector<float>& around, Surface& surface,
               std::vector<float>& carried) const {
    // Cubes that begin at the last points reach beyond the grid.
    GridBox cubes = box_, wide;
    for (size_t d = 0; d < 3; ++d) {
      cubes.size[d] = std::min(cubes.size[d], options_.shape.points[d] - 1 - cubes.first[d]);
      wide.first[d] = cubes.first[d] - surface_halo;
      wide.size[d] = cubes.size[d] + 2 * surface_halo + 1;
    }
    if (cubes.cells() == 0) return;
    around.resize(wide.cells());
    field.fill(wide, around.data());
    surface = isosurface(cubes, around, static_cast<float>(options_.level),
                         {field.spacing(0), field.spacing(1), field.spacing(2)});
    for (const auto& point : surface.points) carried.push_back(field.noise_at(point));
  }

  Status store_grid(int step, const std::vector<float>& values) {
    ArrayPart part;
    part.spec.name = "value";
    for (size_t d = 3; d-- > 0;) {
      part.spec.shape.push_back(static_cast<uint64_t>(options_.shape.points[d]));
      part.spec.chunk.push_back(static_cast<uint64_t>(std::min(options_.chunk[d], options_.shape.points[d])));
      part.start.push_back(static_cast<uint64_t>(box_.first[d]));
      part.count.push_back(static_cast<uint64_t>(box_.size[d]));
    }
    part.values = values.data();
    NEVE_TRY(apps::set_bounds(comm_, options_.bound, std::span(&part, 1)));
    NEVE_ASSIGN(const auto files, grid_files_.store(comm_, step, std::span(&part, 1), options_.store));
    const auto spacing = [&](size_t d) { return 1.0 / (options_.shape.points[d] - 1); };
    for (size_t o = 0; o < files.size(); ++o) {
      grid_texts_.add(o, apps::xdmf_uniform(files[o], {spacing(2), spacing(1), spacing(0)}));
    }
    return {};
  }

  Status store_surface(int step, Surface& surface, const std::vector<float>& carried) {
    NEVE_ASSIGN(const apps::RowShare points, apps::share_of_rows(comm_, surface.points.size()));
    NEVE_ASSIGN(const apps::RowShare triangles, apps::share_of_rows(comm_, surface.triangles.size()));
    NEVE_TRY(measure(surface, triangles));
    result_.points += points.all;
    result_.triangles += triangles.all;
    if (points.all > static_cast<uint64_t>(INT32_MAX)) {
      return usage_error(
          fmt::format("the surface has {} points; at most {} can be numbered", points.all, INT32_MAX));
    }
    for (auto& triangle : surface.triangles) {
      for (int32_t& point : triangle) point += static_cast<int32_t>(points.first);
    }
    const auto chunk = static_cast<uint64_t>(options_.chunk_rows);
    std::vector<ArrayPart> parts = {
        apps::rows_part("points", DType::f32, points, 3, chunk, surface.points.data()),
        apps::rows_part("triangles", DType::i32, triangles, 3, chunk, surface.triangles.data()),
        apps::rows_part("normals", DType::f32, points, 3, chunk, surface.normals.data()),
        apps::rows_part("noise", DType::f32, points, 1, chunk, carried.data())};
    NEVE_TRY(apps::set_bounds(comm_, options_.bound, parts));
    NEVE_ASSIGN(const auto files, surface_files_.store(comm_, step, parts, options_.store));
    for (size_t o = 0; o < files.size(); ++o) {
      surface_texts_.add(o, apps::xdmf_cells(files[o], files[o], {"Triangle", 3, 1, 0, {2, 3}}));
    }
    return {};
  }

  Status measure(const Surface& surface, const apps::RowShare& triangles) {
    std::array<double, 2> sums = {0, 0};  // area, volume (divergence theorem)
    for (const auto& triangle : surface.triangles) {
      std::array<Vector, 3> p;
      for (size_t c = 0; c < 3; ++c) {
        const auto& point = surface.points[static_cast<size_t>(triangle[c])];
        for (size_t d = 0; d < 3; ++d) p[c][d] = static_cast<double>(point[d]);
      }
      Vector u, v;
      for (size_t d = 0; d < 3; ++d) {
        u[d] = p[1][d] - p[0][d];
        v[d] = p[2][d] - p[0][d];
      }
      const Vector n = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
      sums[0] += std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
      sums[1] += (n[0] * p[0][0] + n[1] * p[0][1] + n[2] * p[0][2]) / 6;
    }
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm_.get()),
                        "merging of areas"));
    result_.area = sums[0];
    result_.volume = sums[1];
    result_.max_over_mean = triangles.max_over_mean;
    return {};
  }

  Comm comm_;
  const Case& options_;
  GridBox box_;
  apps::FileSeries grid_files_, surface_files_;
  apps::XdmfSeries grid_texts_, surface_texts_;
  BenchmarkResult result_;
};

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  const std::vector<std::string> stems = {grid_stem, surface_stem};
  return apps::run_series<Benchmark>(comm, options, stems);
}

}  // namespace neve::cartiso
