// SPDX-License-Identifier: BSD-3-Clause
// Writing into and reading from each kind of file. Writers are collective and fill a file of a temporary
// name; readers are not.
#pragma once

#include <hdf5.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/output/array.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

inline constexpr int deflate_level = 6;

struct Written {
  uint64_t bytes = 0;           // of the file
  double compress_seconds = 0;  // of the slowest rank, where the writer tells
};

// Collective. Under the final name, whole and durable, by whichever of those below the output is for.
Result<Written> write_output(const mpi::Comm& comm, const Output& output, const std::string& path,
                             std::span<const ArrayPart> parts);
Status write_raw(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts);
Status write_hdf5(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                  const Output& output);
// In builds with a parallel netCDF (NEVE_NETCDF). Arrays without values are left out.
Status write_netcdf(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                    const Output& output);
// The slowest rank's seconds in the filters of these outputs, collective.
Result<double> filter_seconds(const mpi::Comm& comm, std::span<const ArrayPart> parts, const Output& output);
// In builds with ADIOS (NEVE_ADIOS). A folder, under its final name. Collective. What is not `check`ed before
// may end the program.
Status check_adios(const mpi::Comm& comm, std::span<const ArrayPart> parts, const Output& output);
Result<Written> write_adios(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                            const Output& output);
// Under the final name: it has a temporary one of its own.
Result<Written> write_plot(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                           const Output& output);

// Collective, the same on all ranks: bytes of the arrays' values in the file, by the rank that they are of.
Result<std::vector<uint64_t>> bytes_of_ranks(const mpi::Comm& comm, const Output& output,
                                             const std::string& path, std::span<const ArrayPart> parts);
// Of one rank, which reads them in a file of the container: `regions` are those of all ranks. A chunk is the
// rank's that has most of its values, the first one's of several.
Result<std::vector<uint64_t>> hdf5_chunk_bytes(const std::string& path, const ArraySpec& spec,
                                               std::span<const PartPlace> regions);
Result<std::vector<uint64_t>> plot_box_bytes(const std::string& path, std::span<const PartPlace> regions);
Result<std::vector<uint64_t>> adios_block_bytes(const std::string& path, const ArraySpec& spec,
                                                const Output& output, std::span<const PartPlace> regions);

// An open file of any kind.
class ArrayReader {
 public:
  virtual ~ArrayReader() = default;
  // Array `index` of those the file was opened with, values [start, start + count).
  virtual Status read(size_t index, const Shape& start, const Shape& count, void* out) = 0;
};
Result<std::unique_ptr<ArrayReader>> open_raw(const std::string& path, std::span<const ArraySpec> arrays);
Result<std::unique_ptr<ArrayReader>> open_hdf5(const std::string& path, std::span<const ArraySpec> arrays);
Result<std::unique_ptr<ArrayReader>> open_adios(const std::string& path, std::span<const ArraySpec> arrays,
                                                const Output& output);
Result<std::unique_ptr<ArrayReader>> open_plot(const std::string& path, std::span<const ArraySpec> arrays);

// zfp under its registered number, 32013, with the bytes of its published plugin, which for Debian 12 exists
// for serial HDF5 alone. Integers are kept exactly (zfp's reversible mode). Idempotent.
inline constexpr int zfp_filter_id = 32013;
Status register_zfp_filter();
// accuracy 0: reversible.
Status set_zfp_filter(hid_t creation, double accuracy);

}  // namespace neve::apps
