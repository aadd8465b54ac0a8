// SPDX-License-Identifier: BSD-3-Clause
// Whose MPI-IO makes the requests to the file system, who calls it, and with which hints.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/catalog/names.hpp"
#include "core/io_model/mpi_calls.hpp"
#include "neve/status.hpp"

namespace neve::io_model {

enum class MpiIo : uint8_t {
  lustre,  // ROMIO, and Cray's CB2, on Lustre: aggregators write up to stripe boundaries
  romio,   // ROMIO where files have no stripes: MPICH, or Open MPI's romio321, on a local disk
  ompio,   // Open MPI 4.1's own, where files have no stripes
};
inline constexpr Named<MpiIo> mpi_io_names[] = {
    {MpiIo::lustre, "lustre"}, {MpiIo::romio, "romio"}, {MpiIo::ompio, "ompio"}};
Result<MpiIo> parse_mpi_io(const std::string& name);

enum class Writer : uint8_t {
  neve,   // writes from the boxes where they lie
  hdf5,   // packs what a call takes into one buffer
  model,  // exchanges and writes by itself, as collective buffering on Lustre does
};

// How a strategy is carried out.
struct Way {
  Strategy strategy = Strategy::independent;
  int aggregate_boxes = 0;  // of aggregated, pieces of a rank in a call; 0: all
  Writer writer = Writer::neve;
  bool is_alone = false;  // of aggregated: each rank writes what it has packed by itself
  bool has_hints = true;  // to the MPI library, as Neve gives them
};

struct Buffering {
  MpiIo mpi_io = MpiIo::lustre;
  uint64_t stripe_bytes = 0;  // of lustre, and of Writer::model; 0: whole ranges
  int aggregators = 0;        // as a hint (cb_nodes, with cb_config_list); 0: no hint
  int ranks_per_node = 1;
};

// Hints that Neve gives (src/parallel/file/write_pieces.cpp): few pieces of a rank need no large buffer.
inline constexpr uint64_t usual_buffer_bytes = uint64_t{16} << 20, least_buffer_bytes = uint64_t{64} << 10;
inline uint64_t bounded_buffer_bytes(int aggregate_boxes, uint64_t largest_piece) {
  return std::clamp(static_cast<uint64_t>(aggregate_boxes) * largest_piece / 4, least_buffer_bytes,
                    usual_buffer_bytes);
}

}  // namespace neve::io_model
