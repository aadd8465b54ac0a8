// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/piece_exchange.hpp"

#include <algorithm>
#include <limits>

namespace neve::mpi {
namespace {

// Places in a file that is still being written: it has no end yet.
constexpr uint64_t any_bytes = UINT64_MAX;

Status place_of_each(const std::vector<uint64_t>& counts, std::vector<int>& sizes, std::vector<int>& displs) {
  uint64_t total = 0;
  for (size_t r = 0; r < counts.size(); ++r) {
    total += counts[r];
    if (total > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return failure(
          "the index of what the ranks wrote has more bytes than an MPI count holds; use larger blocks");
    }
    sizes[r] = static_cast<int>(counts[r]);
    displs[r] = static_cast<int>(total - counts[r]);
  }
  return {};
}

Status read_written(const Bytes& all, std::vector<FramePiece>& pieces) {
  std::vector<WrittenPiece> written;
  ByteReader in(all);
  while (in.remaining() > 0) {
    WrittenPiece next;
    next.order = in.get<uint64_t>();
    NEVE_ASSIGN(next.piece, read_piece(in, any_bytes));
    written.push_back(std::move(next));
  }
  std::ranges::stable_sort(written, {}, &WrittenPiece::order);
  pieces.reserve(pieces.size() + written.size());
  for (WrittenPiece& next : written) pieces.push_back(std::move(next.piece));
  return {};
}

}  // namespace

Status gather_pieces(const Comm& comm, const std::vector<WrittenPiece>& mine,
                     std::vector<FramePiece>& pieces) {
  Bytes bytes, all;
  std::vector<uint64_t> counts;
  std::vector<int> sizes, displs;
  NEVE_TRY(agree(comm, guarded("index", [&]() -> Status {
                   ByteWriter out(bytes);
                   for (const WrittenPiece& written : mine) {
                     out.put(written.order);
                     write_piece(written.piece, out);
                   }
                   if (comm.rank() == 0) counts.resize(static_cast<size_t>(comm.size()));
                   sizes.resize(counts.size());
                   displs.resize(counts.size());
                   return {};
                 })));
  const uint64_t count = bytes.size();
  NEVE_TRY(mpi_status(MPI_Gather(&count, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, 0, comm.get()),
                      "exchange of the index"));
  const Status placed = guarded("index", [&]() -> Status {
    NEVE_TRY(place_of_each(counts, sizes, displs));
    if (!sizes.empty()) all.resize(static_cast<size_t>(displs.back() + sizes.back()));
    return {};
  });
  NEVE_TRY(agree(comm, placed));
  NEVE_TRY(mpi_status(MPI_Gatherv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, all.data(),
                                  sizes.data(), displs.data(), MPI_BYTE, 0, comm.get()),
                      "exchange of the index"));
  return agree(comm, guarded("index", [&] { return read_written(all, pieces); }));
}

}  // namespace neve::mpi
