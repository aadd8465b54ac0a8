// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/make_plain.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "io/plotfile/file.hpp"
#include "parallel/comm/broadcast.hpp"
#include "parallel/file/write_pieces.hpp"
#include "preload/mpi/settings.hpp"
#include "preload/mpi/type_boxes.hpp"

namespace neve::pmpi {
namespace {

// A descriptor that is closed, and whose errors name the file.
class Opened {
 public:
  static Result<Opened> open(const std::string& path, int flags) {
    Opened file(path, ::open(path.c_str(), flags | O_CLOEXEC));
    if (file.descriptor_ < 0) return file.failed();
    return file;
  }
  Opened(Opened&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  Opened& operator=(Opened&&) = delete;
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  Status failed() const { return failure(path_ + ": " + std::strerror(errno)); }
  Status sync() const { return ::fsync(descriptor_) == 0 ? Status() : failed(); }
  Status grow_to(uint64_t bytes) const {
    struct stat now;
    if (::fstat(descriptor_, &now) != 0) return failed();
    if (static_cast<uint64_t>(now.st_size) >= bytes) return {};
    return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 ? Status() : failed();
  }

 private:
  Opened(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

// A part at a time; part number p is that of rank p modulo `ranks`.
Status copy_parts(uint64_t bytes, int rank, int ranks, const Opened& to, const std::string& name,
                  const std::function<Status(uint64_t, std::span<std::byte>)>& read) {
  constexpr uint64_t part_bytes = uint64_t{32} << 20;
  Bytes part;
  for (uint64_t at = static_cast<uint64_t>(rank) * part_bytes; at < bytes;
       at += static_cast<uint64_t>(ranks) * part_bytes) {
    part.resize(std::min(part_bytes, bytes - at));
    NEVE_TRY(read(at, part));
    NEVE_TRY(plotfile::write_fully(to.descriptor(), static_cast<int64_t>(at), part, name));
  }
  return {};
}

// Collective: an empty file beside the path, whose name all ranks learn.
Status create_beside(const OpenFile& file, std::optional<files::TemporaryFile>& temporary,
                     std::string& name) {
  const Status created = mpi::guarded("plain file", [&]() -> Status {
    if (file.comm->rank() != 0) return {};
    NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(file.path));
    NEVE_TRY(mpi::create_file(beside.path(), {}));
    name = beside.path();
    temporary.emplace(std::move(beside));
    return {};
  });
  NEVE_TRY(mpi::agree(*file.comm, created));
  return mpi::broadcast(*file.comm, name);
}

// Collective. What the frames hold first, then what single ranks wrote since.
Status fill(OpenFile& file, const std::string& name) {
  uint64_t bytes = size_of(file);
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, file.comm->get()),
                           "exchange of sizes"));
  std::optional<Opened> to;
  const Status decoded = mpi::guarded("plain file", [&]() -> Status {
    NEVE_ASSIGN(Opened opened, Opened::open(name, O_WRONLY));
    to.emplace(std::move(opened));
    return copy_parts(bytes, file.comm->rank(), file.comm->size(), *to, name,
                      [&](uint64_t at, std::span<std::byte> out) {
                        const FileBox line = line_box(at, 1, out.size());
                        return read_frame_bytes(file, std::span(&line, 1), out);
                      });
  });
  NEVE_TRY(mpi::agree(*file.comm, decoded));
  const Status added = mpi::guarded("plain file", [&]() -> Status {
    NEVE_TRY(file.journal.replay(to->descriptor(), name));
    if (file.comm->rank() == 0) NEVE_TRY(to->grow_to(bytes));
    return to->sync();
  });
  return mpi::agree(*file.comm, added);
}

Status close_frames(OpenFile& file) {
  Status status;
  if (file.writer != nullptr) status = file.writer->abandon();
  if (file.reader != nullptr) {
    const Status closed = file.reader->close();
    if (status.ok()) status = closed;
  }
  file.writer.reset();
  file.reader.reset();
  file.journal.clear();
  return status;
}

}  // namespace

// The view that the program has set for the file, for another handle of it.
Status take_view(MPI_File from, MPI_File to) {
  MPI_Offset displacement = 0;
  std::array<MPI_Datatype, 2> types = {};  // of elements, and of the file
  char representation[MPI_MAX_DATAREP_STRING] = {};
  NEVE_TRY(mpi::mpi_status(MPI_File_get_view(from, &displacement, &types[0], &types[1], representation),
                           "MPI_File_get_view"));
  const Status set =
      mpi::mpi_status(MPI_File_set_view(to, displacement, types[0], types[1], representation, MPI_INFO_NULL),
                      "MPI_File_set_view");
  for (MPI_Datatype& type : types) free_derived(type);
  return set;
}

