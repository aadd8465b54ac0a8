// SPDX-License-Identifier: BSD-3-Clause
// What each rank's part of arrays becomes: counted in the files, and in a file of that part alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "bench/harness/output/containers.hpp"

namespace neve::apps {
namespace {

using Compression = Output::Compression;
using Container = Output::Container;

// Collective: an array's parts, by rank.
Result<std::vector<PartPlace>> regions_of_ranks(const mpi::Comm& comm, const ArrayPart& mine) {
  const size_t dims = mine.spec.shape.size();
  std::vector<uint64_t> own(mine.start.begin(), mine.start.end());
  own.insert(own.end(), mine.count.begin(), mine.count.end());
  std::vector<uint64_t> all(own.size() * static_cast<size_t>(comm.size()));
  NEVE_TRY(mpi::mpi_status(MPI_Allgather(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, all.data(),
                                         static_cast<int>(own.size()), MPI_UINT64_T, comm.get()),
                           "gathering of regions"));
  std::vector<PartPlace> regions;
  for (auto at = all.begin(); at != all.end(); at += static_cast<ptrdiff_t>(2 * dims)) {
    const auto middle = at + static_cast<ptrdiff_t>(dims);
    regions.push_back({Shape(at, middle), Shape(middle, middle + static_cast<ptrdiff_t>(dims))});
  }
  return regions;
}

// Rank 0's, of one array; of a plotfile all arrays are counted with the first.
Result<std::vector<uint64_t>> counted(const Output& output, const std::string& path, const ArraySpec& spec,
                                      std::span<const PartPlace> regions) {
  if (output.container == Container::plotfile) return plot_box_bytes(path, regions);
#ifdef NEVE_ADIOS
  if (is_adios(output)) return adios_block_bytes(path, spec, output, regions);
#endif
  return hdf5_chunk_bytes(path, spec, regions);
}

// Whose values are in the file as they are.
bool is_plain(const Output& output, const ArraySpec& spec) {
  if (output.compression == Compression::none) return true;
  return is_adios(output) && output.compression == Compression::zfp && is_integer(spec.dtype);
}

}  // namespace

Result<std::vector<uint64_t>> bytes_of_ranks(const mpi::Comm& comm, const Output& output,
                                             const std::string& path, std::span<const ArrayPart> parts) {
  std::vector<uint64_t> bytes(static_cast<size_t>(comm.size()), 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    const ArraySpec& spec = parts[i].spec;
    if (value_count(spec.shape) == 0) continue;
    NEVE_ASSIGN(const std::vector<PartPlace> regions, regions_of_ranks(comm, parts[i]));
    if (is_plain(output, spec)) {
      for (size_t r = 0; r < bytes.size(); ++r) {
        bytes[r] += value_count(regions[r].count) * dtype_bytes(spec.dtype);
      }
      continue;
    }
    if (output.container == Container::plotfile && i > 0) break;
    std::vector<uint64_t> of_array(bytes.size(), 0);
    NEVE_TRY(mpi::agree(comm, mpi::guarded("counting", [&]() -> Status {
                          if (comm.rank() != 0) return {};
                          NEVE_ASSIGN(of_array, counted(output, path, spec, regions));
                          return {};
                        })));
    NEVE_TRY(mpi::mpi_status(
        MPI_Bcast(of_array.data(), static_cast<int>(of_array.size()), MPI_UINT64_T, 0, comm.get()),
        "broadcast of bytes"));
    for (size_t r = 0; r < bytes.size(); ++r) bytes[r] += of_array[r];
  }
  return bytes;
}

Result<uint64_t> bytes_alone(const Output& output, const std::string& folder,
                             std::span<const ArrayPart> parts) {
  std::vector<ArrayPart> alone;
  for (const ArrayPart& part : parts) {
    if (value_count(part.count) == 0) continue;
    ArrayPart& one = alone.emplace_back(part);
    // HDF5's szip fills rows up to blocks of 32 values: it gets one long row.
    if (has_shared_chunks(output) && output.compression == Compression::szip) {
      one.count = {value_count(part.count)};
    }
    one.start.assign(one.count.size(), 0);
    one.spec.shape = one.spec.chunk = one.count;
  }
  if (alone.empty()) return uint64_t{0};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  NEVE_ASSIGN(const mpi::Comm self, mpi::Comm::duplicate(MPI_COMM_SELF));
  const std::string path = path_of(output, folder, fmt::format("neve_alone_{}_{}", output.name, rank));
  NEVE_TRY(write_output(self, output, path, alone).status());
  NEVE_ASSIGN(const std::vector<uint64_t> bytes, bytes_of_ranks(self, output, path, alone));
  NEVE_TRY(remove_file(self, path));
  return bytes.front();
}

}  // namespace neve::apps
