// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include <cstdlib>

#include "bench/harness/held_write_errors.hpp"
#include "bench/harness/output/containers.hpp"
#include "bench/harness/timed.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "parallel/file/openable_path.hpp"

namespace neve::apps {
namespace {

using Compression = Output::Compression;
using hdf5::Handle;

constexpr unsigned szip_pixels_per_block = 32;

Status hdf5_failure(const std::string& what) { return failure(what + ": " + hdf5::last_error()); }

std::vector<hsize_t> as_hdf5(const Shape& shape) { return {shape.begin(), shape.end()}; }

hid_t memory_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return H5T_NATIVE_FLOAT;
    case DType::f64:
      return H5T_NATIVE_DOUBLE;
    case DType::i8:
      return H5T_NATIVE_INT8;
    case DType::u8:
      return H5T_NATIVE_UINT8;
    case DType::i16:
      return H5T_NATIVE_INT16;
    case DType::u16:
      return H5T_NATIVE_UINT16;
    case DType::i32:
      return H5T_NATIVE_INT32;
    case DType::u32:
      return H5T_NATIVE_UINT32;
    case DType::i64:
      return H5T_NATIVE_INT64;
    case DType::u64:
      return H5T_NATIVE_UINT64;
  }
  return H5I_INVALID_HID;
}

Status set_neve_filter(hid_t creation, const ArraySpec& spec, bool lossy) {
  hdf5::FilterParameters parameters;
  if (lossy && !is_integer(spec.dtype)) {
    parameters.bound = {BoundMode::abs, spec.bound_abs};
  } else {
    parameters.bound.mode = BoundMode::lossless;
    parameters.codec = Codec::lossless;
  }
  parameters.fill = spec.fill;
  const std::vector<uint32_t> words = hdf5::to_words(parameters);
  if (H5Pset_filter(creation, hdf5::neve_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data()) < 0) {
    return hdf5_failure("filter neve");
  }
  return {};
}

Result<Handle> creation_properties(const ArraySpec& spec, const Output& output) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!creation.valid()) return hdf5_failure("H5Pcreate");
  if (!output.chunked || value_count(spec.shape) == 0) return creation;
  const std::vector<hsize_t> chunk = as_hdf5(spec.chunk);
  if (H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) < 0 ||
      H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) < 0) {
    return hdf5_failure("chunks");
  }
  herr_t set = 0;
  switch (output.compression) {
    case Compression::none:
      break;
    case Compression::shuffle_deflate:
      set = H5Pset_shuffle(creation.id());
      [[fallthrough]];
    case Compression::deflate:
      set = set < 0 ? set : H5Pset_deflate(creation.id(), deflate_level);
      break;
    case Compression::szip:
      set = H5Pset_szip(creation.id(), H5_SZIP_NN_OPTION_MASK, szip_pixels_per_block);
      break;
    case Compression::zfp:
      NEVE_TRY(set_zfp_filter(creation.id(), is_integer(spec.dtype) ? 0 : spec.bound_abs));
      break;
    case Compression::neve:
      NEVE_TRY(set_neve_filter(creation.id(), spec, output.lossy));
      break;
  }
  if (set < 0) return hdf5_failure("filter of " + output.name);
  return creation;
}

// The filter remembers what it decoded last: a second file of the same values would be read from memory. A
// value that the user has set stays.
Status register_filters() {
  ::setenv("NEVE_PLUGIN_CACHE_MIB", "0", 0);
  NEVE_TRY(hdf5::register_filter());
  return register_zfp_filter();
}