Status open_native(OpenFile& file, MPI_Comm comm, const std::string& path, Pointers pointers) {
  // A sequential file could not be told where its shared pointer stands.
  int only_once = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_SEQUENTIAL;
  if (pointers == Pointers::as_they_are) only_once |= MPI_MODE_APPEND;
  // Where there is no shorter name the whole one is tried: the open is collective.
  auto shorter = mpi::OpenablePath::of(path);
  if (shorter.ok()) file.native_name = std::move(*shorter);
  const std::string& name = shorter.ok() ? file.native_name.text() : path;
  MPI_File opened = MPI_FILE_NULL;
  NEVE_TRY(mpi::mpi_status(MPI_File_open(comm, name.c_str(), file.mode & ~only_once, MPI_INFO_NULL, &opened),
                           file.path + ": opening the plain file"));
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_File_get_errhandler(file.handle, &handler) == MPI_SUCCESS) {
    MPI_File_set_errhandler(opened, handler);
    MPI_Errhandler_free(&handler);
  }
  const Status seen = pointers == Pointers::as_they_are ? take_view(file.native, opened) : Status();
  if (file.native != file.handle) MPI_File_close(&file.native);
  file.native = opened;
  return seen;
}

Status make_plain(OpenFile& file, Reason reason) {
  if (file.writer != nullptr) NEVE_TRY(file.writer->share_index());
  std::optional<files::TemporaryFile> temporary;
  std::string name;
  NEVE_TRY(create_beside(file, temporary, name));
  NEVE_TRY(fill(file, name));
  const Status kept = mpi::guarded(
      "plain file", [&]() -> Status { return file.writes() && temporary ? temporary->commit() : Status(); });
  NEVE_TRY(mpi::agree(*file.comm, kept));
  NEVE_TRY(mpi::agree(*file.comm, open_native(file, file.comm->get(), file.writes() ? file.path : name)));
  file.state = State::plain;
  say_plain(file, reason);
  return close_frames(file);
}

Status settle_plain(OpenFile& file, Reason reason) {
  const Status replayed = mpi::guarded("plain file", [&]() -> Status {
    if (file.journal.is_empty()) return {};
    NEVE_ASSIGN(const Opened to, Opened::open(file.path, O_WRONLY));
    return file.journal.replay(to.descriptor(), file.path);
  });
  NEVE_TRY(mpi::agree(*file.comm, replayed));
  file.journal.clear();
  file.state = State::plain;
  say_plain(file, reason);
  return {};
}

Status make_plain_alone(const std::string& path) {
  while (true) {
    NEVE_ASSIGN(const Opened held, Opened::open(path, O_RDONLY));
    while (::flock(held.descriptor(), LOCK_EX) != 0 && errno == EINTR) {
    }
    // Somebody else may have done it meanwhile.
    struct stat mine, there;
    if (::fstat(held.descriptor(), &mine) != 0 || ::stat(path.c_str(), &there) != 0) return held.failed();
    if (mine.st_ino != there.st_ino || mine.st_dev != there.st_dev) continue;
    std::array<std::byte, 8> beginning = {};
    const ssize_t got = ::pread(held.descriptor(), beginning.data(), beginning.size(), 0);
    if (got < 0) return held.failed();
    if (!is_frame_file(std::span(beginning).first(static_cast<size_t>(got)))) return {};

    NEVE_ASSIGN(const auto frames, mpi::FrameFileReader::open(MPI_COMM_SELF, path));
    NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(path));
    NEVE_TRY(mpi::create_file(beside.path(), {}));
    NEVE_ASSIGN(const Opened to, Opened::open(beside.path(), O_WRONLY));
    const int threads = settings().transfer.values.encode.threads;
    NEVE_TRY(copy_parts(frames->bytes(), 0, 1, to, beside.path(), [&](uint64_t at, std::span<std::byte> out) {
      mpi::Moved moved;
      return frames->read(at, out.size(), out.data(), threads, moved);
    }));
    NEVE_TRY(frames->close());
    return beside.commit();
  }
}

}  // namespace neve::pmpi
