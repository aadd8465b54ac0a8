// SPDX-License-Identifier: BSD-3-Clause
// One HDF5 file that all ranks write together, a collective H5Dwrite for each dataset of values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/apps/layouts/chunk_filter.hpp"
#include "bench/apps/layouts/input.hpp"

namespace neve::layouts {

// Values of a level. All ranks have the same list of them, each with its own part.
struct DatasetWrite {
  size_t level = 0;
  std::string name;
  uint64_t elements = 0;
  uint64_t chunk_elements = 0;  // 0: contiguous, as they are; else with Neve's filter
  // This rank's: what is selected in the dataset, and in memory behind `values`. Of a chunk whose encoder has
  // the values one element is enough: HDF5 then neither gathers nor copies them.
  uint64_t first = 0, count = 0;
  const void* values = nullptr;
  ChunkEncoder encode;
};

// Where a level's boxes are, as AMReX and Chombo store it: in datasets of their own.
struct BoxTable {
  std::vector<int64_t> first_element;  // by box, in the dataset that holds it
};

struct FileSeconds {
  double encode = 0;  // this rank's, inside the filter
  double sync = 0;
  uint64_t filter_calls = 0;  // this rank's
};

// Collective. The file is durable when this returns.
Result<FileSeconds> write_datasets(const mpi::Comm& comm, const std::string& path, const Input& input,
                                   const std::vector<BoxTable>& tables,
                                   const std::vector<DatasetWrite>& datasets);

}  // namespace neve::layouts
