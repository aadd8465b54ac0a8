// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/open_close.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <filesystem>

#include "preload/mpi/agreement.hpp"
#include "preload/mpi/file_ratios.hpp"
#include "preload/mpi/following.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/make_plain.hpp"
#include "preload/mpi/native_calls.hpp"
#include "preload/mpi/settings.hpp"
#include "preload/trace/mpi_library.hpp"

namespace neve::pmpi {
namespace {

struct Opening {
  MPI_Comm comm;
  const char* name;
  int mode;
  MPI_Info info;
  std::string path;
  bool is_by_all = false;   // by as many ranks as there are
  bool is_another = false;  // some rank has it open already
  std::shared_ptr<OpenFile> leader;

  bool has(int flags) const { return (mode & flags) != 0; }
  bool writes() const { return has(MPI_MODE_WRONLY | MPI_MODE_RDWR); }
  bool is_wanted() const { return writes() && settings().files && settings().wants(path); }
};

bool is_intracommunicator(MPI_Comm comm) {
  int is_inter = 1;
  return comm != MPI_COMM_NULL && MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter == 0;
}

// Collective. What this process has open under the path gives up frames, or is joined: two handles of one
// file would not know of each other's.
Status prepare(Opening& opening) {
  int ranks = 0, all_ranks = 0;
  MPI_Comm_size(opening.comm, &ranks);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  opening.is_by_all = ranks == all_ranks;
  const auto others = find_open(opening.path);
  int is_another = others.empty() ? 0 : 1;
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &is_another, 1, MPI_INT, MPI_MAX, opening.comm),
                           "agreement on a file"));
  opening.is_another = is_another != 0;
  for (const auto& other : others) {
    const std::lock_guard lock(other->mutex);
    if (other->leader || !other->writes() || other->state == State::plain) continue;
    if (opening.is_by_all) {
      other->has_said = other->has_said || opening.is_wanted();  // take_over says it
      NEVE_TRY(meet(*other, {Reason::opened_twice, 0}));
      NEVE_TRY(hand_over_pointers(*other));
    } else if (other->state == State::framed) {
      opening.leader = other;
    } else if (other->objection == Reason::none) {
      other->objection = Reason::opened_twice;
    }
  }
  return {};
}

Reason against_frames(const Opening& opening, const Found& there) {
  if (opening.has(MPI_MODE_DELETE_ON_CLOSE)) return Reason::deleted;
  if (opening.has(MPI_MODE_SEQUENTIAL)) return Reason::sequential;
  if (opening.is_another) return Reason::opened_twice;
  if (!opening.is_by_all) return Reason::opened_by_some;
  return !there.is_frames && there.bytes > 0 ? Reason::other_data : Reason::none;
}

// By some ranks, not by all.
std::atomic<uint64_t> opens_by_some{0};

// Jobs with a file for each rank would say so for each: rank 0 does for all, and groups of ranks once in each
// process. A file that is open twice would say so at each open.
void say_once(OpenFile& file, Reason reason) {
  if (reason == Reason::opened_by_some) {
    if (file.comm->rank() != 0) return;
    static std::atomic<bool> said{false};
    ++opens_by_some;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if ((rank > 0 && file.comm->size() == 1) || said.exchange(true)) return;
  }
  say_plain(file, reason);
  if (reason != Reason::opened_twice) return;
  for (const auto& other : find_open(file.path)) {
    const std::lock_guard lock(other->mutex);
    if (other->objection == Reason::opened_twice) other->has_said = true;
  }
}

// Collective, of a file of frames that is to be written by some ranks alone.
Status open_made_plain(OpenFile& file, const Opening& opening) {
  Status made;
  if (file.comm->rank() == 0) made = mpi::guarded("plain file", [&] { return make_plain_alone(file.path); });
  NEVE_TRY(mpi::agree(*file.comm, made));
  NEVE_TRY(mpi::agree(*file.comm, open_native(file, opening.comm, file.path, Pointers::as_opened)));
  file.state = State::plain;
  say_plain(file, Reason::opened_by_some);
  return {};
}

Status open_frames(OpenFile& file, const Opening& opening, Reason reason) {
  if (opening.writes() && !opening.is_by_all) return open_made_plain(file, opening);
  NEVE_ASSIGN(file.reader, mpi::FrameFileReader::open(opening.comm, file.path));
  file.state = State::framed;
  if (opening.is_wanted() && reason == Reason::none) {
    auto writer =
        mpi::FrameFileWriter::open(opening.comm, file.path, mpi::FrameFileWriter::Begin::from_existing,
                                   mpi::FrameFileWriter::Types::any, file_rate_sites());
    if (writer.ok()) file.writer = std::move(*writer);
    if (file.writer != nullptr) NEVE_TRY(file.writer->share_index());
  }
  if (opening.has(MPI_MODE_APPEND)) file.position = size_of(file);
  return file.shared.place(*file.comm, file.path, file.position);
}

