// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/kept_comm.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "parallel/comm/usable.hpp"

namespace neve::mpi {
namespace {

// The attribute's value.
struct Kept {
  std::shared_ptr<KeptComm> copy;  // null once it is forgotten
  std::shared_ptr<std::shared_ptr<Lasting>> lasting;
};

// Of a communicator, the same on all its ranks: whatever is collective over several of them when MPI is
// finalized is done in this order, which all ranks have alike. That of their first use may differ, where
// threads have used them.
using Number = uint64_t;

// The communicators that have a copy, and the attribute by which they know it. A lock is never held in a call
// of MPI that may call back.
struct Registry {
  std::mutex mutex;
  std::multimap<Number, MPI_Comm> comms;
  std::atomic<int> of_comm = MPI_KEYVAL_INVALID;
};
Registry& registry() {
  static Registry one;
  return one;
}

// Collective. After an error there is no copy any more.
void finish(MPI_Comm comm, const Kept& kept) {
  const std::shared_ptr<Lasting> lasting = *kept.lasting;
  if (lasting == nullptr || !lasting->has_work()) return;
  if (kept.copy != nullptr) return lasting->finish(kept.copy->comm());
  static_cast<void>(guarded("communicator", [&]() -> Status {
    NEVE_ASSIGN(const Comm copy, Comm::duplicate(comm));
    lasting->finish(copy);
    return {};
  }));
}

extern "C" int neve_drop_kept_comm(MPI_Comm comm, int, void* value, void*) {
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.comms, [&](const auto& known) { return known.second == comm; });
  }
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  finish(comm, *kept);
  kept->lasting->reset();  // it may itself hold the copy
  return MPI_SUCCESS;
}

// An attribute of MPI_COMM_SELF: MPI_Finalize deletes it before anything else, while MPI still works.
extern "C" int neve_drop_all_kept_comms(MPI_Comm, int, void*, void*) {
  Registry& all = registry();
  for (;;) {
    MPI_Comm next = MPI_COMM_NULL;
    {
      const std::lock_guard lock(all.mutex);
      if (all.comms.empty()) return MPI_SUCCESS;
      next = all.comms.begin()->second;
      all.comms.erase(all.comms.begin());
    }
    MPI_Comm_delete_attr(next, all.of_comm);
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
Status keep(MPI_Comm comm, Number number, std::unique_ptr<Kept> made) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    all.comms.emplace(number, comm);
  }
  const Status set = mpi_status(MPI_Comm_set_attr(comm, all.of_comm, made.get()), "MPI_Comm_set_attr");
  if (set.ok()) {
    static_cast<void>(made.release());
  } else {
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.comms, [&](const auto& known) { return known.second == comm; });
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
  Number number = 0;
  NEVE_TRY(made->hear_root(number));
  const Status is_kept = guarded("communicator", [&] {
    return attribute != nullptr ? keep(comm, number, std::move(attribute)) : Status();
  });
  NEVE_TRY(agree(made->comm(), is_kept));
  known->copy = made;
  return made;
}

Status KeptComm::hear_root(uint64_t& number) {
  struct OfRoot {
    KernelName kernel{};
    Number number = 0;
  } of_root;
  static_assert(sizeof(OfRoot) == sizeof(KernelName) + sizeof(Number));
  const KernelName own = name_of_kernel();
  of_root.kernel = own;
  const bool is_root = comm_->rank() == 0;
  if (is_root && ::getrandom(&of_root.number, sizeof of_root.number, 0) < 0) of_root.number = 0;
  NEVE_TRY(mpi_status(MPI_Bcast(&of_root, sizeof of_root, MPI_BYTE, 0, comm_->get()),
                      "broadcast of rank 0's machine"));
  is_beside_root_ = own == of_root.kernel && own != KernelName{};
  number = of_root.number;
  return {};
}

void KeptComm::forget(MPI_Comm comm) {
  if (Kept* const kept = find(comm)) kept->copy.reset();
}

}  // namespace neve::mpi
