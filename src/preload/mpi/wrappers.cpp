// SPDX-License-Identifier: BSD-3-Clause
// What stands before MPI's own functions: the beginning, the end, and all that touches a file.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "preload/mpi/call_sites.hpp"
#include "preload/mpi/file_ratios.hpp"
#include "preload/mpi/files.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/open_close.hpp"
#include "preload/mpi/settings.hpp"
#include "preload/trace/mpi_both_names.hpp"
#include "preload/trace/mpi_library.hpp"

using namespace neve::pmpi;

namespace {

#if defined(OPEN_MPI)
constexpr const char* other_library = "libmpich.so";
constexpr const char* built_with = "Open MPI";
#else
constexpr const char* other_library = "libmpi.so.40";
constexpr const char* built_with = "MPICH";
#endif

int is_other_library(dl_phdr_info* info, size_t, void*) {
  const char* name = std::strrchr(info->dlpi_name, '/');
  name = name == nullptr ? info->dlpi_name : name + 1;
  return std::strncmp(name, other_library, std::strlen(other_library)) == 0 ? 1 : 0;
}

// Handles of one MPI are garbage to another.
void require_one_mpi() {
  if (dl_iterate_phdr(is_other_library, nullptr) == 0) return;
  say(std::string("this program uses another MPI than ") + built_with +
      ", which this library was built with; take the library of a Neve built with it (NEVE_MPI_LIBRARY)");
  _exit(1);
}

constexpr bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// What a function's name says of its calls.
constexpr Access access_of(std::string_view name) {
  Access access = {};
  access.is_write = has(name, "write");
  access.is_collective = has(name, "_all") || has(name, "ordered");
  access.is_nonblocking = has(name, "File_i");
  access.is_split = has(name, "_begin");
  access.pointer = Pointer::own;
  if (has(name, "shared")) access.pointer = Pointer::shared;
  if (has(name, "ordered")) access.pointer = Pointer::ordered;
  return access;
}

struct Buffer {
  const void* data;
  int64_t count;
  MPI_Datatype type;
};
struct Given {
  bool is_explicit = false;
  MPI_Offset offset = 0;
  MPI_Status* status = MPI_STATUS_IGNORE;
  MPI_Request* request = nullptr;
};

int access_by_name(std::string_view name, MPI_File file, const Buffer& buffer, const Given& given,
                   const Plain& plain) {
  Access access = access_of(name);
  if (given.is_explicit) access.pointer = Pointer::given;
  access.offset = given.offset;
  access.data = buffer.data;
  access.count = buffer.count;
  access.type = buffer.type;
  access.status = given.status;
  access.request = given.request;
  return access_file(file, access, plain);
}

void report() {
  if (!settings().reports) return;
  const Inside inside;
  const CallSums calls = say_calls();
  say_file_ratios();
  if (settings().files) say_opened_by_some();
  const FileCounts& files = file_counts();
  std::array<uint64_t, 4> numbers = {files.writes, files.value_bytes, files.frame_bytes, files.reads};
  std::array<uint64_t, 4> all = {};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(numbers.data(), all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_SUM, 0,
             MPI_COMM_WORLD);
  if (rank != 0) return;
  say(fmt::format(
      "in all: {} collective calls, {} bytes of values as {}; {} writes to files, {} bytes as {}; {} reads",
      calls.calls, calls.value_bytes, calls.moved_bytes, all[0], all[1], all[2], all[3]));
}

}  // namespace

#define ACCESS(name, given, arguments)                                 \
  return access_by_name(#name, file, {data, count, type}, Given given, \
                        [&](MPI_File of) { return NEVE_PMPI(name) arguments; });

#define PLAIN(name, constness, direction, counter, number)                                         \
  BOTH(int, name,                                                                                  \
       (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Status* status), \
       (file, data, count, type, status)) {                                                        \
    ACCESS(name, ({false, 0, status, nullptr}), (of, data, count, type, status))                   \
  }
#define PLAIN_AT(name, constness, direction, counter, number)                                    \
  BOTH(int, name,                                                                                \
       (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type, \
        MPI_Status* status),                                                                     \
       (file, offset, data, count, type, status)) {                                              \
    ACCESS(name, ({true, offset, status, nullptr}), (of, offset, data, count, type, status))     \
  }
#define NONBLOCKING(name, constness, direction, counter, number)                                     \
  BOTH(int, name,                                                                                    \
       (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Request* request), \
       (file, data, count, type, request)) {                                                         \
    ACCESS(name, ({false, 0, MPI_STATUS_IGNORE, request}), (of, data, count, type, request))         \
  }
#define NONBLOCKING_AT(name, constness, direction, counter, number)                                      \
  BOTH(int, name,                                                                                        \
       (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type,         \
        MPI_Request* request),                                                                           \
       (file, offset, data, count, type, request)) {                                                     \
    ACCESS(name, ({true, offset, MPI_STATUS_IGNORE, request}), (of, offset, data, count, type, request)) \
  }
#define BEGIN(name, constness, direction, counter, number)                                \
  BOTH(int, name, (MPI_File file, constness void* data, number count, MPI_Datatype type), \
       (file, data, count, type)) {                                                       \
    ACCESS(name, ({}), (of, data, count, type))                                           \
  }