// Collective: ranks that have a file of frames open already open it by themselves.
Status join(OpenFile& file, const Opening& opening) {
  NEVE_ASSIGN(mpi::Comm comm, mpi::Comm::duplicate(opening.comm));
  file.comm.emplace(std::move(comm));
  file.leader = opening.leader;
  file.state = State::framed;
  if (opening.has(MPI_MODE_APPEND)) file.position = size_of(*opening.leader);
  return file.shared.place(*file.comm, file.path, file.position);
}

// Collective, of a file that MPI has opened.
Status take_over(const std::shared_ptr<OpenFile>& file, const Opening& opening) {
  NEVE_ASSIGN(mpi::Comm comm, mpi::Comm::duplicate(opening.comm));
  file->comm.emplace(std::move(comm));
  const Found there = look_at(opening.path, opening.comm);
  const Reason reason = against_frames(opening, there);
  if (there.is_frames) return open_frames(*file, opening, reason);
  if (!opening.is_wanted()) return {};
  if (reason == Reason::none) {
    file->state = State::undecided;
    return file->shared.place(*file->comm, file->path);
  }
  say_once(*file, reason);
  return {};
}

// Under the program's own name, but where Open MPI would overflow at it.
mpi::OpenablePath name_for_mpi(const Opening& opening) {
  if (!mpi::OpenablePath::is_needed_for_length(opening.path)) return {};
  auto shorter = mpi::OpenablePath::of(opening.path);
  return shorter.ok() ? std::move(*shorter) : mpi::OpenablePath();  // the open is collective
}

Outcome open_here(Opening& opening, MPI_File* handle) {
  *handle = MPI_FILE_NULL;
  const Status prepared = prepare(opening);
  if (!prepared.ok()) return own(prepared);
  mpi::OpenablePath shorter = name_for_mpi(opening);
  const char* const name = shorter.text().empty() ? opening.name : shorter.c_str();
  const int code = NEVE_PMPI(File_open)(opening.comm, name, opening.mode, opening.info, handle);
  if (code != MPI_SUCCESS) return native(code);
  const auto file = std::make_shared<OpenFile>(*handle, opening.path);
  file->opened_name = std::move(shorter);
  file->mode = opening.mode;
  const Status taken = opening.leader ? join(*file, opening) : take_over(file, opening);
  if (!taken.ok()) return own(taken, !file->comm || file->comm->rank() == 0);
  // Without a bound only files of frames are ours.
  if (settings().files || file->state != State::plain || file->native != file->handle) add_open(file);
  return {};
}

// Collective: the end of a file that is not plain.
Status close_frames(OpenFile& file) {
  Status status = meet(file);
  if (file.writer != nullptr) {
    const Status closed = status.ok() ? file.writer->close() : file.writer->abandon();
    if (status.ok()) status = closed;
  }
  if (file.reader != nullptr) {
    const Status closed = file.reader->close();
    if (status.ok()) status = closed;
  }
  return status;
}

}  // namespace

void say_opened_by_some() {
  uint64_t opens = opens_by_some, all = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&opens, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0 || all == 0) return;
  say(
      fmt::format("files were opened {} times by some ranks, not by all (as with MPI_COMM_SELF), and passed "
                  "through as they are",
                  all));
}

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* handle) {
  if (Inside::is() || name == nullptr || handle == nullptr || !is_intracommunicator(comm)) {
    return NEVE_PMPI(File_open)(comm, name, mode, info, handle);
  }
  Outcome outcome;
  {
    const Inside inside;
    Opening opening{comm, name, mode, info, {}, false, false, {}};
    std::error_code error;
    opening.path = std::filesystem::absolute(trace::without_driver(name), error).lexically_normal().string();
    outcome = open_here(opening, handle);
  }
  // A file that is just open has the error handler of none.
  if (outcome.is_own && *handle != MPI_FILE_NULL) {
    MPI_File_call_errhandler(*handle, outcome.code);
    NEVE_PMPI(File_close)(handle);
  }
  return outcome.code;
}

int close_file(MPI_File* handle) {
  const std::shared_ptr<OpenFile> file = Inside::is() || handle == nullptr ? nullptr : find_open(*handle);
  if (file == nullptr) return NEVE_PMPI(File_close)(handle);
  Outcome outcome;
  {
    const Inside inside;
    const std::lock_guard lock(file->mutex);
    if (file->state != State::plain && !file->leader) {
      outcome = own(close_frames(*file), file->comm->rank() == 0);
    }
    file->shared.forget();
    file->is_closed = true;
  }
  remove_open(*handle);
  if (outcome.is_own) MPI_File_call_errhandler(*handle, outcome.code);
  const Inside inside;
  if (file->native != file->handle) NEVE_PMPI(File_close)(&file->native);
  const int code = NEVE_PMPI(File_close)(handle);
  return outcome.is_own ? outcome.code : code;
}

}  // namespace neve::pmpi
