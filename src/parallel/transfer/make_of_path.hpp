// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "parallel/comm/agree.hpp"
#include "parallel/comm/same_everywhere.hpp"

namespace neve::mpi {

// Collective: what `make(Comm&&, std::string&&)` makes with new, out of copies of `comm`, which is then its
// comm(), and of `path`. All ranks have one or none does. Usage error where ranks name different paths. New
// asks for memory before it moves from its arguments, so that a rank without memory has a communicator to say
// so on.
template <class Made, class Make>
Result<std::unique_ptr<Made>> make_of_path(MPI_Comm comm, std::string_view path, Make make) {
  NEVE_ASSIGN(Comm all, Comm::duplicate(comm));
  std::unique_ptr<Made> made;
  const Status status = guarded("open", [&]() -> Status {
    std::string copy(path);
    made.reset(make(std::move(all), std::move(copy)));
    return {};
  });
  NEVE_TRY(agree(made != nullptr ? made->comm() : all, status));
  NEVE_TRY(check_same_everywhere(
      made->comm(), [&] { return std::string(path); }, "the path"));
  return made;
}

}  // namespace neve::mpi
