// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/file_speed.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "parallel/comm/broadcast.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/transfer/block_plan.hpp"
#include "preload/mpi/codec_speed.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

constexpr uint64_t probe_bytes = uint64_t{4} << 20;  // of a rank, at most

// Of a file system, by so many ranks.
struct Known {
  double seconds = 0;  // for a byte of each rank, to the device
  CodecSpeeds codec = typical_speeds;
  uint64_t files = 0, next_look = 10;
};
std::mutex mutex;
std::map<std::pair<uint64_t, int>, Known> known;

std::pair<uint64_t, int> key_of(const OpenFile& file) {
  struct stat folder = {};
  const std::string parent = std::filesystem::path(file.path).parent_path().string();
  if (::stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) folder.st_dev = 0;
  return {folder.st_dev, file.comm->size()};
}

// Collective: seconds for a byte of each rank; 0 where no file can be made beside.
Result<double> probe(OpenFile& file, const Elements& values, uint64_t bytes) {
  std::optional<files::TemporaryFile> scratch;
  std::string path;
  const Status made = mpi::guarded("scratch file", [&]() -> Status {
    if (file.comm->rank() != 0) return {};
    NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(file.path));
    NEVE_TRY(mpi::create_file(beside.path(), {}));
    path = beside.path();
    scratch.emplace(std::move(beside));
    return {};
  });
  if (!mpi::agree(*file.comm, made).ok()) return 0.0;
  NEVE_TRY(mpi::broadcast(*file.comm, path));
  Bytes data;
  NEVE_TRY(mpi::agree(*file.comm, mpi::guarded("scratch file", [&]() -> Status {
    data.resize(bytes);
    if (values.count == 0) return {};
    NEVE_ASSIGN(const Bytes sample, take_sample(values));
    for (size_t at = 0; at < data.size() && !sample.empty(); at += sample.size()) {
      std::copy_n(sample.begin(), std::min(sample.size(), data.size() - at),
                  data.begin() + static_cast<ptrdiff_t>(at));
    }
    return {};
  })));
  MPI_File to = MPI_FILE_NULL;
  mpi::OpenablePath name;
  if (!mpi::open_file(*file.comm, path, MPI_MODE_WRONLY, MPI_INFO_NULL, name, to).ok()) return 0.0;
  MPI_Barrier(file.comm->get());
  const double begin = MPI_Wtime();
  MPI_Status written;
  MPI_File_write_at_all(to, static_cast<MPI_Offset>(bytes) * file.comm->rank(), data.data(),
                        static_cast<int>(bytes), MPI_BYTE, &written);
  MPI_File_sync(to);
  const double seconds = (MPI_Wtime() - begin) / static_cast<double>(bytes);
  MPI_File_close(&to);
  return seconds;
}

// Collective: what is known, or found out now.
Result<Known> speeds_of(OpenFile& file, const Proposal& mine, uint64_t value_bytes) {
  const auto key = key_of(file);
  Known found;
  {
    const std::lock_guard lock(mutex);
    if (const auto here = known.find(key); here != known.end()) found = here->second;
  }
  // The most counts: whether some rank has to know more; of what the ranks know the slowest.
  std::array<double, 5> most = {found.files == found.next_look || found.seconds == 0 ? 1.0 : 0.0,
                                found.seconds, found.codec.encode, found.codec.decode, found.codec.share};
  const auto merge = [&] {
    return mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE,
                                         MPI_MAX, file.comm->get()),
                           "speed of a file");
  };
  NEVE_TRY(merge());
  if (most[0] != 0) {
    const uint64_t bytes = std::clamp<uint64_t>(value_bytes, 1, probe_bytes);
    NEVE_ASSIGN(const double seconds, probe(file, mine.values, bytes));
    const auto own = sample_speeds(mine.values, mine.dtype);
    most = {own ? 1.0 : 0.0, seconds, 0, 0, 0};
    if (own) most = {1.0, seconds, own->encode, own->decode, own->share};
    NEVE_TRY(merge());
    if (most[0] == 0) most = {0, most[1], typical_speeds.encode, typical_speeds.decode, typical_speeds.share};
    if (found.files == found.next_look) found.next_look *= 10;
  }
  found.seconds = most[1];
  found.codec = {most[2], most[3], most[4]};
  ++found.files;
  const std::lock_guard lock(mutex);
  known[key] = found;
  return found;
}

}  // namespace

Result<bool> frames_pay(OpenFile& file, const Proposal& mine, uint64_t value_bytes) {
  if (settings().always) return true;
  NEVE_ASSIGN(const Known found, speeds_of(file, mine, value_bytes));
  const mpi::Transfer& transfer = settings().transfer;
  const uint64_t block = mpi::block_bytes_of(transfer.block_bytes);
  const double bytes = static_cast<double>(std::max<uint64_t>(value_bytes, 1));
  const double frames = seconds_as_frames({bytes, 0}, found.codec, found.seconds * bytes,
                                          transfer.values.encode.threads, static_cast<double>(block));
  const bool pays = found.seconds == 0 || frames < clear_win * found.seconds * bytes;
  if (file.comm->rank() == 0 && settings().reports) {
    say(fmt::format(
        "{}: the file system takes {:.3g} GB/s from a rank of {}; a thread encodes {:.3g} GB/s at a "
        "ratio of {:.3g}: {}",
        file.path, 1e-9 / found.seconds, file.comm->size(), 1e-9 / found.codec.encode, 1 / found.codec.share,
        pays ? "frames" : "values"));
  }
  return pays;
}

}  // namespace neve::pmpi
