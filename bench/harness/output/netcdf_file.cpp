// SPDX-License-Identifier: BSD-3-Clause
// netCDF-4 in parallel: HDF5 files, read as such, that the netCDF library lays out and writes.
#include <fmt/format.h>
#include <mpi.h>
// After mpi.h, whose types it names.
#include <netcdf.h>
#include <netcdf_par.h>

#include "bench/harness/output/containers.hpp"
#include "io/hdf5/errors.hpp"
#include "parallel/file/openable_path.hpp"

namespace neve::apps {
namespace {

using Compression = Output::Compression;

Status netcdf_status(int code, const std::string& what) {
  return code == NC_NOERR ? Status() : failure(fmt::format("{}: netCDF: {}", what, nc_strerror(code)));
}

nc_type type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return NC_FLOAT;
    case DType::f64:
      return NC_DOUBLE;
    case DType::i8:
      return NC_BYTE;
    case DType::u8:
      return NC_UBYTE;
    case DType::i16:
      return NC_SHORT;
    case DType::u16:
      return NC_USHORT;
    case DType::i32:
      return NC_INT;
    case DType::u32:
      return NC_UINT;
    case DType::i64:
      return NC_INT64;
    case DType::u64:
      return NC_UINT64;
  }
  return NC_NAT;
}

// Collective, and the same on every rank.
Status define(int file, const ArrayPart& part, const Output& output, int& variable) {
  const ArraySpec& spec = part.spec;
  std::vector<int> dims;
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    const std::string name = fmt::format("{}_{}", spec.name, d);
    NEVE_TRY(netcdf_status(nc_def_dim(file, name.c_str(), spec.shape[d], &dims.emplace_back()), name));
  }
  NEVE_TRY(netcdf_status(nc_def_var(file, spec.name.c_str(), type_of(spec.dtype),
                                    static_cast<int>(dims.size()), dims.data(), &variable),
                         spec.name));
  NEVE_TRY(netcdf_status(nc_def_var_fill(file, variable, NC_NOFILL, nullptr), spec.name));
  const std::vector<size_t> chunk(spec.chunk.begin(), spec.chunk.end());
  const int storage = output.chunked ? NC_CHUNKED : NC_CONTIGUOUS;
  NEVE_TRY(netcdf_status(nc_def_var_chunking(file, variable, storage, chunk.data()), spec.name));
  if (output.compression == Compression::none) return {};
  const int shuffle = output.compression == Compression::shuffle_deflate ? 1 : 0;
  return netcdf_status(nc_def_var_deflate(file, variable, shuffle, 1, deflate_level), spec.name);
}

// Collective.
Status write_arrays(const mpi::Comm& comm, int file, std::span<const ArrayPart> parts, const Output& output) {
  std::vector<int> variables(parts.size(), -1);
  for (size_t i = 0; i < parts.size(); ++i) {
    // A dimension of 0 would be netCDF's unlimited one.
    if (value_count(parts[i].spec.shape) == 0) continue;
    NEVE_TRY(mpi::agree(comm, define(file, parts[i], output, variables[i])));
  }
  NEVE_TRY(mpi::agree(comm, netcdf_status(nc_enddef(file), "structure")));
  for (size_t i = 0; i < parts.size(); ++i) {
    const ArrayPart& part = parts[i];
    if (variables[i] < 0) continue;
    NEVE_TRY(mpi::agree(comm,
                        netcdf_status(nc_var_par_access(file, variables[i], NC_COLLECTIVE), part.spec.name)));
    const std::vector<size_t> start(part.start.begin(), part.start.end()),
        count(part.count.begin(), part.count.end());
    const double nothing = 0;
    const void* values = part.values != nullptr ? part.values : &nothing;
    NEVE_TRY(mpi::agree(
        comm,
        netcdf_status(nc_put_vara(file, variables[i], start.data(), count.data(), values), part.spec.name)));
  }
  return {};
}

}  // namespace

Status write_netcdf(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                    const Output& output) {
  const hdf5::QuietErrors quiet;
  int file = -1;
  mpi::OpenablePath name;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        NEVE_ASSIGN(name, mpi::OpenablePath::of(path));
                        return {};
                      })));
  NEVE_TRY(mpi::agree(comm, netcdf_status(nc_create_par(name.c_str(), NC_NETCDF4 | NC_NOCLOBBER, comm.get(),
                                                        MPI_INFO_NULL, &file),
                                          path)));
  const Status written = write_arrays(comm, file, parts, output).in(path);
  const Status closed = mpi::agree(comm, netcdf_status(nc_close(file), path + ": closing"));
  return written.ok() ? closed : written;
}

}  // namespace neve::apps
