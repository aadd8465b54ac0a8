// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/call_record.hpp"

#include <bit>
#include <new>

namespace neve::pmpi {
namespace {

int remove_records(MPI_Comm, int, void* records, void*) {
  delete static_cast<CallRecords*>(records);
  return MPI_SUCCESS;
}

int make_keyval() {
  int keyval = MPI_KEYVAL_INVALID;
  // A copy of the communicator begins anew.
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove_records, &keyval, nullptr);
  return keyval;
}

int keyval() {
  static const int made = make_keyval();
  return made;
}

}  // namespace

CallKey call_key(Kind kind, bool is_of_counts, uint64_t bytes) {
  return {kind, is_of_counts, is_of_counts ? 0 : static_cast<int>(std::bit_width(bytes))};
}

CallRecords* find_records(MPI_Comm comm) {
  void* found = nullptr;
  int is_there = 0;
  if (MPI_Comm_get_attr(comm, keyval(), &found, &is_there) != MPI_SUCCESS) return nullptr;
  return is_there == 0 ? nullptr : static_cast<CallRecords*>(found);
}

CallRecords* records_of(MPI_Comm comm) {
  if (CallRecords* const found = find_records(comm)) return found;
  auto* const records = new (std::nothrow) CallRecords;
  if (records == nullptr || MPI_Comm_set_attr(comm, keyval(), records) == MPI_SUCCESS) return records;
  delete records;
  return nullptr;
}

}  // namespace neve::pmpi
