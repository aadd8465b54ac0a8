// SPDX-License-Identifier: BSD-3-Clause
// Does one write of the kind argv[2] (write_kinds.hpp) to argv[1], its version argv[3]. Prints the error, if
// any, from every rank.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace {

neve::Status write(const std::string& path, const std::string& name, int version) {
  for (const neve::test::WriteKind& kind : neve::test::write_kinds()) {
    if (kind.name == name) return kind.write(path, version);
  }
  return neve::usage_error("no kind of write is called " + name);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const neve::Status status = argc == 4 ? write(argv[1], argv[2], std::atoi(argv[3]))
                                        : neve::usage_error("usage: write_once PATH KIND VERSION");
  if (!status.ok()) std::fprintf(stderr, "[%d] %s\n", neve::test::world_rank(), status.message().c_str());
  MPI_Finalize();
  return static_cast<int>(status.code());
}
