// SPDX-License-Identifier: BSD-3-Clause
// A virtual file driver for POSIX files that can drop raw-data writes: HDF5 then lays out a file whose
// frames somebody else writes. What is not dropped is written when the file is closed, in few large pieces.
// Why not H5Dwrite_chunk with the bytes: only rank 0 writes metadata, and it must neither hold nor send the
// frames of the other ranks.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/held_file.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// HDF5's first block of metadata, with the superblock, lies below: raw data whose places others choose lies
// from here on.
inline constexpr uint64_t data_begin = 2048;

// What one open file's driver knows. Owned by the caller, who keeps it until the file is closed, so that
// the reason of a failed close can still be read.
struct SkipDriverState {
  bool drop_raw_data = false;  // set by the caller around H5Dwrite_chunk
  uint64_t dropped_writes = 0;
  uint64_t last_dropped_address = 0;
  // Where others have put, or will put, raw data: from data_begin to here. 0: HDF5 places everything, in a
  // file that is emptied; else what the file holds stays, and HDF5's own objects lie behind.
  uint64_t data_end = 0;
  // With data_end, set by the caller around what makes HDF5 take the place: of the next raw data.
  std::optional<uint64_t> raw_address = {};
  // Where given, the file itself is left alone: all that would be written is there when it is closed.
  HeldFile* held = nullptr;
  // errno of the first failure, 0 if none. To be looked at after the file is closed: failed writes are not
  // told to HDF5.
  int system_error = 0;
  const char* failed_operation = "";  // "write", "truncate", ...
};

// What becomes of the space of an object that is made and removed again: it may stay empty, and metadata
// stand in blocks of their own; or the next objects take it, and the file ends earlier.
enum class FreedSpace { left, reused };

// Makes files opened with `file_access` use the driver. The file must exist: it is emptied by
// H5Fcreate, never created, because its striping was fixed by who created it.
Status use_skip_driver(hid_t file_access, SkipDriverState* state, FreedSpace freed = FreedSpace::left);

}  // namespace neve::hdf5
