// SPDX-License-Identifier: BSD-3-Clause
// Writes one generated hierarchy to argv[1] with the strategy argv[2]. Prints the error, if any, from every
// rank.
#include <mpi.h>

#include <cstdio>

#include "tests/mpi/generated.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const neve::Hierarchy h = neve::test::make_hierarchy({});
  const int rank = neve::test::world_rank();
  const neve::test::OwnedBoxes owned(h, neve::distribute_boxes(h, neve::test::world_size()), rank);
  neve::WriteOptions options;
  if (argc == 3) options.strategy = argv[2];
  const neve::Status status =
      argc == 3 ? neve::write_plotfile(MPI_COMM_WORLD, argv[1], h, owned.boxes(), options).status()
                : neve::usage_error("usage: write_once PATH STRATEGY");
  if (!status.ok()) std::fprintf(stderr, "[%d] %s\n", rank, status.message().c_str());
  MPI_Finalize();
  return static_cast<int>(status.code());
}
