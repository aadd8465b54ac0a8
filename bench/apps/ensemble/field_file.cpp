// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/field_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "io/files/temporary_file.hpp"
#include "io/files/write.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "neve/frame.hpp"
#include "neve/series.hpp"

namespace neve::ensemble {
namespace {

using hdf5::Handle;

constexpr unsigned deflate_level = 6;

Status hdf5_failure(const std::string& what) { return failure(what + ": " + hdf5::last_error()); }

std::vector<hsize_t> as_hdf5(const Shape& shape) { return {shape.begin(), shape.end()}; }

// All of x, some rows, some layers, one of what is beyond.
Shape chunk_shape(const Shape& shape, const Storage& storage) {
  const uint64_t wanted[] = {static_cast<uint64_t>(storage.chunk_rows),
                             static_cast<uint64_t>(storage.chunk_layers)};
  Shape chunk(shape.size(), 1);
  chunk.back() = shape.back();
  for (size_t d = 0; d < std::size(wanted) && d + 1 < shape.size(); ++d) {
    const size_t at = shape.size() - 2 - d;
    // Chunks as equal as they can be: HDF5 stores whole ones at the end too.
    const uint64_t chunks = (shape[at] + wanted[d] - 1) / wanted[d];
    chunk[at] = (shape[at] + chunks - 1) / chunks;
  }
  return chunk;
}

Result<Handle> creation_properties(const Storage& storage, const Shape& chunk) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!creation.valid()) return hdf5_failure("H5Pcreate");
  if (storage.kind == Storage::Kind::contiguous) return creation;
  const std::vector<hsize_t> sizes = as_hdf5(chunk);
  bool ok = H5Pset_chunk(creation.id(), static_cast<int>(sizes.size()), sizes.data()) >= 0 &&
            H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) >= 0;
  if (storage.kind == Storage::Kind::deflate) {
    ok = ok && H5Pset_deflate(creation.id(), deflate_level) >= 0;
  } else {
    hdf5::FilterParameters parameters;
    parameters.bound.mode = BoundMode::lossless;
    parameters.codec = Codec::lossless;
    parameters.effort = storage.effort;
    const std::vector<uint32_t> words = hdf5::to_words(parameters);
    ok = ok && H5Pset_filter(creation.id(), hdf5::neve_filter_id, H5Z_FLAG_MANDATORY, words.size(),
                             words.data()) >= 0;
  }
  if (!ok) return hdf5_failure("properties of a dataset");
  return creation;
}

// The chunk at `start`, of which the part inside the field is taken; what is beyond repeats the last row or
// layer, which costs next to nothing.
void copy_chunk(const Field& field, const Shape& start, const Shape& chunk, float* to) {
  const size_t x = field.shape.size() - 1;
  const std::function<void(size_t, uint64_t)> copy = [&](size_t dim, uint64_t row) {
    if (dim == x) {
      std::copy_n(field.values + row * field.shape[x], chunk[x], to);
      to += chunk[x];
      return;
    }
    for (uint64_t i = 0; i < chunk[dim]; ++i) {
      copy(dim + 1, row * field.shape[dim] + std::min(start[dim] + i, field.shape[dim] - 1));
    }
  };
  copy(0, 0);
}

// Encodes and writes chunk after chunk: only so can the method be chosen, which the filter's own parameters
// do not hold.
Status write_frames(hid_t dataset, const Field& field, const Shape& chunk, const Storage& storage,
                    SelectionMemory& memory) {
  ArrayOptions options;
  options.bound.mode = BoundMode::lossless;
  options.codec = Codec::lossless;
  options.tuning = storage.tuning;
  options.encode.effort = storage.effort;
  options.detect_fill = false;
  std::vector<Shape> starts;
  Shape start(chunk.size(), 0);
  for (size_t dim = 0; dim != SIZE_MAX;) {
    starts.push_back(start);
    dim = chunk.size();
    while (dim-- > 0) {
      start[dim] += chunk[dim];
      if (start[dim] < field.shape[dim]) break;
      start[dim] = 0;
    }
  }
  std::vector<float> values(value_count(chunk));
  const auto piece = [&](size_t i) {
    copy_chunk(field, starts[i], chunk, values.data());
    return static_cast<const void*>(values.data());
  };
  NEVE_ASSIGN(const std::vector<std::vector<std::byte>> frames,
              encode_step(DType::f32, chunk, starts.size(), piece, options, memory, field.name));
  for (size_t i = 0; i < frames.size(); ++i) {
    const std::vector<hsize_t> offset = as_hdf5(starts[i]);
    if (H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), frames[i].size(), frames[i].data()) < 0) {
      return hdf5_failure("writing a chunk");
    }
  }
  return {};
}

