// SPDX-License-Identifier: BSD-3-Clause
#include "alone/comm.hpp"

#include <algorithm>
#include <memory>

#include "alone/errors.hpp"

namespace neve::alone {

Comm world, self;
const ErrorHandler errors_return;

namespace {

struct Key {
  MPI_Comm_delete_attr_function* drop = nullptr;
  void* extra_state = nullptr;
};
std::vector<Key>& keys() {
  static std::vector<Key> all;
  return all;
}

bool is_known(int key) { return key >= 0 && static_cast<size_t>(key) < keys().size(); }

auto find(Comm* comm, int key) { return std::ranges::find(comm->attributes, key, &Attribute::key); }

// What is dropped is no attribute any more when its function is called, which may drop others.
int drop_attribute(Comm* comm, std::vector<Attribute>::iterator at) {
  const Attribute dropped = *at;
  comm->attributes.erase(at);
  const Key key = keys()[static_cast<size_t>(dropped.key)];
  return key.drop == nullptr ? MPI_SUCCESS : key.drop(comm, dropped.key, dropped.value, key.extra_state);
}

}  // namespace

int drop_attributes(Comm* comm) {
  int result = MPI_SUCCESS;
  while (!comm->attributes.empty()) {
    const int dropped = drop_attribute(comm, comm->attributes.end() - 1);
    if (result == MPI_SUCCESS) result = dropped;
  }
  return result;
}

}  // namespace neve::alone

using namespace neve::alone;

int MPI_Comm_rank(MPI_Comm, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  return guarded([&]() -> int {
    if (comm == MPI_COMM_NULL) return bad_argument;
    *copy = std::make_unique<Comm>().release();  // no attribute is copied
    return MPI_SUCCESS;
  });
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (*comm == MPI_COMM_NULL || *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) return bad_argument;
  const int dropped = drop_attributes(*comm);
  delete *comm;
  *comm = MPI_COMM_NULL;
  return dropped;
}

int MPI_Comm_test_inter(MPI_Comm, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_create_keyval(std::nullptr_t, MPI_Comm_delete_attr_function* drop, int* key, void* extra_state) {
  return guarded([&] {
    keys().push_back({drop, extra_state});
    *key = static_cast<int>(keys().size()) - 1;
    return MPI_SUCCESS;
  });
}

int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  return guarded([&]() -> int {
    if (!is_known(key)) return closed_key;
    const auto former = find(comm, key);
    if (former != comm->attributes.end()) {
      const int dropped = drop_attribute(comm, former);
      if (dropped != MPI_SUCCESS) return dropped;
    }
    comm->attributes.push_back({key, value});
    return MPI_SUCCESS;
  });
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* is_there) {
  if (!is_known(key)) return closed_key;
  const auto found = find(comm, key);
  *is_there = found != comm->attributes.end() ? 1 : 0;
  if (*is_there != 0) *static_cast<void**>(value) = found->value;
  return MPI_SUCCESS;
}

int MPI_Comm_delete_attr(MPI_Comm comm, int key) {
  const auto found = find(comm, key);
  return found == comm->attributes.end() ? static_cast<int>(closed_key) : drop_attribute(comm, found);
}

int MPI_Comm_get_errhandler(MPI_Comm, MPI_Errhandler* handler) {
  *handler = &errors_return;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler handler) {
  return handler == &errors_return ? MPI_SUCCESS : static_cast<int>(bad_argument);
}

int MPI_Errhandler_free(MPI_Errhandler* handler) {
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
