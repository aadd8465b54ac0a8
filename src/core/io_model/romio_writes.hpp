// SPDX-License-Identifier: BSD-3-Clause
// What ROMIO makes of a call where files have no stripes: Thakur, Gropp, Lusk, "Data Sieving and Collective
// I/O in ROMIO" (1999), with the defaults of ROMIO 3.1.4 to 4.
#pragma once

#include <cstdint>
#include <vector>

#include "core/io_model/mpi_calls.hpp"
#include "core/io_model/request.hpp"

namespace neve::io_model {

struct RomioHints {
  enum class Buffering : uint8_t { automatic, enable, disable };
  Buffering buffering = Buffering::automatic;  // romio_cb_write
  int aggregators = 1;                         // cb_nodes as cb_config_list allows
  uint64_t buffer_bytes = uint64_t{16} << 20;  // cb_buffer_size
  bool sieves = true;                          // romio_ds_write
  uint64_t sieve_bytes = uint64_t{512} << 10;  // ind_wr_buffer_size
  bool is_packed = false;                      // a rank's bytes of a call lie together in memory
};

// Adds the requests of a call.
void add_romio_requests(const Call& call, int ranks, const RomioHints& hints, std::vector<Request>& requests);

}  // namespace neve::io_model
