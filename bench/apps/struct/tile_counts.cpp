// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/struct/tile_counts.hpp"

#include "bench/apps/struct/layout.hpp"
#include "bench/harness/busiest.hpp"

namespace neve::structured {
namespace {

// Of this rank's tiles, those of its number and of each so many ranks further; the others are 0.
Status count_own(const mpi::Comm& comm, const Case& options, const Ocean& ocean, std::span<const Tile> tiles,
                 double bound_abs, std::vector<OutputCount>& outputs) {
  std::vector<float> values;
  for (auto t = static_cast<size_t>(comm.rank()); t < tiles.size(); t += static_cast<size_t>(comm.size())) {
    values.resize(tile_points(options, tiles[t]));
    ocean.fill(tiles[t], options.first_step, values.data());
    apps::ArrayPart part = tile_part(options, tiles[t], values);
    part.spec.bound_abs = bound_abs;
    for (size_t o = 0; o < outputs.size(); ++o) {
      NEVE_ASSIGN(outputs[o].bytes[t],
                  apps::bytes_alone(options.outputs[o], options.store.folder, std::span(&part, 1)));
    }
  }
  return {};
}

// Collective: the bound of lossy outputs, which may be of the whole field's range.
Result<double> bound_of(const mpi::Comm& comm, const Case& options, const Ocean& ocean,
                        std::span<const uint32_t> weights) {
  NEVE_ASSIGN(const std::vector<Tile> tiles, make_tiles(options, weights, true, comm.size()));
  const Tile& mine = tiles[static_cast<size_t>(comm.rank())];
  std::vector<float> values;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("making of the field", [&]() -> Status {
                        values.resize(tile_points(options, mine));
                        ocean.fill(mine, options.first_step, values.data());
                        return {};
                      })));
  apps::ArrayPart part = tile_part(options, mine, values);
  NEVE_TRY(apps::set_bounds(comm, options.bound, std::span(&part, 1)));
  return part.spec.bound_abs;
}

// Collective.
Result<TileCount> count_layout(const mpi::Comm& comm, const Case& options, const Ocean& ocean,
                               std::span<const uint32_t> weights, bool balanced, int tiles,
                               double bound_abs) {
  NEVE_ASSIGN(const std::vector<Tile> shared, make_tiles(options, weights, balanced, tiles));
  TileCount count;
  count.balanced = balanced;
  count.valid_points = valid_points(options, weights, shared);
  count.raw_bytes = raw_bytes(options, shared);
  for (const apps::Output& output : options.outputs) {
    count.outputs.push_back({output.name, apps::container_name(output), apps::compression_name(output),
                             std::vector<uint64_t>(shared.size(), 0)});
  }
  NEVE_TRY(mpi::agree(comm, mpi::guarded("counting", [&] {
                        return count_own(comm, options, ocean, shared, bound_abs, count.outputs);
                      })));
  for (OutputCount& output : count.outputs) {
    NEVE_TRY(mpi::mpi_status(
        MPI_Allreduce(MPI_IN_PLACE, output.bytes.data(), static_cast<int>(output.bytes.size()), MPI_UINT64_T,
                      MPI_SUM, comm.get()),
        "merging of counts"));
  }
  return count;
}

}  // namespace

Result<std::vector<TileCount>> count_tiles(const mpi::Comm& comm, const Case& options, const Ocean& ocean,
                                           std::span<const uint32_t> weights) {
  NEVE_ASSIGN(const double bound_abs, bound_of(comm, options, ocean, weights));
  std::vector<TileCount> counts;
  for (const int tiles : options.tile_counts) {
    for (const bool balanced : options.balance) {
      NEVE_ASSIGN(TileCount count, count_layout(comm, options, ocean, weights, balanced, tiles, bound_abs));
      counts.push_back(std::move(count));
    }
  }
  return counts;
}

}  // namespace neve::structured
