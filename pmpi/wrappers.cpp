// SPDX-License-Identifier: BSD-3-Clause
// What stands before MPI's own functions: gathers, and all that touches a file.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "pmpi/files.hpp"
#include "pmpi/gathers.hpp"
#include "pmpi/inside.hpp"
#include "pmpi/settings.hpp"
#include "trace/mpi_both_names.hpp"
#include "trace/mpi_library.hpp"

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

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

// Reads and writes that come back when they are done. `plain` is the call as it is.
template <class Data>
int access(const char* name, MPI_File file, bool is_explicit, MPI_Offset offset, Data* data, int64_t count,
           MPI_Datatype type, MPI_Status* status, const Plain& plain) {
  if (has(name, "shared") || has(name, "ordered")) return other_access(name, file, plain);
  const Access given{name, file, is_explicit, offset, count, type, status, has(name, "_all")};
  if constexpr (std::is_const_v<Data>) {
    return write_file(given, data, plain);
  } else {
    return read_file(given, data, plain);
  }
}

void report() {
  if (!settings().reports) return;
  const Inside inside;
  const Counts& gathers = gather_counts();
  const FileCounts& files = file_counts();
  std::array<uint64_t, 7> numbers = {gathers.calls, gathers.value_bytes, gathers.frame_bytes,
                                     files.writes,  files.value_bytes,   files.frame_bytes,
                                     files.reads};
  std::array<uint64_t, 7> all = {};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(numbers.data(), all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_SUM, 0,
             MPI_COMM_WORLD);
  if (rank != 0) return;
  const auto text = [&](size_t i) { return std::to_string(all[i]); };
  say("calls of all ranks: " + text(0) + " gathers, " + text(1) + " bytes of values as " + text(2) + "; " +
      text(3) + " writes, " + text(4) + " bytes as " + text(5) + "; " + text(6) + " reads");
}

}  // namespace

#define PLAIN(name, constness, direction, counter, number)                                           \
  BOTH(int, name,                                                                                    \
       (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Status* status),   \
       (file, data, count, type, status)) {                                                          \
    return access<constness void>("MPI_" #name, file, false, 0, data, count, type, status,           \
                                  [&] { return NEVE_PMPI(name)(file, data, count, type, status); }); \
  }
#define PLAIN_AT(name, constness, direction, counter, number)                                                \
  BOTH(int, name,                                                                                            \
       (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type,             \
        MPI_Status* status),                                                                                 \
       (file, offset, data, count, type, status)) {                                                          \
    return access<constness void>("MPI_" #name, file, true, offset, data, count, type, status,               \
                                  [&] { return NEVE_PMPI(name)(file, offset, data, count, type, status); }); \
  }
