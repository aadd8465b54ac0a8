// SPDX-License-Identifier: BSD-3-Clause
// A buffer of any MPI type as the bytes that a file has of it, and back.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve::pmpi {

// Elements of a type that lie in memory.
struct Elements {
  const void* data;
  int64_t count;
  MPI_Datatype type;
};

// Bytes of one element in a file; nothing where MPI does not say, as of a type that is none.
uint64_t type_bytes(MPI_Datatype type);

// Whether its bytes lie in memory as in a file.
bool is_dense(MPI_Datatype type);

// Part after part, `take(offset, bytes)`: some MiB at a time.
Status pack(const Elements& elements, const std::function<Status(uint64_t, ByteSpan)>& take);

// All of it: where it lies, if that is dense; else in `room`.
Result<ByteSpan> packed(const Elements& elements, Bytes& room);

// The other way: `give(offset, bytes)` fills the bytes of a part. Only the first `available` bytes are
// changed.
Status unpack(const Elements& elements, uint64_t available,
              const std::function<Status(uint64_t, std::span<std::byte>)>& give);

}  // namespace neve::pmpi