// Memory and file selections of a region; `file_space` is the dataset's.
Result<Handle> select(hid_t file_space, const Shape& start, const Shape& count) {
  const std::vector<hsize_t> first = as_hdf5(start), sizes = as_hdf5(count);
  Handle memory(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
  const bool is_empty = value_count(count) == 0;
  const herr_t selected = is_empty ? H5Sselect_none(file_space)
                                   : H5Sselect_hyperslab(file_space, H5S_SELECT_SET, first.data(), nullptr,
                                                         sizes.data(), nullptr);
  if (!memory.valid() || selected < 0 || (is_empty && H5Sselect_none(memory.id()) < 0)) {
    return hdf5_failure("selecting");
  }
  return memory;
}

// A filter that cannot shrink a chunk leaves it as it is, and says so in the chunk's mask: which collective
// writes of HDF5 1.10 lose, so that nobody can read the chunk. szip alone does so. Each rank looks at some.
Status check_all_shrunk(const mpi::Comm& comm, hid_t dataset, const ArraySpec& spec) {
  const uint64_t chunk_bytes = value_count(spec.chunk) * dtype_bytes(spec.dtype);
  Shape grid;
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    grid.push_back((spec.shape[d] + spec.chunk[d] - 1) / spec.chunk[d]);
  }
  const auto ranks = static_cast<uint64_t>(comm.size());
  for (auto index = static_cast<uint64_t>(comm.rank()); index < value_count(grid); index += ranks) {
    std::vector<hsize_t> offset(grid.size());
    uint64_t rest = index;
    for (size_t d = grid.size(); d-- > 0; rest /= grid[d]) offset[d] = rest % grid[d] * spec.chunk[d];
    hsize_t stored_bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &stored_bytes) < 0) return hdf5_failure("chunks");
    if (stored_bytes == chunk_bytes) {
      return failure(
          fmt::format("szip cannot make the chunk at {} smaller, which HDF5 {}.{}.{} does not note in a file "
                      "that ranks write together: nobody could read it",
                      fmt::join(offset, ","), H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE));
    }
  }
  return {};
}

// Collective.
Status write_array(const mpi::Comm& comm, hid_t file, const ArrayPart& part, const Output& output) {
  Result<Handle> creation = creation_properties(part.spec, output);
  NEVE_TRY(mpi::agree(comm, creation.status()));
  const std::vector<hsize_t> shape = as_hdf5(part.spec.shape);
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(file, part.spec.name.c_str(), memory_type(part.spec.dtype), space.id(),
                            H5P_DEFAULT, creation->id(), H5P_DEFAULT),
                 H5Dclose);
  NEVE_TRY(mpi::agree(comm, dataset.valid() ? Status() : hdf5_failure("creating the dataset")));
  if (value_count(part.spec.shape) == 0) return {};
  const Result<Handle> memory = select(space.id(), part.start, part.count);
  NEVE_TRY(mpi::agree(comm, memory.status()));
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
  const double nothing = 0;
  const void* values = part.values != nullptr ? part.values : &nothing;
  const bool written = H5Dwrite(dataset.id(), memory_type(part.spec.dtype), memory->id(), space.id(),
                                transfer.id(), values) >= 0;
  NEVE_TRY(mpi::agree(comm, written ? Status() : hdf5_failure("writing")));
  if (output.compression == Compression::szip) {
    NEVE_TRY(mpi::agree(comm, check_all_shrunk(comm, dataset.id(), part.spec)));
  }
  return mpi::agree(comm, dataset.close() ? Status() : hdf5_failure("closing the dataset"));
}

// The chunks that hold values of this part, in a file in memory. Those shared with other ranks are filled up.
Status write_to_memory(hid_t file, const ArrayPart& part, const Output& output) {
  if (value_count(part.count) == 0) return {};
  NEVE_ASSIGN(const Handle creation, creation_properties(part.spec, output));
  if (H5Pset_fill_time(creation.id(), H5D_FILL_TIME_ALLOC) < 0) return hdf5_failure("fill values");
  Shape start;
  std::vector<hsize_t> shape;
  for (size_t d = 0; d < part.start.size(); ++d) {
    const uint64_t chunk = part.spec.chunk[d], first = part.start[d] / chunk * chunk;
    start.push_back(part.start[d] - first);
    shape.push_back((part.start[d] + part.count[d] - first + chunk - 1) / chunk * chunk);
  }
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(file, part.spec.name.c_str(), memory_type(part.spec.dtype), space.id(),
                            H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                 H5Dclose);
  NEVE_ASSIGN(const Handle memory, select(space.id(), start, part.count));
  if (!dataset.valid() || H5Dwrite(dataset.id(), memory_type(part.spec.dtype), memory.id(), space.id(),
                                   H5P_DEFAULT, part.values) < 0) {
    return hdf5_failure("writing to memory");
  }
  return dataset.close() ? Status() : hdf5_failure("writing to memory");
}