#define OTHER(name, parameters, arguments)                                              \
  BOTH(int, name, parameters, arguments) {                                              \
    return other_access("MPI_" #name, file, [&] { return NEVE_PMPI(name) arguments; }); \
  }
#define NONBLOCKING(name, constness, direction, counter, number)                                            \
  OTHER(name, (MPI_File file, constness void* data, number count, MPI_Datatype type, MPI_Request* request), \
        (file, data, count, type, request))
#define NONBLOCKING_AT(name, constness, direction, counter, number)                               \
  OTHER(name,                                                                                     \
        (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type, \
         MPI_Request* request),                                                                   \
        (file, offset, data, count, type, request))
#define BEGIN(name, constness, direction, counter, number)                            \
  OTHER(name, (MPI_File file, constness void* data, number count, MPI_Datatype type), \
        (file, data, count, type))
#define BEGIN_AT(name, constness, direction, counter, number)                                            \
  OTHER(name, (MPI_File file, MPI_Offset offset, constness void* data, number count, MPI_Datatype type), \
        (file, offset, data, count, type))
// Their beginning has been refused, or the file is a plain one.
#define END(name, constness, direction)

#include "trace/mpi_io_calls.inc"

BOTH(int, File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
     (comm, name, mode, info, file)) {
  return open_file(comm, name, mode, info, file);
}
BOTH(int, File_close, (MPI_File * file), (file)) { return close_file(file); }
BOTH(int, File_set_view,
     (MPI_File file, MPI_Offset offset, MPI_Datatype element, MPI_Datatype filetype,
      const char* representation, MPI_Info info),
     (file, offset, element, filetype, representation, info)) {
  return set_file_view(file, offset, element, filetype, representation, [&] {
    return NEVE_PMPI(File_set_view)(file, offset, element, filetype, representation, info);
  });
}
BOTH(int, File_sync, (MPI_File file), (file)) {
  return sync_file(file, [&] { return NEVE_PMPI(File_sync)(file); });
}
BOTH(int, File_set_size, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return set_file_size("MPI_File_set_size", file, bytes, true,
                       [&] { return NEVE_PMPI(File_set_size)(file, bytes); });
}
BOTH(int, File_preallocate, (MPI_File file, MPI_Offset bytes), (file, bytes)) {
  return set_file_size("MPI_File_preallocate", file, bytes, false,
                       [&] { return NEVE_PMPI(File_preallocate)(file, bytes); });
}
BOTH(int, File_get_size, (MPI_File file, MPI_Offset* bytes), (file, bytes)) {
  return file_size(file, bytes, [&] { return NEVE_PMPI(File_get_size)(file, bytes); });
}
BOTH(int, File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence)) {
  return seek_file(file, offset, whence, [&] { return NEVE_PMPI(File_seek)(file, offset, whence); });
}
BOTH(int, File_get_position, (MPI_File file, MPI_Offset* offset), (file, offset)) {
  return file_position(file, offset, [&] { return NEVE_PMPI(File_get_position)(file, offset); });
}
OTHER(File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
BOTH(int, File_set_atomicity, (MPI_File file, int is_on), (file, is_on)) {
  const auto plain = [&] { return NEVE_PMPI(File_set_atomicity)(file, is_on); };
  return is_on != 0 ? other_access("MPI_File_set_atomicity", file, plain) : plain();
}

#define GATHERS(suffix, number, displacement)                                                                \
  BOTH(int, Gather##suffix,                                                                                  \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, number recv_count,          \
        MPI_Datatype recv_type, int root, MPI_Comm comm),                                                    \
       (send, send_count, send_type, recv, recv_count, recv_type, root, comm)) {                             \
    return gather({send,                                                                                     \
                   static_cast<uint64_t>(send_count),                                                        \
                   send_type,                                                                                \
                   recv,                                                                                     \
                   static_cast<uint64_t>(recv_count),                                                        \
                   {},                                                                                       \
                   {},                                                                                       \
                   recv_type,                                                                                \
                   root,                                                                                     \
                   comm},                                                                                    \
                  [&] {                                                                                      \
                    return NEVE_PMPI(Gather##suffix)(send, send_count, send_type, recv, recv_count,          \
                                                     recv_type, root, comm);                                 \
                  });                                                                                        \
  }                                                                                                          \
  BOTH(int, Gatherv##suffix,                                                                                 \
       (const void* send, number send_count, MPI_Datatype send_type, void* recv, const number recv_counts[], \
        const displacement displs[], MPI_Datatype recv_type, int root, MPI_Comm comm),                       \
       (send, send_count, send_type, recv, recv_counts, displs, recv_type, root, comm)) {                    \
    return gather({send, static_cast<uint64_t>(send_count), send_type, recv, 0,                              \
                   [&](int rank) { return static_cast<uint64_t>(recv_counts[rank]); },                       \
                   [&](int rank) { return static_cast<int64_t>(displs[rank]); }, recv_type, root, comm},     \
                  [&] {                                                                                      \
                    return NEVE_PMPI(Gatherv##suffix)(send, send_count, send_type, recv, recv_counts,        \
                                                      displs, recv_type, root, comm);                        \
                  });                                                                                        \
  }

GATHERS(, int, int)
#if MPI_VERSION >= 4
GATHERS(_c, MPI_Count, MPI_Aint)
#endif

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
