// SPDX-License-Identifier: BSD-3-Clause
// Values of a netCDF classic file at the addresses that chunks have in an HDF5 file made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/datafile/classic_header.hpp"
#include "io/plotfile/file.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// A chunk's values follow each other in the variable's own order: all of its dimensions but one are whole or
// of one step. Behind those of the variable there may be places that no value has.
struct ClassicChunk {
  uint64_t address = 0;      // in the HDF5 file
  uint64_t bytes = 0;        // of all its places
  size_t variable = 0;       // number in the header
  uint64_t first_value = 0;  // of the variable, in its own order
  uint64_t values = 0;       // held
};

class ClassicValues {
 public:
  // `chunks` by rising address.
  ClassicValues(std::shared_ptr<plotfile::File> file, ClassicHeader header, std::vector<ClassicChunk> chunks)
      : file_(std::move(file)), header_(std::move(header)), chunks_(std::move(chunks)) {}

  // Lays over `out`, the HDF5 file's bytes from `address` on, what chunks have there, little-endian; zeros
  // where no value is. Errors: failure and corrupt of reading.
  Status overlay(uint64_t address, std::span<std::byte> out) const;

 private:
  Status read_values(const ClassicVariable& variable, uint64_t first, std::span<std::byte> out) const;
  Status read_records(const ClassicVariable& variable, uint64_t record, uint64_t records,
                      std::span<std::byte> out) const;
  Status read_chunk(const ClassicChunk& chunk, uint64_t offset, std::span<std::byte> out) const;

  std::shared_ptr<plotfile::File> file_;
  ClassicHeader header_;
  std::vector<ClassicChunk> chunks_;
};

}  // namespace neve::datafile
