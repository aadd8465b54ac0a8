// SPDX-License-Identifier: BSD-3-Clause
// Fields on disk: HDF5 files, as they are or compressed, of which regions are read, and flat binary files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/plotfile/file.hpp"
#include "neve/selection_memory.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::ensemble {

struct Storage {
  enum class Kind : uint8_t {
    contiguous,  // values as they are
    deflate,     // HDF5's own filter, level 6
    neve,        // Neve's filter, codec lossless
  };
  Kind kind = Kind::contiguous;
  CodecTuning tuning;  // of kind neve
  Effort effort = Effort::fast;
  // Of a chunk, which has all of x. Kind contiguous has no chunks.
  int chunk_rows = 20, chunk_layers = 8;
};

using Shape = std::vector<uint64_t>;  // slowest first; the last two are y and x
uint64_t value_count(const Shape& shape);

struct Field {
  std::string name;
  Shape shape;
  const float* values = nullptr;
};

// A file that appears under its name only when it is whole and durable. Returns its bytes. Where the method
// is chosen, it is remembered.
Result<uint64_t> write_fields(const std::string& path, std::span<const Field> fields, const Storage& storage,
                              SelectionMemory& memory);

class FieldFile {
 public:
  static Result<FieldFile> open(const std::string& path);

  // Values [start, start + count) of a dataset; HDF5 reads only the chunks that hold some of them. Returns
  // the bytes of the file that this takes.
  Result<uint64_t> read(const std::string& name, const Shape& start, const Shape& count, float* out) const;

 private:
  FieldFile(std::string path, hdf5::Handle file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  hdf5::Handle file_;
};

// One field after another, little-endian f32. An intermediate file, which can be made again: it is not made
// durable. Returns its bytes.
Result<uint64_t> write_flat(const std::string& path, std::span<const Field> fields);

// `count` values of an open flat file from value `first` on.
Status read_flat(const plotfile::File& file, uint64_t first, uint64_t count, float* out);

}  // namespace neve::ensemble
