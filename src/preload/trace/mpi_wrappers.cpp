// SPDX-License-Identifier: BSD-3-Clause
// The MPI-IO level, under the standard's profiling names. Each function is exported twice: as MPI_..., which
// programs and libraries call, and as PMPI_..., which Fortran bindings call.
#include <fcntl.h>

#include <cstdarg>
#include <cstring>

#include "preload/trace/mpi_both_names.hpp"
#include "preload/trace/mpi_library.hpp"
#include "preload/trace/next.hpp"
#include "preload/trace/paths.hpp"
#include "preload/trace/recorder.hpp"
#include "preload/trace/reduce.hpp"

using namespace neve::trace;

namespace {

// The MPI-IO calls this thread is inside of: an MPI library may build one on another.
__attribute__((tls_model("initial-exec"))) thread_local int inside = 0;
struct Inside {
  Inside() { ++inside; }
  ~Inside() { --inside; }
};

// Open files by handle. Guarded by the right to record, and emptied with the part.
constexpr size_t max_open_files = 1024;
struct OpenFile {
  MPI_File handle;
  FileIndex file;
  uint64_t generation;
  char path[path_room];
};
OpenFile open_files[max_open_files];
size_t open_count = 0;
size_t beyond_count = 0;  // files opened when there was no place for another

OpenFile* find_open(MPI_File handle) {
  for (size_t i = 0; i < open_count; ++i) {
    if (open_files[i].handle == handle) return &open_files[i];
  }
  return nullptr;
}

FileIndex file_of_handle(MPI_File handle) {
  OpenFile* const found = find_open(handle);
  if (found == nullptr) return beyond_count > 0 ? file_beyond() : FileIndex{};
  if (found->generation != generation()) {
    found->file = file_named(found->path);
    found->generation = generation();
  }
  return found->file;
}

bool counted() { return inside == 0 && may_open(); }

uint64_t type_bytes(MPI_Datatype type) {
  MPI_Count bytes = 0;
  const auto size_of = NEVE_PMPI(Type_size_x);
  return size_of != nullptr && size_of(type, &bytes) == MPI_SUCCESS && bytes > 0
             ? static_cast<uint64_t>(bytes)
             : 0;
}

struct Timed {
  int result;
  Span when;
};

// Makes a call that is to be counted.
template <class Call>
Timed timed(Call&& call) {
  require_same_mpi();
  const double begin = now();
  const Inside here;
  const int result = call();
  return {result, {begin, now()}};
}

template <class Call>
int access(MPI_File file, Direction direction, Counter counter, uint64_t count_of_type, MPI_Datatype type,
           Call&& call) {
  if (!counted()) return call();
  const auto [result, when] = timed(call);
  if (result != MPI_SUCCESS) return result;
  const uint64_t bytes = count_of_type * type_bytes(type);
  if (Recording recording; recording) {
    const FileIndex index = file_of_handle(file);
    count(index, counter);
    transferred(index, Level::mpiio, direction, bytes, when);
  }
  return result;
}

// The end of a split collective: its time belongs to the transfer that its beginning counted.
template <class Call>
int split_end(MPI_File file, Direction direction, Call&& call) {
  if (!counted()) return call();
  const auto [result, when] = timed(call);
  if (Recording recording; recording) {
    spent_on_transfer(file_of_handle(file), Level::mpiio, direction, when);
  }
  return result;
}

template <class Call>
int meta(MPI_File file, Counter counter, Call&& call) {
  if (!counted()) return call();
  const auto [result, when] = timed(call);
  if (result != MPI_SUCCESS) return result;
  if (Recording recording; recording) {
    const FileIndex index = file_of_handle(file);
    count(index, counter);
    spent_on_meta(index, Level::mpiio, when);
  }
  return result;
}

int open_traced(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  const auto call = [&] { return NEVE_PMPI(File_open)(comm, name, mode, info, file); };
  if (!counted()) return call();
  const auto [result, when] = timed(call);
  if (result != MPI_SUCCESS) return result;
  int size = 1;
  NEVE_PMPI(Comm_size)(comm, &size);
  Recording recording;
  if (!recording) return result;
  if (open_count == max_open_files) {
    ++beyond_count;
    count(file_beyond(), size > 1 ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS);
    return result;
  }
  OpenFile& entry = open_files[open_count];
  const char* plain = without_driver(name);
  if (!resolved_path(plain, entry.path) && !absolute_path(AT_FDCWD, plain, entry.path)) return result;
  entry.handle = *file;
  entry.file = file_named(entry.path);
  if (!entry.file) return result;
  entry.generation = generation();
  ++open_count;
  count(entry.file, size > 1 ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS);
  if (info != null_info()) count(entry.file, MPIIO_HINTS);
  mpi_opened(entry.file, when);
  return result;
}

int close_traced(MPI_File* file) {
  const auto call = [&] { return NEVE_PMPI(File_close)(file); };
  if (!counted()) return call();
  const MPI_File handle = *file;
  const auto [result, when] = timed(call);
  Recording recording;
  if (!recording || result != MPI_SUCCESS) return result;
  closed(file_of_handle(handle), Level::mpiio, when);
  if (OpenFile* const entry = find_open(handle)) {
    *entry = open_files[--open_count];
  } else if (beyond_count > 0) {
    --beyond_count;
  }
  return result;
}

void learn_rank() {
  require_same_mpi();
  int rank = -1, ranks = 0;
  if (NEVE_PMPI(Comm_rank)(world(), &rank) != MPI_SUCCESS ||
      NEVE_PMPI(Comm_size)(world(), &ranks) != MPI_SUCCESS) {
    return;
  }
  if (Recording recording; recording) set_rank(rank, ranks);
}

int finalize_traced() {
  if (inside == 0 && may_open()) {
    require_same_mpi();
    Inside here;
    reduce_to_first_rank();
  }
  return NEVE_PMPI(Finalize)();
}

}  // namespace

