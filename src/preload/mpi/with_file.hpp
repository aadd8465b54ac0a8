// SPDX-License-Identifier: BSD-3-Clause
// A call of the program on a file, as this library does it.
#pragma once

#include <new>

#include "preload/mpi/following.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

template <class Work>
Outcome guarded_outcome(Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return own(failure("out of memory"));
  } catch (const std::exception& e) {
    return own(failure(e.what()));
  }
}

// Runs `work(file)` where the file is one of ours and not plain for good; MPI's own call otherwise. The error
// handler is the program's code: it runs when nothing of ours is held.
template <class Plain, class Work>
int with_file(MPI_File handle, const Plain& plain, Work&& work) {
  const std::shared_ptr<OpenFile> file = Inside::is() ? nullptr : find_open(handle);
  if (file == nullptr) return plain(handle);
  Outcome outcome;
  {
    const Inside inside;
    const std::shared_ptr<OpenFile> content = file->leader ? file->leader : file;
    std::unique_lock lock(content->mutex);
    const Status followed = follow(*file);
    if (!followed.ok()) {
      outcome = own(followed);
    } else if (file->state == State::plain) {
      lock.unlock();
      return plain(file->native);
    } else {
      outcome = guarded_outcome([&] { return work(*file); });
    }
  }
  if (outcome.is_own) MPI_File_call_errhandler(handle, outcome.code);
  return outcome.code;
}

}  // namespace neve::pmpi
