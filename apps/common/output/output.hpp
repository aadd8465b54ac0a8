// SPDX-License-Identifier: BSD-3-Clause
// The ways in which the mini-apps store their arrays, by name, and one measurement for all of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/common/output/array.hpp"
#include "mpi/agree.hpp"
#include "neve/status.hpp"

namespace neve::apps {

struct Output {
  enum class Container : uint8_t {
    raw,       // values as they are, one array after another, by MPI-IO
    hdf5,      // one dataset an array, collective writes
    netcdf,    // the same by netCDF-4, where the build has it
    plotfile,  // Neve's parallel writer: a rank's part is a box
  };
  enum class Compression : uint8_t { none, deflate, szip, shuffle_deflate, zfp, neve };
  std::string name;
  Container container = Container::hdf5;
  bool chunked = false;
  Compression compression = Compression::none;
  bool lossy = false;  // else bit for bit
};
// "raw", "hdf5", "hdf5-chunked", "hdf5-zlib", ...; unknown ones are a usage error that lists what is allowed.
Result<Output> parse_output(const std::string& name);
std::vector<std::string> output_names();

struct StoreOptions {
  std::string folder = ".";
  bool verify = false;
  bool keep = false;
};

// Of all files of an output together, over all ranks; seconds of the slowest rank.
struct StoreResult {
  std::string name;
  uint64_t raw_bytes = 0, file_bytes = 0, files = 0;
  double write_seconds = 0, read_seconds = 0;
  uint64_t verified_values = 0, wrong_values = 0;
  double max_abs_error = 0;

  double ratio() const { return static_cast<double>(raw_bytes) / static_cast<double>(file_bytes); }
};

// Collective. Writes the parts into `name` in the folder (an extension is added), reads another rank's part
// of each array back and compares all values with what that rank has, adds what was seen to `into`, and
// removes the file unless it is kept. A value that is off is counted, not an error of its own.
Status store(const mpi::Comm& comm, const Output& output, const std::string& name,
             std::span<const ArrayPart> parts, const StoreOptions& options, StoreResult& into);

// Collective: the bounds of lossy outputs for these parts; rel is of the range of an array's values that are
// not the fill value. An array of one value gets the smallest bound.
Status set_bounds(const mpi::Comm& comm, const Bound& bound, std::span<ArrayPart> parts);

// bound_violated naming the outputs that brought back wrong values; ok where none did.
Status check_stored(std::span<const StoreResult> results);

// A file's name: folder, name, and the extension of the output.
std::string path_of(const Output& output, const std::string& folder, const std::string& name);

}  // namespace neve::apps