#define ACCESS(name, direction, counter, parameters, arguments)                            \
  BOTH(int, name, parameters, arguments) {                                                 \
    return access(file, Direction::direction, counter, static_cast<uint64_t>(count), type, \
                  [&] { return NEVE_PMPI(name) arguments; });                              \
  }

#define PLAIN(name, constness, direction, counter, number)                                           \
  ACCESS(name, direction, counter,                                                                   \
         (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Status* status), \
         (file, data, count, type, status))
#define PLAIN_AT(name, constness, direction, counter, number)                                      \
  ACCESS(name, direction, counter,                                                                 \
         (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type, \
          MPI_Status* status),                                                                     \
         (file, offset, data, count, type, status))
#define NONBLOCKING(name, constness, direction, counter, number)                                       \
  ACCESS(name, direction, counter,                                                                     \
         (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Request* request), \
         (file, data, count, type, request))
#define NONBLOCKING_AT(name, constness, direction, counter, number)                                \
  ACCESS(name, direction, counter,                                                                 \
         (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type, \
          MPI_Request* request),                                                                   \
         (file, offset, data, count, type, request))
#define BEGIN(name, constness, direction, counter, number)                                                 \
  ACCESS(name, direction, counter, (MPI_File file, constness void* data, number count, MPI_Datatype type), \
         (file, data, count, type))
#define BEGIN_AT(name, constness, direction, counter, number)                                       \
  ACCESS(name, direction, counter,                                                                  \
         (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type), \
         (file, offset, data, count, type))
#define END(name, constness, direction)                                                                \
  BOTH(int, name, (MPI_File file, constness void* data, MPI_Status* status), (file, data, status)) {   \
    return split_end(file, Direction::direction, [&] { return NEVE_PMPI(name)(file, data, status); }); \
  }

#include "preload/trace/mpi_io_calls.inc"

BOTH(int, File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
     (comm, name, mode, info, file)) {
  return open_traced(comm, name, mode, info, file);
}
BOTH(int, File_close, (MPI_File * file), (file)) { return close_traced(file); }
BOTH(int, File_set_view,
     (MPI_File file, MPI_Offset offset, MPI_Datatype element, MPI_Datatype filetype,
      const char* representation, MPI_Info info),
     (file, offset, element, filetype, representation, info)) {
  return meta(file, MPIIO_VIEWS, [&] {
    return NEVE_PMPI(File_set_view)(file, offset, element, filetype, representation, info);
  });
}
BOTH(int, File_sync, (MPI_File file), (file)) {
  return meta(file, MPIIO_SYNCS, [&] { return NEVE_PMPI(File_sync)(file); });
}
BOTH(int, File_set_size, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return meta(file, MPIIO_SET_SIZES, [&] { return NEVE_PMPI(File_set_size)(file, bytes); });
}
BOTH(int, File_preallocate, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return meta(file, MPIIO_SET_SIZES, [&] { return NEVE_PMPI(File_preallocate)(file, bytes); });
}

BOTH(int, Init, (int* count, char*** words), (count, words)) {
  require_same_mpi();
  const int result = NEVE_PMPI(Init)(count, words);
  if (result == MPI_SUCCESS) learn_rank();
  return result;
}
BOTH(int, Init_thread, (int* count, char*** words, int required, int* provided),
     (count, words, required, provided)) {
  require_same_mpi();
  const int result = NEVE_PMPI(Init_thread)(count, words, required, provided);
  if (result == MPI_SUCCESS) learn_rank();
  return result;
}
BOTH(int, Finalize, (), ()) { return finalize_traced(); }

// Level 0 stops counting, 1 goes on (both as the standard says), 2 names a phase: MPI_Pcontrol(2, "name").
static void control(int level, const char* name) {
  if (Recording recording; recording) {
    if (level == 0 || level == 1) pause(level == 0);
    if (level == 2) set_phase(name);
  }
}
#define PCONTROL(name)                         \
  NEVE_EXPORT int name(const int level, ...) { \
    const char* phase = nullptr;               \
    if (level == 2) {                          \
      va_list arguments;                       \
      va_start(arguments, level);              \
      phase = va_arg(arguments, const char*);  \
      va_end(arguments);                       \
    }                                          \
    control(level, phase);                     \
    return MPI_SUCCESS;                        \
  }
PCONTROL(MPI_Pcontrol)
PCONTROL(PMPI_Pcontrol)
