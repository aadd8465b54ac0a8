// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/put.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "mpi/fault.hpp"
#include "mpi/info.hpp"

namespace neve::mpi {
namespace {

// The types that lead one collective call from scattered memory to scattered places of the file.
class RoundTypes {
 public:
  ~RoundTypes() {
    if (memory_ != MPI_DATATYPE_NULL) MPI_Type_free(&memory_);
    if (file_ != MPI_DATATYPE_NULL) MPI_Type_free(&file_);
  }

  // `pieces` by rising address, as file views require; together below 2 GiB.
  Status build(const std::vector<Piece>& pieces) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places, memory;
    for (const Piece& piece : pieces) {
      lengths.push_back(static_cast<int>(piece.bytes.size()));
      places.push_back(static_cast<MPI_Aint>(piece.address));
      MPI_Aint address = 0;
      NEVE_TRY(mpi_status(MPI_Get_address(piece.bytes.data(), &address), "MPI_Get_address"));
      memory.push_back(address);
    }
    const int count = static_cast<int>(pieces.size());
    NEVE_TRY(mpi_status(MPI_Type_create_hindexed(count, lengths.data(), places.data(), MPI_BYTE, &file_),
                        "MPI_Type_create_hindexed"));
    NEVE_TRY(mpi_status(MPI_Type_commit(&file_), "MPI_Type_commit"));
    NEVE_TRY(mpi_status(MPI_Type_create_hindexed(count, lengths.data(), memory.data(), MPI_BYTE, &memory_),
                        "MPI_Type_create_hindexed"));
    return mpi_status(MPI_Type_commit(&memory_), "MPI_Type_commit");
  }
  MPI_Datatype file() const { return file_; }
  MPI_Datatype memory() const { return memory_; }

 private:
  MPI_Datatype memory_ = MPI_DATATYPE_NULL;
  MPI_Datatype file_ = MPI_DATATYPE_NULL;
};

// The part of `pieces`, laid end to end, that lies in [begin, begin + size).
std::vector<Piece> cut(const std::vector<Piece>& pieces, uint64_t begin, uint64_t size) {
  std::vector<Piece> part;
  const uint64_t end = begin + size;
  uint64_t at = 0;
  for (const Piece& piece : pieces) {
    const uint64_t from = std::max(at, begin);
    const uint64_t to = std::min(at + piece.bytes.size(), end);
    if (from < to) part.push_back({piece.address + (from - at), piece.bytes.subspan(from - at, to - from)});
    at += piece.bytes.size();
  }
  return part;
}

// Collective whatever happens on this rank: a rank that cannot build its types writes nothing, but is there.
// Writes the part of `pieces` in [begin, begin + size).
Status put_round(MPI_File file, const std::string& path, const std::vector<Piece>& pieces, uint64_t begin,
                 uint64_t size) {
  RoundTypes types;
  uint64_t wanted_bytes = 0;
  const Status status = guarded("put", [&]() -> Status {
    const std::vector<Piece> part = cut(pieces, begin, size);
    if (part.empty()) return {};
    NEVE_TRY(types.build(part));
    for (const Piece& piece : part) wanted_bytes += piece.bytes.size();
    return {};
  });
  const bool writes = wanted_bytes != 0;

  const Status view = mpi_status(
      MPI_File_set_view(file, 0, MPI_BYTE, writes ? types.file() : MPI_BYTE, "native", MPI_INFO_NULL),
      path + ": setting the file view");
  MPI_Status written;
  const Status write = mpi_status(MPI_File_write_at_all(file, 0, MPI_BOTTOM, writes ? 1 : 0,
                                                        writes ? types.memory() : MPI_BYTE, &written),
                                  path + ": collective write");
  if (!status.ok()) return status;
  NEVE_TRY(view);
  NEVE_TRY(write);
  MPI_Count written_bytes = 0;
  NEVE_TRY(mpi_status(MPI_Get_elements_x(&written, MPI_BYTE, &written_bytes), "MPI_Get_elements_x"));
  if (writes && static_cast<uint64_t>(written_bytes) != wanted_bytes) {
    return failure(path + ": " + std::to_string(written_bytes) + " of " + std::to_string(wanted_bytes) +
                   " bytes were written; is the disk full?");
  }
  return {};
}

}  // namespace

