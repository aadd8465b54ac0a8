// SPDX-License-Identifier: BSD-3-Clause
// The ways of laying out a plotfile: those that AMRIC's section 3.3 discusses (Wang et al., SC 2023), and
// Neve's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::layouts {

enum class Layout : uint8_t {
  values,     // one contiguous dataset a level
  chunks_1d,  // the same values in small chunks, each compressed as a 1D array: AMReX
  filtered,   // a rank's level is one chunk, of the size of the largest: AMRIC
  padded,     // the same, but smaller ranks' chunks are filled up with cells that are compressed, too
  per_rank,   // a dataset for each rank
  per_field,  // a dataset for each field
  skeleton,   // Neve's
};

struct Way {
  std::string text;  // as it was typed
  Layout layout = Layout::values;
  Codec codec = Codec::automatic;
  uint64_t chunk_elements = 0;  // chunks_1d
  Effort effort = Effort::fast;
  bool is_behind = false;  // the file is written behind the caller's back

  bool is_compressed() const { return layout != Layout::values; }
  // Not by Neve's writer.
  bool is_written_by_hdf5() const { return layout != Layout::filtered && layout != Layout::skeleton; }
  bool drops_covered() const { return layout != Layout::values && layout != Layout::chunks_1d; }
};

// "amrex:4096". Usage errors name the way, and what is allowed.
Result<Way> parse_way(const std::string& text);
// A usage error where two are the same way, or there is none.
Status check_ways(std::span<const Way> ways);

std::vector<std::string> default_ways();
// "nocomp", "amrex[:CHUNK]", ...
std::string way_forms();
// What CHUNK and EFFORT may be.
std::string setting_ranges();

}  // namespace neve::layouts
