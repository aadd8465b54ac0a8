// SPDX-License-Identifier: BSD-3-Clause
// What a layout makes of the ranks' values before anything is written: datasets, and what fills them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/apps/layouts/bounds.hpp"
#include "bench/apps/layouts/dataset_file.hpp"
#include "bench/apps/layouts/input.hpp"
#include "bench/apps/layouts/way.hpp"

namespace neve::layouts {

// A run of values in a dataset: box after box of a level, in a box component after component.
struct StoredRun {
  size_t level = 0;
  std::string dataset;
  uint64_t first_element = 0;
  std::vector<int> boxes;
  size_t first_component = 0, components = 0;
};

struct Prepared {
  std::vector<BoxTable> tables;  // by level
  std::vector<DatasetWrite> datasets;
  std::vector<StoredRun> runs;  // of this rank
  Bounds bounds;
  std::vector<std::vector<std::byte>> buffers;  // what the datasets' `values` point to
};

// Collective, as all of these. Layouts values and chunks_1d: AMReX's order of a rank's values, copied into
// one buffer a level. A rank's run of chunks begins on a chunk of its own, and the last is filled up by
// repeating the last value.
Result<Prepared> prepare_values(const mpi::Comm& comm, const Way& way, const Input& input,
                                const Bound& bound);

// Layouts padded, per_rank and per_field: the chunks are frames, made as those of strategy filtered are, so
// that only the layout differs. They are made while HDF5 writes: where the ranks wait for each other there,
// they wait for each other's encoding.
Result<Prepared> prepare_frames(const mpi::Comm& comm, const Way& way, const Input& input, const Bound& bound,
                                int unit_cells);

}  // namespace neve::layouts
