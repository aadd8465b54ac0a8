// SPDX-License-Identifier: BSD-3-Clause
// Strategy amrex-1d: what AMReX's compressed HDF5 plotfiles do, so that there is something to compare with. A
// level is one run of values, box after box, in a box component after component, cut every so many
// elements (WriteOptions::chunk_values) wherever that falls; each piece is compressed alone, as a 1D array.
// Here each rank's run begins on a chunk of its own.
#pragma once

#include <cstdint>
#include <span>

#include "core/amr/chunking.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// Chunk::boxes are those the chunk touches, Chunk::split_begin is where in the first one's elements it
// begins.
amr::LevelChunks amrex_1d_chunks(const Level& level, int components, std::span<const int> owner,
                                 uint64_t chunk_elements);

// Not collective. A chunk that touches several components is held to the tightest of their bounds.
Status encode_amrex_1d_chunk(const Hierarchy& hierarchy, const LocalValues& owned, const WritePlan& plan,
                             const EncodeOptions& options, EncodedChunk& encoded);

}  // namespace neve::mpi
