// SPDX-License-Identifier: BSD-3-Clause
// The methods by which the mini-apps store their arrays, by name, and one measurement for all of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/output/array.hpp"
#include "bench/harness/timed.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

struct Output {
  enum class Container : uint8_t {
    raw,     // values as they are, one array after another, by MPI-IO
    hdf5,    // one dataset an array, collective writes
    netcdf,  // the same by netCDF-4, where the build has it
    // ADIOS 1.13 by its transport methods, where the build has it.
    adios_posix,
    adios_mpi,
    adios_lustre,
    adios_aggregate,
    plotfile,  // Neve's parallel writer: a rank's part is a box
  };
  enum class Compression : uint8_t { none, deflate, szip, shuffle_deflate, zfp, neve };
  std::string name;
  Container container = Container::hdf5;
  bool chunked = false;
  Compression compression = Compression::none;
  bool lossy = false;  // else bit for bit
  // zfp of ADIOS with the dimensions of a C program, of which it takes the slowest for the fastest.
  bool c_order = false;
};
// "raw", "hdf5", "hdf5-chunked", "hdf5-zlib", ...; unknown ones are a usage error that lists what is allowed,
// those that this build was made without one that says what it lacks.
Result<Output> parse_output(const std::string& name);
bool is_adios(const Output& output);
// Compressed in chunks of the grid, which ranks share; else each rank's part is compressed by itself, or
// nothing is.
bool has_shared_chunks(const Output& output);
// Of this build.
std::vector<std::string> output_names();
// What a name is made of: "hdf5" and "shuffle-zlib", "neve" and "neve-lossless"; "none", "chunked" without
// any.
std::string container_name(const Output& output);
std::string compression_name(const Output& output);

struct StoreOptions {
  std::string folder = ".";
  bool verify = false;
  bool keep = false;
  int repeats = 1;      // of each write and read; the median counts
  bool phases = false;  // find out what compression takes of a write
  bool count = false;   // what each rank's part becomes
};
Status check_options(const StoreOptions& options);

// Of all files of an output together, over all ranks; seconds of the slowest rank.
struct StoreResult {
  std::string name, container, compression;
  uint64_t raw_bytes = 0, file_bytes = 0, files = 0;
  Seconds write, read;
  // Where phases were asked for. Neve's writer and ADIOS tell; for HDF5's filters the chunks of a rank's part
  // go once more through them, into a file in memory.
  std::optional<double> compress_seconds;
  // Where it was asked for, a number a rank. rank_bytes: of the values in the files, by the rank that they
  // are of; with shared chunks, a chunk is the rank's that has most of it. alone_bytes: what a rank's part
  // becomes where it is compressed by itself as one piece; the same as rank_bytes where chunks are not
  // shared.
  std::vector<uint64_t> rank_bytes, alone_bytes;
  bool has_shared_chunks = false;
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

// Not collective. Bytes that this rank's parts become by the output where nothing else is written: a file of
// theirs alone, each a chunk, which is made in the folder and removed. Errors: those of the output.
Result<uint64_t> bytes_alone(const Output& output, const std::string& folder,
                             std::span<const ArrayPart> parts);

// A file's name: folder, name, and the extension of the output.
std::string path_of(const Output& output, const std::string& folder, const std::string& name);

// What the files begin with that `store` makes of arrays called `names`, by these outputs, and what is kept
// beside them.
std::vector<std::string> file_stems(std::span<const std::string> names, std::span<const Output> outputs);

// Collective: rank 0 removes the file, or the folder that is an output of ADIOS, if there is one.
Status remove_file(const mpi::Comm& comm, const std::string& path);

}  // namespace neve::apps
