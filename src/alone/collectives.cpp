// SPDX-License-Identifier: BSD-3-Clause
// Collective calls of one rank: what it has goes to where all of it is wanted.
#include "alone/datatype.hpp"
#include "alone/errors.hpp"
#include "alone/request.hpp"

namespace neve::alone {

struct Op {};
const Op kept_as_it_is;
char in_place;

namespace {

int check_root(int root) { return root == 0 ? MPI_SUCCESS : static_cast<int>(bad_rank); }

void* place(void* begin, int number, MPI_Datatype type) {
  return static_cast<std::byte*>(begin) + number * type->extent();
}
const void* place(const void* begin, int number, MPI_Datatype type) {
  return static_cast<const std::byte*>(begin) + number * type->extent();
}

}  // namespace
}  // namespace neve::alone

using namespace neve::alone;

int MPI_Op_create(MPI_User_function*, int, MPI_Op* op) {
  *op = &kept_as_it_is;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int MPI_Bcast(void*, int, MPI_Datatype, int root, MPI_Comm) { return check_root(root); }

int MPI_Ibcast(void*, int, MPI_Datatype, int root, MPI_Comm, MPI_Request* request) {
  return finished(check_root(root), request);
}

int MPI_Allreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  return own == MPI_IN_PLACE ? MPI_SUCCESS : copy_values(own, count, type, all, count, type);
}

int MPI_Iallreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return finished(MPI_Allreduce(own, all, count, type, op, comm), request);
}

// The first rank, which this is, has none before it, and its `before` is left alone.
int MPI_Iexscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request* request) {
  return finished(MPI_SUCCESS, request);
}

int MPI_Gatherv(const void* own, int count, MPI_Datatype type, void* all, const int* counts,
                const int* places, MPI_Datatype type_of_all, int root, MPI_Comm) {
  if (root != 0 || own == MPI_IN_PLACE) return check_root(root);
  return copy_values(own, count, type, place(all, places[0], type_of_all), counts[0], type_of_all);
}

int MPI_Igatherv(const void* own, int count, MPI_Datatype type, void* all, const int* counts,
                 const int* places, MPI_Datatype type_of_all, int root, MPI_Comm comm, MPI_Request* request) {
  return finished(MPI_Gatherv(own, count, type, all, counts, places, type_of_all, root, comm), request);
}

int MPI_Alltoall(const void* own, int count, MPI_Datatype type, void* all, int count_of_each,
                 MPI_Datatype type_of_all, MPI_Comm) {
  return own == MPI_IN_PLACE ? MPI_SUCCESS : copy_values(own, count, type, all, count_of_each, type_of_all);
}

int MPI_Alltoallv(const void* own, const int* counts, const int* places, MPI_Datatype type, void* all,
                  const int* counts_of_all, const int* places_of_all, MPI_Datatype type_of_all, MPI_Comm) {
  if (own == MPI_IN_PLACE) return MPI_SUCCESS;
  return copy_values(place(own, places[0], type), counts[0], type, place(all, places_of_all[0], type_of_all),
                     counts_of_all[0], type_of_all);
}
