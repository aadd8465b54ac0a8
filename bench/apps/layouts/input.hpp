// SPDX-License-Identifier: BSD-3-Clause
// A plotfile's values in memory, each rank holding its boxes, as a simulation would.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/amr/box_index.hpp"
#include "core/amr/chunking.hpp"
#include "neve/hierarchy.hpp"
#include "neve/local_box.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::layouts {

struct Input {
  Hierarchy hierarchy;
  std::vector<std::vector<int>> owner;  // [level][box]
  std::vector<LocalBox> boxes;          // this rank's
  std::vector<std::vector<int>> local;  // [level][box]: index into `boxes`, -1 elsewhere
  std::vector<std::vector<std::byte>> storage;

  size_t components() const { return hierarchy.components.size(); }
  size_t value_bytes() const { return dtype_bytes(hierarchy.dtype); }
  const LocalBox& local_box(size_t level, int box) const {
    return boxes[static_cast<size_t>(local[level][static_cast<size_t>(box)])];
  }
  uint64_t raw_bytes() const;  // of all ranks
};

// Collective. `fields`: of these components; empty: of all. `copies`: the domain is repeated so often along
// x, every copy in memory of its own.
Result<Input> load(const mpi::Comm& comm, const std::string& path, const std::vector<std::string>& fields,
                   int copies);

// What each rank holds of a level, as one chunk a rank: box after box, in a box component after component.
// Ranks without boxes have no chunk.
amr::LevelChunks shares_of(const Input& input, size_t level);
// This rank's among them; their number where it has none.
size_t own_share(const amr::LevelChunks& shares, int rank);

// Over the next finer level's boxes; empty on the finest.
amr::BoxIndex finer_index(const Hierarchy& hierarchy, size_t level);

}  // namespace neve::layouts
