// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/native_calls.hpp"

namespace neve::pmpi {
namespace {

#if MPI_VERSION >= 4
#define NEVE_COUNTED(name) name##_c
using Count = MPI_Count;
#else
#define NEVE_COUNTED(name) name
using Count = int;
#endif

int call(MPI_File file, MPI_Offset offset, const Access& access, bool together, MPI_Status* status) {
  const auto count = static_cast<Count>(access.count);
  if (access.is_write) {
    return together
               ? NEVE_COUNTED(MPI_File_write_at_all)(file, offset, access.data, count, access.type, status)
               : NEVE_COUNTED(MPI_File_write_at)(file, offset, access.data, count, access.type, status);
  }
  auto* const data = const_cast<void*>(access.data);
  return together ? NEVE_COUNTED(MPI_File_read_at_all)(file, offset, data, count, access.type, status)
                  : NEVE_COUNTED(MPI_File_read_at)(file, offset, data, count, access.type, status);
}

}  // namespace

int access_natively(OpenFile& file, const Access& access, uint64_t at, uint64_t& bytes) {
  const uint64_t element = std::max<uint64_t>(1, file.view.element_bytes());
  // ROMIO leaves that of a rank which brings nothing to a collective call as it is.
  MPI_Status status = {};
  MPI_Status_set_elements_x(&status, MPI_BYTE, 0);
  // Open MPI's own split calls are each rank's own, too.
  const bool together = waits(access) && !access.is_split;
  const int code = call(file.native, static_cast<MPI_Offset>(at / element), access, together, &status);
  MPI_Count moved = 0;
  if (code != MPI_SUCCESS) return code;
  MPI_Get_elements_x(&status, MPI_BYTE, &moved);
  bytes = moved > 0 ? static_cast<uint64_t>(moved) : 0;
  return code;
}

Status hand_over_pointers(OpenFile& file) {
  const uint64_t element = std::max<uint64_t>(1, file.view.element_bytes());
  MPI_File_seek(file.native, static_cast<MPI_Offset>(file.position / element), MPI_SEEK_SET);
  uint64_t shared = 0;
  Status known;
  if (file.comm->rank() == 0 && file.shared.has_place()) {
    const Result<uint64_t> value = file.shared.value();
    if (value.ok()) shared = *value;
    known = value.status();
  }
  NEVE_TRY(mpi::agree(*file.comm, known));
  MPI_Bcast(&shared, 1, MPI_UINT64_T, 0, file.comm->get());
  file.shared.forget();
  if (shared == 0) return {};
  return mpi::mpi_status(
      MPI_File_seek_shared(file.native, static_cast<MPI_Offset>(shared / element), MPI_SEEK_SET),
      file.path + ": the shared file pointer");
}

}  // namespace neve::pmpi
