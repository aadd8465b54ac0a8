// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/kept_comm.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "parallel/comm/usable.hpp"

namespace neve::mpi {
namespace {

// The attribute's value.
struct Kept {
  std::shared_ptr<KeptComm> copy;  // null once it is forgotten
  std::shared_ptr<std::shared_ptr<Lasting>> lasting;
};

// The communicators that have a copy, in the order in which these were made, and the attribute by which they
// know it. A lock is never held in a call of MPI that may call back.
struct Registry {
  std::mutex mutex;
  std::vector<MPI_Comm> comms;
  std::atomic<int> of_comm = MPI_KEYVAL_INVALID;
};
Registry& registry() {
  static Registry one;
  return one;
}

extern "C" int neve_drop_kept_comm(MPI_Comm comm, int, void* value, void*) {
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase(all.comms, comm);
  }
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  if (*kept->lasting != nullptr) (*kept->lasting)->finish(kept->copy.get());
  kept->lasting->reset();  // it may itself hold the copy
  return MPI_SUCCESS;
}

// An attribute of MPI_COMM_SELF: MPI_Finalize deletes it before anything else, while MPI still works.
extern "C" int neve_drop_all_kept_comms(MPI_Comm, int, void*, void*) {
  Registry& all = registry();
  for (;;) {
    MPI_Comm last = MPI_COMM_NULL;
    {
      const std::lock_guard lock(all.mutex);
      if (all.comms.empty()) return MPI_SUCCESS;
      last = all.comms.back();
      all.comms.pop_back();
    }
    MPI_Comm_delete_attr(last, all.of_comm);
  }
}

Status make_keys(Registry& all) {
  const std::lock_guard lock(all.mutex);
  if (all.of_comm != MPI_KEYVAL_INVALID) return {};
  int of_end = MPI_KEYVAL_INVALID, of_comm = MPI_KEYVAL_INVALID;
  NEVE_TRY(
      mpi_status(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, neve_drop_all_kept_comms, &of_end, nullptr),
                 "MPI_Comm_create_keyval"));
  NEVE_TRY(mpi_status(MPI_Comm_set_attr(MPI_COMM_SELF, of_end, nullptr), "MPI_Comm_set_attr"));
  NEVE_TRY(mpi_status(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, neve_drop_kept_comm, &of_comm, nullptr),
                      "MPI_Comm_create_keyval"));
  all.of_comm = of_comm;
  return {};
}

Kept* find(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  const int key = registry().of_comm;
  if (key == MPI_KEYVAL_INVALID || MPI_Comm_get_attr(comm, key, &value, &is_there) != MPI_SUCCESS)
    return nullptr;
  return is_there != 0 ? static_cast<Kept*>(value) : nullptr;
}

// Whether a broken communicator aborts is the caller's choice, also that of today.
Status take_error_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  NEVE_TRY(mpi_status(MPI_Comm_get_errhandler(from, &handler), "MPI_Comm_get_errhandler"));
  const Status set = mpi_status(MPI_Comm_set_errhandler(to, handler), "MPI_Comm_set_errhandler");
  MPI_Errhandler_free(&handler);
  return set;
}

// Of a running kernel, told apart from all others and from its earlier runs; zeros where it does not say.
using KernelName = std::array<char, 40>;
KernelName name_of_kernel() {
  KernelName name{};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return name;
  if (::read(file, name.data(), name.size()) <= 0) name = {};
  ::close(file);
  return name;
}

// Not collective. `made` of `comm`, from now on its copy.
Status keep(MPI_Comm comm, std::unique_ptr<Kept> made) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    all.comms.push_back(comm);
  }
  const Status set = mpi_status(MPI_Comm_set_attr(comm, all.of_comm, made.get()), "MPI_Comm_set_attr");
  if (set.ok()) {
    static_cast<void>(made.release());
  } else {
    const std::lock_guard lock(all.mutex);
    std::erase(all.comms, comm);
  }
  return set;
}

}  // namespace

Result<std::shared_ptr<KeptComm>> KeptComm::of(MPI_Comm comm) {
  NEVE_TRY(check_communicator(comm));
  Kept* known = find(comm);
  if (known != nullptr && known->copy != nullptr) {
    NEVE_TRY(take_error_handler(comm, known->copy->comm().get()));
    return known->copy;
  }
  NEVE_ASSIGN(Comm copy, Comm::duplicate(comm));
  std::shared_ptr<KeptComm> made;
  std::unique_ptr<Kept> attribute;
  const Status built = guarded("communicator", [&]() -> Status {
    made = std::make_shared<KeptComm>();
    if (known == nullptr) {
      attribute = std::make_unique<Kept>();
      attribute->lasting = std::make_shared<std::shared_ptr<Lasting>>();
      known = attribute.get();
    }
    made->lasting_ = known->lasting;
    return make_keys(registry());
  });
  NEVE_TRY(agree(copy, built));
  made->comm_.emplace(std::move(copy));
  NEVE_TRY(made->find_root());
  const Status is_kept = guarded(
      "communicator", [&] { return attribute != nullptr ? keep(comm, std::move(attribute)) : Status(); });
  NEVE_TRY(agree(made->comm(), is_kept));
  known->copy = made;
  return made;
}

Status KeptComm::find_root() {
  const KernelName own = name_of_kernel();
  KernelName of_root = own;
  NEVE_TRY(mpi_status(MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_CHAR, 0, comm_->get()),
                      "broadcast of rank 0's machine"));
  is_beside_root_ = own == of_root && own != KernelName{};
  return {};
}

void KeptComm::forget(MPI_Comm comm) {
  if (Kept* const kept = find(comm)) kept->copy.reset();
}

}  // namespace neve::mpi