#define BEGIN_AT(name, constness, direction, counter, number)                                                \
  BOTH(int, name, (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type), \
       (file, offset, data, count, type)) {                                                                  \
    ACCESS(name, ({true, offset, MPI_STATUS_IGNORE, nullptr}), (of, offset, data, count, type))              \
  }
#define END(name, constness, direction)                                                              \
  BOTH(int, name, (MPI_File file, constness void* data, MPI_Status* status), (file, data, status)) { \
    return end_split(file, status, [&](MPI_File of) { return NEVE_PMPI(name)(of, data, status); });  \
  }

#include "preload/trace/mpi_io_calls.inc"

BOTH(int, File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
     (comm, name, mode, info, file)) {
  return open_file(comm, name, mode, info, file);
}
BOTH(int, File_close, (MPI_File * file), (file)) { return close_file(file); }
BOTH(int, File_set_view,
     (MPI_File file, MPI_Offset offset, MPI_Datatype element, MPI_Datatype filetype,
      const char* representation, MPI_Info info),
     (file, offset, element, filetype, representation, info)) {
  return set_file_view(file, offset, element, filetype, representation, [&](MPI_File of) {
    return NEVE_PMPI(File_set_view)(of, offset, element, filetype, representation, info);
  });
}
BOTH(int, File_get_view,
     (MPI_File file, MPI_Offset* offset, MPI_Datatype* element, MPI_Datatype* filetype, char* representation),
     (file, offset, element, filetype, representation)) {
  return ask_file(file, [&](MPI_File of) {
    return NEVE_PMPI(File_get_view)(of, offset, element, filetype, representation);
  });
}
BOTH(int, File_get_byte_offset, (MPI_File file, MPI_Offset offset, MPI_Offset* byte), (file, offset, byte)) {
  return ask_file(file, [&](MPI_File of) { return NEVE_PMPI(File_get_byte_offset)(of, offset, byte); });
}
BOTH(int, File_get_type_extent, (MPI_File file, MPI_Datatype type, MPI_Aint* extent), (file, type, extent)) {
  return ask_file(file, [&](MPI_File of) { return NEVE_PMPI(File_get_type_extent)(of, type, extent); });
}
BOTH(int, File_sync, (MPI_File file), (file)) {
  return sync_file(file, [](MPI_File of) { return NEVE_PMPI(File_sync)(of); });
}
BOTH(int, File_set_size, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return set_file_size(file, bytes, true, [&](MPI_File of) { return NEVE_PMPI(File_set_size)(of, bytes); });
}
BOTH(int, File_preallocate, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return set_file_size(file, bytes, false,
                       [&](MPI_File of) { return NEVE_PMPI(File_preallocate)(of, bytes); });
}
BOTH(int, File_get_size, (MPI_File file, MPI_Offset* bytes), (file, bytes)) {
  return file_size(file, bytes, [&](MPI_File of) { return NEVE_PMPI(File_get_size)(of, bytes); });
}
BOTH(int, File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence)) {
  return seek_file(file, offset, whence,
                   [&](MPI_File of) { return NEVE_PMPI(File_seek)(of, offset, whence); });
}
BOTH(int, File_get_position, (MPI_File file, MPI_Offset* offset), (file, offset)) {
  return file_position(file, offset, [&](MPI_File of) { return NEVE_PMPI(File_get_position)(of, offset); });
}
BOTH(int, File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence)) {
  return seek_file_shared(file, offset, whence,
                          [&](MPI_File of) { return NEVE_PMPI(File_seek_shared)(of, offset, whence); });
}
BOTH(int, File_get_position_shared, (MPI_File file, MPI_Offset* offset), (file, offset)) {
  return file_position_shared(file, offset,
                              [&](MPI_File of) { return NEVE_PMPI(File_get_position_shared)(of, offset); });
}
BOTH(int, File_set_atomicity, (MPI_File file, int is_on), (file, is_on)) {
  return set_file_atomicity(file, is_on != 0,
                            [&](MPI_File of) { return NEVE_PMPI(File_set_atomicity)(of, is_on); });
}
BOTH(int, File_get_atomicity, (MPI_File file, int* is_on), (file, is_on)) {
  return ask_file(file, [&](MPI_File of) { return NEVE_PMPI(File_get_atomicity)(of, is_on); });
}
BOTH(int, File_set_errhandler, (MPI_File file, MPI_Errhandler handler), (file, handler)) {
  return set_file_errhandler(file, [&](MPI_File of) { return NEVE_PMPI(File_set_errhandler)(of, handler); });
}

BOTH(int, Init, (int* count, char*** words), (count, words)) {
  require_one_mpi();
  settings();
  return NEVE_PMPI(Init)(count, words);
}
BOTH(int, Init_thread, (int* count, char*** words, int required, int* provided),
     (count, words, required, provided)) {
  require_one_mpi();
  settings();
  return NEVE_PMPI(Init_thread)(count, words, required, provided);
}
BOTH(int, Finalize, (), ()) {
  report();
  return NEVE_PMPI(Finalize)();
}
