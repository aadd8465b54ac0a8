// SPDX-License-Identifier: BSD-3-Clause
// How frames hold what a call writes.
#pragma once

#include <cstdint>
#include <vector>

#include "neve/types.hpp"
#include "parallel/transfer/block_encoder.hpp"
#include "parallel/transfer/file_blocks.hpp"
#include "preload/mpi/file_view.hpp"
#include "preload/mpi/packed.hpp"
#include "preload/mpi/reasons.hpp"

namespace neve::pmpi {

struct WritePlan {
  Reason reason = Reason::none;  // why they cannot hold it
  std::vector<FileBox> boxes;    // in the order of the bytes, whether frames can hold them or not
  uint64_t bytes = 0;
  bool is_raw = false;                // no values of one type, or halves of them
  DType dtype = DType::f32;           // of the values
  std::vector<uint64_t> layer_shape;  // of a line, as the memory's type tells it
};

// Of elements that are written from byte `at` of the view on.
WritePlan plan_write(const FileView& view, uint64_t at, const Elements& elements);

// For FrameFileWriter: the settings', of this plan.
mpi::Transfer transfer_for(const WritePlan& plan);
// `data`: the packed bytes.
mpi::FileValues values_for(const WritePlan& plan, const void* data);

}  // namespace neve::pmpi
