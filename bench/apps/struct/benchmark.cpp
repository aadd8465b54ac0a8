// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/struct/benchmark.hpp"

#include <fmt/format.h>

#include "bench/apps/struct/layout.hpp"
#include "bench/apps/struct/tile_counts.hpp"
#include "bench/harness/busiest.hpp"
#include "bench/harness/check_range.hpp"
#include "bench/harness/checksum.hpp"
#include "bench/harness/output/series.hpp"
#include "bench/harness/timed.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::structured {
namespace {

using apps::check_range;
using mpi::Comm;
using mpi::mpi_status;

Status check_case(const Case& c) {
  for (int cells : c.grid.cells) NEVE_TRY(check_range("grid", cells, 1, 1 << 20));
  for (int cells : c.chunk) NEVE_TRY(check_range("chunk", cells, 1, 1 << 20));
  NEVE_TRY(check_range("valid", c.valid, 0.0, 1.0));
  NEVE_TRY(check_range("steps", c.steps, 1, 1000000));
  NEVE_TRY(check_range("first-step", c.first_step, 0, 1000000));
  for (double frequency : {c.grid.mask_frequency, c.grid.space_frequency, c.grid.time_frequency}) {
    NEVE_TRY(check_range("frequency", frequency, 0.0, 1e6));
  }
  NEVE_TRY(check_range("mask-slope", c.grid.mask_slope, -2.0, 2.0));
  for (int tiles : c.tile_counts) NEVE_TRY(check_range("tiles", tiles, 1, 1 << 16));
  if (c.balance.empty()) return usage_error("neither balanced nor unbalanced tiles are asked for");
  return {};
}

constexpr const char* balanced_stem = "neve_struct_balanced";
constexpr const char* unbalanced_stem = "neve_struct_unbalanced";

class Benchmark {
 public:
  Benchmark(Comm comm, const Case& options)
      : comm_(std::move(comm)),
        options_(options),
        columns_{options.grid.cells[0], options.grid.cells[1]},
        ocean_(options.grid, 0) {}

  Result<BenchmarkResult> run() {
    NEVE_TRY(check_share("ranks", comm_.size()));
    for (const int tiles : options_.tile_counts) NEVE_TRY(check_share("tiles", tiles));
    if (options_.threshold) {
      ocean_ = Ocean(options_.grid, static_cast<float>(*options_.threshold));
    } else {
      NEVE_ASSIGN(ocean_, Ocean::with_valid(comm_, options_.grid, options_.valid));
    }
    NEVE_ASSIGN(weights_, ocean_.valid_in_columns(comm_));
    uint64_t valid = 0;
    for (uint32_t weight : weights_) valid += weight;
    result_.valid = static_cast<double>(valid) / static_cast<double>(options_.grid.points());
    result_.threshold = static_cast<double>(ocean_.threshold());
    if (!options_.tile_counts.empty()) {
      NEVE_ASSIGN(result_.tile_counts, count_tiles(comm_, options_, ocean_, weights_));
      return result_;
    }
    for (const bool balanced : options_.balance) NEVE_TRY(run_layout(balanced));
    return result_;
  }

 private:
  Status check_share(const char* what, int count) const {
    if (options_.grid.columns() >= count) return {};
    return usage_error(
        fmt::format("{} {} share {} columns; each needs one", count, what, options_.grid.columns()));
  }

  Status run_layout(bool balanced) {
    NEVE_ASSIGN(const std::vector<Tile> tiles, make_tiles(options_, weights_, balanced, comm_.size()));
    LayoutResult layout;
    layout.balanced = balanced;
    layout.max_over_mean = max_over_mean(columns_, weights_, tiles);
    layout.valid_points = valid_points(options_, weights_, tiles);
    layout.raw_bytes = raw_bytes(options_, tiles);
    layout.points_max_over_mean = apps::busiest_over_mean(layout.raw_bytes);
    const Tile& tile = tiles[static_cast<size_t>(comm_.rank())];
    std::vector<float> values;
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("making of the field", [&]() -> Status {
                          values.resize(tile_points(options_, tile));
                          return {};
                        })));
    const char* const stem = balanced ? balanced_stem : unbalanced_stem;
    apps::FileSeries files(stem, options_.outputs);
    apps::XdmfSeries texts(stem, options_.outputs);
    for (int step = options_.first_step; step < options_.first_step + options_.steps; ++step) {
      NEVE_ASSIGN(const double seconds, apps::timed(comm_, [&]() -> Status {
                    ocean_.fill(tile, step, values.data());
                    return {};
                  }));
      layout.make_seconds += seconds;
      apps::ArrayPart part = tile_part(options_, tile, values);
      NEVE_TRY(apps::set_bounds(comm_, options_.bound, std::span(&part, 1)));
      result_.bound_abs = part.spec.bound_abs;
      NEVE_ASSIGN(const auto stored, files.store(comm_, step, std::span(&part, 1), options_.store));
      for (size_t o = 0; o < stored.size(); ++o) {
        texts.add(o, apps::xdmf_uniform(stored[o], {1, 1, 1}));
      }
    }
    layout.outputs = files.results();
    NEVE_TRY(texts.keep(comm_, options_.store));
    const apps::GridBox box = {{tile.first[0], tile.first[1], 0},
                               {tile.size[0], tile.size[1], options_.grid.cells[2]}};
    NEVE_ASSIGN(result_.field_checksum, apps::field_checksum(comm_, options_.grid.cells, box, values));
    result_.layouts.push_back(std::move(layout));
    return {};
  }

  Comm comm_;
  const Case& options_;
  std::array<int, 2> columns_;
  Ocean ocean_;
  std::vector<uint32_t> weights_;
  BenchmarkResult result_;
};

}  // namespace

Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options) {
  NEVE_TRY(check_case(options));
  const std::vector<std::string> stems = {balanced_stem, unbalanced_stem};
  return apps::run_series<Benchmark>(comm, options, stems);
}

}  // namespace neve::structured