Status write_field(hid_t file, const Field& field, const Storage& storage, SelectionMemory& memory) {
  const Shape chunk = chunk_shape(field.shape, storage);
  NEVE_ASSIGN(const Handle creation, creation_properties(storage, chunk));
  const std::vector<hsize_t> shape = as_hdf5(field.shape);
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(file, field.name.c_str(), H5T_IEEE_F32LE, space.id(), H5P_DEFAULT, creation.id(),
                            H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid()) return hdf5_failure("creating the dataset");
  if (storage.kind == Storage::Kind::neve) {
    NEVE_TRY(write_frames(dataset.id(), field, chunk, storage, memory));
  } else if (H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, field.values) < 0) {
    return hdf5_failure("writing");
  }
  return dataset.close() ? Status() : hdf5_failure("closing the dataset");
}

Status write_hdf5(const std::string& path, std::span<const Field> fields, const Storage& storage,
                  SelectionMemory& memory) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(hdf5::register_filter());
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Indices of chunks take a fraction of what they take in the oldest format.
  if (H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0) {
    return hdf5_failure("file properties");
  }
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) return hdf5_failure(path);
  for (const Field& field : fields) {
    NEVE_TRY(write_field(file.id(), field, storage, memory).in(path + ": " + field.name));
  }
  return file.close() ? Status() : hdf5_failure(path + ": closing");
}

Result<uint64_t> bytes_of(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return failure(path + ": " + error.message());
  return bytes;
}

// Of the values of a region as they are, or of the whole chunks that hold some of them.
Result<uint64_t> stored_bytes(hid_t dataset, const Shape& start, const Shape& count) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation.valid()) return hdf5_failure("H5Dget_create_plist");
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return value_count(count) * sizeof(float);
  std::vector<hsize_t> chunk(count.size());
  if (H5Pget_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) < 0) {
    return hdf5_failure("H5Pget_chunk");
  }
  std::vector<hsize_t> first(count.size());
  for (size_t d = 0; d < count.size(); ++d) first[d] = start[d] / chunk[d] * chunk[d];
  std::vector<hsize_t> at = first;
  uint64_t bytes = 0;
  for (size_t dim = 0; dim != SIZE_MAX;) {
    hsize_t stored = 0;
    if (H5Dget_chunk_info_by_coord(dataset, at.data(), nullptr, nullptr, &stored) < 0) {
      return hdf5_failure("H5Dget_chunk_info_by_coord");
    }
    bytes += stored;
    dim = count.size();
    while (dim-- > 0) {
      at[dim] += chunk[dim];
      if (at[dim] < start[dim] + count[dim]) break;
      at[dim] = first[dim];
    }
  }
  return bytes;
}

}  // namespace

uint64_t value_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

Result<uint64_t> write_fields(const std::string& path, std::span<const Field> fields, const Storage& storage,
                              SelectionMemory& memory) {
  NEVE_ASSIGN(files::TemporaryFile temporary, files::TemporaryFile::beside(path));
  NEVE_TRY(write_hdf5(temporary.path(), fields, storage, memory));
  NEVE_TRY(temporary.commit());
  return bytes_of(path);
}

Result<FieldFile> FieldFile::open(const std::string& path) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(hdf5::register_filter());
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return hdf5_failure(path);
  return FieldFile(path, std::move(file));
}

Result<uint64_t> FieldFile::read(const std::string& name, const Shape& start, const Shape& count,
                                 float* out) const {
  const hdf5::QuietErrors quiet;
  const Handle dataset(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle selection(dataset.valid() ? H5Dget_space(dataset.id()) : -1, H5Sclose);
  if (!selection.valid() || H5Sget_simple_extent_ndims(selection.id()) != static_cast<int>(count.size())) {
    return corrupt(fmt::format("{}: {} is not a dataset of {} dimensions", path_, name, count.size()));
  }
  const std::vector<hsize_t> first = as_hdf5(start), sizes = as_hdf5(count);
  const Handle memory(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, first.data(), nullptr, sizes.data(), nullptr) < 0 ||
      H5Dread(dataset.id(), H5T_NATIVE_FLOAT, memory.id(), selection.id(), H5P_DEFAULT, out) < 0) {
    return corrupt(fmt::format("{}: {} cannot be read: {}", path_, name, hdf5::last_error()));
  }
  return stored_bytes(dataset.id(), start, count);
}

Result<uint64_t> write_flat(const std::string& path, std::span<const Field> fields) {
  NEVE_ASSIGN(files::Descriptor file, files::create_file(path));
  int64_t offset = 0;
  for (const Field& field : fields) {
    const auto bytes = std::as_bytes(std::span(field.values, value_count(field.shape)));
    NEVE_TRY(files::write_fully(file.number(), offset, bytes, path));
    offset += static_cast<int64_t>(bytes.size());
  }
  NEVE_TRY(file.close(path));
  return static_cast<uint64_t>(offset);
}

Status read_flat(const plotfile::File& file, uint64_t first, uint64_t count, float* out) {
  return file.read(static_cast<int64_t>(first * sizeof(float)),
                   std::as_writable_bytes(std::span(out, static_cast<size_t>(count))));
}

}  // namespace neve::ensemble