Result<Hints> merged_hints(const Hints& given) {
  Hints hints = given;
  const char* variable = std::getenv("NEVE_MPI_HINTS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == item.size()) {
      return usage_error("NEVE_MPI_HINTS holds \"" + std::string(item) +
                         "\"; allowed is key=value;key=value");
    }
    hints[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return hints;
}

Status create_file(const std::string& path, const Hints& hints) {
  NEVE_ASSIGN(const Info info, Info::from(hints));
  MPI_File file = MPI_FILE_NULL;
  NEVE_TRY(mpi_status(MPI_File_open(MPI_COMM_SELF, path.c_str(),
                                    MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, info.get(), &file),
                      path + ": creating the file"));
  return mpi_status(MPI_File_close(&file), path + ": closing the new file");
}

Status reserve_space(const std::string& path, uint64_t size_bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(path + ": " + std::strerror(errno));
  const auto size = static_cast<off_t>(size_bytes);
  int rc = 0;
  do {
    rc = ::fallocate(descriptor, 0, 0, size);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
    // A file system without reservations (NFS, some parallel ones) reports a full disk from the write
    // instead.
    struct stat now;
    rc = ::fstat(descriptor, &now);
    if (rc == 0 && now.st_size < size) rc = ::ftruncate(descriptor, size);
  }
  const int reason = rc == 0 ? 0 : errno;
  ::close(descriptor);
  if (reason == 0) return {};
  return failure(path + ": no room for " + std::to_string(size_bytes) + " bytes: " + std::strerror(reason));
}

Result<PutTimes> put_pieces(const Comm& comm, const std::string& path, const Hints& hints,
                            std::span<const Piece> pieces, uint64_t round_bytes) {
  const double begin_seconds = MPI_Wtime();
  std::vector<Piece> sorted;
  uint64_t mine_bytes = 0;
  const Result<Info> info = Info::from(hints);
  const Status prepared = guarded("put", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::put, comm.rank()));
    NEVE_TRY(info.status());
    sorted.assign(pieces.begin(), pieces.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Piece& a, const Piece& b) { return a.address < b.address; });
    for (const Piece& piece : sorted) mine_bytes += piece.bytes.size();
    return {};
  });
  NEVE_TRY(agree(comm, prepared));

  uint64_t rounds = (mine_bytes + round_bytes - 1) / round_bytes;
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, comm.get()),
                      "exchange of write sizes"));

  MPI_File file = MPI_FILE_NULL;
  // Read and write, because MPI libraries fill small gaps between pieces by reading a larger block, changing
  // it and writing it back. Where only some ranks could open the file it stays open on those: closing is
  // collective, and would wait for the ranks that have nothing to close.
  NEVE_TRY(agree(comm, mpi_status(MPI_File_open(comm.get(), path.c_str(), MPI_MODE_RDWR, info->get(), &file),
                                  path + ": opening for the collective write")));

  Status status;
  for (uint64_t round = 0; round < rounds; ++round) {
    const Status one = put_round(file, path, sorted, round * round_bytes, round_bytes);
    if (status.ok()) status = one;
  }
  const double written_seconds = MPI_Wtime();
  const Status synced = mpi_status(MPI_File_sync(file), path + ": syncing");
  const Status closed = mpi_status(MPI_File_close(&file), path + ": closing");
  if (status.ok()) status = injected_fault(Phase::sync, comm.rank());
  if (status.ok()) status = synced;
  if (status.ok()) status = closed;
  NEVE_TRY(agree(comm, status));
  return PutTimes{written_seconds - begin_seconds, MPI_Wtime() - written_seconds};
}

}  // namespace neve::mpi
