// SPDX-License-Identifier: BSD-3-Clause
// The half of piece_exchange.hpp that readers need: they are built without MPI as well.
#include <algorithm>
#include <array>

#include "parallel/transfer/piece_exchange.hpp"

namespace neve::mpi {
namespace {

// Collective: rank 0's bytes to the others, which have room for as many.
Status broadcast_bytes(const Comm& comm, Bytes& bytes) {
  constexpr size_t most = size_t{1} << 30;  // of one call: an MPI count is an int
  for (size_t done = 0; done < bytes.size(); done += most) {
    const size_t count = std::min(most, bytes.size() - done);
    NEVE_TRY(mpi_status(MPI_Bcast(bytes.data() + done, static_cast<int>(count), MPI_BYTE, 0, comm.get()),
                        "broadcast of the index"));
  }
  return {};
}

// Places in a file that is still being written: it has no end yet.
constexpr uint64_t any_bytes = UINT64_MAX;

}  // namespace

Status broadcast_pieces(const Comm& comm, std::vector<FramePiece>& pieces, uint64_t known) {
  Bytes bytes;
  std::array<uint64_t, 2> numbers = {};
  const Status listed = guarded("index", [&]() -> Status {
    if (comm.rank() != 0) return {};
    ByteWriter out(bytes);
    for (size_t i = known; i < pieces.size(); ++i) write_piece(pieces[i], out);
    numbers = {pieces.size(), bytes.size()};
    return {};
  });
  NEVE_TRY(agree(comm, listed));
  NEVE_TRY(mpi_status(MPI_Bcast(numbers.data(), 2, MPI_UINT64_T, 0, comm.get()), "broadcast of the index"));
  NEVE_TRY(agree(comm, guarded("index", [&]() -> Status {
                   bytes.resize(numbers[1]);
                   return {};
                 })));
  NEVE_TRY(broadcast_bytes(comm, bytes));
  return agree(comm, guarded("index", [&]() -> Status {
                 if (comm.rank() == 0) return {};
                 pieces.reserve(numbers[0]);
                 ByteReader in(bytes);
                 while (pieces.size() < numbers[0]) {
                   NEVE_ASSIGN(FramePiece piece, read_piece(in, any_bytes));
                   pieces.push_back(std::move(piece));
                 }
                 return {};
               }));
}

}  // namespace neve::mpi
