// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace neve::trace {
namespace {

#if defined(OPEN_MPI)
constexpr const char* built_with = "Open MPI";
constexpr bool built_with_open_mpi = true;
#elif defined(MPICH) || defined(MPICH_VERSION)
constexpr const char* built_with = "MPICH";
constexpr bool built_with_open_mpi = false;
#else
#error "the trace library knows the handles of Open MPI and of MPICH and its kin"
#endif

// A library loaded for one module alone (as Python loads its extensions) is not in the global search.
int open_mpi_library(dl_phdr_info* info, size_t, void* handle) {
  const char* name = std::strrchr(info->dlpi_name, '/');
  name = name == nullptr ? info->dlpi_name : name + 1;
  if (std::strncmp(name, "libmpi.so", 9) != 0 && std::strncmp(name, "libmpich.so", 11) != 0) return 0;
  void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  *static_cast<void**>(handle) = library;
  return 1;
}

}  // namespace

namespace {

void* symbol(void* where, const char* name) {
  if (void* found = dlsym(where, name)) return found;
  void* library = nullptr;
  dl_iterate_phdr(open_mpi_library, &library);
  return library == nullptr ? nullptr : dlsym(library, name);
}

// Data is where the program has it: an executable may hold its own copy of a library's object, which the
// library then uses as well.
[[maybe_unused]] void* mpi_object(const char* name) { return symbol(RTLD_DEFAULT, name); }

}  // namespace

void* mpi_function(const char* name) { return symbol(RTLD_NEXT, name); }

void require_same_mpi() {
  static std::atomic<bool> checked{false};
  if (checked.load(std::memory_order_relaxed)) return;
  const bool is_open_mpi = mpi_object("ompi_mpi_comm_world") != nullptr;
  if (is_open_mpi != built_with_open_mpi) {
    char line[512];
    const int length =
        std::snprintf(line, sizeof line,
                      "neve trace: this program uses %s, and the trace library was built with %s; "
                      "take the library of a Neve built with it (NEVE_TRACE_LIBRARY)\n",
                      is_open_mpi ? "Open MPI" : "another MPI than Open MPI", built_with);
    if (length > 0) syscall(SYS_write, STDERR_FILENO, line, static_cast<size_t>(length));
    _exit(1);
  }
  checked.store(true, std::memory_order_relaxed);
}

const char* without_driver(const char* name) {
  const char* colon = std::strchr(name, ':');
  const char* slash = std::strchr(name, '/');
  return colon != nullptr && (slash == nullptr || colon < slash) && colon - name > 1 ? colon + 1 : name;
}

#if defined(OPEN_MPI)
// These handles are addresses inside the library.
MPI_Comm world() { return static_cast<MPI_Comm>(mpi_object("ompi_mpi_comm_world")); }
MPI_Datatype byte_type() { return static_cast<MPI_Datatype>(mpi_object("ompi_mpi_byte")); }
MPI_Info null_info() { return static_cast<MPI_Info>(mpi_object("ompi_mpi_info_null")); }
#else
MPI_Comm world() { return MPI_COMM_WORLD; }
MPI_Datatype byte_type() { return MPI_BYTE; }
MPI_Info null_info() { return MPI_INFO_NULL; }
#endif

}  // namespace neve::trace