class Hdf5Reader : public ArrayReader {
 public:
  Hdf5Reader(std::string path, Handle file, std::span<const ArraySpec> arrays)
      : path_(std::move(path)), file_(std::move(file)), arrays_(arrays.begin(), arrays.end()) {}

  Status read(size_t index, const Shape& start, const Shape& count, void* out) override {
    if (value_count(count) == 0) return {};
    const hdf5::QuietErrors quiet;
    const ArraySpec& spec = arrays_[index];
    const Handle dataset(H5Dopen2(file_.id(), spec.name.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle space(dataset.valid() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
    std::vector<hsize_t> shape(spec.shape.size());
    if (!space.valid() || H5Sget_simple_extent_ndims(space.id()) != static_cast<int>(shape.size()) ||
        H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr) < 0 || shape != as_hdf5(spec.shape)) {
      return corrupt(fmt::format("{}: {} is not the dataset that was written", path_, spec.name));
    }
    NEVE_ASSIGN(const Handle memory, select(space.id(), start, count));
    if (H5Dread(dataset.id(), memory_type(spec.dtype), memory.id(), space.id(), H5P_DEFAULT, out) < 0) {
      return corrupt(fmt::format("{}: {} cannot be read: {}", path_, spec.name, hdf5::last_error()));
    }
    return {};
  }

 private:
  std::string path_;
  Handle file_;
  std::vector<ArraySpec> arrays_;
};

}  // namespace

Status write_hdf5(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                  const Output& output) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(mpi::agree(comm, register_filters()));
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (H5Pset_fapl_mpio(access.id(), comm.get(), MPI_INFO_NULL) < 0) return hdf5_failure("MPI-IO for HDF5");
  mpi::OpenablePath name;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        NEVE_ASSIGN(name, mpi::OpenablePath::of(path));
                        return {};
                      })));
  const HeldWriteErrors held(path);
  Handle file(H5Fcreate(name.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.id()), H5Fclose);
  NEVE_TRY(mpi::agree(comm, file.valid() ? Status() : hdf5_failure(path)));
  for (const ArrayPart& part : parts) {
    NEVE_TRY(write_array(comm, file.id(), part, output).in(path + ": " + part.spec.name));
  }
  return mpi::agree(comm, file.close() ? held.status() : hdf5_failure(path + ": closing"));
}

Result<double> filter_seconds(const mpi::Comm& comm, std::span<const ArrayPart> parts, const Output& output) {
  constexpr size_t growth = size_t{1} << 24;
  const hdf5::QuietErrors quiet;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const bool is_memory = H5Pset_fapl_core(access.id(), growth, 0) >= 0;
  const Handle file(is_memory ? H5Fcreate("neve_memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()) : -1,
                    H5Fclose);
  NEVE_TRY(mpi::agree(comm, file.valid() ? Status() : hdf5_failure("a file in memory")));
  return timed(comm, [&] {
    Status status;
    for (const ArrayPart& part : parts) {
      if (status.ok()) status = write_to_memory(file.id(), part, output);
    }
    return mpi::agree(comm, status);
  });
}

Result<std::unique_ptr<ArrayReader>> open_hdf5(const std::string& path, std::span<const ArraySpec> arrays) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(register_filters());
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return hdf5_failure(path);
  return std::unique_ptr<ArrayReader>(std::make_unique<Hdf5Reader>(path, std::move(file), arrays));
}

}  // namespace neve::apps
